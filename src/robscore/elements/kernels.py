"""Compiled sums over rows on a support; imported when first needed. Without numba, those of in_numpy.py."""

from __future__ import annotations

from functools import partial

from robscore._tools.compiling import compiled
from robscore._tools.typing import Array, IntArray
from robscore.elements import in_numpy


@partial(compiled, otherwise=in_numpy.add_on_support, reassociate=True)
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
    """Add to Gamma_j[S_j, S_j] and g_j[S_j] of every node what rows add, in place; arguments as in ``in_numpy``."""
    m, n = A.shape
    for j in range(m):
        low, size, first = starts[j], starts[j + 1] - starts[j], block_starts[j]
        for a in range(size):
            left = entries[low + a]
            total = 0.0
            linear = alpha[j] if left < m else gamma[j]
            for i in range(n):
                total += linear[i] * v[left, i]
            g[j, left] += total
            for b in range(a + 1):
                right = entries[low + b]
                weights = A[j] if left < m else (B[j] if right < m else C[j])
                total = 0.0
                for i in range(n):
                    total += weights[i] * v[left, i] * v[right, i]
                if left >= m > right:
                    total = -total
                blocks[first + a * size + b] += total
                if a != b:
                    blocks[first + b * size + a] += total
