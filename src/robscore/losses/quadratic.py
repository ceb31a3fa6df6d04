"""The quadratic score-matching losses, from averaged elements Gamma and g.

Pairwise families:   loss(K, eta) = sum_j 1/2 z_j' Gamma_j z_j - g_j' z_j,      z_j = (K_1j, ..., K_mj, eta_j)
on the simplex also  sum_{j<m} z_j' Gamma_jm z_m, since x_m = 1 - the rest moves with every other column
any statistics:      loss(theta) = 1/2 theta' Gamma theta - g' theta

With q covariates z_j = (K_1j, ..., K_mj, eta_j0, ..., eta_jq), and eta has shape (m, 1 + q) in place of (m,). With
moderators K has one part for each below the first (:mod:`robscore.losses.interaction_parts`).

A loss of a pairwise family holds Gamma in one of three ways: all blocks, m^3 numbers (:class:`QuadraticLoss`); the rows
of a power family instead, n m numbers (:class:`FactoredLoss`); or of every node only the entries that its own
parameters meet, m (d + 2)^2 numbers with d neighbours per column (:class:`RestrictedLoss`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy.sparse import csc_array

from robscore._tools.typing import AnyArray, Array, BoolArray, IntArray
from robscore.losses.interaction_parts import PLAIN, Parts

MANY_COLUMNS = 150  # from here on blocks of all nodes take more time and memory than they save; decides rounding alone


class QuadraticLoss:
    """Averaged elements of a pairwise family: one (m+1) x (m+1) block per node, or a single block that all nodes share.

    Parameters
    ----------
    blocks : array of shape (m, m+1, m+1) or (1, m+1, m+1); with q covariates m+1+q in place of m+1
    g : array of shape (m, m+1)
        Row j belongs to node j.
    gamma_last : array of shape (m-1, m+1, m+1), optional
        [j] couples the j-th of the other nodes (rows) with the reference, by default the last (columns).
    reference : int, default -1
        The node that all others are coupled with, where there is a ``gamma_last``.
    zero_sums : bool, default False
        Whether K_jj is minus the sum of the rest of its column; then entry j of z_j does not enter the loss.
    parts : Parts, optional
        How the interactions are stacked, where moderators change them.

    Attributes
    ----------
    shared : bool
        Whether one block serves all nodes (the Gaussian on R^m).
    """

    gamma_last: Array | None = None
    reference: int = -1
    zero_sums: bool = False
    parts: Parts = PLAIN
    shared: bool = False

    def __init__(
        self,
        blocks: Array,
        g: Array,
        *,
        gamma_last: Array | None = None,
        reference: int = -1,
        zero_sums: bool = False,
        parts: Parts = PLAIN,
    ) -> None:
        self.blocks, self.g, self.n_columns = blocks, g, g.shape[0]
        self.gamma_last, self.reference = gamma_last, reference
        self.zero_sums, self.parts = zero_sums, parts
        self.shared = blocks.shape[0] == 1 < self.n_columns

    def __iadd__(self, other: QuadraticLoss) -> QuadraticLoss:
        """The sum of two losses of the same columns, in place."""
        self.blocks += other.blocks
        self.g += other.g
        if self.gamma_last is not None and other.gamma_last is not None:
            self.gamma_last += other.gamma_last
        return self

    def mixed_with(self, other: QuadraticLoss, share: float) -> QuadraticLoss:
        """(1 - share) times this loss, plus a share of another one of the same columns."""
        mixed = copy(self)
        mixed.blocks = (1 - share) * self.blocks + share * other.blocks
        mixed.g = (1 - share) * self.g + share * other.g
        if self.gamma_last is not None and other.gamma_last is not None:
            mixed.gamma_last = (1 - share) * self.gamma_last + share * other.gamma_last
        return mixed

    def over_sizes(self, size: Array) -> QuadraticLoss:
        """The loss of entries divided by sizes, shape (m + L,); g stays, as of columns whose variances are known."""
        other = copy(self)
        other.blocks = self.blocks / np.multiply.outer(size, size)
        return other

    @property
    def n_interactions(self) -> int:
        """Entries of z_j that are interactions: m, and as many for every moderator."""
        return self.n_columns * self.parts.count

    @property
    def n_locations(self) -> int:
        """Entries of z_j that are not interactions: 1 and one for every covariate."""
        return int(self.g.shape[1]) - self.n_interactions

    @property
    def location_shape(self) -> tuple[int, ...]:
        """The shape of eta: (m,), or with q covariates (m, 1 + q)."""
        return (self.n_columns,) if self.n_locations == 1 else (self.n_columns, self.n_locations)

    @property
    def gamma(self) -> Array:
        """All blocks, shape (m, m+1, m+1), whatever the storage."""
        return np.broadcast_to(self.blocks, (self.n_columns, *self.blocks.shape[1:]))

    def value(self, interaction: Array, location: Array) -> float:
        """The loss at K, shape (m, m), and eta, shape (m,).

        Examples
        --------
        >>> import numpy as np, robscore as rs
        >>> loss = rs.score_elements("gaussian", np.eye(3)).average()
        >>> round(loss.value(np.eye(3), np.zeros(3)), 6)
        -2.5
        """
        z = np.concatenate([np.asarray(interaction), location_rows(location)]).T
        return float(np.sum((0.5 * self.gamma_times(interaction, location) - self.g) * z))

    def gamma_times(self, interaction: Array | csc_array, location: Array) -> Array:
        """Gamma z, shape (m, m+1), of z_j = (K_1j, ..., K_mj, eta_j); K may be sparse."""
        K = dense(interaction)
        z = np.concatenate([K, location_rows(location)]).T
        product: Array = z @ self.blocks[0] if self.shared else np.matmul(self.blocks, z[:, :, None])[:, :, 0]
        if self.gamma_last is not None:
            others = np.delete(np.arange(self.n_columns), self.reference)
            product[others] += self.gamma_last @ z[self.reference]
            product[self.reference] += np.einsum("jkl,jk->l", self.gamma_last, z[others])
        return product

    def reordered(self, columns: IntArray) -> QuadraticLoss:
        """The loss of the columns in another order, which keeps that of the nodes other than the reference."""
        entries = np.append(columns, np.arange(self.n_columns, self.g.shape[1]))
        across = np.ix_(entries, entries)
        last = None if self.gamma_last is None else self.gamma_last[:, across[0], across[1]]
        blocks = self.blocks if self.shared else self.blocks[columns]
        return QuadraticLoss(
            blocks[:, across[0], across[1]],
            self.g[columns][:, entries],
            gamma_last=last,
            reference=int(np.flatnonzero(columns == self.reference % self.n_columns)[0]),
            zero_sums=self.zero_sums,
        )

    def block(self, node: int, rows: IntArray, columns: IntArray) -> Array:
        """Return some entries of a node's block, shape (rows, columns)."""
        return self.blocks[0 if self.shared else node][rows[:, None], columns]

    def diagonal(self) -> Array:
        """The diagonals of all blocks, shape (m, m+1)."""
        return np.broadcast_to(np.einsum("jkk->jk", self.blocks), self.g.shape)

    def own_rows(self) -> Array:
        """How K_jj meets all interactions of node j, shape (m, m): row j of every block."""
        every = np.arange(self.n_interactions)
        return np.stack([self.block(j, every[[j]], every)[0] for j in range(self.n_columns)])

    def coupling(self) -> tuple[Array, Array]:
        """How K_j meets eta_j in block j: t of shape (m, m), or (1, m) if shared; and eta_j itself: s of shape (m,).

        With one location per column; :meth:`couplings` has the same with any number of them.
        """
        t, s = self.couplings()
        return t[:, :, 0], np.broadcast_to(s[:, 0, 0], (self.n_columns,))

    def couplings(self) -> tuple[Array, Array]:
        """How K_j meets the L locations of column j: t of shape (m, M, L), s of (m, L, L); one for all if shared."""
        M = self.n_interactions
        return self.blocks[:, :M, M:], self.blocks[:, M:, M:]

    def best_location(self, pulled: Array) -> Array:
        """The locations s_j^-1 v_j, shape (m, L), for vectors v_j; the best ones are those of g_j less t_j' K_j."""
        if self.n_locations == 1:
            return np.asarray(pulled / self.coupling()[1][:, None])
        own = self.couplings()[1]
        if self.shared:
            return np.asarray(np.linalg.solve(own[0], pulled.T).T)
        return np.asarray(np.linalg.solve(own, pulled[:, :, None])[:, :, 0])

    def pulls_of(self, interaction: Array | csc_array) -> Array:
        """t_j' K_j, what the interactions of every column move its locations by, shape (m, L); K may be sparse."""
        if self.n_locations == 1:
            t = np.broadcast_to(self.coupling()[0], interaction.shape)
            if isinstance(interaction, csc_array):
                return np.asarray(interaction.multiply(t.T).sum(axis=0)).ravel()[:, None]
            return np.einsum("jk,kj->j", t, interaction)[:, None]
        K = dense(interaction)
        t = np.broadcast_to(self.couplings()[0], (self.n_columns, self.n_interactions, self.n_locations))
        return np.einsum("jkl,kj->jl", t, K)

    def completed(self, interaction: Array) -> Array:
        """K with the entries filled in that the others determine: the diagonal, where columns sum to zero."""
        return with_zero_sums(interaction) if self.zero_sums else interaction


