"""What is usual in a column of numbers: medians, median absolute deviations, and what stands out by them."""

from __future__ import annotations

import numpy as np

from robscore._tools.typing import Array, BoolArray

MAD = 1.482602218505602  # makes the median absolute deviation a standard deviation for Gaussians
_LIMIT = 4.0  # deviations above the median, from which on a value stands out


def largest_usual(values: Array, frequency: Array | None = None) -> float:
    """Return the median of the values, shape (n,), plus 4 times 1.4826 median absolute deviations."""
    middle = median(values, frequency)
    if not np.isfinite(middle):
        return np.inf  # if most values are infinite, none stands out
    finite = np.isfinite(values)
    deviation = MAD * median(np.abs(values[finite] - middle), None if frequency is None else frequency[finite])
    return float(middle + _LIMIT * deviation)


def stands_out(values: Array, frequency: Array | None = None) -> BoolArray:
    """Return which values, shape (n,), are above their median by more than 4 times 1.4826 absolute deviations."""
    return values > largest_usual(values, frequency)


def median(values: Array, frequency: Array | None = None) -> float:
    """Return the median of values, shape (n,), each repeated as often as its frequency says; once by default.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore._tools.deviations import median
    >>> median(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 4.0]))
    2.0
    """
    if frequency is None:
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(frequency[order])
    rank = 0.5 * (reached[-1] - 1)  # of the middle among all repetitions, counted from 0
    at = np.searchsorted(reached, [np.floor(rank), np.ceil(rank)], side="right")
    low, high = values[order[np.minimum(at, values.size - 1)]]
    return float(low if low == high else (low + high) / 2)
