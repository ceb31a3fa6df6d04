"""Excel files."""

from __future__ import annotations

from pathlib import Path

from robscore._tools.optional import require
from robscore.cli.reading.cells import MISSING, with_numbers
from robscore.cli.reading.options import ReadOptions
from robscore.cli.reading.result import DataFileError
from robscore.cli.reading.table import Table


def read_excel(path: Path, options: ReadOptions, notes: list[str]) -> Table:
    """Read one sheet of an Excel file."""
    require("openpyxl")
    import pandas as pd

    try:
        book = pd.ExcelFile(path)
    except Exception as error:  # whatever a broken file makes the reader say
        raise DataFileError(f"{path} cannot be read as an Excel file: {error}.") from None
    with book:
        sheet = options.sheet or book.sheet_names[0]
        if sheet not in book.sheet_names and str(sheet).isdigit() and 1 <= int(sheet) <= len(book.sheet_names):
            sheet = book.sheet_names[int(sheet) - 1]
        if sheet not in book.sheet_names:
            listed = ", ".join(map(repr, book.sheet_names))
            raise DataFileError(f"{path} has no sheet {sheet!r}; it has {listed}.")
        frame = pd.read_excel(book, sheet, header=None, na_values=[*options.na, *MISSING])
    if len(book.sheet_names) > 1 and options.sheet is None:
        notes.append(f"Read the first of {len(book.sheet_names)} sheets, {sheet!r}; --sheet takes another.")
    frame = frame.dropna(how="all")
    if frame.empty:
        raise DataFileError(f"{path}: sheet {sheet!r} is empty.")
    names = ["" if pd.isna(name) else str(name).strip() for name in frame.iloc[0]]
    body = frame.iloc[1:].reset_index(drop=True)
    return Table(names, [with_numbers(body[k].infer_objects(), ".") for k in body.columns])