class FactoredLoss(QuadraticLoss):
    """Averaged elements of a power family, with its rows instead of its blocks: n m numbers where those have m^3.

        Gamma_j = [[ u diag(a_j) u',  -u b_j ],  [ -b_j' u',  s_j ]]

    With covariates c, their first row ones, b_j becomes diag(b_j) c', and s_j a matrix.

    Parameters
    ----------
    u : array of shape (m, n)
        The design, a row for each column of the data.
    a, b : arrays of shape (m, n)
        A and B of every node times the weights of the rows. With u in single precision products are too, and what
        comes of them is in double precision again.
    s : array of shape (m,), or with q covariates (m, 1 + q, 1 + q)
    g : array of shape (m, m+1), or with covariates (m, m+1+q)
    c : array of shape (1 + q, n), with covariates only
    """

    def __init__(self, u: Array, a: Array, b: Array, s: Array, g: Array, c: Array | None = None) -> None:
        self.u, self.a, self.b, self.s, self.c = u, a, b, s, c
        self.g, self.n_columns = g, g.shape[0]

    @cached_property
    def blocks(self) -> Array:  # type: ignore[override]
        """All blocks, shape (m, m+1, m+1): for small problems."""
        every = np.arange(self.g.shape[1])
        return np.array([self.block(j, every, every) for j in range(self.n_columns)])

    def gamma_times(self, interaction: Array | csc_array, location: Array) -> Array:
        """Gamma z, of the shape of g, by one product of n x m arrays; K may be sparse."""
        m = self.n_columns
        pulled = np.asarray(interaction.T.astype(self.u.dtype) @ self.u)
        product = np.empty(self.g.shape)
        if self.c is not None:
            at_rows = np.asarray(location, dtype=self.u.dtype) @ self.c
            product[:, m:] = np.einsum("jkl,jl->jk", self.s, location) - (self.b * pulled) @ self.c.T
            product[:, :m] = (self.a * pulled - self.b * at_rows) @ self.u.T
            return product
        product[:, m] = self.s * location - np.einsum("ji,ji->j", self.b, pulled)
        pulled *= self.a
        if np.any(location):
            pulled -= self.b * np.asarray(location, dtype=self.u.dtype)[:, None]
        product[:, :m] = pulled @ self.u.T
        return product

    def block(self, node: int, rows: IntArray, columns: IntArray) -> Array:
        """Return some entries of a node's block, shape (rows, columns)."""
        m = self.n_columns
        inside, across = rows < m, columns < m
        left, right = self.u[rows[inside]], self.u[columns[across]]
        inner: Array = np.asarray((left * self.a[node]) @ right.T, dtype=float)
        if inside.all() and across.all():
            return inner
        result = np.empty((rows.size, columns.size))
        result[np.ix_(inside, across)] = inner
        if self.c is not None:
            of_rows, of_columns = rows[~inside] - m, columns[~across] - m
            result[np.ix_(~inside, across)] = -(self.c[of_rows] * self.b[node]) @ right.T
            result[np.ix_(inside, ~across)] = -(left * self.b[node]) @ self.c[of_columns].T
            result[np.ix_(~inside, ~across)] = self.s[node][of_rows[:, None], of_columns]
            return result
        result[np.ix_(~inside, across)] = -(right @ self.b[node])
        result[np.ix_(inside, ~across)] = -(left @ self.b[node])[:, None]
        result[np.ix_(~inside, ~across)] = self.s[node]
        return result

    def diagonal(self) -> Array:
        """The diagonals of all blocks, of the shape of g."""
        own = self.s if self.c is None else np.einsum("jkk->jk", self.s)
        return np.column_stack([self.a @ (self.u * self.u).T, own])

    def own_rows(self) -> Array:
        """Row j of every block, shape (m, m), by one product of n x m arrays."""
        return np.asarray((self.u * self.a) @ self.u.T, dtype=float)

    def couplings(self) -> tuple[Array, Array]:
        """How K_j meets the L locations of column j: t of shape (m, m, L) and s of shape (m, L, L)."""
        return self._t, self.s[:, None, None] if self.c is None else self.s

    @cached_property
    def _t(self) -> Array:
        if self.c is None:
            return np.asarray(-(self.b @ self.u.T), dtype=float)[:, :, None]
        return np.stack([np.asarray(-((self.b * own) @ self.u.T), dtype=float) for own in self.c], axis=2)


