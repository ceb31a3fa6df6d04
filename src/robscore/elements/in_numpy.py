"""Sums over rows in NumPy, for where there is no numba: each function stands for that of its name in kernels.py."""

from __future__ import annotations

from robscore._tools.typing import Array, IntArray


def add_on_support(
    v: Array,
    A: Array,
    B: Array,
    C: Array,
    alpha: Array,
    gamma: Array,
    starts: IntArray,
    entries: IntArray,
    blocks: Array,
    block_starts: IntArray,
    g: Array,
) -> None:
    """Add to Gamma_j[S_j, S_j] and g_j[S_j] of every node what rows add, in place.

    Parameters
    ----------
    v : array of shape (m + L, n)
        The design u and, below it, c = (1, covariates).
    A, B, C, alpha, gamma : arrays of shape (m, n)
        The coefficients of every node, times the weights of the rows.
    starts, entries : integer arrays
        S_j is entries[starts[j] : starts[j + 1]], ascending, its locations from m on the last L.
    blocks, block_starts : the blocks of all nodes in one array, and where each starts
    g : array of shape (m, m + L)
    """
    m, L = len(A), len(v) - len(A)
    for j in range(m):
        own = entries[starts[j] : starts[j + 1]]
        block = blocks[block_starts[j] : block_starts[j + 1]].reshape(own.size, own.size)
        design, c = v[own[:-L]], v[m:]
        across = (design * B[j]) @ c.T
        block[:-L, :-L] += (design * A[j]) @ design.T
        block[:-L, -L:] -= across
        block[-L:, :-L] -= across.T
        block[-L:, -L:] += (c * C[j]) @ c.T
        g[j, own[:-L]] += design @ alpha[j]
        g[j, m:] += c @ gamma[j]
