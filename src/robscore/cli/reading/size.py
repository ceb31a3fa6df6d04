"""Whether Parquet files fit in memory, where the command line reads them; Python can do without."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from robscore._tools.memory import describe, free_memory
from robscore._tools.optional import require
from robscore.cli.reading.result import DataFileError

_COPIES = 4  # of all numbers: as read, as columns, joined, and as rows


def refuse_too_large(paths: Sequence[Path], files: Sequence[Path]) -> None:
    """Raise where the rows of all Parquet files together take more memory than is free.

    Parameters
    ----------
    paths : as they were given, files or folders
    files : all that they stand for
    """
    own = [file for file in files if file.suffix.lower() in (".parquet", ".pq")]
    free = free_memory()
    if not own or free is None or sum(file.stat().st_size for file in own) < free / 100:  # nothing to look up
        return
    n_rows, n_columns = _shape(own)
    needed = 8.0 * n_rows * n_columns * _COPIES
    if needed <= free:
        return
    names = [str(path) for path in paths]
    given = repr(names[0] if len(names) == 1 else names)
    raise DataFileError(
        f"{names[0]}{' and others' if len(names) > 1 else ''}: {n_rows} rows of {n_columns} columns take about "
        f"{describe(needed)} here, and {describe(free)} of memory are free. In Python, "
        f"robscore.RobustGraph().fit({given}) reads Parquet files piece by piece, however many rows there are."
    )


def _shape(files: Sequence[Path]) -> tuple[int, int]:
    """Rows of all files, and the columns of the widest; those that cannot be read are left to the reader."""
    require("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    n_rows, n_columns = 0, 0
    for file in files:
        try:
            about = pq.read_metadata(file)
        except (pa.ArrowException, OSError):
            continue
        n_rows, n_columns = n_rows + about.num_rows, max(n_columns, about.num_columns)
    return n_rows, n_columns
