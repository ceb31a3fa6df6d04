"""Exact draws from a normal distribution restricted to a union of intervals."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtri_exp

from robscore._typing import Array


def draw_truncated_normal(mean: Array, deviation: float, lower: Array, upper: Array, rng: np.random.Generator) -> Array:
    """One draw for each of n means, shape (n,), within its intervals, shape (n, q); empty ones have lower > upper.

    An interval is chosen by its mass and the value in it by the inverse of the distribution function, both in
    logarithms and in the lower tail, so that intervals far from the mean lose no digits.
    """
    a, b = (lower - mean[:, None]) / deviation, (upper - mean[:, None]) / deviation
    flipped = a > 0
    low, high = np.where(flipped, -b, a), np.where(flipped, -a, b)
    with np.errstate(invalid="ignore", divide="ignore"):
        log_low, log_high = log_ndtr(low), log_ndtr(high)
        log_mass = np.where(b > a, log_high + np.log1p(-np.exp(log_low - log_high)), -np.inf)
    total = logsumexp(log_mass, axis=1, keepdims=True)
    edges = np.cumsum(np.exp(log_mass - total), axis=1)
    chosen = np.minimum((edges < rng.random(mean.size)[:, None]).sum(axis=1), log_mass.shape[1] - 1)
    row = np.arange(mean.size)
    bottom, mass = log_low[row, chosen], log_mass[row, chosen]
    standard = ndtri_exp(np.logaddexp(bottom, mass + np.log(rng.random(mean.size))))
    standard = np.clip(standard, low[row, chosen], high[row, chosen])
    values = mean + deviation * np.where(flipped[row, chosen], -standard, standard)
    return np.clip(values, lower[row, chosen], upper[row, chosen])
