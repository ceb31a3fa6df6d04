"""Slice sampling of power families on any domain, one coordinate at a time, many chains at once.

Given the rest of its row, x_j has log density f(x_j) = -(K_jj x^2a + 2 c x^a) / (2a) + eta_j x^b / b on the intervals
where the domain lets it move. A level below f(x_j) is drawn; an interval that holds all of the slice above it is
found (its ends do not depend on where in the slice x_j is), and shrunk towards x_j until a uniform draw lies in
the slice (Neal, 2003).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robscore._typing import Array
from robscore.families.power import PowerFamily


def slice_sample(
    family: PowerFamily, K: Array, eta: Array, start: Array, n_sweeps: int, rng: np.random.Generator
) -> Array:
    """Advance every row of ``start``, shape (n, m), all inside the domain, by so many sweeps."""
    X = start.copy()
    for _ in range(n_sweeps):
        for j in range(X.shape[1]):
            X[:, j] = _draw_coordinate(family, K, eta, X, j, rng)
    return X


def first_rows(family: PowerFamily, n_rows: int, n_columns: int, rng: np.random.Generator) -> Array:
    """Rows inside the domain to start from, found by trying wider and wider draws."""
    found = np.empty((0, n_columns))
    for scale in np.geomspace(0.05, 50, 40):
        draws = scale * rng.standard_normal((50 * n_rows, n_columns))
        if family.domain.is_non_negative:
            draws = np.abs(draws)
        inside = family.domain.contains(draws).all(axis=1)
        found = np.concatenate([found, draws[inside]])
    if not len(found):
        raise ValueError(f"No row inside {family.domain!r} was found to start from; give start=.")
    return found[rng.integers(len(found), size=n_rows)]


def _draw_coordinate(family: PowerFamily, K: Array, eta: Array, X: Array, j: int, rng: np.random.Generator) -> Array:
    """New values of column j, shape (n,)."""
    a, b = family.a, family.b
    u = X**a if a else np.log(X)
    coupling = u @ K[:, j] - u[:, j] * K[j, j]
    lower, upper = (ends[:, j] for ends in family.domain.segments(X))
    lower = np.maximum(lower, 0.0) if family.domain.is_non_negative else lower

    def log_density(x: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            power = x**a / a if a else np.log(x)
            value = -(0.5 * (a or 1.0) * K[j, j] * power + coupling) * power
            value += eta[j] * (x**b / b if b else np.log(x))
        inside = ((x[:, None] >= lower) & (x[:, None] <= upper)).any(axis=1)
        return np.where(inside & ~np.isnan(value), value, -np.inf)

    x = X[:, j]
    level = log_density(x) - rng.standard_exponential(x.size)
    nonempty = lower <= upper
    low = np.where(nonempty, lower, np.inf).min(axis=1)
    high = np.where(nonempty, upper, -np.inf).max(axis=1)
    high = np.where(np.isinf(high), _beyond(log_density, level, x, 1.0), high)
    low = np.where(np.isinf(low), _beyond(log_density, level, x, -1.0), low)
    new, waiting = x.copy(), np.arange(x.size)
    for _ in range(1000):
        proposal = low + rng.random(x.size) * (high - low)
        accepted = log_density(proposal) >= level
        done = waiting[accepted[waiting]]
        new[done] = proposal[done]
        waiting = waiting[~accepted[waiting]]
        if not waiting.size:
            break
        below = proposal < x
        low = np.where(~accepted & below, proposal, low)
        high = np.where(~accepted & ~below, proposal, high)
    return new


def _beyond(log_density: Callable[[Array], Array], level: Array, x: Array, sign: float) -> Array:
    """A power of two beyond which the density stays below the level, on the side of the given sign."""
    size = 2.0 ** np.ceil(np.log2(np.maximum(sign * x, 1.0)) + 1e-9)
    for _ in range(200):
        reached = (log_density(sign * size) < level) & (log_density(sign * 2 * size) < level)
        if reached.all():
            break
        size = np.where(reached, size, 2 * size)
    return sign * size
