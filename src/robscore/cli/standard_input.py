"""Data from the standard input: kept as a file while a command runs, since a file is looked at several times."""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from robscore.cli.console import INTERRUPTED, stop
from robscore.cli.signals import clearing_away

STANDARD_INPUT = Path("-")
# How files of each kind begin, and how their names end.
_BEGINNINGS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".feather",
    b"\x1f\x8b": ".csv.gz",
    b"BZh": ".csv.bz2",
    b"\xfd7zXZ": ".csv.xz",
    b"{": ".jsonl",
}


@contextmanager
def as_files(data: tuple[Path, ...]) -> Iterator[tuple[Path, ...]]:
    """The paths given; for ``-`` alone that of a file with what the standard input holds, gone in the end."""
    if data != (STANDARD_INPUT,):
        yield data
        return
    with clearing_away(), tempfile.TemporaryDirectory(prefix="robscore-") as folder:
        held = Path(folder) / "stdin"
        try:
            with held.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
        except KeyboardInterrupt as ended:
            stop("Stopped; nothing was written.", code=getattr(ended, "code", INTERRUPTED))
        yield (held.rename(held.with_name(f"stdin{_ending(held)}")),)


def _ending(path: Path) -> str:
    with path.open("rb") as file:
        start = file.read(8)
    if start.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
            return ".xlsx" if any(name.startswith("xl/") for name in archive.namelist()) else ".zip"
    return next((ending for begin, ending in _BEGINNINGS.items() if start.startswith(begin)), ".csv")
