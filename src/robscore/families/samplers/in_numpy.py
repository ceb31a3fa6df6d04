"""Gibbs sweeps in NumPy, for where there is no numba: each function stands for that of its name in kernels.py.

Many chains take each step together. So random numbers are used in another order than by the compiled functions, and
rows differ from theirs; their distribution does not.
"""

from __future__ import annotations

import numpy as np

from robscore._tools.typing import Array

_LEAST_BURN_IN = 100  # sweeps, of several chains


def draw_conditionals(c: Array, rng: np.random.Generator) -> Array:
    """Exact draws from the densities ~ t exp(-(t - c)^2) on t > 0, one per entry of c; ``draw_conditional`` of many."""
    steep = c > 0.2
    mode, rate = 0.5 * (c + np.sqrt(c * c + 2.0)), np.sqrt(c * c + 4.0) - c
    drawn, left = np.empty_like(c), np.arange(c.size)
    while left.size:
        by_normal, spread, center = steep[left], rate[left], mode[left]
        t = np.where(
            by_normal,
            center + np.sqrt(0.5) * rng.standard_normal(left.size),
            rng.standard_gamma(2.0, left.size) / spread,
        )
        share = t / center
        odds = np.where(by_normal, share * np.exp(1.0 - share), np.exp(-((t - c[left] - 0.5 * spread) ** 2)))
        taken = rng.random(left.size) < odds  # never where t < 0, whose odds are negative
        drawn[left[taken]] = t[taken]
        left = left[~taken]
    return drawn


def gibbs_square_root(K: Array, eta: Array, n_rows: int, burn_in: int, thin: int, rng: np.random.Generator) -> Array:
    """Rows of y = sqrt(x), shape (n_rows, m): chain after chain, of as many chains as make half the sweeps burn-in.

    Several chains burn in for at least 100 sweeps: one that goes on for long forgets its start without, many do not.
    """
    m, sweeps = eta.size, max(burn_in, _LEAST_BURN_IN)
    n_chains = -(-n_rows * thin // sweeps)
    rows_each = -(-n_rows // n_chains)
    if n_chains > 1:
        burn_in = sweeps
    y = np.repeat(1.0 / np.sqrt(np.diag(K))[:, None], n_chains, axis=1)
    rows = np.empty((n_chains, rows_each, m))
    for row in range(rows_each):
        _sweep(K, eta[:, None], y, burn_in + thin if row == 0 else thin, rng)
        rows[:, row] = y.T
    return rows.reshape(-1, m)[:n_rows]


def gibbs_square_root_rows(K: Array, eta: Array, start: Array, sweeps: int, rng: np.random.Generator) -> Array:
    """Rows of y = sqrt(x), shape (n, m), each by a chain of its own from a row of ``start`` with its row of eta."""
    y = np.ascontiguousarray(start.T)
    _sweep(K, np.ascontiguousarray(eta.T), y, sweeps, rng)
    return np.ascontiguousarray(y.T)


def _sweep(K: Array, eta: Array, y: Array, sweeps: int, rng: np.random.Generator) -> None:
    """So many sweeps of every chain, in place: y has shape (m, chains), eta that or (m, 1)."""
    root = np.sqrt(np.diag(K))
    others = K - np.diag(np.diag(K))
    for _ in range(sweeps):
        for j, scale in enumerate(root):
            y[j] = draw_conditionals((eta[j] - others[j] @ y) / scale, rng) / scale