def location_rows(location: AnyArray) -> AnyArray:
    """Return the location, shape (m,) or (m, L), as L rows, shape (L, m)."""
    return np.atleast_2d(np.asarray(location).T)


def as_location(columns: Array) -> Array:
    """Return the location from its L columns, shape (m, L): of shape (m,) where there is one."""
    return columns[:, 0].copy() if columns.shape[1] == 1 else columns.copy()


def dense(matrix: Array | csc_array) -> Array:
    """Return a matrix that may be sparse as an array."""
    return np.asarray(matrix.toarray()) if isinstance(matrix, csc_array) else np.asarray(matrix)


def with_zero_sums(interaction: Array) -> Array:
    """Return K with the diagonal that makes its columns sum to zero."""
    filled = interaction.copy()
    np.fill_diagonal(filled, 0.0)
    np.fill_diagonal(filled, -filled.sum(axis=0))
    return filled


class StatisticLoss:
    """Averaged elements of an exponential family with r statistics.

    Parameters
    ----------
    gamma : array of shape (r, r)
    g : array of shape (r,)
    """

    def __init__(self, gamma: Array, g: Array) -> None:
        self.gamma = gamma
        self.g = g

    def __add__(self, other: StatisticLoss) -> StatisticLoss:
        """The sum of two losses of the same statistics."""
        return StatisticLoss(self.gamma + other.gamma, self.g + other.g)

    def value(self, theta: Array) -> float:
        """The loss at theta, shape (r,)."""
        theta = np.asarray(theta, dtype=float)
        return float(0.5 * theta @ self.gamma @ theta - self.g @ theta)

    def gamma_times(self, theta: Array) -> Array:
        """Gamma theta, shape (r,)."""
        product: Array = self.gamma @ theta
        return product


