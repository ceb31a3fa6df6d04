"""Median absolute deviations, and what stands out by them."""

from __future__ import annotations

import numpy as np

from robscore._tools.typing import Array, BoolArray

MAD = 1.482602218505602  # makes the median absolute deviation a standard deviation for Gaussians
_LIMIT = 4.0


def largest_usual(values: Array) -> float:
    """The median of the values, shape (n,), plus 4 times 1.4826 median absolute deviations."""
    middle = np.median(values)
    if not np.isfinite(middle):
        return np.inf  # of values that are mostly infinite none stands out
    deviation = MAD * np.median(np.abs(values[np.isfinite(values)] - middle))
    return float(middle + _LIMIT * deviation)


def stands_out(values: Array) -> BoolArray:
    """Values, shape (n,), above their median by more than 4 times 1.4826 median absolute deviations."""
    return values > largest_usual(values)
