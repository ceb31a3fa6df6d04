"""Which faults wrong cells of a column have in common: a factor, by a unit or decimal point, or a stuck sensor."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robscore._tools.deviations import MAD
from robscore._tools.typing import Array, BoolArray, IntArray

# These decide words alone, no figure of a fit. Moved decimal points, and units of length, speed, force and time.
_FACTORS = (10.0, 100.0, 1000.0, 25.4, 2.54, 3.6, 1.609344, 0.3048**-1, 4.44822, 12.0, 60.0, 24.0)
_FEWEST = 5  # cells that have a factor in common
_CERTAIN = 3.0  # standard errors of the log of that factor, within which a unit must lie; by which cells must follow it
_ROUGH = 0.05  # added to these: expected values of cells are not known better
_ERROR = 1.2533  # the standard error of a median of normal numbers over that of their mean


class CommonFactor(NamedTuple):
    """A factor by which ``n_cells`` wrong cells of a column are too large (``above``), or too small."""

    column: int
    n_cells: int
    factor: float
    above: bool


class StuckRun(NamedTuple):
    """A run of equal values of a column, one after the other."""

    column: int
    start: int
    length: int
    value: float


def common_factors(values: Array, expected: Array, columns: IntArray) -> list[CommonFactor]:
    """Find the factors that wrong cells have in common, given their values, expected values and columns, shape (k,).

    Cells with a factor c in common follow their expected values, log x_i = log c + log e_i + noise: a slope of 1.
    Cells that are only far away, such as one code or a shift, do not, and may be 12 times too large by chance.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.cells.common_faults import common_factors
    >>> expected = np.array([1.0, 2.0, 3.0, 1.5, 2.5, 2.0])
    >>> common_factors(25.4 * expected * [1.05, 0.9, 1.1, 1.0, 0.95, 1.0], expected, np.zeros(6, dtype=int))
    [CommonFactor(column=0, n_cells=6, factor=25.4, above=True)]
    """
    found = []
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(values / expected)
    for j in np.unique(columns).tolist():
        here = (columns == j) & np.isfinite(logs)
        above = bool(np.median(logs[here]) > 0) if here.any() else True
        here &= (logs > 0) == above
        ratios, base = logs[here], np.log(np.abs(expected[here]))
        if ratios.size < _FEWEST or not _follow(base + ratios, base):
            continue
        middle = float(np.median(ratios))
        error = _ERROR * MAD * float(np.median(np.abs(ratios - middle))) / np.sqrt(ratios.size)
        factor = min(_FACTORS, key=lambda one: abs(np.log(one) - abs(middle)))
        if abs(np.log(factor) - abs(middle)) <= _CERTAIN * error + _ROUGH:
            found.append(CommonFactor(j, int(ratios.size), round(factor, 4), above))
    return found


def _follow(logs: Array, base: Array) -> bool:
    """Whether logs of values follow those of their expected values, shape (k,): a slope clearly above zero, near one.

    It must be nearer to one than to about 1 / c, the slope of cells that have an amount in common, not a factor c.
    """
    x, y = base - base.mean(), logs - logs.mean()
    spread = float(x @ x)
    if spread == 0:
        return False
    slope = float(x @ y) / spread
    error = float(np.sqrt(((y - slope * x) ** 2).sum() / (y.size - 2) / spread))
    added = np.exp(-np.median(logs - base))
    return bool(abs(slope - 1) < min(0.5, abs(added - 1) / 2) and slope > _CERTAIN * error)


def stuck_runs(X: Array, chance: float) -> list[StuckRun]:
    """Find the longest run of equal values of every column of X, shape (n, m), where it is too long for that chance.

    So long a run of the most frequent of the other values must be less likely, wherever it begins.

    A column that the rows are sorted or grouped by has no such run: there other values come in runs too.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.cells import stuck_runs
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> X[40:60, 1] = 3.5
    >>> stuck_runs(X, 1e-4)
    [StuckRun(column=1, start=40, length=20, value=3.5)]
    """
    found = []
    for j, column in enumerate(X.T):
        starts = np.flatnonzero(np.append(True, column[1:] != column[:-1]))
        lengths = np.diff(np.append(starts, column.size))
        start, length = int(starts[lengths.argmax()]), int(lengths.max())
        value, others = float(column[start]), _without(column, start, length)
        if _is_in_order(column[~np.isnan(column)], value):
            continue
        share = np.unique(others, return_counts=True)[1].max(initial=0) / max(others.size, 1)
        if column.size * share ** (length - 1) < chance:
            found.append(StuckRun(j, start, length, value))
    return found


def _without(column: Array, start: int, length: int) -> Array:
    """The other values of a column."""
    others = np.delete(column, slice(start, start + length))
    return np.asarray(others[~np.isnan(others)])


def _is_in_order(column: Array, stuck: float) -> bool:
    """Whether rows are sorted or grouped by a column: half of its other values come in runs, of two on average."""
    steps = np.diff(column)
    if (steps >= 0).all() or (steps <= 0).all():
        return True
    values, counts = np.unique(column, return_counts=True)
    _, runs = np.unique(column[np.append(True, steps != 0)], return_counts=True)
    return bool(np.mean((counts >= 2 * runs)[values != stuck]) >= 0.5)


def stuck_cells(X: Array, chance: float) -> BoolArray:
    """Mark cells of X, shape (n, m), that repeat the value before them in a run of a stuck sensor.

    The column must have that value nowhere else: so zeros of dry days, rounded values and sorted columns are not
    marked.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.cells import stuck_cells
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> X[40:60, 1] = 3.5
    >>> stuck_cells(X, 1e-4).sum(axis=0)
    array([ 0, 19])
    """
    stuck = np.zeros(X.shape, dtype=bool)
    for j, start, length, value in stuck_runs(X, chance):
        stuck[start + 1 : start + length, j] = value not in _without(X[:, j], start, length)
    return stuck
