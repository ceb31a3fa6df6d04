"""Rows around the data of a table: units under the names, and notes below the last row."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any

from robscore._tools.messages import quoted
from robscore.cli.reading.cells import number_in, unmarked
from robscore.cli.reading.table import Table

_FEWEST_UNITS = 2  # columns of numbers: a single text in the first row may be a typing error
FEWEST_COLUMNS = 3  # of a table under which one cell is a note
_LONGER = 2  # times as long as all other cells of its column is a note among texts


def strip_units_and_notes(table: Table, notes: list[str]) -> Table:
    """The table without a row of units and without notes below; what was left out goes to the notes.

    Examples
    --------
    >>> import pandas as pd
    >>> columns = [pd.Series(["mm", 1.5, 2.0], dtype=object), pd.Series(["h", 3.0, 1.0], dtype=object)]
    >>> said = []
    >>> [list(column) for column in strip_units_and_notes(Table(["rain", "sun"], columns), said).columns], said
    ([[1.5, 2.0], [3.0, 1.0]], ["The row under the names holds units and was left out: 'mm', 'h'."])
    """
    n = len(table.columns[0]) if table.columns else 0
    last = _end(table, n)
    if last < n:
        below = [text for row in range(last, n) for text in _filled(table, row)]
        rows = "Row" if n - last == 1 else f"{n - last} rows"
        notes.append(f"{rows} below the table, left out: {quoted(below)}.")
    units = _units(table, last)
    if units:
        notes.append(f"The row under the names holds units and was left out: {quoted(units)}.")
    if last == n and not units:
        return table
    kept = slice(int(bool(units)), last)
    columns = [column.iloc[kept].reset_index(drop=True).infer_objects() for column in table.columns]
    return replace(table, columns=columns)


def _units(table: Table, last: int) -> list[str]:
    """The texts of the first row, where it has no number and columns of nothing but numbers begin under it."""
    if last < 3 or any(_is_number(column.iloc[0], table.decimal) for column in table.columns):
        return []
    over_numbers = [
        column
        for column in table.columns
        if _is_text(column.iloc[0], table.decimal)
        and not any(_is_text(cell, table.decimal) for cell in column.iloc[1:last])
        and any(_is_number(cell, table.decimal) for cell in column.iloc[1:last])
    ]
    return [str(column.iloc[0]) for column in over_numbers] if len(over_numbers) >= _FEWEST_UNITS else []


def _end(table: Table, n: int) -> int:
    """Where notes begin: rows at the end with a single cell, unlike those above it."""
    last = n
    while last > 2 and len(table.columns) >= FEWEST_COLUMNS and len(_filled(table, last - 1)) <= 1:
        last -= 1
    for row in range(last, n):
        for column in table.columns:
            if _is_text(column.iloc[row], table.decimal) and not _is_unlike(column, row, last, table.decimal):
                return n
            if _is_number(column.iloc[row], table.decimal):
                return n
    return last if any(_filled(table, row) for row in range(last, n)) else n


def _is_unlike(column: Any, row: int, last: int, decimal: str) -> bool:
    """Whether a text stands under numbers or dates, or is far longer than the texts above it."""
    above = [cell for cell in column.iloc[:last] if isinstance(cell, str)]
    if not any(_is_text(cell, decimal) for cell in above):
        return True
    return " " in column.iloc[row].strip() and len(column.iloc[row]) > _LONGER * max(map(len, above))


def _filled(table: Table, row: int) -> list[str]:
    """The cells of a row that hold something, as text."""
    cells = [column.iloc[row] for column in table.columns]
    return [str(cell).strip() for cell in cells if not _is_missing(cell)]


def _is_missing(cell: Any) -> bool:
    return cell is None or cell != cell or (isinstance(cell, str) and not cell.strip())


def _is_number(cell: Any, decimal: str) -> bool:
    if isinstance(cell, str):
        return number_in(unmarked(cell), decimal) is not None
    return isinstance(cell, Real) and cell == cell


def _is_text(cell: Any, decimal: str) -> bool:
    return isinstance(cell, str) and bool(cell.strip()) and not _is_number(cell, decimal)
