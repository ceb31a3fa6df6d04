"""Gibbs sweeps in NumPy, where there is no numba: each function takes the place of its namesake in gibbs_kernels.py.

Many chains take each step together. So random numbers are used in another order than by the compiled functions, and
rows differ from theirs, though their distribution does not.
"""

from __future__ import annotations

import numpy as np

from robscore._tools.typing import Array

_LEAST_BURN_IN = 100  # sweeps of each chain, where there are several


def draw_conditionals(c: Array, p: Array, rng: np.random.Generator) -> Array:
    """Exact draws from the densities ~ t^p exp(-(t - c)^2) on t > 0, for all of c and p, finite, shape (n,).

    They are drawn from the envelopes that ``gibbs.py`` describes, for many at a time; what is rejected is drawn again.
    """
    steep, spiked = (p >= 0) & (c > 0.2), (p < 0) & (c > 0.8)
    mode, rate = 0.5 * (c + np.hypot(c, np.sqrt(2.0 * np.maximum(p, 0.0)))), np.hypot(c, np.sqrt(2.0 * (p + 1.0))) - c
    drawn, left = np.empty_like(c), np.arange(c.size)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # of envelopes that are not taken
        while left.size:
            by_normal, spread, center, power = steep[left], rate[left], mode[left], p[left]
            t = np.where(
                by_normal,
                center + np.sqrt(0.5) * rng.standard_normal(left.size),
                rng.standard_gamma(power + 1.0) / spread,
            )
            share = t / center
            odds = np.where(
                by_normal, (share * np.exp(1.0 - share)) ** power, np.exp(-((t - (power + 1.0) / spread) ** 2))
            )
            in_two = np.flatnonzero(spiked[left])
            if in_two.size:
                t[in_two], odds[in_two] = _in_two_pieces(c[left[in_two]], power[in_two], rng)
            taken = (t > 0) & (rng.random(left.size) < odds)
            drawn[left[taken]] = t[taken]
            left = left[~taken]
    return drawn


def _in_two_pieces(c: Array, p: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Proposals for p < 0 and large c, and the probabilities to accept them."""
    s = 0.5 * c
    near = s ** (p + 1.0) / (p + 1.0) * np.exp(-((s - c) ** 2))
    is_near = rng.random(c.size) * (near + s**p * np.sqrt(np.pi)) < near
    t = np.where(is_near, s * rng.random(c.size) ** (1.0 / (p + 1.0)), c + np.sqrt(0.5) * rng.standard_normal(c.size))
    return t, np.where(is_near, np.exp((s - c) ** 2 - (t - c) ** 2), np.where(t < s, 0.0, (t / s) ** p))


def gibbs_chain(
    M: Array, linear: Array, power: Array, n_rows: int, burn_in: int, thin: int, rng: np.random.Generator
) -> Array:
    """Rows of y, shape (n_rows, m), chain after chain; there are so many chains that half of all sweeps are burn-in.

    Several chains burn in for at least 100 sweeps: a single long chain forgets its start in time, short ones do not.
    """
    m, sweeps = linear.size, max(burn_in, _LEAST_BURN_IN)
    n_chains = -(-n_rows * thin // sweeps)
    rows_each = -(-n_rows // n_chains)
    if n_chains > 1:
        burn_in = sweeps
    y = np.repeat(1.0 / np.sqrt(np.diag(M))[:, None], n_chains, axis=1)
    rows = np.empty((n_chains, rows_each, m))
    for row in range(rows_each):
        _sweep(M, linear[:, None], power[:, None], y, burn_in + thin if row == 0 else thin, rng)
        rows[:, row] = y.T
    return rows.reshape(-1, m)[:n_rows]


def gibbs_rows(M: Array, linear: Array, power: Array, start: Array, sweeps: int, rng: np.random.Generator) -> Array:
    """Rows of y, shape (n, m), each by a chain of its own from a row of ``start`` with its rows of l and p."""
    y = np.ascontiguousarray(start.T)
    _sweep(M, np.ascontiguousarray(linear.T), np.ascontiguousarray(power.T), y, sweeps, rng)
    return np.ascontiguousarray(y.T)


def _sweep(M: Array, linear: Array, power: Array, y: Array, sweeps: int, rng: np.random.Generator) -> None:
    """Make sweeps of every chain in place; y has shape (m, chains), l and p have this shape or (m, 1)."""
    root = np.sqrt(np.diag(M))
    others = M - np.diag(np.diag(M))
    power = np.broadcast_to(power, y.shape)
    for _ in range(sweeps):
        for j, scale in enumerate(root):
            y[j] = draw_conditionals((linear[j] - others[j] @ y) / scale, power[j], rng) / scale
