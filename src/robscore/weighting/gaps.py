"""Gaps near which rows are cut off: where values that lie apart from all others begin.

Cut within a gap, the same rows go whatever the last digits of the share that is to go. Nothing here jumps: a gap that
is hardly one counts in part, and the further it is from that share, the wider it must be.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robscore._tools.typing import Array
from robscore.weighting.ordered import quantile

_APART = 0.15  # how wide a gap must be, relative to the distance of its start from the median
_HARDLY, _CLEARLY = 0.6, 1.0  # times that: where a gap begins to count, and where it counts in full
_AT_THE_SHARE = 0.4  # of the way to where no gap counts, on a logarithmic scale: up to here any is as good
_WIDEST = 6  # power of their width by which several gaps are averaged, so that none takes over by a jump
_MOST = 0.45  # share of the values that may lie above a gap
_ROWS = 1.5  # of a few rows that are to go, so many more or fewer may go


class Gap(NamedTuple):
    """The widest gap near a share, for its place; an average where several are about as wide.

    Attributes
    ----------
    below, above : its ends; the upper one may be infinite
    clear : from 0, no gap to speak of, to 1
    """

    below: float
    above: float
    clear: float

    @property
    def middle(self) -> float:
        """Of the gap, or its start where it has no end."""
        return (self.below + self.above) / 2 if np.isfinite(self.above) else self.below


def gap_near(ordered: Array, share: float, near: float) -> Gap:
    """The gap above which about that share of the values lie.

    Parameters
    ----------
    ordered : array of shape (n,)
        In ascending order; the last ones may be infinite.
    share : float
        At least half a value.
    near : float
        By which factor more or fewer values may lie above it.
    """
    n, expected = ordered.size, share * ordered.size
    near = max(near, 1 + _ROWS / expected)
    most = max(min(int(np.ceil(expected * near)), int(_MOST * n)), 1)
    counts = np.arange(min(max(int(expected / near), 1), most), most + 1)
    closeness = np.clip((1 - np.abs(np.log(counts / expected)) / np.log(near)) / (1 - _AT_THE_SHARE), 0.0, 1.0)
    middle, usual = quantile(ordered, 0.5), quantile(ordered, 0.75)
    below, above = ordered[n - counts - 1], ordered[n - counts]
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        width = (above - below) / np.maximum(below - middle, usual - middle)
        clear = np.nan_to_num(width * closeness / _APART, nan=0.0, posinf=np.inf)
    k = int(np.argmax(clear))
    if np.isinf(clear[k]):
        return Gap(float(below[k]), float(above[k]), 1.0)
    counted = _smooth((clear - _HARDLY) / (_CLEARLY - _HARDLY))
    some = counted > 0
    if not some.any():
        return Gap(float(below[k]), float(above[k]), 0.0)
    ends = np.average([below[some], above[some]], axis=1, weights=(counted * (clear / clear[k]) ** _WIDEST)[some])
    return Gap(float(ends[0]), float(ends[1]), float(counted[k]))


def blended(without: float, within: float, clear: float) -> float:
    """From what holds without a gap to what holds with one, as clearly as there is one."""
    if not np.isfinite(without) or clear in (0.0, 1.0):
        return within if clear > 0.5 else without
    return without + clear * (within - without)


def _smooth(t: Array) -> Array:
    t = np.clip(t, 0.0, 1.0)
    return np.asarray(t * t * (3 - 2 * t))
