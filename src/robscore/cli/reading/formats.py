"""Which reader to use for a file, by the ending of its name."""

from __future__ import annotations

import zlib
from pathlib import Path

from robscore._tools.messages import clipped
from robscore.cli.reading.excel import read_excel
from robscore.cli.reading.frames import FRAME_ENDINGS, read_frame
from robscore.cli.reading.options import ReadOptions
from robscore.cli.reading.packed import BROKEN, PACKED, inner_ending
from robscore.cli.reading.parquet import read_parquet
from robscore.cli.reading.result import DataFileError
from robscore.cli.reading.table import Reader, Table
from robscore.cli.reading.text import read_text

_TEXT = (".csv", ".tsv", ".txt", ".tab", ".dat", ".data", "")
_LINES = (".jsonl", ".ndjson")
_READERS: dict[str, Reader] = {
    **dict.fromkeys(_TEXT, read_text),
    **dict.fromkeys((".parquet", ".pq"), read_parquet),
    **dict.fromkeys((".xlsx", ".xlsm", ".xls"), read_excel),
    **{ending: read_frame(ending) for ending in FRAME_ENDINGS},
}
KNOWN = ".csv, .tsv, .txt, .jsonl (each also as .gz, .bz2, .xz or .zip), .parquet, .feather, .xlsx, .dta or .sav"
ENDINGS = tuple(ending for ending in _READERS if ending)
ALL_ENDINGS = (*PACKED, *ENDINGS)


def read_table(path: Path, options: ReadOptions, notes: list[str]) -> Table:
    """Read a file of any kind; one that is broken is an error that says so."""
    try:
        return _reader_of(path)(path, options, notes)
    except UnicodeDecodeError as error:
        raise DataFileError(f"{path} cannot be read as text ({error.reason}); save it as UTF-8.") from None
    except (EOFError, zlib.error, *BROKEN) as error:
        raise DataFileError(f"{path} is broken or cut off ({error}); get it again, or unpack it.") from None
    except OSError as error:
        raise DataFileError(f"{path} cannot be read: {error.strerror or error}.") from None


def _reader_of(path: Path) -> Reader:
    """The reader of a file; an ending that says how it is packed is passed over."""
    ending = inner_ending(path)
    if ending not in _READERS:
        raise DataFileError(f"{path.name}: files ending in {clipped(ending)} are not known; use {KNOWN}.")
    if path.suffix.lower() in PACKED and ending not in (*_TEXT, *_LINES):
        raise DataFileError(f"{path.name}: {ending} files are not read from a compressed file; unpack it.")
    return _READERS[ending]
