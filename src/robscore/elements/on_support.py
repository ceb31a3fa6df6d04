"""Averages of Gamma and g on a support: for every node the few entries that its own parameters meet.

    Gamma_j[S, S] = sum_i c_i [[ A_j u_S u_S',  -B_j u_S c' ],  [ -B_j c u_S',  C_j c c' ]]
    g_j[S]        = sum_i alpha_j u_S + beta_j e_j + gamma_j c

for a power family, S the neighbours of j, and c = (1, covariates) with the weights c_i of the rows. What rows in a
taper add to g, their slope times Gamma z0, has the same form: A p - B eta in place of alpha, with p = K u, and
C eta - B p in place of gamma.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robscore._tools.pieces import chunks
from robscore._tools.sparse import rows_times
from robscore._tools.typing import Array, IntArray

if TYPE_CHECKING:
    from robscore.elements.base import RowCounts
    from robscore.elements.power import PowerRows

_AT_A_TIME = 2000  # rows: their columns stay in the processor's cache


class OnSupport(NamedTuple):
    """Averages on a support: Gamma_j[S_j, S_j] of every node, and g, shape (m, m + L), zero off the support."""

    blocks: list[Array]
    g: Array


def averages_on(
    entries: Sequence[IntArray], rows: PowerRows, counts: RowCounts, z0: tuple[Array, ...], constant_C: Array
) -> OnSupport:
    """Of rows that count so much; z0 is the fit that slopes belong to, its location one for each row."""
    from robscore.elements.kernels import add_on_support

    m, L = rows.u.shape[1], 1 + rows.c.shape[1]
    sizes = np.array([own.size for own in entries])
    starts, block_starts = (np.concatenate([[0], np.cumsum(lengths)]) for lengths in (sizes, sizes**2))
    every, blocks, g = np.concatenate(entries), np.zeros(block_starts[-1]), np.zeros((m, m + L))
    for part in chunks(len(rows.u), _AT_A_TIME):
        some = type(rows)(*(array[part] for array in rows))
        own_z0 = (z0[0], z0[1][part] if z0[1].ndim > 1 else z0[1]) if z0 else z0
        own = type(counts)(*(count[part] for count in counts))
        add_on_support(*_columns(some, own, own_z0, constant_C), starts, every, blocks, block_starts, g)
        g[np.arange(m), np.arange(m)] += own.g @ some.beta
    found = [block.reshape(size, size) for block, size in zip(np.split(blocks, block_starts[1:-1]), sizes, strict=True)]
    return OnSupport(found, g)


def _columns(
    rows: PowerRows, counts: RowCounts, z0: tuple[Array, ...], constant_C: Array
) -> tuple[Array, Array, Array, Array, Array, Array]:
    """The design with c below it, shape (m + L, n), and A, B, C, alpha and gamma times weights, shape (m, n) each."""
    share = counts.gamma
    v = np.concatenate([rows.u.T, np.ones((1, share.size)), rows.c.T])
    A = _turned(rows.A, share)
    B = A if rows.B is rows.A else _turned(rows.B, share)
    C = A if rows.C is rows.A and not constant_C.any() else _turned(rows.C + constant_C, share)
    alpha, gamma = _turned(rows.alpha, counts.g), _turned(rows.gamma, counts.g)
    bent = np.flatnonzero(counts.pulls)
    if bent.size:
        in_interaction, in_location = _bent(rows, counts.pulls, bent, z0, constant_C)
        alpha[:, bent] += in_interaction.T
        gamma[:, bent] += in_location.T
    return v, A, B, C, alpha, gamma


def _turned(array: Array, weights: Array) -> Array:
    """Rows of shape (n, m) times their weights, one column after the other, shape (m, n)."""
    return np.multiply(array.T, weights, order="C")


def _bent(
    rows: PowerRows, pulls: Array, bent: IntArray, z0: tuple[Array, ...], constant_C: Array
) -> tuple[Array, Array]:
    """What some rows add to alpha and to gamma by their slopes, shape (bent, m) each."""
    u, A, B, C = (array[bent] for array in (rows.u, rows.A, rows.B, rows.C))
    eta = z0[1][bent] if z0[1].ndim > 1 else z0[1]
    p, slope = rows_times(u, z0[0]), pulls[bent, None]
    return slope * (A * p - B * eta), slope * ((C + constant_C) * eta - B * p)
