"""Compiled sums over rows on a support; imported when first needed. Without numba, those of in_numpy.py."""

from __future__ import annotations

from functools import partial

import numpy as np

from robscore._tools.compiling import compiled
from robscore._tools.typing import Array, IntArray
from robscore.elements import in_numpy

_TILE = 500  # rows at a time: the columns that a node meets stay in the nearest cache


@partial(compiled, otherwise=in_numpy.add_gamma_on_support, reassociate=True)
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
    """Add to Gamma_j[S_j, S_j] of every node what rows add, in place; arguments as in ``in_numpy``."""
    m, n = A.shape
    weighted = np.empty(_TILE)
    for at in range(0, n, _TILE):
        to = min(at + _TILE, n)
        own = share[at:to]
        for j in range(m):
            low, size, first = starts[j], starts[j + 1] - starts[j], block_starts[j]
            for a in range(size):
                left = entries[low + a]
                before = u[left, at:to] if left < m else c[left - m, at:to]
                for b in range(a + 1):
                    right = entries[low + b]
                    if b == 0 or (left >= m and entries[low + b - 1] < m <= right):  # other coefficients from here on
                        weights = A[j, at:to] if left < m else (B[j, at:to] if right < m else C[j, at:to])
                        for i in range(to - at):
                            weighted[i] = own[i] * weights[i] * before[i]
                    total, after = 0.0, u[right, at:to] if right < m else c[right - m, at:to]
                    for i in range(to - at):
                        total += weighted[i] * after[i]
                    if left >= m > right:
                        total = -total
                    blocks[first + a * size + b] += total
                    if a != b:
                        blocks[first + b * size + a] += total


@partial(compiled, otherwise=in_numpy.add_g_on_support, reassociate=True)
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
    """Add to g_j[S_j] of every node what rows add, in place; arguments as in ``in_numpy``."""
    m, n = alpha.shape
    weighted = np.empty(_TILE)
    for at in range(0, n, _TILE):
        to = min(at + _TILE, n)
        own = share[at:to]
        for j in range(m):
            for entry in range(starts[j], starts[j + 1]):
                left = entries[entry]
                if entry == starts[j] or entries[entry - 1] < m <= left:
                    linear = alpha[j, at:to] if left < m else gamma[j, at:to]
                    for i in range(to - at):
                        weighted[i] = own[i] * linear[i]
                total, values = 0.0, u[left, at:to] if left < m else c[left - m, at:to]
                for i in range(to - at):
                    total += weighted[i] * values[i]
                g[j, left] += total