Loss: TypeAlias = QuadraticLoss | StatisticLoss


def assemble_hessian(
    block: Callable[[int, IntArray, IntArray], Array],
    position: Sequence[IntArray] | IntArray,
    size: int,
    gamma_last: Array | None = None,
    reference: int = -1,
) -> Array:
    """Return D' Gamma D, shape (size, size), for some free parameters.

    Parameters
    ----------
    block : callable
        Some entries of a node's block, as :meth:`QuadraticLoss.block` gives them.
    position : integer arrays, one per node; or one of shape (m, p)
        Which parameter entry k of z_j is; -1 where it is none. Two entries may be the same parameter.
    size : int
    gamma_last : array of shape (m-1, p, p), optional
    reference : int, default -1
        The node that all others are coupled with.
    """
    hessian = np.zeros((size, size))
    filled = [np.flatnonzero(own >= 0) for own in position]
    for j, entries in enumerate(filled):
        own = position[j][entries]
        hessian[own[:, None], own] += block(j, entries, entries)
    if gamma_last is None:
        return hessian
    last = position[reference][filled[reference]]
    for j, block_of_two in zip(np.delete(np.arange(len(filled)), reference).tolist(), gamma_last, strict=True):
        own = position[j][filled[j]]
        coupling = block_of_two[np.ix_(filled[j], filled[reference])]
        hessian[np.ix_(own, last)] += coupling
        hessian[np.ix_(last, own)] += coupling.T
    return hessian


