"""Gibbs sweeps compiled by numba, for families and densities as in ``gibbs.py``.

This module is imported when first needed, since compiling takes time.
"""

from __future__ import annotations

import numpy as np

from robscore._tools.compiling import compiled
from robscore._tools.typing import Array

_FEW_NEIGHBOURS = 0.15  # share of the columns: with fewer neighbours only these are updated, else all; saves time


@compiled
def draw_conditional(c: float, p: float, rng: np.random.Generator) -> float:
    """One exact draw from the density ~ t^p exp(-(t - c)^2) on t > 0, p > -1; NaN where c or p is not finite."""
    if not (np.isfinite(c) and np.isfinite(p)):
        return np.nan
    if p < 0.0:
        if c > 0.8:
            return draw_in_two_pieces(c, p, rng)
    elif c > 0.2:
        mode = 0.5 * (c + length_of(c, 2.0 * p))
        while True:
            t = mode + np.sqrt(0.5) * rng.standard_normal()
            if t > 0.0:
                u, share = rng.random(), t / mode
                if u < 1.0 - max(p, 1.0) * (1.0 - share) ** 2:  # a bound below the odds, which is quick
                    return t
                odds = share * np.exp(1.0 - share)
                if u < (odds if p == 1.0 else odds**p):
                    return t
    rate = length_of(c, 2.0 * (p + 1.0)) - c
    while True:
        if p == 0.0:
            t = rng.standard_exponential() / rate
        elif p == 1.0:
            t = (rng.standard_exponential() + rng.standard_exponential()) / rate
        else:
            t = rng.standard_gamma(p + 1.0) / rate
        if t > 0.0:
            u, square = rng.random(), (t - (p + 1.0) / rate) ** 2
            if u < 1.0 - square or u < np.exp(-square):  # the first bound is below the second, and quick
                return t


@compiled
def length_of(c: float, square: float) -> float:
    """The root of c^2 + square, which must not overflow."""
    return np.sqrt(c * c + square) if abs(c) < 1e150 else abs(c)


@compiled
def draw_in_two_pieces(c: float, p: float, rng: np.random.Generator) -> float:
    """Draw where -1 < p < 0 and c is large: the density has a spike at 0 beside a bell about c."""
    s = 0.5 * c
    near = s ** (p + 1.0) / (p + 1.0) * np.exp(-((s - c) ** 2))
    far = s**p * np.sqrt(np.pi)
    while True:
        if rng.random() * (near + far) < near:
            t = s * rng.random() ** (1.0 / (p + 1.0))
            if t > 0.0 and rng.random() < np.exp((s - c) ** 2 - (t - c) ** 2):
                return t
        else:
            t = c + np.sqrt(0.5) * rng.standard_normal()
            if t >= s and rng.random() < (t / s) ** p:
                return t


@compiled
def gibbs_chain(
    M: Array, linear: Array, power: Array, n_rows: int, burn_in: int, thin: int, rng: np.random.Generator
) -> Array:
    """Rows of y, shape (n_rows, m), from one chain; l and p have shape (m,)."""
    m = linear.size
    root = np.sqrt(np.diag(M))
    y = 1.0 / root
    pull = M @ y
    rows = np.empty((n_rows, m))
    # near holds the neighbours of every column, one list after the other, but for columns with many neighbours.
    first = np.zeros(m + 1, dtype=np.intp)
    for j in range(m):
        count = np.count_nonzero(M[j])
        first[j + 1] = first[j] + (count if count < _FEW_NEIGHBOURS * m else 0)
    near = np.empty(first[m], dtype=np.intp)
    for j in range(m):
        if first[j] < first[j + 1]:
            near[first[j] : first[j + 1]] = np.flatnonzero(M[j])
    for row in range(n_rows):
        for _ in range(burn_in + thin if row == 0 else thin):
            for j in range(m):
                b = linear[j] - pull[j] + M[j, j] * y[j]
                new = draw_conditional(b / root[j], power[j], rng) / root[j]
                change = new - y[j]
                y[j] = new
                if first[j] < first[j + 1]:
                    for k in near[first[j] : first[j + 1]]:
                        pull[k] += M[j, k] * change
                else:
                    for k in range(m):
                        pull[k] += M[j, k] * change
        rows[row] = y
        pull = M @ y  # anew, so that rounding does not add up
    return rows


@compiled
def gibbs_rows(M: Array, linear: Array, power: Array, start: Array, sweeps: int, rng: np.random.Generator) -> Array:
    """Rows of y, shape (n, m), each by a chain of its own from a row of ``start`` with its rows of l and p."""
    n, m = linear.shape
    root = np.sqrt(np.diag(M))
    rows = np.empty((n, m))
    for row in range(n):
        y = start[row].copy()
        pull = M @ y
        for _ in range(sweeps):
            for j in range(m):
                b = linear[row, j] - pull[j] + M[j, j] * y[j]
                new = draw_conditional(b / root[j], power[row, j], rng) / root[j]
                change = new - y[j]
                y[j] = new
                for k in range(m):
                    pull[k] += M[j, k] * change
        rows[row] = y
    return rows
