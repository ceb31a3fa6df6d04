"""Which columns of numbers tell something: those that count rows, are empty, constant or follow from others do not."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from robscore._tools.messages import first_few, quoted, shown
from robscore._tools.typing import Array
from robscore.cli.reading.linear import linear_columns

_UNNAMED = ("", "Unnamed: 0")  # what pandas' to_csv writes over its index, and what it reads there


def without_count(
    names: Sequence[str], values: dict[int, Array], asked: Collection[str], notes: list[str]
) -> tuple[dict[int, Array], dict[int, str]]:
    """The columns without a first one that has no name, was not asked for by it, and merely counts the rows."""
    first = values.get(0)
    if first is None or names[0] not in _UNNAMED or names[0] in asked or not _counts(first):
        return values, {}
    notes.append(f"Dropped (counts the rows): {shown(names[0] or 'column 1')}.")
    return {k: column for k, column in values.items() if k}, {0: "counts the rows"}


def _counts(column: Array) -> bool:
    """Whether a column is 0, 1, 2, ... or 1, 2, 3, ..."""
    return column[0] in (0, 1) and np.array_equal(column, column[0] + np.arange(column.size))


def telling(
    names: Sequence[str], values: dict[int, Array], notes: list[str]
) -> tuple[dict[int, Array], dict[int, str]]:
    """The columns without those that are empty, constant, or follow from one other exactly; and why these are not."""
    empty = {k: column for k, column in values.items() if np.isnan(column).all()}
    filled = {k: column for k, column in values.items() if k not in empty}
    constant = {k: column for k, column in filled.items() if np.nanmin(column) == np.nanmax(column)}
    for which, what in ((empty, "empty"), (constant, "constant")):
        if which:
            notes.append(f"Dropped ({what}): {quoted([names[k] for k in which])}.")
    values = {k: column for k, column in filled.items() if k not in constant}
    if equal := _equal_columns(values):
        pairs = [f"{shown(names[k])} (equal to {shown(names[first])})" for k, first in equal.items()]
        notes.append(f"Dropped (same as another column): {first_few(pairs)}.")
    why = {**dict.fromkeys(empty, "empty"), **dict.fromkeys(constant, "constant")}
    why |= {k: f"same as {shown(names[first])}" for k, first in equal.items()}
    values = {k: column for k, column in values.items() if k not in equal}
    linear = {k: line.describe(names[line.other]) for k, line in linear_columns(values).items()}
    if linear:
        told = first_few([f"{shown(names[k])} is {words}" for k, words in linear.items()])
        notes.append(f"Dropped (determined by another column): {told}.")
    return {k: column for k, column in values.items() if k not in linear}, {**why, **linear}


def _equal_columns(values: dict[int, Array]) -> dict[int, int]:
    """Columns that are the same as an earlier one, and which."""
    first: dict[bytes, int] = {}
    seen = {k: first.setdefault(np.ascontiguousarray(column).tobytes(), k) for k, column in values.items()}
    return {k: earlier for k, earlier in seen.items() if earlier != k}
