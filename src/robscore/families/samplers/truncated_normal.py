"""Exact draws from a normal distribution restricted to a union of intervals."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtri_exp

from robscore._tools.typing import Array

_FAR = 1e4  # deviations beyond which the density falls off as an exponential, to eight digits


def draw_truncated_normal(mean: Array, deviation: float, lower: Array, upper: Array, rng: np.random.Generator) -> Array:
    """One draw for each of n means, shape (n,), within its intervals, shape (n, q); empty ones have lower > upper.

    Intervals may overlap.
    An interval is chosen by its mass and the value in it by the inverse of the distribution function, both in
    logarithms and in the lower tail. Intervals far out in the tail are drawn from their near end inwards, where the
    density falls off as an exponential.
    """
    row = np.arange(mean.size)
    lower, upper = _disjoint(lower, upper)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        a, b = (lower - mean[:, None]) / deviation, (upper - mean[:, None]) / deviation
        flipped = a > 0
        low, high = np.where(flipped, -b, a), np.where(flipped, -a, b)
        log_low, log_high = log_ndtr(low), log_ndtr(high)
        log_mass = np.where(upper > lower, log_high + np.log1p(-np.exp(log_low - log_high)), -np.inf)
        edges = np.cumsum(np.exp(log_mass - logsumexp(log_mass, axis=1, keepdims=True)), axis=1)
        chosen = np.minimum((edges < rng.random(mean.size)[:, None]).sum(axis=1), log_mass.shape[1] - 1)
        # Where all masses are nothing, the nearest interval has them all.
        nearest = np.where(upper > lower, np.maximum(np.maximum(a, -b), 0.0), np.inf).argmin(axis=1)
        chosen = np.where(np.isfinite(log_mass.max(axis=1)), chosen, nearest)
        bottom, mass = log_low[row, chosen], log_mass[row, chosen]
        uniform = rng.random(mean.size)
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
