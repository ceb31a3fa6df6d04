"""Which reader suits a file, by how its name ends."""

from __future__ import annotations

from pathlib import Path

from robscore.cli.reading.excel import read_excel
from robscore.cli.reading.parquet import read_parquet
from robscore.cli.reading.result import DataFileError
from robscore.cli.reading.table import Reader
from robscore.cli.reading.text import read_text

_READERS: dict[str, Reader] = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".tab", ".dat", ""), read_text),
    **dict.fromkeys((".parquet", ".pq"), read_parquet),
    **dict.fromkeys((".xlsx", ".xlsm", ".xls"), read_excel),
}


def reader_of(path: Path) -> Reader:
    """The reader of a file; .gz after another ending is passed over."""
    endings = [suffix.lower() for suffix in path.suffixes]
    ending = endings[-2] if len(endings) > 1 and endings[-1] == ".gz" else endings[-1] if endings else ""
    if ending not in _READERS:
        raise DataFileError(f"{path.name}: files ending in {ending} are not known; use .csv, .tsv, .parquet or .xlsx.")
    return _READERS[ending]