class RestrictedLoss(QuadraticLoss):
    """Averaged elements of a pairwise family on a support S_j = {k: K_kj may differ from 0} and eta_j of every node.

        loss(K, eta) = sum_j 1/2 z_j' Gamma_j[S_j, S_j] z_j - g_j' z_j

    Parameters
    ----------
    entries : integer arrays, one per node
        S_j, ascending: neighbours, j itself, and the entries of its locations, from m on.
    corners : arrays of shape (|S_j|, |S_j|), one per node
    g : array of shape (m, m+1)
        Zero at entries that are not in the support.
    """

    def __init__(self, entries: Sequence[IntArray], corners: Sequence[Array], g: Array) -> None:
        self.entries, self.corners = list(entries), list(corners)
        self.g, self.n_columns = g, g.shape[0]

    @property
    def blocks(self) -> Array:  # type: ignore[override]
        """Raise, because most of Gamma is not known."""
        raise ValueError("This loss knows Gamma on the support of a graph only.")

    def __iadd__(self, other: QuadraticLoss) -> QuadraticLoss:
        """The sum of two losses on the same support, in place."""
        assert isinstance(other, RestrictedLoss)
        for own, more in zip(self.corners, other.corners, strict=True):
            own += more
        self.g += other.g
        return self

    def mixed_with(self, other: QuadraticLoss, share: float) -> RestrictedLoss:
        """(1 - share) times this loss, plus a share of another one that knows all of its support."""
        corners, g = [], np.zeros_like(self.g)
        for node, (own, part) in enumerate(self._nodes):
            corners.append((1 - share) * part + share * other.block(node, own, own))
            g[node, own] = (1 - share) * self.g[node, own] + share * other.g[node, own]
        return RestrictedLoss(self.entries, corners, g)

    def over_sizes(self, size: Array) -> RestrictedLoss:
        """The loss of entries divided by sizes, shape (m + L,)."""
        corners = [part / np.multiply.outer(size[own], size[own]) for own, part in self._nodes]
        return RestrictedLoss(self.entries, corners, self.g)

    def block(self, node: int, rows: IntArray, columns: IntArray) -> Array:
        """Return some entries of a node's block, shape (rows, columns), all of them in its support."""
        own = self.entries[node]
        return self.corners[node][np.searchsorted(own, rows)[:, None], np.searchsorted(own, columns)]

    def diagonal(self) -> Array:
        """The diagonals of all blocks, shape (m, m+1); zero where they are not known."""
        result = np.zeros(self.g.shape)
        for j, (own, part) in enumerate(self._nodes):
            result[j, own] = part.diagonal()
        return result

    def gamma_times(self, interaction: Array | csc_array, location: Array) -> Array:
        """Gamma z, shape (m, m+1), of a z on the support; zero at other entries, where it is not known."""
        z = np.concatenate([dense(interaction), location_rows(location)]).T
        product = np.zeros(self.g.shape)
        for j, (own, part) in enumerate(self._nodes):
            product[j, own] = part @ z[j, own]
        return product

    def best_location(self, pulled: Array) -> Array:
        """The locations s_j^-1 v_j, shape (m, L), for vectors v_j of the same shape."""
        L = self.n_locations
        return np.array([np.linalg.solve(part[-L:, -L:], own) for part, own in zip(self.corners, pulled, strict=True)])

    def pulls_of(self, interaction: Array | csc_array) -> Array:
        """t_j' K_j, what the interactions of every column move its locations by, shape (m, L)."""
        L, K = self.n_locations, dense(interaction)
        return np.array([part[-L:, :-L] @ K[own[:-L], j] for j, (own, part) in enumerate(self._nodes)])

    @property
    def _nodes(self) -> list[tuple[IntArray, Array]]:
        return list(zip(self.entries, self.corners, strict=True))


def entries_of(edges: BoolArray, n_locations: int) -> list[IntArray]:
    """Return S_j of every node: its neighbours by the edges, shape (m, m), itself, and its locations."""
    m = len(edges)
    return [np.append(np.flatnonzero(edges[:, j] | (np.arange(m) == j)), m + np.arange(n_locations)) for j in range(m)]
