"""What a table holds, before any model: negative values, zeros, parts of a whole, columns that are not measurements."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from robscore._tools.remarks import About, Remark
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore._tools.words import Words, quoted
from robscore.family_choice.closing import Whole
from robscore.rows.base import Rows

_MOST_ROWS = 20_000  # that are looked at for kinds of columns, and compared
_FEW_VALUES = 10  # different whole numbers, as on a scale of answers
_SMALL_COUNT = 5.0  # median: larger counts are nearly continuous
_FEWEST_ROWS = 30


@dataclass(frozen=True)
class Table:
    """What all rows are like.

    Attributes
    ----------
    negative, zero : integer arrays of shape (m,)
        How many entries of every column are below zero, and zero: of complete rows, or of all.
    whole : Whole or None
        What every row sums to, if that is the same for all and nothing is below zero.
    sample : array of shape (n', m)
        Complete rows: all, or some that were drawn at random.
    """

    negative: IntArray
    zero: IntArray
    whole: Whole | None
    sample: Array

    @classmethod
    def of(cls, rows: Rows, seed: int, *, with_holes: bool = False) -> Table:
        """One look at all rows; of incomplete ones, negative values and zeros count ``with_holes`` only."""
        negative, zero = (np.zeros(rows.n_columns, dtype=np.intp) for _ in range(2))
        low, high, complete = np.inf, -np.inf, []
        for _, piece in rows.each(partial(_look, with_holes=with_holes)):
            negative, zero = negative + piece[0], zero + piece[1]
            low, high = min(low, piece[2]), max(high, piece[3])
            complete.append(piece[4])
        usable = np.flatnonzero(np.concatenate(complete))
        if usable.size > _MOST_ROWS:
            usable = np.sort(np.random.default_rng(seed).choice(usable, size=_MOST_ROWS, replace=False))
        positive = rows.n_columns > 2 and not negative.any() and 0 < low <= high < np.inf
        sample = rows.take(usable)
        return cls(negative, zero, Whole.of(low, high, sample) if positive else None, sample)

    @property
    def is_real(self) -> bool:
        """Whether something is below zero."""
        return bool(self.negative.any())

    @cached_property
    def lonely(self) -> BoolArray:
        """Columns without two different values above zero, all that a family on [0, inf) sees of them."""
        least = self.sample.min(axis=0, initial=np.inf, where=self.sample > 0)
        return np.asarray(least >= self.sample.max(axis=0, initial=0.0))


def _look(rows: Array, *, with_holes: bool) -> tuple[IntArray, IntArray, float, float, BoolArray]:
    complete = np.asarray(np.isfinite(rows).all(axis=1))
    with np.errstate(over="ignore"):
        sums = rows[complete].sum(axis=1)
    seen = rows if with_holes else rows[complete]
    negative, zero = np.count_nonzero(seen < 0, axis=0), np.count_nonzero(seen == 0, axis=0)
    return negative, zero, float(sums.min(initial=np.inf)), float(sums.max(initial=-np.inf)), complete


def remarks_on_columns(X: Array, names: list[str]) -> list[Remark]:
    """Cautions about columns, shape (n, m), that are not measurements: two values, a few, or small counts."""
    if len(X) < _FEWEST_ROWS:
        return []
    kinds: dict[str, list[str]] = {}
    for name, column in zip(names, X.T, strict=True):
        kind = _kind(column)
        if kind:
            kinds.setdefault(kind, []).append(name)
    remarks = []
    for kind, which in kinds.items():
        who = f"Column {quoted(which)} holds" if len(which) == 1 else f"Columns {quoted(which)} hold"
        it = "it" if len(which) == 1 else "they"
        words = Words(
            f"{who} {kind}, while the families here are for measurements: {it} stay{'s' if it == 'it' else ''} in, but "
            f"read {'its' if it == 'it' else 'their'} edges as rough, or leave {'it' if it == 'it' else 'them'} out."
        )
        remarks.append(Remark(words, UserWarning, About.COLUMNS))
    return remarks


def _kind(column: Array) -> str:
    """What a column is, if it is not a measurement."""
    values, counts = np.unique(column, return_counts=True)
    if values.size <= 2:
        return "only two values"
    if 2 * counts.max() > column.size:
        return "one value in more than half of the rows"
    if (values != np.round(values)).any():
        return ""
    if values.size <= _FEW_VALUES and values[-1] - values[0] <= 2 * _FEW_VALUES:
        return "a few whole numbers only, as on a scale of answers"
    if values[0] >= 0 and np.median(column) <= _SMALL_COUNT:
        return "small counts"
    return ""
