"""Averages of Gamma and g on a support: for every node the few entries that its own parameters meet.

    Gamma_j[S, S] = sum_i c_i [[ A_j u_S u_S',  -B_j u_S c' ],  [ -B_j c u_S',  C_j c c' ]]
    g_j[S]        = sum_i alpha_j u_S + beta_j e_j + gamma_j c

for a power family, S the neighbours of j, and c = (1, covariates) with the weights c_i of the rows. What rows in a
taper add to g, their slope times Gamma z0, has the same form: A p - B eta in place of alpha, with p = K u, and
C eta - B p in place of gamma.

The sums are compiled, so this module is imported only when they are needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from robscore._tools.compiling import compiled
from robscore._tools.memory import chunks
from robscore._tools.sparse import is_sparse
from robscore._tools.typing import Array, IntArray

if TYPE_CHECKING:
    from robscore.elements.power_elements import PowerRows
    from robscore.elements.row_elements import LossWeights, Parameters


_AT_A_TIME = 5000  # rows that are copied column by column; guards memory, and decides how sums are rounded
_TILE = 500  # rows at a time: the columns that a node meets stay in the nearest cache; decides how sums are rounded


class OnSupport(NamedTuple):
    """Averages on a support: Gamma_j[S_j, S_j] of every node, and g, shape (m, m + L), zero off the support."""

    blocks: list[Array]
    g: Array


def averages_on(
    entries: Sequence[IntArray], rows: PowerRows, weights: LossWeights, z0: Parameters, constant_C: Array
) -> OnSupport:
    """Return the averages of weighted rows; z0 are the parameters of the taper, their location one for each row."""
    m, L = rows.u.shape[1], 1 + rows.c.shape[1]
    sizes = np.array([own.size for own in entries])
    starts, block_starts = (np.concatenate([[0], np.cumsum(lengths)]) for lengths in (sizes, sizes**2))
    every, blocks, g = np.concatenate(entries), np.zeros(block_starts[-1]), np.zeros((m, m + L))
    for part in chunks(len(rows.u), _AT_A_TIME):
        share = type(weights)(*(own[part] for own in weights))
        some = _by_columns(rows, part, constant_C)
        u, A, B, C, alpha, beta, gamma, covariates = some
        c = np.concatenate([np.ones((1, part.stop - part.start)), covariates])
        add_gamma_on_support(u, c, A, B, C, share.gamma, starts, every, blocks, block_starts)
        add_g_on_support(u, c, alpha, gamma, share.g, starts, every, g)
        g[np.arange(m), np.arange(m)] += beta @ share.g
        tapered = np.flatnonzero(share.pulls)
        if tapered.size:
            eta = z0[1][:, None] if z0[1].ndim == 1 else z0[1][part][tapered].T
            add_g_on_support(*_tapered(some, c, tapered, z0[0], eta), share.pulls[tapered], starts, every, g)
    ends = pairwise(block_starts.tolist())
    found = [blocks[low:high].reshape(size, size) for (low, high), size in zip(ends, sizes, strict=True)]
    return OnSupport(found, g)


def _by_columns(rows: PowerRows, part: slice, constant_C: Array) -> PowerRows:
    """Copy some of the rows one column after the other, shape (m, n) each; C with the part that all rows share."""
    copies = {id(array): array for array in rows}  # many of these are the same array
    copies = {key: np.ascontiguousarray(array[part].T) for key, array in copies.items()}
    some = type(rows)(*(copies[id(array)] for array in rows))
    return some._replace(C=some.C + constant_C[:, None]) if constant_C.any() else some


def _tapered(rows: PowerRows, c: Array, some: IntArray, K: Array, eta: Array) -> tuple[Array, Array, Array, Array]:
    """Return u and c of some rows in a taper, and what stands in place of their alpha and gamma, shape (.., some)."""
    u, A, B, C = (np.take(array, some, axis=1) for array in rows[:4])
    p = (csr_array(K.T) if is_sparse(K) else K.T) @ u
    return u, np.take(c, some, axis=1), A * p - B * eta, C * eta - B * p


@partial(compiled, reassociate=True)
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
        Row weights.
    starts, entries : integer arrays
        S_j is entries[starts[j] : starts[j + 1]], ascending, its locations from m on the last L.
    blocks, block_starts : the blocks of all nodes in one array, and where each starts
    """
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


@partial(compiled, reassociate=True)
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
