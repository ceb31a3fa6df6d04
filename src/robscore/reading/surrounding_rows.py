"""Rows around the data of a table: a title, the names of the columns, units under them, notes below the last row."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

from robscore._tools.messages import quoted
from robscore.reading.cell_values import MISSING, PLAIN, number_in, unmarked
from robscore.reading.data_file import FileColumns
from robscore.reading.text_format import separator_of

_FEWEST_UNITS = 2  # columns of numbers: a single text in the first row may be a typing error
FEWEST_COLUMNS = 3  # of a table under which one cell is a note
_LONGER = 2  # times as long as all other cells of its column is a note among texts
_MOST_TITLES = 10  # lines of title
_LOOKED_AT = 50  # lines after them


def n_title_lines(lines: list[str], separator: str | None) -> int:
    """Return how many of the first lines are a title; lines are neither empty nor comments.

    Under a title all lines have equally many cells, the first of them names only and the next a number, or one
    of units first; the title itself has another number of cells, or fills fewer. Where that is not so there is none.

    Examples
    --------
    >>> n_title_lines(["Rain, 2024", "Source: me", "north,south,east", "1.5,2,3", "2,2.5,1"], None)
    2
    >>> n_title_lines(["north,south,east", "1.5,2,3", "2,2.5,1"], None)
    0
    >>> n_title_lines(["north", '1e,":', '"'], ",")
    0
    >>> n_title_lines(["north,south,east", "-,-,-", "1.5,2"], ",")
    0
    """

    def cut(k: int) -> tuple[list[list[str]], list[list[str]]]:
        sign = separator or separator_of(lines[k:])
        try:
            return _cells(lines[:k], sign), _cells(lines[k : k + _LOOKED_AT], sign)
        except csv.Error:
            return [], []

    return _n_titles(len(lines), cut)


def n_title_rows(rows: list[list[str]]) -> int:
    """Count, as :func:`n_title_lines` does, among rows that are cut into cells, as in a sheet.

    Examples
    --------
    >>> n_title_rows([["Rain, 2024", ""], ["north", "south"], ["mm", "mm/d"], ["1.5", "2"], ["2", "2.5"]])
    1
    """
    return _n_titles(len(rows), lambda k: (rows[:k], rows[k : k + _LOOKED_AT]))


def _n_titles(n: int, cut: Callable[[int], tuple[list[list[str]], list[list[str]]]]) -> int:
    """Find the first place where lines can be cut such that a title is before it and a table after it; 0 for none."""
    for k in range(1, min(_MOST_TITLES, n - 2) + 1):
        before, rows = cut(k)
        if len(rows) < 2:  # a cell of several lines
            return 0
        if _begins(rows):
            return k if _is_title(before, len(rows[0])) else 0
    return 0


def _begins(rows: list[list[str]]) -> bool:
    """Return whether a table begins with its names, and numbers under them or under units."""
    if not (_are_names(rows[0]) and all(len(row) == len(rows[0]) for row in rows[1:])):
        return False
    under_units = len(rows) > 2 and _n_filled(rows[1]) >= 2 and sum(map(_is_plain_number, rows[2])) >= 2
    return any(map(_is_plain_number, rows[1])) or under_units


def _is_title(rows: list[list[str]], width: int) -> bool:
    """Return whether no row could hold the names of so many columns."""
    return all(len(row) != width or _n_filled(row) < max(2, width - 1) for row in rows)


def _cells(lines: list[str], sign: str) -> list[list[str]]:
    return [row for row in csv.reader(lines, delimiter=sign, skipinitialspace=True) if row]


def _are_names(row: list[str]) -> bool:
    """Return whether a line has only names, each once and with a letter or digit, but for the first, of an index."""
    is_filled = _n_filled(row) >= max(2, len(row) - 1) and len(set(row)) == len(row)
    if not is_filled or _is_plain_number(row[0]):
        return False
    if not all(any(map(str.isalnum, cell)) for cell in row if cell.strip()):
        return False
    return not any(_is_plain_number(cell) or cell.strip() in MISSING for cell in row[1:])


def _n_filled(row: list[str]) -> int:
    return sum(1 for cell in row if cell.strip())


def _is_plain_number(cell: str) -> bool:
    text = unmarked(cell)
    return bool(PLAIN["."].match(text) or PLAIN[","].match(text))


def is_header(cells: Sequence[str], decimal: str, notes: list[str]) -> bool:
    """Decide whether the first line has names: not where most of it are numbers with decimals, or the same twice."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    numbers = [cell for cell in filled if PLAIN[decimal].match(cell)]
    if len(numbers) < max(1, len(filled) // 2):
        return True
    with_decimals = [cell for cell in numbers if not cell.lstrip("+-").isdigit()]
    if len(with_decimals) >= max(1, len(filled) // 2) or len(set(numbers)) < len(numbers):
        notes.append("The first line holds numbers, so it was read as data; columns are called column 1, column 2, ...")
        return False
    if len(numbers) == len(filled):
        notes.append("The first line holds numbers only and was taken for names; pass --no-header if it is data.")
    return True


def strip_units_and_notes(table: FileColumns, notes: list[str]) -> FileColumns:
    """Return the table without a row of units and without notes below; what was left out goes to the notes.

    Examples
    --------
    >>> import pandas as pd
    >>> columns = [pd.Series(["mm", 1.5, 2.0], dtype=object), pd.Series(["h", 3.0, 1.0], dtype=object)]
    >>> notes = []
    >>> [list(column) for column in strip_units_and_notes(FileColumns(["rain", "sun"], columns), notes).columns], notes
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


def _units(table: FileColumns, last: int) -> list[str]:
    """Return the texts of the first row, where it has no number and columns of nothing but numbers begin under it."""
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


def _end(table: FileColumns, n: int) -> int:
    """Return where notes begin: rows at the end with a single cell, unlike those above it."""
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
    """Return whether a text stands under numbers or dates, or is far longer than the texts above it."""
    above = [cell for cell in column.iloc[:last] if isinstance(cell, str)]
    if not any(_is_text(cell, decimal) for cell in above):
        return True
    return " " in column.iloc[row].strip() and len(column.iloc[row]) > _LONGER * max(map(len, above))


def _filled(table: FileColumns, row: int) -> list[str]:
    """Return the cells of a row that hold something, as text."""
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
