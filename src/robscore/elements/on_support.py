"""Averages of Gamma on a support: for every node the few entries that its own parameters meet.

    Gamma_j[S, S] = sum_i c_i [[ A_j u_S u_S',  -B_j u_S c' ],  [ -B_j c u_S',  C_j c c' ]]

for a power family, S the neighbours of j, and c = (1, covariates) with the weights c_i of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from robscore._tools.typing import Array, IntArray

if TYPE_CHECKING:
    from robscore.elements.power import PowerRows


def blocks_on(entries: Sequence[IntArray], rows: PowerRows, weights: Array, constant_C: Array) -> list[Array]:
    """Gamma_j[S_j, S_j] of every node, rows weighted by an array of shape (n,)."""
    kept = np.flatnonzero(weights)
    u, A, B, C, c = (np.ascontiguousarray(part[kept].T) for part in (rows.u, rows.A, rows.B, rows.C, rows.c))
    share = weights[kept]
    A, B, C = A * share, B * share, (C + constant_C[:, None]) * share
    c = np.concatenate([np.ones((1, kept.size)), c])
    L = len(c)
    blocks = []
    for j, own in enumerate(entries):
        design = u[own[:-L]]
        block = np.empty((own.size, own.size))
        block[:-L, :-L] = (design * A[j]) @ design.T
        block[:-L, -L:] = -(design * B[j]) @ c.T
        block[-L:, :-L] = block[:-L, -L:].T
        block[-L:, -L:] = (c * C[j]) @ c.T
        blocks.append(block)
    return blocks
