"""Which columns of numbers carry information of their own.

Not those that count the rows, are empty or constant, or follow exactly from one other: the same in another unit, or
what is left of a total.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from robscore._tools.messages import first_few, shown
from robscore._tools.numbers import last_digit, roundest
from robscore._tools.typing import Array, BoolArray

_UNNAMED = ("", "Unnamed: 0")  # what pandas' to_csv writes over its index, and what it reads there
_NEAR = 1e-4  # how far the correlation of such columns may be from 1, or -1, where they are rounded
_OFF = 1e-4  # of the spread of a column: how far any of its values may be off, rounded or not
_COARSE = 0.05  # of the spread: rounding beyond which columns say different things
_FEWEST_PAIRS = 10  # rows in which both are observed
_PRODUCTS = 1e9  # guards time only: products of two cells that are computed to find pairs
_FEWEST_ROWS = 100  # that are looked at for that
_AT_ONCE = 256  # guards memory only: columns whose products are computed together


def informative_columns(
    names: Sequence[str], values: dict[int, Array], requested: Collection[str], notes: list[str]
) -> tuple[dict[int, Array], dict[int, str]]:
    """Return the columns that carry information of their own, by position, and why each of the others does not."""
    values, why = dict(values), {}

    def leave_out(kind: str, reasons: dict[int, str], listed: Callable[[int], str]) -> None:
        if reasons:
            notes.append(f"Dropped ({kind}): {first_few([listed(k) for k in reasons])}.")
        for k in reasons:
            del values[k]
        why.update(reasons)

    def named(k: int) -> str:
        return shown(names[k])

    first = values.get(0)
    if first is not None and names[0] in _UNNAMED and names[0] not in requested and _counts(first):
        leave_out("counts the rows", {0: "counts the rows"}, lambda k: shown(names[0] or "column 1"))
    empty = [k for k, column in values.items() if np.isnan(column).all()]
    leave_out("empty", dict.fromkeys(empty, "empty"), named)
    constant = [k for k, column in values.items() if np.nanmin(column) == np.nanmax(column)]
    leave_out("constant", dict.fromkeys(constant, "constant"), named)
    equal = _equal_columns(values)
    reasons = {k: f"same as {named(earlier)}" for k, earlier in equal.items()}
    leave_out("same as another column", reasons, lambda k: f"{named(k)} (equal to {named(equal[k])})")
    linear = {k: line.describe(names[line.other]) for k, line in _linear_columns(values).items()}
    leave_out("determined by another column", linear, lambda k: f"{named(k)} is {linear[k]}")
    return values, why


def _counts(column: Array) -> bool:
    """Return whether a column is 0, 1, 2, ... or 1, 2, 3, ..."""
    return column[0] in (0, 1) and np.array_equal(column, column[0] + np.arange(column.size))


def _equal_columns(values: dict[int, Array]) -> dict[int, int]:
    """Return columns that are the same as an earlier one, and which."""
    first: dict[bytes, int] = {}
    seen = {k: first.setdefault(np.ascontiguousarray(column).tobytes(), k) for k, column in values.items()}
    return {k: earlier for k, earlier in seen.items() if earlier != k}


@dataclass(frozen=True)
class LinearFunction:
    """y = start + slope x, with x the column at position ``other``."""

    other: int
    start: float
    slope: float

    def describe(self, name: str) -> str:
        """Return what y is, by the name of x.

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
            return f"{x} where both are observed"
        if 0 < self.slope < 1 and abs(1 / size - round(1 / size)) < 1e-9:
            return f"{x} / {round(1 / size)}"
        return f"{self.slope:.6g} times {x}"


def _linear_columns(values: dict[int, Array]) -> dict[int, LinearFunction]:
    """Find columns that are an exact linear function of another, which stays: that with more values, or the earlier."""
    order = sorted(values, key=lambda k: (int(np.isnan(values[k]).sum()), k))
    found: dict[int, LinearFunction] = {}
    for j, near in _nearly_linear([values[k] for k in order]):
        stay = (order[i] for i in np.flatnonzero(near[:j]) if order[i] not in found)
        lines = (_line(values[k], values[order[j]], k) for k in stay)
        if line := next(filter(None, lines), None):
            found[order[j]] = line
    return dict(sorted(found.items()))


def _nearly_linear(columns: list[Array]) -> Iterator[tuple[int, BoolArray]]:
    """Yield the position of every column, and which columns correlate with it nearly perfectly, shape (m,).

    Correlations over the rows in which both are observed: with w = 1 where a cell is, z the values and 0 elsewhere,
    n = w'w, and C = z'z - (z'w)(w'z) / n over the root of V = (z^2)'w - (z'w)^2 / n of both.
    """
    m = len(columns)
    if not columns:
        return
    n_rows = min(columns[0].size, max(_FEWEST_ROWS, int(_PRODUCTS / m**2)))
    some = np.linspace(0, columns[0].size - 1, n_rows).astype(np.intp)
    X = np.column_stack([column[some] for column in columns])
    observed = np.isfinite(X)
    count = np.maximum(observed.sum(axis=0), 1)
    with np.errstate(all="ignore"):
        z = np.where(observed, X, 0.0)
        z = np.where(observed, z - z.sum(axis=0) / count, 0.0)
        z = z / np.sqrt((z**2).sum(axis=0) / count)
        w, z = observed.astype(float), np.where(np.isfinite(z), z, 0.0)
        for first in range(0, m, _AT_ONCE):
            own = slice(first, first + _AT_ONCE)
            n, sums, other_sums = w[:, own].T @ w, z[:, own].T @ w, w[:, own].T @ z
            spread = (z[:, own] ** 2).T @ w - sums**2 / n
            other_spread = w[:, own].T @ z**2 - other_sums**2 / n
            product = z[:, own].T @ z - sums * other_sums / n
            near = (product**2 >= (1 - _NEAR) ** 2 * spread * other_spread) & (n >= _FEWEST_PAIRS) & (product != 0)
            yield from enumerate(near, start=first)


def _line(x: Array, y: Array, other: int) -> LinearFunction | None:
    """Return the line with the fewest digits that all of y lies on, through zero if one is; None where there is none.

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
    """Return the line of this slope that no y is farther from than is allowed, with the fewest digits; or None."""
    starts = y - slope * x
    least, most = float(starts.max()) - allowed, float(starts.min()) + allowed
    return LinearFunction(other, roundest(least, most), slope) if least <= most else None
