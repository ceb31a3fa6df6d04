"""Lines before the names of the columns that say what a table is about: a title, its source, a date."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from itertools import islice

from robscore.cli.reading.cells import MISSING, PLAIN, unmarked
from robscore.cli.reading.dialect import separator_of

_MOST = 10  # lines of title
_LOOKED_AT = 50  # lines after them


def titles(lines: list[str], separator: str | None) -> int:
    """How many of the first lines are a title; lines are neither empty nor comments.

    Under a title all lines have equally many cells, the first of them names only and the next a number, or one
    of units first; the title itself has another number of cells, or fills fewer. Where that is not so there is none.

    Examples
    --------
    >>> titles(["Rain, 2024", "Source: me", "north,south,east", "1.5,2,3", "2,2.5,1"], None)
    2
    >>> titles(["north,south,east", "1.5,2,3", "2,2.5,1"], None)
    0
    >>> titles(["north", '1e,":', '"'], ",")
    0
    >>> titles(["north,south,east", "-,-,-", "1.5,2"], ",")
    0
    """
    for k in range(1, min(_MOST, len(lines) - 2) + 1):
        sign = separator or separator_of(lines[k:])
        try:
            before, rows = _cells(lines[:k], sign), _cells(islice(lines[k:], _LOOKED_AT), sign)
        except csv.Error:
            return 0
        if len(rows) < 2:  # a cell of several lines
            return 0
        if _begins(rows):
            return k if _is_title(before, len(rows[0])) else 0
    return 0


def title_rows(rows: list[list[str]]) -> int:
    """As :func:`titles`, of rows that are cut into cells, as in a sheet.

    Examples
    --------
    >>> title_rows([["Rain, 2024", ""], ["north", "south"], ["mm", "mm/d"], ["1.5", "2"], ["2", "2.5"]])
    1
    """
    for k in range(1, min(_MOST, len(rows) - 2) + 1):
        if _begins(rows[k : k + _LOOKED_AT]):
            return k if _is_title(rows[:k], len(rows[k])) else 0
    return 0


def _begins(rows: list[list[str]]) -> bool:
    """Whether a table begins with its names, and numbers under them or under units."""
    if not (_are_names(rows[0]) and all(len(row) == len(rows[0]) for row in rows[1:])):
        return False
    under_units = len(rows) > 2 and _filled(rows[1]) >= 2 and sum(map(_is_number, rows[2])) >= 2
    return any(map(_is_number, rows[1])) or under_units


def _is_title(rows: list[list[str]], width: int) -> bool:
    """Whether no row could hold the names of so many columns."""
    return all(len(row) != width or _filled(row) < max(2, width - 1) for row in rows)


def _cells(lines: Iterable[str], sign: str) -> list[list[str]]:
    return [row for row in csv.reader(lines, delimiter=sign, skipinitialspace=True) if row]


def _are_names(row: list[str]) -> bool:
    """Whether a line has only names, each once and with a letter or digit, but for the first, of an index."""
    named = _filled(row) >= max(2, len(row) - 1) and len(set(row)) == len(row)
    named &= all(any(map(str.isalnum, cell)) for cell in row if cell.strip())
    return named and not any(_is_number(cell) or cell.strip() in MISSING for cell in row[1:]) and not _is_number(row[0])


def _filled(row: list[str]) -> int:
    return sum(1 for cell in row if cell.strip())


def _is_number(cell: str) -> bool:
    text = unmarked(cell)
    return bool(PLAIN["."].match(text) or PLAIN[","].match(text))
