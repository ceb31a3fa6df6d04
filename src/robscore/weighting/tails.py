"""How many rows are larger than the fit allows: step 5 of the row rule, for one quantity at a time.

The quantity is a distance, a residual or a surprise. With F0(c) the share of good rows below c (simulated from the
fit, N of them) and Fn(c) the share of the n rows of the data, the share of bad rows is estimated as

    share = max_c  s(z(c)) [ 1 - Fn(c)  -  purity (1 - F0(c))  -  margin se(c) ],     z(c) = (F0(c) - Fn(c)) / se(c)

over the c in the tail, with se(c) = sqrt(F0 (1 - F0) (1/n + 1/N)) + 1/(2n), and s rising smoothly from 0 to 1 between
two values of z, so that an excess counts in part before it counts in full.

No model is exactly true. So the simulated values are first shifted and stretched until two quantiles of their bulk are
those of the good rows in the data; only the tails are compared. Where there is a gap in the data near that share, the
cut is put into the gap: then the same rows are left out whatever the last digits of the share. Nothing here jumps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from robscore._tools.deviations import largest_usual
from robscore._tools.typing import Array

LARGEST_SHARE = 0.45  # of the rows that may be found too large: the bulk must be good
_FEW = 0.5  # over n: far out, counts are not normal, and the standard error must not vanish
_SNAP = 1.1  # by what factor more or fewer rows may be left out than the share says, for the sake of a gap
_NO_ROW = 0.5  # rows: an excess of less is none; up to a whole row the cut moves towards where that row is left out
_TAIL, _FEWEST_IN_TAIL = 50, 20  # one simulated value in so many is in its tail, and at least so many


@dataclass(frozen=True)
class TailCriteria:
    """When rows are called too large.

    Attributes
    ----------
    bulk : (float, float)
        Quantiles in which simulated rows and data are made to agree.
    leeway : float
        Over the root of n: how much wider than measured the bulk may be.
    lowest : float
        Quantile of the simulated rows from which on an excess is looked for.
    errors : (float, float)
        Standard errors z from which on an excess counts in part, and in full.
    purity : float
        How many rows must be out there for every good one that is expected.
    margin : float
        Standard errors that are taken off the share, since the largest of many excesses is too large by chance.
    alone : float
        Expected number of good rows beyond the point from which on a single row is bad.
    steps : int
        How many times the bulk of the good rows is found anew, as the share of bad ones becomes known. Few: where that
        does not settle, the last digits would decide where it does.
    """

    bulk: tuple[float, float] = (0.1, 0.6)
    leeway: float = 1.0
    lowest: float = 0.9
    errors: tuple[float, float] = (3.5, 5.0)
    purity: float = 1.5
    margin: float = 1.5
    alone: float = 0.003
    steps: int = 5


@dataclass(frozen=True)
class Tail:
    """The part of the data beyond the simulated values.

    Attributes
    ----------
    share : float
        Share of the rows that are too large, beyond chance.
    limit : float
        A value that hardly ever one good row exceeds.
    cut : float
        The value above which about that share of the rows lie, most of them bad; or the limit.
    apart : float
        How clearly, from 0 to 1, there is a wide gap, so that these rows are more than a tail.
    """

    share: float
    limit: float
    cut: float
    apart: float = 0.0

    @classmethod
    def of(cls, values: Array, simulated: Array | None, criteria: TailCriteria) -> Tail:
        """Compare all rows, shape (n,), with simulated ones, shape (N,); without these, see what stands out."""
        if simulated is None:
            return cls.standing_out(values)
        return cls.of_each(np.sort(values)[None], np.sort(simulated)[None], criteria)[0]

    @classmethod
    def of_each(cls, values: Array, simulated: Array, criteria: TailCriteria) -> list[Tail]:
        """Compare k quantities at once: values and simulated ones of shapes (k, n) and (k, N), rows ascending."""
        n, drawn = values.shape[1], _Simulated.of(simulated, criteria)
        share = np.zeros(len(values))
        agreeing = drawn.matched(values, share, criteria)
        for _ in range(criteria.steps):
            last, share = share, np.minimum(_excess(values, agreeing, criteria), LARGEST_SHARE)
            if (share == last).all():
                break
            agreeing = drawn.matched(values, share, criteria)
        limits = agreeing.limits(n, criteria)
        return [cls._cut(*each) for each in zip(values, share.tolist(), limits.tolist(), strict=True)]

    @classmethod
    def _cut(cls, values: Array, share: float, limit: float) -> Tail:
        """Cut off that share of the values; if it is less than a row, only those beyond the limit."""
        n = values.size
        if share * n < _NO_ROW:
            return cls(share, limit, limit)
        gap = gap_near(values, share, _SNAP)
        at = blended(quantile(values, 1 - share), gap.middle, gap.clear)
        surely = min((share * n - _NO_ROW) / (1 - _NO_ROW), 1.0)
        cut = limit + surely * (min(at, limit) - limit) if np.isfinite(limit) else at
        return cls(share, limit, cut, gap.clear)

    @classmethod
    def standing_out(cls, values: Array) -> Tail:
        """Cut where values stand out of the others by the median deviation."""
        limit = largest_usual_surprise(values)
        return cls(float(np.mean(values > limit)), limit, limit)


@dataclass(frozen=True)
class _Simulated:
    """Two quantiles of the bulk of simulated values of k quantities, and their tail.

    Attributes
    ----------
    low, high : arrays of shape (k,)
        The quantiles.
    tail : array of shape (k, t), rows in ascending order
        The values from the lowest quantile on from which an excess is looked for.
    size : int
        N, how many there are in all.
    """

    low: Array
    high: Array
    tail: Array
    size: int

    @classmethod
    def of(cls, simulated: Array, criteria: TailCriteria) -> _Simulated:
        N = simulated.shape[1]
        low, high = (quantiles(simulated, q) for q in criteria.bulk)
        return cls(low, high, simulated[:, max(int(np.ceil(criteria.lowest * N)) - 1, 0) :], N)

    def matched(self, values: Array, share: Array, criteria: TailCriteria) -> _Simulated:
        """Shift and stretch to the two quantiles that the good ones among the values have, if a share is bad."""
        at_low, at_high = (quantiles(values, (1 - share) * q) for q in criteria.bulk)
        with np.errstate(invalid="ignore", over="ignore"):
            spread = np.maximum(self.high - self.low, np.finfo(float).tiny)
            stretch = (at_high - at_low) / spread * (1 + criteria.leeway / np.sqrt(values.shape[1]))
            tail = at_high[:, None] + (self.tail - self.high[:, None]) * stretch[:, None]
        tail[np.isnan(tail)] = np.inf  # infinitely far, and not stretched at all
        return _Simulated(at_low, at_high, tail, self.size)

    def limits(self, n_rows: int, criteria: TailCriteria) -> Array:
        """Extrapolate to values that hardly ever one of n good rows exceeds, shape (k,), by exponential tails."""
        count = min(max(self.size // _TAIL, _FEWEST_IN_TAIL), self.tail.shape[1] - 1)
        threshold = self.tail[:, -count - 1]
        with np.errstate(invalid="ignore"):
            mean = (self.tail[:, -count:] - threshold[:, None]).mean(axis=1) if count else 0.0
            limit = threshold + mean * max(np.log(n_rows * max(count, 1) / self.size / criteria.alone), 0.0)
        return np.where(np.isfinite(self.tail[:, -1]), limit, np.inf)


def matched(simulated: Array, values: Array, share: float, criteria: TailCriteria) -> Array:
    """Shift and stretch simulated values to agree with the bulk of the good rows; all in ascending order."""
    whole = replace(criteria, lowest=0.0)
    return np.asarray(_Simulated.of(simulated[None], whole).matched(values[None], np.array([share]), whole).tail[0])


def _excess(values: Array, drawn: _Simulated, criteria: TailCriteria) -> Array:
    """The share of values, shape (k, n), that are too large, by the formula in the module's head; shape (k,)."""
    (k, n), N = values.shape, drawn.size
    first = np.array(
        [np.searchsorted(own, least, side="right") for own, least in zip(values, drawn.tail[:, 0], strict=True)]
    )
    start = int(first.min())
    if start == n:
        return np.zeros(k)
    below = [np.searchsorted(*pair, side="left") for pair in zip(drawn.tail, values[:, start:], strict=True)]
    expected = (N - drawn.tail.shape[1] + np.array(below)) / N
    observed = np.arange(start, n) / n
    at_most = np.minimum(expected, 1 - 1 / N)
    error = np.sqrt(at_most * (1 - at_most) * (1 / n + 1 / N)) + _FEW / n
    low, high = criteria.errors
    t = np.clip(((expected - observed) / error - low) / (high - low), 0.0, 1.0)
    shares = (1 - observed) - criteria.purity * (1 - expected) - criteria.margin * error
    in_tail = np.arange(start, n) >= first[:, None]
    return np.asarray((shares * t * t * (3 - 2 * t)).max(axis=1, initial=0.0, where=in_tail))


