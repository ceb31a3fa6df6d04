"""Compiled Gibbs sweeps; imported when first needed. Without numba, those of in_numpy.py."""

from __future__ import annotations

from functools import partial

import numpy as np

from robscore._tools.compiling import compiled
from robscore._tools.typing import Array
from robscore.families.samplers import in_numpy


@compiled
def draw_conditional(c: float, rng: np.random.Generator) -> float:
    """One exact draw from the density ~ t exp(-(t - c)^2) on t > 0."""
    if c > 0.2:
        mode = 0.5 * (c + np.sqrt(c * c + 2.0))
        while True:
            t = mode + np.sqrt(0.5) * rng.standard_normal()
            if t > 0.0 and rng.random() < (t / mode) * np.exp(1.0 - t / mode):
                return t
    rate = np.sqrt(c * c + 4.0) - c
    while True:
        t = (rng.standard_exponential() + rng.standard_exponential()) / rate
        if rng.random() < np.exp(-((t - c - 0.5 * rate) ** 2)):
            return t


@partial(compiled, otherwise=in_numpy.gibbs_square_root)
def gibbs_square_root(K: Array, eta: Array, n_rows: int, burn_in: int, thin: int, rng: np.random.Generator) -> Array:
    """Rows of y = sqrt(x), shape (n_rows, m), from one chain."""
    m = eta.size
    root = np.sqrt(np.diag(K))
    y = 1.0 / root
    pull = K @ y
    rows = np.empty((n_rows, m))
    # Neighbours of every column, one list after the other.
    first = np.zeros(m + 1, dtype=np.intp)
    for j in range(m):
        first[j + 1] = first[j] + np.count_nonzero(K[j])
    near = np.empty(first[m], dtype=np.intp)
    for j in range(m):
        near[first[j] : first[j + 1]] = np.flatnonzero(K[j])
    for row in range(n_rows):
        for _ in range(burn_in + thin if row == 0 else thin):
            for j in range(m):
                b = eta[j] - pull[j] + K[j, j] * y[j]
                new = draw_conditional(b / root[j], rng) / root[j]
                change = new - y[j]
                y[j] = new
                for k in near[first[j] : first[j + 1]]:
                    pull[k] += K[j, k] * change
        rows[row] = y
        pull = K @ y
    return rows


@partial(compiled, otherwise=in_numpy.gibbs_square_root_rows)
def gibbs_square_root_rows(K: Array, eta: Array, start: Array, sweeps: int, rng: np.random.Generator) -> Array:
    """Rows of y = sqrt(x), shape (n, m), each by a chain of its own from a row of ``start`` with its row of eta."""
    n, m = eta.shape
    root = np.sqrt(np.diag(K))
    rows = np.empty((n, m))
    for row in range(n):
        y = start[row].copy()
        pull = K @ y
        for _ in range(sweeps):
            for j in range(m):
                b = eta[row, j] - pull[j] + K[j, j] * y[j]
                new = draw_conditional(b / root[j], rng) / root[j]
                change = new - y[j]
                y[j] = new
                for k in range(m):
                    pull[k] += K[j, k] * change
        rows[row] = y
    return rows
