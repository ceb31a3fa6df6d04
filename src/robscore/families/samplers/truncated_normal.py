"""Exact draws from a normal distribution restricted to a union of intervals."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtr, ndtri, ndtri_exp

from robscore._tools.typing import Array

_FAR = 1e4  # deviations beyond which the density falls off as an exponential, to eight digits
_NEAR = 35.0  # deviations up to which the probability of the tail is above zero in floats


def draw_truncated_normal(mean: Array, deviation: float, lower: Array, upper: Array, rng: np.random.Generator) -> Array:
    """Draw one value for each of n means, shape (n,), within its intervals, shape (n, q).

    Intervals may overlap; where lower > upper they are empty. An interval is chosen by its mass, and the value in it by
    the inverse of the distribution function, both in logarithms and in the lower tail, where they keep their digits.
    Intervals far out in the tail are drawn from their near end inwards, where the density falls off as an exponential.
    Where there is one interval without an upper end, and the mean is not far below it, no logarithms are needed: the
    values are the same.
    """
    which, uniform = rng.random(mean.size), rng.random(mean.size)
    if lower.shape[1] > 1 or not np.isposinf(upper).all():
        return _of_unions(mean, deviation, lower, upper, which, uniform)
    low = lower[:, 0]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        start = (low - mean) / deviation
        outer = ndtr(-np.abs(start))  # the smaller part: beyond the start where that is above the mean, else below it
        flipped = start > 0
        standard = ndtri(np.where(flipped, outer * uniform, outer + (1.0 - outer) * uniform))
        values = np.maximum(mean + deviation * np.where(flipped, -standard, standard), low)
    hard = ~((start < _NEAR) & np.isfinite(values))
    if hard.any():
        values[hard] = _of_unions(mean[hard], deviation, lower[hard], upper[hard], which[hard], uniform[hard])
    return values


def _of_unions(mean: Array, deviation: float, lower: Array, upper: Array, which: Array, uniform: Array) -> Array:
    """Draw with uniform random numbers: ``which`` chooses the interval, ``uniform`` the value in it."""
    row = np.arange(mean.size)
    lower, upper = _disjoint(lower, upper)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        a, b = (lower - mean[:, None]) / deviation, (upper - mean[:, None]) / deviation
        flipped = a > 0
        low, high = np.where(flipped, -b, a), np.where(flipped, -a, b)
        log_low, log_high = log_ndtr(low), log_ndtr(high)
        log_mass = np.where(upper > lower, log_high + np.log1p(-np.exp(log_low - log_high)), -np.inf)
        edges = np.cumsum(np.exp(log_mass - logsumexp(log_mass, axis=1, keepdims=True)), axis=1)
        chosen = np.minimum((edges < which[:, None]).sum(axis=1), log_mass.shape[1] - 1)
        # Where all masses vanish in floats, the nearest interval is taken.
        nearest = np.where(upper > lower, np.maximum(np.maximum(a, -b), 0.0), np.inf).argmin(axis=1)
        chosen = np.where(np.isfinite(log_mass.max(axis=1)), chosen, nearest)
        bottom, mass = log_low[row, chosen], log_mass[row, chosen]
        standard = ndtri_exp(np.logaddexp(bottom, mass + np.log(uniform)))
        values = mean + deviation * np.where(flipped[row, chosen], -standard, standard)
        depth = -high[row, chosen]
        left, right = lower[row, chosen], upper[row, chosen]
        inwards = -np.log1p(uniform * np.expm1(-depth * (right - left) / deviation)) * deviation / depth
        far = np.where(flipped[row, chosen], left + inwards, right - inwards)
    return np.clip(np.where(depth > _FAR, far, values), left, right)


def _disjoint(lower: Array, upper: Array) -> tuple[Array, Array]:
    """The same unions of intervals without overlaps: each starts where those before it end."""
    order = np.argsort(lower, axis=1)
    lower, upper = np.take_along_axis(lower, order, axis=1), np.take_along_axis(upper, order, axis=1)
    reached = np.maximum.accumulate(np.where(upper > lower, upper, -np.inf), axis=1)
    lower = lower.copy()
    lower[:, 1:] = np.maximum(lower[:, 1:], reached[:, :-1])
    return lower, upper
