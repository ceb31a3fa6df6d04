"""The distribution of a column of which some cells are only known to lie between limits."""

from __future__ import annotations

import numpy as np

from robscore._tools.typing import Array

_MOST_STEPS, _SETTLED = 500, 1e-6  # of shares that are found in turn: a guard of time, and of rounding


def values_beyond(lower: Array, upper: Array) -> Array:
    """For cells between limits, shape (k,) each, values that they may have and no observed cell has.

    These are next to the limits: below an upper one, or above a lower one where there is no upper one.
    """
    below = np.nextafter(np.unique(upper[np.isfinite(upper)]), -np.inf)
    above = np.nextafter(np.unique(lower[np.isfinite(lower) & ~np.isfinite(upper)]), np.inf)
    return np.append(below, above)


def self_consistent(share: Array, values: Array, limits: tuple[Array, Array], weights: Array) -> Array:
    """The share of every value, shape (k,), with cells between limits shared out among the values that they may have.

    Each cell counts for these in the proportions that the shares have themselves, found in turn.

    Parameters
    ----------
    share : array of shape (k,)
        Weights of the cells that have a value.
    values : array of shape (k,), ascending
    limits : two arrays of shape (c,)
    weights : array of shape (c,)

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.families.censored_margin import self_consistent
    >>> values, below_three = np.array([1.0, 2.0, 4.0]), (np.array([-np.inf]), np.array([3.0]))
    >>> self_consistent(np.array([1.0, 3.0, 5.0]), values, below_three, np.array([4.0])).round(3).tolist()
    [2.0, 6.0, 5.0]
    """
    ends, which = np.unique(np.stack(limits), axis=1, return_inverse=True)
    counts = np.bincount(which.ravel(), weights)
    first, end = np.searchsorted(values, ends[0], side="right"), np.searchsorted(values, ends[1])
    limited = np.isfinite(ends).any(axis=0) & (first < end)
    counts, first, end = counts[limited], first[limited], end[limited]
    found = share + (share == 0) * counts.sum() / max(values.size, 1)
    for _ in range(_MOST_STEPS):
        below = np.append(0.0, np.cumsum(found))
        each = counts / np.maximum(below[end] - below[first], np.finfo(float).tiny)
        step = np.bincount(first, each, values.size + 1) - np.bincount(end, each, values.size + 1)
        before, found = found, share + found * np.cumsum(step)[:-1]
        if np.abs(found - before).sum() <= _SETTLED * found.sum():
            break
    return found