def largest_usual_surprise(surprise: Array) -> float:
    """The largest value that does not stand out by the median deviation.

    Looked at is the cube root of the excess over the least value: for chi squared numbers it is nearly normal.
    """
    least = surprise.min()
    return float(least + largest_usual(np.cbrt(surprise - least)) ** 3)


# Gaps. A gap that is hardly one counts in part, and the further it is from the share, the wider it must be.

_APART = 0.15  # how wide a gap must be, relative to the distance of its start from the median
_HARDLY, _CLEARLY = 0.6, 1.0  # times that: where a gap begins to count, and where it counts in full
_AT_THE_SHARE = 0.4  # of the way to where no gap counts, on a logarithmic scale: up to here any is as good
_WIDEST = 6  # power of their width by which several gaps are averaged, so that none takes over by a jump
_MOST = 0.45  # share of the values that may lie above a gap
_ROWS = 1.5  # of a few rows that are to be left out, so many more or fewer may be


class Gap(NamedTuple):
    """The widest gap near a share, for its place; an average where several are about as wide.

    Attributes
    ----------
    below, above : float
        Its ends; the upper one may be infinite.
    clear : float
        From 0, no gap to speak of, to 1.
    """

    below: float
    above: float
    clear: float

    @property
    def middle(self) -> float:
        """The middle of the gap, or its start where it has no end."""
        return (self.below + self.above) / 2 if np.isfinite(self.above) else self.below


