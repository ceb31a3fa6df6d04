"""Sums over rows in NumPy, for where there is no numba: each function stands for that of its name in kernels.py."""

from __future__ import annotations

from robscore._tools.typing import Array, IntArray


def add_gamma_on_support(
    u: Array,
    c: Array,
    A: Array,
    B: Array,
    C: Array,
    share: Array,
    starts: IntArray,
    entries: IntArray,
    blocks: Array,
    block_starts: IntArray,
) -> None:
    """Add to Gamma_j[S_j, S_j] of every node what rows add, in place.

    Parameters
    ----------
    u : array of shape (m, n)
        The design.
    c : array of shape (L, n)
        1, and covariates.
    A, B, C : arrays of shape (m, n)
        The coefficients of every node.
    share : array of shape (n,)
        What rows count.
    starts, entries : integer arrays
        S_j is entries[starts[j] : starts[j + 1]], ascending, its locations from m on the last L.
    blocks, block_starts : the blocks of all nodes in one array, and where each starts
    """
    L = len(c)
    for j in range(len(A)):
        own = entries[starts[j] : starts[j + 1]]
        block = blocks[block_starts[j] : block_starts[j + 1]].reshape(own.size, own.size)
        design = u[own[:-L]]
        across = (design * (B[j] * share)) @ c.T
        block[:-L, :-L] += (design * (A[j] * share)) @ design.T
        block[:-L, -L:] -= across
        block[-L:, :-L] -= across.T
        block[-L:, -L:] += (c * (C[j] * share)) @ c.T


def add_g_on_support(
    u: Array,
    c: Array,
    alpha: Array,
    gamma: Array,
    share: Array,
    starts: IntArray,
    entries: IntArray,
    g: Array,
) -> None:
    """Add to g_j[S_j] of every node what rows add, in place: g has shape (m, m + L), alpha and gamma (m, n)."""
    m, L = len(alpha), len(c)
    for j in range(m):
        own = entries[starts[j] : starts[j + 1] - L]
        g[j, own] += u[own] @ (alpha[j] * share)
        g[j, m:] += c @ (gamma[j] * share)
