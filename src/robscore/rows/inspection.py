"""One look at all rows: which values are missing, infinite or excluded by the family, and where they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from robscore._tools.messages import Message, Phrase, RowAt, Setting, UsageError, first_few_parts
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.rows.row_source import Rows

if TYPE_CHECKING:
    from robscore.families.family import Family


@dataclass(frozen=True)
class Marks:
    """Entries of a table that are marked, for example as missing: how many, and the first one.

    Attributes
    ----------
    counts : integer array of shape (m,)
        The number of marked entries of every column.
    first : integer array of shape (m,)
        The first row with one; -1 where there is none.
    """

    counts: IntArray
    first: IntArray

    @classmethod
    def of(cls, marked: BoolArray, numbers: IntArray | None = None) -> Marks:
        """Read a boolean array of shape (r, m), and the rows' numbers if they are not 0, 1, ..."""
        counts = np.count_nonzero(marked, axis=0)
        if not counts.any():
            return cls(counts, np.full(counts.size, -1))
        first = marked.argmax(axis=0)
        return cls(counts, np.where(counts > 0, first if numbers is None else numbers[first], -1))

    @classmethod
    def none(cls, n_columns: int) -> Marks:
        """Return marks of a table in which no entry is marked."""
        return cls(np.zeros(n_columns, dtype=np.intp), np.full(n_columns, -1))

    def __bool__(self) -> bool:
        return bool(self.counts.any())

    def followed_by(self, more: Marks, start: int) -> Marks:
        """Join these marks and those of the rows that follow."""
        first = np.where(self.first >= 0, self.first, np.where(more.first >= 0, more.first + start, -1))
        return Marks(self.counts + more.counts, first)

    def words(self, names: list[str], at: Callable[[int], RowAt] | None = None) -> Message:
        """Describe which columns have how many, and where the first one is."""
        at = at or _in_memory
        columns = [
            Message(f"column {names[j]!r} has {self.counts[j]} (first in ", at(int(self.first[j])), ")")
            for j in np.flatnonzero(self.counts)
        ]
        return first_few_parts(columns, "; ")


def _in_memory(row: int) -> RowAt:
    return RowAt(row, f"row {row}")


class ReasonForRows(str):
    """The reason why a family excludes whole rows, and what to do; no column need be named."""

    __slots__ = ()


@dataclass(frozen=True)
class Inspection:
    """The result of a look at all rows.

    Attributes
    ----------
    infinite, absent : Marks
    negative, excluded : Marks
        Among complete rows: values below zero, and those that the family excludes, for the ``reason``.
    reason : str
    complete : boolean array of shape (n,)
        Rows without missing values.
    low, high : arrays of shape (m,)
        Smallest and largest value of every column in complete rows.
    at : callable
        Gives a row for messages, by its number.
    """

    infinite: Marks
    absent: Marks
    negative: Marks
    excluded: Marks
    reason: str
    complete: BoolArray
    low: Array
    high: Array
    at: Callable[[int], RowAt]

    def check_complete(self, names: list[str], missing: str) -> None:
        """Raise on infinite values, and on missing ones unless incomplete rows may be dropped."""
        if self.infinite:
            found = Phrase("Input X contains infinity", "The data contain infinity")
            raise UsageError(found, ": ", self.infinite.words(names, self.at), ". Drop those rows.")
        if self.absent and missing == "raise":
            raise UsageError(
                Phrase("Input X contains NaN", "The data have missing values"),
                ": ",
                self.absent.words(names, self.at),
                ". Pass ",
                Setting("missing", "impute"),
                " to fill them in, or ",
                Setting("missing", "drop"),
                f" to leave out incomplete rows, {np.count_nonzero(~self.complete)} of {self.complete.size}.",
            )

    def check_domain(self, family: Family, names: list[str], caller: str) -> None:
        """Raise, naming columns and rows, where there are values that the family excludes."""
        if not self.excluded:
            return
        if family.domain.is_non_negative and self.negative:
            raise UsageError(
                "Negative values in ",
                Phrase(f"data passed to {caller}", "the data"),
                ": ",
                self.negative.words(names, self.at),
                f". {family!r} needs values in {family.domain!r}; remove them, or use ",
                Setting("family", "gaussian"),
                ".",
            )
        if isinstance(self.reason, ReasonForRows):
            count, first = int(self.excluded.counts.max()), self.at(int(self.excluded.first.max()))
            where = Phrase(f"In data passed to {caller}", "In the data")
            entries = f", the entries of {count} {'row' if count == 1 else 'rows'} (first "
            raise UsageError(where, entries, first, f") {self.reason}.")
        raise UsageError(
            Phrase(f"Data passed to {caller} hold", "The data hold"),
            f" values that {self.reason}: ",
            self.excluded.words(names, self.at),
            ". Drop those rows or columns, or choose another ",
            Phrase("family", "--family"),
            ".",
        )


def inspect(rows: Rows, family: Family) -> Inspection:
    """Look at all rows once."""
    family.check_columns(rows.n_columns)
    nothing = Marks.none(rows.n_columns)
    infinite, absent, negative, excluded, reason = nothing, nothing, nothing, nothing, ""
    complete = np.ones(rows.n_rows, dtype=bool)
    low, high = np.full(rows.n_columns, np.inf), np.full(rows.n_columns, -np.inf)
    for start, piece in rows.each(partial(_look, family)):
        infinite = infinite.followed_by(piece.infinite, start)
        absent = absent.followed_by(piece.absent, start)
        negative = negative.followed_by(piece.negative, start)
        if piece.reason and (not reason or piece.reason == reason):  # one message has one reason
            excluded, reason = excluded.followed_by(piece.excluded, start), piece.reason
        complete[start : start + piece.complete.size] = piece.complete
        low, high = np.minimum(low, piece.low), np.maximum(high, piece.high)
    return Inspection(infinite, absent, negative, excluded, reason, complete, low, high, rows.at)


def _look(family: Family, rows: Array) -> Inspection:
    """Look at one piece, whose first row has the number 0."""
    low, high, nothing = *_ends(rows), Marks.none(rows.shape[1])
    numbers, complete, infinite, absent = np.arange(len(rows)), np.ones(len(rows), dtype=bool), nothing, nothing
    if not np.isfinite([low, high]).all():  # the two ends cost little, and mostly show that all is well
        is_infinite, is_absent = np.isinf(rows), np.isnan(rows)
        complete = np.asarray(~is_absent.any(axis=1))
        usable = complete & ~is_infinite.any(axis=1)
        infinite, absent, numbers = Marks.of(is_infinite), Marks.of(is_absent), np.flatnonzero(usable)
        rows = rows[usable]
        low, high = _ends(rows)
    bad, reason = family.problem(rows) if len(rows) else (np.zeros(rows.shape, dtype=bool), "")
    excluded = Marks.of(bad, numbers) if bad.any() else nothing
    negative = _negative(rows, numbers, family) if excluded else nothing
    return Inspection(infinite, absent, negative, excluded, reason if excluded else "", complete, low, high, _in_memory)


def _ends(rows: Array) -> tuple[Array, Array]:
    """Return the smallest and the largest value of every column; NaN where the column has one."""
    return rows.min(axis=0, initial=np.inf), rows.max(axis=0, initial=-np.inf)


def _negative(rows: Array, numbers: IntArray, family: Family) -> Marks:
    """Mark values below zero in the family's own columns; covariates may be negative."""
    negative = np.asarray(rows < 0)
    negative[:, family.own_columns(rows.shape[1]) :] = False
    return Marks.of(negative, numbers)