def gap_near(ordered: Array, share: float, near: float) -> Gap:
    """Find the gap above which about that share of the values lie.

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
    t = np.clip((clear - _HARDLY) / (_CLEARLY - _HARDLY), 0.0, 1.0)
    counted = t * t * (3 - 2 * t)
    some = counted > 0
    if np.isinf(clear[k]) or not some.any():
        return Gap(float(below[k]), float(above[k]), float(np.isinf(clear[k])))
    ends = np.average([below[some], above[some]], axis=1, weights=(counted * (clear / clear[k]) ** _WIDEST)[some])
    return Gap(float(ends[0]), float(ends[1]), float(counted[k]))


def blended(without: float, within: float, clear: float) -> float:
    """Go from the value without a gap to the one with a gap, as far as there is one clearly."""
    if not np.isfinite(without) or clear in (0.0, 1.0):
        return within if clear > 0.5 else without
    return without + clear * (within - without)


# Quantiles of values in ascending order, the last of which may be infinite: NumPy's would be NaN beside infinity.


def quantile(ordered: Array, q: float) -> float:
    """Interpolate linearly in values in ascending order, shape (n,)."""
    return value_at(ordered, q * (ordered.size - 1))


def quantiles(ordered: Array, q: Array | float) -> Array:
    """Take one quantile of every row, shape (k,), of ascending values of shape (k, n); q is one for all, or (k,)."""
    below = np.asarray(np.clip(q * (ordered.shape[1] - 1), 0.0, ordered.shape[1] - 1.0))
    first, rows = below.astype(np.intp), np.arange(len(ordered))
    low, high = ordered[rows, first], ordered[rows, np.minimum(first + 1, ordered.shape[1] - 1)]
    with np.errstate(invalid="ignore"):
        between = low + (below - first) * (high - low)
    return np.where((below == first) | (low == high), low, between)


def value_at(ordered: Array, below: float) -> float:
    """Find the value that so many of those in ascending order, shape (n,), lie below, by linear interpolation."""
    below = min(max(below, 0.0), ordered.size - 1.0)
    first = int(below)
    low, high = float(ordered[first]), float(ordered[min(first + 1, ordered.size - 1)])
    return low if below == first or low == high else low + (below - first) * (high - low)


def count_below(ordered: Array, value: float) -> float:
    """Count those of the values in ascending order, shape (n,), that lie below one: the inverse of `value_at`."""
    first = int(np.searchsorted(ordered, value, side="right")) - 1
    if first < 0:
        return 0.0
    low, high = float(ordered[first]), float(ordered[min(first + 1, ordered.size - 1)])
    return first + (value - low) / (high - low) if low < high < np.inf else float(first)
