"""How many rows are larger than a fit allows: step 5 of the row rule, the one comparison for every quantity.

The quantity is a distance, the largest residual of a row, or a surprise. Expected values x, of rows that were drawn
from the fit, are first made to agree with the bulk of the data. With low, high and shoulder the .1, .6, .7 quantiles,

    T(x) = high' + stretch (x - high)     below high,           stretch = (high' - low') / (high - low)
         = high' + reach u                up to the shoulder,   u = (x - high) / (shoulder - high)
         = high' + reach u^b              beyond it,            reach = shoulder' - high', b = 1 + log(reach / plain)

where primes are of the good rows among the data, and plain = stretch (shoulder - high) is what the fit says of the
reach, which counts if it is more, but at most heaviest times. So a tail that is heavier than the fit's all the way
from the bulk is no sign of bad rows: these are what lies beyond it. With F0(c) the share of good rows below c by T(x),
N of them, and Fn(c) that of the n rows of the data, the share of bad rows is

    share = max_c  s(z(c)) [ F0(c) - Fn(c) - margin se(c) ],     z(c) = (F0(c) - Fn(c)) / se(c)

over the c beyond the shoulder, with se(c) = sqrt(F0 (1 - F0) (1/n + 1/N)) + 1/(2n), and s rising smoothly from 0 to 1
between doubt and certainty, so that an excess counts in part before it counts in full. Rows are cut off at that share,
but not above the limit that hardly ever one good row exceeds, by an exponential tail. Nothing here jumps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robscore._tools.deviations import largest_usual
from robscore._tools.typing import Array
from robscore.weighting.row_rule import RowRule

_LARGEST_SHARE = 0.45  # of the rows that may be found too large: guards the quantiles of the bulk, which must be good
_FEW = 0.5  # over n, guards the standard error far out, where counts are not normal
_STEPS = 6  # times the bulk of the good rows is found anew, as the share of bad ones becomes known
_TAIL, _FEWEST_IN_TAIL = 50, 20  # one expected value in so many, and at least so many, give the exponential tail
_TINY = float(np.finfo(float).tiny)


class Tail(NamedTuple):
    """What lies beyond expectation.

    Attributes
    ----------
    share : float
        Share of the rows that are too large, beyond chance.
    cut : float
        The value above which about that share of the rows lie; or the limit that hardly a good row exceeds.
    """

    share: float
    cut: float


def compare(values: Array, expected: Array | None, rule: RowRule, overfit: float = 0.0) -> Tail:
    """Compare values of the data with those of expected rows.

    Parameters
    ----------
    values : array of shape (n,), ascending
        The last ones may be infinite.
    expected : array of shape (N,), ascending, or None
        Without it rows are cut off where they stand out of the others.
    rule : RowRule
    overfit : float
        By how much wider the bulk may be than measured, since the fit has seen these rows.
    """
    if not values.size:
        return Tail(0.0, np.inf)
    if expected is None:
        limit = largest_usual_surprise(values)
        return Tail(float(np.mean(values > limit)), limit)
    n, N = values.size, expected.size
    outer = expected[max(int(np.ceil(rule.shoulder * N)) - 1, 0) :]
    share, tail = 0.0, outer
    for _ in range(_STEPS):
        tail = agreeing(outer, expected, values, share, rule, overfit)
        share = min(_excess(values, tail, N, rule), _LARGEST_SHARE)
    limit, at = _limit(tail, n, N, rule.alone), value_at(values, (1 - share) * n)
    if not np.isfinite(limit):
        return Tail(share, at)
    surely = min(max(2 * share * n - 1, 0.0), 1.0)  # an excess of half a row is none
    return Tail(share, limit + surely * (min(at, limit) - limit))


def agreeing(x: Array, expected: Array, values: Array, share: float, rule: RowRule, overfit: float = 0.0) -> Array:
    """Give T(x): some expected values, shape (t,), as the bulk of the data says if a share of the rows is bad.

    Parameters
    ----------
    x : array of shape (t,)
    expected, values : arrays of shapes (N,) and (n,), ascending
    share : float
    rule : RowRule
    overfit : float
    """
    levels = *rule.bulk, rule.shoulder
    low, high, shoulder = (quantile(expected, q) for q in levels)
    own_low, own_high, own_shoulder = (quantile(values, (1 - share) * q) for q in levels)
    with np.errstate(all="ignore"):
        stretch = np.float64(own_high - own_low) / max(high - low, _TINY) * (1 + overfit)
        plain = max(stretch * (shoulder - high), _TINY)
        reach = min(max(own_shoulder - own_high, plain), rule.heaviest * plain)
        u = (x - high) / max(shoulder - high, _TINY)
        beyond = reach * np.maximum(u, 1.0) ** (1 + np.log(reach / plain))
        found = own_high + np.where(u > 1, beyond, np.where(u > 0, reach, plain) * u)
    found[np.isnan(found)] = np.inf  # infinitely far, and not stretched at all
    return np.asarray(found)


def _excess(values: Array, tail: Array, N: int, rule: RowRule) -> float:
    """The share of values, shape (n,), that are too large, by the formula in the module's head."""
    n = values.size
    start = int(np.searchsorted(values, tail[0], side="right"))
    if start == n:
        return 0.0
    expected = (N - tail.size + np.searchsorted(tail, values[start:], side="left")) / N
    observed = np.arange(start, n) / n
    at_most = np.minimum(expected, 1 - 1 / N)
    error = np.sqrt(at_most * (1 - at_most) * (1 / n + 1 / N)) + _FEW / n
    excess = expected - observed
    t = np.clip((excess / error - rule.doubt) / (rule.certainty - rule.doubt), 0.0, 1.0)
    return float(((excess - rule.margin * error) * t * t * (3 - 2 * t)).max(initial=0.0))


def _limit(tail: Array, n: int, N: int, alone: float) -> float:
    """The value beyond which so many of n good rows are expected, by an exponential tail."""
    count = min(max(N // _TAIL, _FEWEST_IN_TAIL), tail.size - 1)
    if not count or not np.isfinite(tail[-1]):
        return np.inf
    threshold = float(tail[-count - 1])
    return threshold + float((tail[-count:] - threshold).mean()) * max(np.log(n * count / N / alone), 0.0)


def largest_usual_surprise(surprise: Array) -> float:
    """The largest value that does not stand out by the median deviation.

    Looked at is the cube root of the excess over the least value: for chi squared numbers it is nearly normal.
    """
    least = surprise.min()
    return float(least + largest_usual(np.cbrt(surprise - least)) ** 3)


# Quantiles of values in ascending order, the last of which may be infinite: NumPy's would be NaN beside infinity.


def quantile(ordered: Array, q: float) -> float:
    """Interpolate linearly in values in ascending order, shape (n,)."""
    return value_at(ordered, q * (ordered.size - 1))


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
