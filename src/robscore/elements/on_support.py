"""Averages of Gamma on a support: for every node the few entries that its own parameters meet.

    Gamma_j[S, S] = sum_i c_i [[ A_j u_S u_S',  -B_j u_S c' ],  [ -B_j c u_S',  C_j c c' ]]

for a power family, S the neighbours of j, and c = (1, covariates) with the weights c_i of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from robscore._tools.pieces import chunks
from robscore._tools.typing import Array, IntArray

if TYPE_CHECKING:
    from robscore.elements.power import PowerRows

_AT_A_TIME = 4000  # rows: their columns stay in the processor's cache


def blocks_on(entries: Sequence[IntArray], rows: PowerRows, weights: Array, constant_C: Array) -> list[Array]:
    """Gamma_j[S_j, S_j] of every node, rows weighted by an array of shape (n,)."""
    blocks = [np.zeros((own.size, own.size)) for own in entries]
    kept = np.flatnonzero(weights)
    for part in chunks(kept.size, _AT_A_TIME):
        _add(blocks, entries, rows, kept[part], weights[kept[part]], constant_C)
    return blocks


def _add(
    blocks: Sequence[Array],
    entries: Sequence[IntArray],
    rows: PowerRows,
    some: IntArray,
    share: Array,
    constant_C: Array,
) -> None:
    """What some rows add to the blocks, in place, each with its weight."""
    u, c = np.ascontiguousarray(rows.u[some].T), np.concatenate([np.ones((1, some.size)), rows.c[some].T])
    A = np.ascontiguousarray(rows.A[some].T) * share
    B = A if rows.B is rows.A else np.ascontiguousarray(rows.B[some].T) * share
    C = A if rows.C is rows.A else np.ascontiguousarray(rows.C[some].T) * share
    L, shared = len(c), np.multiply.outer(constant_C, (c * share) @ c.T)
    for j, (block, own) in enumerate(zip(blocks, entries, strict=True)):
        design = u[own[:-L]]
        weighted = design * A[j]
        across = (weighted if B is A else design * B[j]) @ c.T
        block[:-L, :-L] += weighted @ design.T
        block[:-L, -L:] -= across
        block[-L:, :-L] -= across.T
        block[-L:, -L:] += (c * C[j]) @ c.T + shared[j]
