"""Excel files."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from robscore._tools.messages import first_few, quoted, shown
from robscore._tools.optional import require
from robscore.reading.cell_values import as_label
from robscore.reading.data_file import DataFileError, FileColumns, ReadOptions, refusing_broken
from robscore.reading.surrounding_rows import is_header, n_title_rows, strip_units_and_notes
from robscore.reading.typed_files import typed_table

_LARGEST = 1 << 31  # guards memory only: bytes of a file when it is unpacked
_BLOCK = 1 << 20  # guards memory only: bytes that are looked at together
_LOOKED_AT = 60  # rows at the start, for a title
_MOST_CELLS = 200_000_000  # guards memory only: all from the first to the last are held, however few are filled
_FILLED = re.compile(rb'<(?:\w+:)?c\s[^<>]*?\br="([A-Z]{1,3})([0-9]{1,7})"[^<>/]*>')
# Formulas that no spreadsheet program has computed yet, and errors such as #DIV/0!: both are read as empty cells.
_UNCOMPUTED = re.compile(
    rb"<(?:\w+:)?c\s(?![^<>]*\bt=\"str\")[^<>]*>\s*<(?:\w+:)?f\b[^<>]*(?:/>|>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)
_ERROR = re.compile(
    rb"<(?:\w+:)?c\s[^<>]*\bt=\"e\"[^<>]*>(?:\s*<(?:\w+:)?f\b[^<>]*(?:/>|>[^<]*</(?:\w+:)?f>))?\s*"
    rb"<(?:\w+:)?v>(?!#N/A)[^<>]*</"
)
_LONGEST_CELL = 1 << 16  # guards memory only: bytes of a cell that two blocks share
# Excel writes no document types; with them a file of a kilobyte could stand for gigabytes, or for other files.
_FORBIDDEN = [word.encode(code) for word in ("<!DOCTYPE", "<!ENTITY") for code in ("utf-8", "utf-16-le", "utf-16-be")]


def read_excel(path: Path, options: ReadOptions, notes: list[str]) -> FileColumns:
    """Read one sheet of an Excel file."""
    require("openpyxl")
    with refusing_broken(path, "cannot be read as an Excel file"):
        without_value = _cells_without_value(path)
        frame, sheet, sheets = _frame(path, options)
    others = [name for name in sheets if name != sheet]
    if others and options.sheet is None:
        notes.append(f"Read the first of {len(sheets)} sheets, {shown(sheet)}; --sheet takes {quoted(others)}.")
    if without_value:
        notes.append(f"Read as missing: {without_value}.")
    frame = frame.dropna(how="all")
    if frame.empty:
        elsewhere = f" --sheet takes another: {quoted(others)}." if others else ""
        raise DataFileError(f"{path}: sheet {shown(sheet)} is empty.{elsewhere}")
    start = [_as_text(row) for row in frame.iloc[:_LOOKED_AT].to_numpy(object)]
    n_titles = n_title_rows(start) if options.header is None else 0
    if n_titles:
        notes.append(f"Skipped {n_titles} title row{'s' * (n_titles > 1)} at the start.")
    names = start[n_titles]
    has_header = n_titles > 0 or is_header(names, ".", notes) if options.header is None else options.header
    frame = frame.iloc[n_titles + has_header :].reset_index(drop=True)
    if not has_header:
        names = [f"column {k + 1}" for k in range(len(names))]
    table = typed_table(path, names, [frame[k].infer_objects() for k in frame.columns], options, notes)
    return strip_units_and_notes(table, notes) if has_header and not options.all_text else table


def _as_text(cells: Iterable[Any]) -> list[str]:
    """Return cells of a row as they would stand in a text file."""
    return ["" if cell is None or cell != cell else " ".join(as_label(cell).split()) for cell in cells]


def _frame(path: Path, options: ReadOptions) -> tuple[Any, str, list[str]]:
    """Return the requested sheet, its name, and the names of all."""
    import pandas as pd

    with pd.ExcelFile(path) as book:
        names = [str(name) for name in book.sheet_names]
        sheet = options.sheet or names[0]
        numbered = {str(k + 1): name for k, name in enumerate(names)}
        sheet = sheet if sheet in names else numbered.get(sheet, sheet)
        if sheet not in names:
            raise DataFileError(f"{path} has no sheet {shown(sheet)}; it has {first_few([shown(n) for n in names])}.")
        # What means missing is decided later, as in all other files.
        cells = {"header": None, "dtype": object, "keep_default_na": False, "na_values": [""]}
        return pd.read_excel(book, sheet_name=sheet, **cells), sheet, names


def _cells_without_value(path: Path) -> str:
    """Say which cells are not empty in the file but are read so; empty where there are none.

    Raise where a file is larger than it looks: when unpacked, by what its XML declares, or by a cell far away.
    """
    if not zipfile.is_zipfile(path):
        return ""  # an old .xls, or nothing that can be read
    n_formulas, n_errors = 0, 0
    with zipfile.ZipFile(path) as packed:
        if sum(part.file_size for part in packed.infolist()) > _LARGEST:
            raise DataFileError(f"{path} unpacks to more than {_LARGEST >> 30} GB; save the sheet as CSV.")
        for part in packed.infolist():
            n_rows, n_columns = 0, 0
            for block in _blocks(packed, part):
                if any(word in block for word in _FORBIDDEN):
                    raise DataFileError(f"{path} declares XML entities, which no Excel file has; save the sheet again.")
                for letters, row in _FILLED.findall(block):
                    n_rows, n_columns = max(n_rows, int(row)), max(n_columns, _column_number(letters))
                n_formulas += len(_UNCOMPUTED.findall(block))
                n_errors += len(_ERROR.findall(block))
            if n_rows * n_columns > _MOST_CELLS:
                raise DataFileError(
                    f"{path} has a sheet of {n_rows} rows and {n_columns} columns, too many to read; delete cells far "
                    "away from the table, or save the sheet as CSV."
                )
    remedy = "open the file in a spreadsheet program and save it"
    formulas = f"{n_formulas} formula{'s' * (n_formulas > 1)} without a computed value ({remedy})"
    errors = f"{n_errors} error{'s' * (n_errors > 1)} such as #DIV/0!"
    return " and ".join([formulas] * (n_formulas > 0) + [errors] * (n_errors > 0))


def _blocks(packed: zipfile.ZipFile, part: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the bytes of a part, each block with the cell in which the one before ended."""
    before = b""
    with packed.open(part) as file:
        while block := file.read(_BLOCK):
            block = before + block
            yield block
            before = block[max(block.rfind(b"</c>"), len(block) - _LONGEST_CELL, 0) :]


def _column_number(column: bytes) -> int:
    """Return the number of a column from its letters: A is 1, Z is 26, AA is 27."""
    number = 0
    for letter in column:
        number = 26 * number + letter - 64
    return number
