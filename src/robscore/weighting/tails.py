"""How far the largest values of the data lie beyond those of rows simulated from a fit.

Where a share F0(c) of good rows lies below c, and only a share Fn(c) of the data, too many lie above. No model is
exactly true, so the simulated values are first shifted and scaled to agree with the bulk of the data: only the tails
are compared. All of it is continuous in the data: an excess counts in part before it counts in full.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from robscore._tools.deviations import largest_usual
from robscore._tools.typing import Array

LARGEST_SHARE = 0.45
_FEW = 0.5  # over n: far out, counts are not normal
_SNAP = 1.1  # by what factor more or fewer rows may go than the share says, for the sake of a gap
_NO_ROW = 0.5  # rows: an excess of less is none; up to a whole row the cut moves towards where that row is out
_TAIL, _FEWEST_IN_TAIL = 50, 20  # one simulated value in so many is in its tail, and at least so many


@dataclass(frozen=True)
class Caution:
    """Criteria for calling rows too large.

    Attributes
    ----------
    bulk : quantiles in which simulated rows and data are made to agree
    leeway : over the root of n: how much wider than measured the bulk may be
    lowest : quantile of the simulated rows from which on an excess is looked for
    errors : standard errors from which on an excess counts in part, and in full
    purity : rows out there for every good one that is expected
    margin : standard errors that are taken off the share: the largest of many is too large by chance
    alone : expected number of good rows beyond the point from which on a single row is bad
    steps : how often the bulk of the good rows is found anew, as the share of bad ones becomes known
        A few times: where that has not settled by then, the last digits would decide where it does.
    """

    bulk: tuple[float, float] = (0.1, 0.6)
    leeway: float = 1.0
    lowest: float = 0.9
    errors: tuple[float, float] = (3.5, 5.0)
    purity: float = 1.5
    margin: float = 1.5
    alone: float = 0.003
    steps: int = 5

    def looser(self, more: float) -> Caution:
        """With so much more leeway."""
        return replace(self, leeway=self.leeway + more)


@dataclass(frozen=True)
class Tail:
    """What is beyond the simulated values.

    Attributes
    ----------
    share : share of the rows that are too large, beyond chance
    limit : a value that hardly ever one good row exceeds
    cut : the value above which about that share of the rows lie, most of them bad; or the limit
    apart : how clearly, from 0 to 1, there is a wide gap, so that these rows are more than a tail
    """

    share: float
    limit: float
    cut: float
    apart: float = 0.0

    @classmethod
    def of(cls, values: Array, simulated: Array | None, caution: Caution) -> Tail:
        """Of the values of all rows, shape (n,); without simulated ones, shape (N,), by what stands out of them."""
        if simulated is None:
            return cls.standing_out(values)
        return cls.of_ordered(np.sort(values), np.sort(simulated), caution)

    @classmethod
    def of_ordered(cls, values: Array, simulated: Array, caution: Caution) -> Tail:
        """Of values that are in ascending order."""
        return cls.of_each(values[None], simulated[None], caution)[0]

    @classmethod
    def of_each(cls, values: Array, simulated: Array, caution: Caution) -> list[Tail]:
        """Of several quantities at once, values and simulated ones of shapes (k, n) and (k, N), each in order."""
        n, drawn = values.shape[1], _Drawn.of(simulated, caution)
        share = np.zeros(len(values))
        agreeing = drawn.matched(values, share, caution)
        for _ in range(caution.steps):
            last, share = share, np.minimum(_excess(values, agreeing, caution), LARGEST_SHARE)
            if (share == last).all():
                break
            agreeing = drawn.matched(values, share, caution)
        limits = agreeing.alone(n, caution)
        return [cls._cut(*each) for each in zip(values, share.tolist(), limits.tolist(), strict=True)]

    @classmethod
    def _cut(cls, values: Array, share: float, limit: float) -> Tail:
        """With that share of the values above the cut; no cut but the limit, if that is less than a row."""
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
        """By the median deviation: of the cube root of the excess over the least, which is near normal."""
        limit = largest_usual_surprise(values)
        return cls(float(np.mean(values > limit)), limit, limit)


@dataclass(frozen=True)
class _Drawn:
    """Simulated values of k quantities: two quantiles of their bulk, and their tail.

    Attributes
    ----------
    low, high : arrays of shape (k,)
        The quantiles.
    tail : array of shape (k, t), rows in ascending order
        Those from the lowest quantile on from which an excess is looked for.
    size : how many there are in all
    """

    low: Array
    high: Array
    tail: Array
    size: int

    @classmethod
    def of(cls, simulated: Array, caution: Caution) -> _Drawn:
        N = simulated.shape[1]
        low, high = (quantiles(simulated, q) for q in caution.bulk)
        return cls(low, high, simulated[:, max(int(np.ceil(caution.lowest * N)) - 1, 0) :], N)

    def matched(self, values: Array, share: Array, caution: Caution) -> _Drawn:
        """Moved and stretched to have two quantiles of the good ones among the values, of which a share is bad."""
        at_low, at_high = (quantiles(values, (1 - share) * q) for q in caution.bulk)
        with np.errstate(invalid="ignore", over="ignore"):
            spread = np.maximum(self.high - self.low, np.finfo(float).tiny)
            stretch = (at_high - at_low) / spread * (1 + caution.leeway / np.sqrt(values.shape[1]))
            tail = at_high[:, None] + (self.tail - self.high[:, None]) * stretch[:, None]
        tail[np.isnan(tail)] = np.inf  # infinitely far, and not stretched at all
        return _Drawn(at_low, at_high, tail, self.size)

    def alone(self, n_rows: int, caution: Caution) -> Array:
        """Values that hardly ever one of n good rows exceeds, shape (k,), by exponential tails."""
        count = min(max(self.size // _TAIL, _FEWEST_IN_TAIL), self.tail.shape[1] - 1)
        threshold = self.tail[:, -count - 1]
        with np.errstate(invalid="ignore"):
            mean = (self.tail[:, -count:] - threshold[:, None]).mean(axis=1) if count else 0.0
            limit = threshold + mean * max(np.log(n_rows * max(count, 1) / self.size / caution.alone), 0.0)
        return np.where(np.isfinite(self.tail[:, -1]), limit, np.inf)


def matched(simulated: Array, values: Array, share: float, caution: Caution) -> Array:
    """Simulated values moved and stretched to agree with the bulk of the good rows; all in ascending order."""
    whole = replace(caution, lowest=0.0)
    return np.asarray(_Drawn.of(simulated[None], whole).matched(values[None], np.array([share]), whole).tail[0])


def _excess(values: Array, drawn: _Drawn, caution: Caution) -> Array:
    """Shares of values, shape (k, n), that are larger than simulated ones, beyond chance; 0 if none; shape (k,)."""
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
    low, high = caution.errors
    t = np.clip(((expected - observed) / error - low) / (high - low), 0.0, 1.0)
    shares = (1 - observed) - caution.purity * (1 - expected) - caution.margin * error
    in_tail = np.arange(start, n) >= first[:, None]
    return np.asarray((shares * t * t * (3 - 2 * t)).max(axis=1, initial=0.0, where=in_tail))


def largest_usual_surprise(surprise: Array) -> float:
    """What does not stand out, by the median deviation: of the cube root of the excess over the least, near normal."""
    least = surprise.min()
    return float(least + largest_usual(np.cbrt(surprise - least)) ** 3)


# Gaps near which rows are cut off: where values that lie apart from all others begin.
#
# Cut within a gap, the same rows go whatever the last digits of the share that is to go. Nothing here jumps: a gap that
# is hardly one counts in part, and the further it is from that share, the wider it must be.

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


# Quantiles of values in ascending order, the last of which may be infinite.


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
