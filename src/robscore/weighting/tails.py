"""How far the largest values of the data lie beyond those of rows simulated from a fit.

Where a share F0(c) of good rows lies below c, and only a share Fn(c) of the data, too many lie above. No model is
exactly true, so the simulated values are first shifted and scaled to agree with the bulk of the data: only the tails
are compared. All of it is continuous in the data: an excess counts in part before it counts in full.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robscore._tools.deviations import largest_usual
from robscore._tools.typing import Array
from robscore.weighting.gaps import blended, gap_near
from robscore.weighting.ordered import quantile

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
        n, drawn = values.size, _Drawn.of(simulated, caution)
        share, agreeing = 0.0, drawn.matched(values, 0.0, caution)
        for _ in range(caution.steps):
            last, share = share, min(_excess(values, agreeing, caution), LARGEST_SHARE)
            if share == last:
                break
            agreeing = drawn.matched(values, share, caution)
        limit = agreeing.alone(n, caution)
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
    """Simulated values: two quantiles of their bulk, and their tail.

    Attributes
    ----------
    low, high : the quantiles
    tail : array in ascending order
        Those from the lowest quantile on from which an excess is looked for.
    size : how many there are in all
    """

    low: float
    high: float
    tail: Array
    size: int

    @classmethod
    def of(cls, simulated: Array, caution: Caution) -> _Drawn:
        N = simulated.size
        low, high = (quantile(simulated, q) for q in caution.bulk)
        return cls(low, high, simulated[max(int(np.ceil(caution.lowest * N)) - 1, 0) :], N)

    def matched(self, values: Array, share: float, caution: Caution) -> _Drawn:
        """Moved and stretched to have two quantiles of the good ones among the values."""
        at_low, at_high = (quantile(values, (1 - share) * q) for q in caution.bulk)
        spread = max(self.high - self.low, float(np.finfo(float).tiny))
        stretch = (at_high - at_low) / spread * (1 + caution.leeway / np.sqrt(values.size))
        with np.errstate(invalid="ignore", over="ignore"):
            tail = at_high + (self.tail - self.high) * stretch
        tail[np.isnan(tail)] = np.inf  # infinitely far, and not stretched at all
        return _Drawn(at_low, at_high, tail, self.size)

    def alone(self, n_rows: int, caution: Caution) -> float:
        """A value that hardly ever one of n good rows exceeds, by an exponential tail."""
        count = min(max(self.size // _TAIL, _FEWEST_IN_TAIL), self.tail.size - 1)
        threshold = self.tail[-count - 1]
        if not np.isfinite(self.tail[-1]):
            return np.inf
        mean = float(np.mean(self.tail[-count:] - threshold)) if count else 0.0
        return float(threshold + mean * max(np.log(n_rows * max(count, 1) / self.size / caution.alone), 0.0))


def matched(simulated: Array, values: Array, share: float, caution: Caution) -> Array:
    """Simulated values moved and stretched to agree with the bulk of the good rows; all in ascending order."""
    whole = replace(caution, lowest=0.0)
    return _Drawn.of(simulated, whole).matched(values, share, whole).tail


def _excess(values: Array, drawn: _Drawn, caution: Caution) -> float:
    """Share of values (in order) that are larger than simulated ones, beyond chance; 0 if none."""
    n, N = values.size, drawn.size
    tail = values[np.searchsorted(values, drawn.tail[0], side="right") :]
    if not tail.size:
        return 0.0
    expected = (N - drawn.tail.size + np.searchsorted(drawn.tail, tail, side="left")) / N
    observed = np.arange(n - tail.size, n) / n
    at_most = np.minimum(expected, 1 - 1 / N)
    error = np.sqrt(at_most * (1 - at_most) * (1 / n + 1 / N)) + _FEW / n
    low, high = caution.errors
    t = np.clip(((expected - observed) / error - low) / (high - low), 0.0, 1.0)
    shares = (1 - observed) - caution.purity * (1 - expected) - caution.margin * error
    return float(max((shares * t * t * (3 - 2 * t)).max(), 0.0))


def largest_usual_surprise(surprise: Array) -> float:
    """What does not stand out, by the median deviation: of the cube root of the excess over the least, near normal."""
    least = surprise.min()
    return float(least + largest_usual(np.cbrt(surprise - least)) ** 3)
