"""Which reader suits a file, by how its name ends."""

from __future__ import annotations

import zlib
from gzip import BadGzipFile
from pathlib import Path

from robscore._tools.words import clipped
from robscore.cli.reading.excel import read_excel
from robscore.cli.reading.options import ReadOptions
from robscore.cli.reading.parquet import read_parquet
from robscore.cli.reading.result import DataFileError
from robscore.cli.reading.table import Reader, Table
from robscore.cli.reading.text import read_text

_READERS: dict[str, Reader] = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".tab", ".dat", ""), read_text),
    **dict.fromkeys((".parquet", ".pq"), read_parquet),
    **dict.fromkeys((".xlsx", ".xlsm", ".xls"), read_excel),
}


def read_table(path: Path, options: ReadOptions, notes: list[str]) -> Table:
    """Read a file of any kind; one that is broken is an error that says so."""
    try:
        return _reader_of(path)(path, options, notes)
    except UnicodeDecodeError as error:
        raise DataFileError(f"{path} cannot be read as text ({error.reason}); save it as UTF-8.") from None
    except (EOFError, zlib.error, BadGzipFile) as error:
        raise DataFileError(f"{path} is broken or cut off ({error}); get it again, or unpack it.") from None
    except OSError as error:
        raise DataFileError(f"{path} cannot be read: {error.strerror or error}.") from None


def _reader_of(path: Path) -> Reader:
    """The reader of a file; .gz after another ending is passed over."""
    endings = [suffix.lower() for suffix in path.suffixes]
    ending = endings[-2] if len(endings) > 1 and endings[-1] == ".gz" else endings[-1] if endings else ""
    if ending not in _READERS:
        raise DataFileError(
            f"{path.name}: files ending in {clipped(ending)} are not known; use .csv, .tsv, .parquet or .xlsx."
        )
    return _READERS[ending]
