"""What rows hold before any model sees them: zeros, constant sums, codes for missing values, odd columns."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property, partial
from shlex import quote
from typing import NamedTuple

import numpy as np

from robscore._tools.messages import About, Message, Phrase, Remark, Setting, quoted
from robscore._tools.numbers import evenly_spread, last_digit, roundest, whole_counts
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.rows.row_source import Rows

MOST_ROWS = 20_000  # that are looked at for kinds of columns, and by which families are compared: a bound on time
_FEW_VALUES = 10  # different whole numbers, as on a scale of answers
_SMALL_COUNT = 5.0  # median: larger counts are nearly continuous

# Constant sums; all but the last are relative.
_UNROUNDED = 1e-6  # how far sums of rows may be from constant where cells are not rounded
_EXACT = 1e-12  # the rounding of sums of floats
_MOST_ROUNDED = 1e-3  # how far the rounding of cells may move sums
_CLEARLY = 10  # times the slack of the sums: how far at least two columns must vary

# Codes for missing values.
_REPEATED = 3  # times in one of several columns, to be suspected
_FEWEST_OTHERS = 5  # different values, to have a range
_MOST_CODES = 3  # in one column, one beyond the other


@dataclass(frozen=True)
class DataProfile:
    """What all rows are like, as far as it decides which families they admit.

    Attributes
    ----------
    negative, zero : integer arrays of shape (m,)
        How many entries of every column are below zero, and how many are zero: in complete rows, or in all. Those of a
        row of frequency 2 are two.
    constant_sum : ConstantSum or None
        What every row sums to, if that is the same for all and nothing is below zero.
    sample : array of shape (n', m)
        Complete rows, repeated by their frequency: all of them, or some.
    """

    negative: IntArray
    zero: IntArray
    constant_sum: ConstantSum | None
    sample: Array

    @classmethod
    def of(cls, rows: Rows, seed: int, *, with_missing: bool = False) -> DataProfile:
        """Read all rows once; negative values and zeros of incomplete rows are counted only ``with_missing``."""
        negative, zero = (np.zeros(rows.n_columns) for _ in range(2))
        low, high, complete = np.inf, -np.inf, []
        along = () if rows.frequency is None else (rows.frequency,)
        for _, piece in rows.each(partial(_look, with_missing=with_missing), *along):
            negative, zero = negative + piece[0], zero + piece[1]
            low, high = min(low, piece[2]), max(high, piece[3])
            complete.append(piece[4])
        usable = np.flatnonzero(np.concatenate(complete))
        if rows.frequency is not None:
            usable = evenly_spread(usable, MOST_ROWS, rows.frequency[usable])
        elif usable.size > MOST_ROWS:
            usable = np.sort(np.random.default_rng(seed).choice(usable, size=MOST_ROWS, replace=False))
        positive = rows.n_columns > 2 and not negative.any() and 0 < low <= high < np.inf
        sample = rows.take(usable)
        constant_sum = ConstantSum.of(low, high, sample) if positive else None
        return cls(whole_counts(negative), whole_counts(zero), constant_sum, sample)

    @property
    def is_real(self) -> bool:
        """Whether something is below zero."""
        return bool(self.negative.any())

    @property
    def share_of_zeros(self) -> Array:
        """Share of the complete rows that are zero in every column, shape (m,)."""
        return np.asarray(np.mean(self.sample == 0, axis=0))

    @cached_property
    def without_two_values(self) -> BoolArray:
        """Which columns have no two different values above zero, which are all that a family on [0, inf) can use."""
        least = self.sample.min(axis=0, initial=np.inf, where=self.sample > 0)
        return np.asarray(least >= self.sample.max(axis=0, initial=0.0))


def _look(
    rows: Array, frequency: Array | None = None, *, with_missing: bool
) -> tuple[Array, Array, float, float, BoolArray]:
    complete = np.asarray(np.isfinite(rows).all(axis=1))
    with np.errstate(over="ignore"):
        sums = rows[complete].sum(axis=1)
    used = rows if with_missing else rows[complete]
    counts = frequency if with_missing or frequency is None else frequency[complete]
    negative, zero = (
        np.count_nonzero(cells, axis=0) if counts is None else counts @ cells for cells in (used < 0, used == 0)
    )
    return negative, zero, float(sums.min(initial=np.inf)), float(sums.max(initial=-np.inf)), complete


def remarks_on_columns(X: Array, names: list[str]) -> list[Remark]:
    """Caution about columns of X, shape (n, m), that are not measurements: one remark, with a line for every kind."""
    kinds: dict[str, list[str]] = {}
    for name, column in zip(names, X.T, strict=True):
        kind = kind_if_no_measurement(column)
        if kind:
            kinds.setdefault(kind, []).append(name)
    if not kinds:
        return []
    width = max(map(len, kinds))
    table = "".join(f"\n  {kind:<{width}}  {quoted(which)}" for kind, which in kinds.items())
    words = Message(
        "This family is for measurements, and some columns are not: read their links as rough, or take ",
        Setting("family", "copula"),
        ", which is for all of them.",
    )
    return [Remark(words, UserWarning, About.COLUMNS, table)]


def kind_if_no_measurement(column: Array) -> str:
    """Say what a column is, if it is not a measurement; else an empty text."""
    values, counts = np.unique(column, return_counts=True)
    if values.size <= 2:
        return "only two values"
    if 2 * counts.max() > column.size:
        return "one value in more than half of the rows"
    if (values != np.round(values)).any() or 2 * values.size > column.size:
        return ""
    if values.size <= _FEW_VALUES and values[-1] - values[0] <= 2 * _FEW_VALUES:
        return "a few whole numbers only, as on a scale of answers"
    if values[0] >= 0 and np.median(column) <= _SMALL_COUNT:
        return "small counts"
    return ""


@dataclass(frozen=True)
class ConstantSum:
    """The number that every row sums to, exactly or up to the rounding of its cells: rows are parts of a whole.

    Attributes
    ----------
    total : float
    slack : float
        How far the sum of a row may be from the total.
    is_rounded : bool
        Whether the sums differ, as far as the rounding of the cells explains.
    """

    total: float
    slack: float
    is_rounded: bool = False

    @classmethod
    def of(cls, low: float, high: float, sample: Array) -> ConstantSum | None:
        """Find it by the least and the largest sum of all rows, and some rows; None where sums are not constant."""
        if high - low <= _UNROUNDED * high:
            return cls((low + high) / 2, 10 * _UNROUNDED * high)
        if high - low > 2 * _MOST_ROUNDED * high:
            return None
        slack = min(last_digit(sample) * sample.shape[1] / 2, _MOST_ROUNDED * high) + _EXACT * high
        second = np.sort(np.ptp(sample, axis=0))[-2]
        if high - low > 2 * slack or second < _CLEARLY * slack:
            return None
        return cls(roundest(high - slack, low + slack), slack, is_rounded=True)

    @property
    def is_one(self) -> bool:
        """Whether rows sum to one as they are."""
        return not self.is_rounded and abs(self.total - 1) < 1e-9

    @property
    def describe(self) -> str:
        """Describe what rows sum to, and how they are divided so that they sum to one."""
        if self.is_rounded:
            return f"{self.total:.6g} up to rounding, divided by their sums"
        return f"{self.total:.6g}" if self.is_one else f"{self.total:.6g}, divided by it"

    def closed(self, rows: Rows) -> Rows:
        """The same rows, divided so that they sum to one."""
        return rows.mapped(partial(_divided, self))


def _divided(constant_sum: ConstantSum, X: Array) -> Array:
    """Rows divided by their own sums, so that rounding does not add up; those with other sums, by the total."""
    sums = X.sum(axis=1, keepdims=True)
    as_usual = np.abs(sums - constant_sum.total) <= constant_sum.slack
    return np.where(as_usual, X / np.where(as_usual, sums, 1.0), X / constant_sum.total)


class SuspectedCode(NamedTuple):
    """A value of a column that may be a code: how many rows have it, and between which values all others lie."""

    column: int
    value: float
    n_rows: int
    low: float
    high: float


def remarks_on_codes(X: Array, names: list[str], n_rows: int) -> list[Remark]:
    """Caution about values that may be codes in the rows X, shape (n, m), out of ``n_rows``: once for every value."""
    by_value: dict[float, list[SuspectedCode]] = defaultdict(list)
    for code in suspected_codes(X):
        by_value[code.value].append(code)
    looked_at = "" if len(X) == n_rows else f" of the {len(X)} looked at"
    remarks = []
    for value, (first, *more) in by_value.items():
        also = f", and so {'has' if len(more) == 1 else 'have'} {quoted([names[code.column] for code in more])}"
        which = [names[code.column] for code in (first, *more)]
        elsewhere = bool((np.delete(X, [code.column for code in (first, *more)], axis=1) == value).any())
        words = Message(
            f"Column {quoted([names[first.column]])} has the value {value:.15g} in {first.n_rows} "
            f"{'row' if first.n_rows == 1 else 'rows'}{looked_at}, far from all others ({first.low:.6g} to "
            f"{first.high:.6g}){also}: a code for missing values? ",
            Phrase(
                "Replace it by NaN" + (" in these columns" if elsewhere else ""),
                f"Read it as missing with {_options(which if elsewhere else [], value)}",
            ),
            ".",
        )
        remarks.append(Remark(words, UserWarning, About.CODES))
    return remarks


def _options(columns: list[str], value: float) -> str:
    """What reads a value as missing, in all columns or in some."""
    return " ".join(f"--na {quote(f'{name}={value:.15g}')}" for name in columns) or f"--na {value:.15g}"


def suspected_codes(X: Array) -> list[SuspectedCode]:
    """Values of the columns of X, shape (n, m), that lie beyond the range of all others by more than that range.

    Only those that stand apart so in several columns, which are not copies of each other: three times in one of them,
    or in most columns with a value so far away.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.family_choice.data_profile import suspected_codes
    >>> X = np.arange(20.0).reshape(10, 2)
    >>> X[:3, 1] = X[9, 0] = -999
    >>> [(code.column, code.value, code.n_rows) for code in suspected_codes(X)]
    [(0, -999.0, 1), (1, -999.0, 3)]
    """
    X, found = X.copy(), list[SuspectedCode]()
    for _ in range(_MOST_CODES):
        far = _far_ends(X)
        new = [code for code in far if _is_shared(code.value, far)]
        if not new:
            break
        for code in new:
            X[X[:, code.column] == code.value, code.column] = np.nan
        found += new
    return found


def _is_shared(value: float, far: list[SuspectedCode]) -> bool:
    """Whether columns that are no copies of each other have this one: one of them often, or most with a far value."""
    having = [code for code in far if code.value == value]
    is_often = max(code.n_rows for code in having) >= _REPEATED or 2 * len(having) > len(far)
    return is_often and len({(code.low, code.high) for code in having}) > 1


def _far_ends(X: Array) -> list[SuspectedCode]:
    """Least and largest values of columns that are far from all others: all that is on their side of the middle."""
    observed = ~np.isnan(X)
    low, high = X.min(axis=0, initial=np.inf, where=observed), X.max(axis=0, initial=-np.inf, where=observed)
    middle, found = low / 2 + high / 2, []
    for end, side in ((low, middle > X), (high, middle < X)):
        for j in np.flatnonzero((side <= (end == X)).all(axis=0) & (low < high)).tolist():
            others = X[observed[:, j] & (X[:, j] != end[j]), j]
            least, most = float(others.min()), float(others.max())
            distance = max(least - end[j], end[j] - most)
            if distance > most - least and np.unique(others).size >= _FEWEST_OTHERS:
                found.append(SuspectedCode(j, float(end[j]), int(np.count_nonzero(side[:, j])), least, most))
    return found
