"""Columns that are an exact linear function of one other: the same in another unit, or what is left of a total."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from robscore._tools.messages import first_few, quoted, shown
from robscore._tools.numbers import last_digit, roundest
from robscore._tools.typing import Array, BoolArray

_NEAR = 1e-4  # how far the correlation of such columns may be from 1, or -1, where they are rounded
_OFF = 1e-4  # of the spread of a column: how far any of its values may be off, rounded or not
_COARSE = 0.05  # of the spread: rounding beyond which columns say different things
_FEWEST_PAIRS = 10  # rows in which both are there
_PRODUCTS = 1e9  # of two cells, that are computed to find pairs
_FEWEST_ROWS = 100  # that are looked at for that
_AT_ONCE = 256  # columns


@dataclass(frozen=True)
class LinearFunction:
    """y = start + slope x, with x the column at position ``other``."""

    other: int
    start: float
    slope: float

    def describe(self, name: str) -> str:
        """What y is, by the name of x.

        Examples
        --------
        >>> LinearFunction(0, 24.0, -1.0).describe("sleep"), LinearFunction(0, 0.0, 0.1).describe("mm")
        ("24 - 'sleep'", "'mm' / 10")
        """
        x, size = shown(name), abs(self.slope)
        times = "" if size == 1 else f"{size:.6g} times "
        if self.start and self.slope > 0 and not times:
            return f"{x} {'+' if self.start > 0 else '-'} {abs(self.start):.6g}"
        if self.start:
            return f"{self.start:.6g} {'+' if self.slope > 0 else '-'} {times}{x}"
        if self.slope > 0 and not times:
            return f"{x} where both are there"
        if 0 < self.slope < 1 and abs(1 / size - round(1 / size)) < 1e-9:
            return f"{x} / {round(1 / size)}"
        return f"{self.slope:.6g} times {x}"


def linear_columns(values: dict[int, Array]) -> dict[int, LinearFunction]:
    """Columns that are an exact linear function of another that stays: of the one with more values, or the earlier."""
    order = sorted(values, key=lambda k: (int(np.isnan(values[k]).sum()), k))
    found: dict[int, LinearFunction] = {}
    for j, near in _nearly_linear([values[k] for k in order]):
        stay = (order[i] for i in np.flatnonzero(near[:j]) if order[i] not in found)
        lines = (_line(values[k], values[order[j]], k) for k in stay)
        if line := next(filter(None, lines), None):
            found[order[j]] = line
    return dict(sorted(found.items()))


def _nearly_linear(columns: list[Array]) -> Iterator[tuple[int, BoolArray]]:
    """Every column, by its position, with the columns that correlate with it nearly perfectly, shape (m,) each.

    Correlations over the rows in which both are there: with w = 1 where a cell is there, z the values and 0 elsewhere,
    n = w'w, and C = z'z - (z'w)(w'z) / n over the root of V = (z^2)'w - (z'w)^2 / n of both.
    """
    m = len(columns)
    n_rows = min(columns[0].size, max(_FEWEST_ROWS, int(_PRODUCTS / m**2))) if columns else 0
    some = np.linspace(0, columns[0].size - 1, n_rows).astype(np.intp) if columns else 0
    X = np.column_stack([column[some] for column in columns]) if columns else np.zeros((0, 0))
    there = np.isfinite(X)
    count = np.maximum(there.sum(axis=0), 1)
    with np.errstate(all="ignore"):
        z = np.where(there, X, 0.0)
        z = np.where(there, z - z.sum(axis=0) / count, 0.0)
        z = z / np.sqrt((z**2).sum(axis=0) / count)
        w, z = there.astype(float), np.where(np.isfinite(z), z, 0.0)
        for first in range(0, m, _AT_ONCE):
            own = slice(first, first + _AT_ONCE)
            n, sums, other_sums = w[:, own].T @ w, z[:, own].T @ w, w[:, own].T @ z
            spread = (z[:, own] ** 2).T @ w - sums**2 / n
            other_spread = w[:, own].T @ z**2 - other_sums**2 / n
            product = z[:, own].T @ z - sums * other_sums / n
            near = (product**2 >= (1 - _NEAR) ** 2 * spread * other_spread) & (n >= _FEWEST_PAIRS) & (product != 0)
            yield from enumerate(near, start=first)


def _line(x: Array, y: Array, other: int) -> LinearFunction | None:
    """The line with the fewest digits that all of y lies on, through zero if one is; None where there is none.

    Up to the rounding of both: |y - start - slope x| is at most half a unit of the last digit of y, and of slope x.
    """
    both = np.isfinite(x) & np.isfinite(y)
    x, y = x[both], y[both]
    if x.size < _FEWEST_PAIRS or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    with np.errstate(all="ignore"):
        correlation = float(np.corrcoef(x, y)[0, 1])
        slope = float(np.sign(correlation) * y.std() / x.std())
        spread = float(np.subtract(*np.quantile(y, [0.75, 0.25]))) or float(y.std())
        rounding = (last_digit(y) + abs(slope) * last_digit(x)) / 2
        if not (abs(correlation) >= 1 - _NEAR and rounding <= _COARSE * spread):
            return None
        allowed = max((1 + _NEAR) * rounding, _OFF * spread)
        lines = [
            line for digits in range(17) if (line := _of_slope(float(f"{slope:.{digits}e}"), x, y, other, allowed))
        ]
    return next((line for line in lines if not line.start), lines[0] if lines else None)


def _of_slope(slope: float, x: Array, y: Array, other: int, allowed: float) -> LinearFunction | None:
    """The line of this slope that no y is farther from than is allowed, with the fewest digits; or None."""
    starts = y - slope * x
    least, most = float(starts.max()) - allowed, float(starts.min()) + allowed
    return LinearFunction(other, roundest(least, most), slope) if least <= most else None


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


def informative_columns(
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
