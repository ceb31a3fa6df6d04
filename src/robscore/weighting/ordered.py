"""Quantiles of values in ascending order, the last of which may be infinite."""

from __future__ import annotations

import numpy as np

from robscore._tools.typing import Array


def quantile(ordered: Array, q: float) -> float:
    """Of values in ascending order, shape (n,), by linear interpolation."""
    return value_at(ordered, q * (ordered.size - 1))


def quantiles(ordered: Array, q: Array | float) -> Array:
    """One of every row, shape (k,), of values of shape (k, n) in ascending order; q is one for all, or (k,)."""
    below = np.asarray(np.clip(q * (ordered.shape[1] - 1), 0.0, ordered.shape[1] - 1.0))
    first, rows = below.astype(np.intp), np.arange(len(ordered))
    low, high = ordered[rows, first], ordered[rows, np.minimum(first + 1, ordered.shape[1] - 1)]
    with np.errstate(invalid="ignore"):
        between = low + (below - first) * (high - low)
    return np.where((below == first) | (low == high), low, between)


def value_at(ordered: Array, below: float) -> float:
    """The value that so many of those in ascending order, shape (n,), lie below, by linear interpolation."""
    below = min(max(below, 0.0), ordered.size - 1.0)
    first = int(below)
    low, high = float(ordered[first]), float(ordered[min(first + 1, ordered.size - 1)])
    return low if below == first or low == high else low + (below - first) * (high - low)


def count_below(ordered: Array, value: float) -> float:
    """How many of the values in ascending order, shape (n,), lie below one: the inverse of :func:`value_at`."""
    first = int(np.searchsorted(ordered, value, side="right")) - 1
    if first < 0:
        return 0.0
    low, high = float(ordered[first]), float(ordered[min(first + 1, ordered.size - 1)])
    return first + (value - low) / (high - low) if low < high < np.inf else float(first)
