"""Elements of families that are given by the gradients of their statistics, held row by row.

With v_j(x) the gradient in x_j and h_j the boundary weight:

NodeElements       Gamma_j = h_j v_j v_j', one block per node                       (pairwise statistics)
SimplexElements    Gamma = sum_{j<m} h_j (v_j - v_m)(v_j - v_m)', v_j in block j   (the last node couples all)
StatisticElements  Gamma = sum_j h_j v_j v_j', one block for all statistics        (any exponential family)

ModeratedElements are node elements whose interactions change with Q moderators w, K(w) = K_0 + w_1 K_1 + ... + w_Q K_Q
at every row. They serve any pairwise family: what multiplies K is repeated, times each moderator, and still
Gamma_j = h_j v_j v_j' with

    v_j = (k_j, w_1 k_j, ..., w_Q k_j, e_j c),      k_j and e_j what K_.j and eta_j meet without moderators
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from copy import copy
from typing import NamedTuple, Self

import numpy as np

from robscore._tools.memory import chunks, rows_within
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.elements.power_elements import PowerElements
from robscore.elements.row_elements import (
    CHUNK_BYTES,
    Cost,
    Elements,
    PairwiseElements,
    Part,
    RowCounts,
    Storage,
    check_dense,
    less_own_parameters,
    summed_powers,
    summed_squares,
    transposed,
)
from robscore.losses.interaction_parts import Parts, mirrored
from robscore.losses.quadratic import QuadraticLoss, StatisticLoss, location_rows

_ROOT2 = np.sqrt(2.0)


class GradientRows(NamedTuple):
    """The arrays of some rows; the rows' axis is the last one before those named here.

    v : (rows, q, p), h : (rows, q or fewer), g : (rows, q', p), x : (rows, m)
    """

    v: Array
    h: Array
    g: Array
    x: Array


class _GradientElements(Elements):
    """What the three kinds share.

    Parameters
    ----------
    x : array of shape (n, m)
        The rows themselves.
    v : array of shape (n, q, p)
        Gradients of the statistics, one per node or coordinate.
    h : array of shape (n, q)
        Boundary weights.
    g : array of shape (n, q', p)
    """

    def __init__(self, x: Array, v: Array, h: Array, g: Array) -> None:
        self.n_rows, self.n_columns = x.shape
        self.rows = GradientRows(v, h, g, x)
        self._find_overflow()

    def row_identity(self) -> tuple[Array, ...]:
        """The rows themselves, and what belongs to covariates."""
        covariates = self.rows.v[:, :, self.n_columns + 1 :] if self.n_locations > 1 else ()
        return (self.rows.x, *([covariates] if len(covariates) else []))

    def columns(self) -> Array:
        """The rows themselves."""
        return self.rows.x

    def products(self, part: Part, left: GradientRows, right: GradientRows) -> Array:
        """Inner products of the elements of all rows in ``left`` with all in ``right``."""
        if part == "gamma":
            return self._gamma_products(left, right)
        flat = [rows.g.reshape(*rows.g.shape[:-2], -1) for rows in (left, right)]
        return flat[0] @ transposed(flat[1])

    @abstractmethod
    def _gamma_products(self, left: GradientRows, right: GradientRows) -> Array:
        """Inner products of the Gamma's."""

    def squared_norms(self, part: Part) -> Array:
        """|Gamma(x)|^2 or |g(x)|^2 of every row, shape (n,)."""
        rows = GradientRows(*(array[:, None] for array in self.rows))  # n groups of one row
        return self.products(part, rows, rows)[:, 0, 0]


class NodeElements(_GradientElements, PairwiseElements):
    """Elements of a pairwise family whose gradients share no design: O(n m^2) numbers.

    Parameters
    ----------
    x : array of shape (n, m)
    v : array of shape (n, m, m+1)
        v[:, j] multiplies z_j = (K_1j, ..., K_mj, eta_j) in the gradient of the log density in x_j.
    h : array of shape (n, m)
    g : array of shape (n, m, m+1)
    """

    def given(self, c: Array) -> Self:
        """The same rows with covariates of the location, shape (n, q): what eta_j meets, times each."""
        v, h, g, x = self.rows
        m, same = self.n_columns, copy(self)
        v, g = (np.concatenate([part, part[:, :, [m]] * c[:, None, :]], axis=2) for part in (v, g))
        same.rows, same.n_locations = GradientRows(v, h, g, x), 1 + c.shape[1]
        same._find_overflow()
        return same

    def _gamma_products(self, left: GradientRows, right: GradientRows) -> Array:
        """sum_j h_j h_j (v_j . v_j)^2."""
        total = np.zeros((*left.h.shape[:-1], right.h.shape[-2]))
        for j in range(self.n_columns):
            total += self._weights(left, right, j) * self._angle(left, right, j) ** 2
        return total

    @staticmethod
    def _angle(left: GradientRows, right: GradientRows, j: int) -> Array:
        return left.v[..., j, :] @ transposed(right.v[..., j, :])

    @staticmethod
    def _weights(left: GradientRows, right: GradientRows, j: int) -> Array:
        return left.h[..., :, None, j] * right.h[..., None, :, j]

    def cost(self, part: Part) -> Cost:
        """One product of n x (m+1) arrays per node."""
        p = self.n_columns + 1
        return Cost(p * p, p - 1, p * p / 2) if part == "gamma" else Cost(p * p, p - 1, p)

    def node_features(self, part: Part, node: int, rows: GradientRows) -> Array:
        """h_j v_j v_j', its upper triangle, or g_j."""
        if part == "g":
            return rows.g[:, node]
        return _packed(rows.v[:, node], rows.h[:, node])

    def average(
        self, gamma_weights: Array | None = None, g_weights: Array | None = None, *, storage: Storage | None = None
    ) -> QuadraticLoss:
        """The weighted averages of Gamma and g as a quadratic loss; weights are 1/n by default."""
        check_dense(storage or self.storage)
        c_gamma, c_g = self._read_weights(gamma_weights, g_weights)
        v, h, g, _ = self.rows
        blocks = np.stack([_weighted_square(v[:, j], c_gamma * h[:, j]) for j in range(self.n_columns)])
        return QuadraticLoss(blocks, np.tensordot(c_g, g, axes=1))

    def _slopes(self, z: Array) -> tuple[Array, Array]:
        """Twice each row's quadratic part, shape (n,), and T, shape (n, m): its gradient in z_j is T_j v_j."""
        slopes = np.einsum("njp,jp->nj", self.rows.v, z)
        weighted = self.rows.h * slopes
        return np.einsum("nj,nj->n", weighted, slopes), weighted

    def row_losses(self, *parameters: Array) -> Array:
        """Each row's own score-matching loss, shape (n,); infinite for rows that overflow."""
        z = _stacked(*parameters)
        with np.errstate(over="ignore", invalid="ignore"):
            losses: Array = 0.5 * self._slopes(z)[0] - np.einsum("njp,jp->n", self.rows.g, z)
        losses[self.overflow | ~np.isfinite(losses)] = np.inf
        return losses

    def row_gradients(
        self, interaction: Array, location: Array, rows: IntArray, nodes: IntArray, *, symmetric: bool
    ) -> Array:
        """Gradient of each row's loss in some parameters, shape (n, d)."""
        v, _, g, _ = self.rows
        T = self._slopes(_stacked(interaction, location))[1]
        gradients = T[:, nodes] * v[:, nodes, rows] - g[:, nodes, rows]
        if symmetric:
            mirrored = np.flatnonzero((rows != nodes) & (rows < self.n_columns))
            i, j = rows[mirrored], nodes[mirrored]
            gradients[:, mirrored] += T[:, i] * v[:, i, j] - g[:, i, j]
        return gradients

    def pair_squares(self, counts: RowCounts, z: tuple[Array, ...], z0: tuple[Array, ...], own: Array) -> Array:
        """Sums of squared gradients, a few rows at a time: each has m^2 of them."""
        return summed_squares(self._weighted_gradients(counts, z, z0, own), self.n_columns)

    def pair_powers(
        self, counts: RowCounts, z: tuple[Array, ...], z0: tuple[Array, ...], own: Array, centre: Array
    ) -> Array:
        """Sums of second and fourth powers of the gradients, a few rows at a time."""
        return summed_powers(self._weighted_gradients(counts, z, z0, own), self.n_columns)

    def _weighted_gradients(
        self, counts: RowCounts, z: tuple[Array, ...], z0: tuple[Array, ...], own: Array
    ) -> Iterator[Array]:
        """What rows add to the gradient in entry k of z_j, less what its own parameters take, (rows, m, m) each."""
        m = self.n_columns
        slopes = counts.gamma[:, None] * self._slopes(_stacked(*z))[1]
        if counts.pulls.any():
            slopes -= counts.pulls[:, None] * self._slopes(_stacked(*z0))[1]
        for chunk in chunks(self.n_rows, rows_within(CHUNK_BYTES, m * m)):
            v, _, g, _ = self.take(chunk)
            whole = slopes[chunk, :, None] * v - counts.g[chunk, None, None] * g
            yield less_own_parameters(whole, own)

    def varying(self) -> BoolArray | None:
        """Entries of z that some row says something about, shape (m, m+1)."""
        return np.asarray(self.rows.v.any(axis=0))

    def constant_statistics(self, varying: BoolArray | None) -> str | None:
        """Whether a kind of statistics has no derivative in any row."""
        assert varying is not None
        m = self.n_columns
        if not varying.diagonal().any():
            return "t_self (by default t_pair(x, x)) is constant on these data, so K_jj has no estimate; give t_self=."
        if m > 1 and not (varying[:, :m] & ~np.eye(m, dtype=bool)).any():
            return "t_pair is constant on these data, so no interaction can be estimated."
        if not varying[:, m].any():
            return "t_single is constant on these data, so the location cannot be estimated; use another t_single."
        return None


class SimplexElements(NodeElements):
    """Elements on the simplex, where x_r = 1 - the rest couples every node with the reference r.

    Parameters
    ----------
    x, v, g : as in :class:`NodeElements`
    h : array of shape (n, m-1)
        One column for every node but the reference.
    zero_sums : bool
        Whether K_jj stands for minus the sum of its column, so that z_j has no entry j.
    reference : int
    """

    def __init__(self, x: Array, v: Array, h: Array, g: Array, *, zero_sums: bool, reference: int) -> None:
        self.zero_sums, self.reference = zero_sums, reference
        self.others = np.delete(np.arange(x.shape[1]), reference)
        super().__init__(x, v, h, g)

    def _gamma_products(self, left: GradientRows, right: GradientRows) -> Array:
        """sum_j h_j h_j (a_j^2 + 2 a_j b) + b^2 (sum h)(sum h), with a_j = v_j . v_j and b = v_r . v_r."""
        b = self._angle(left, right, self.reference)
        total = b * b * (left.h.sum(axis=-1)[..., :, None] * right.h.sum(axis=-1)[..., None, :])
        for c, j in enumerate(self.others.tolist()):
            a = self._angle(left, right, j)
            total += self._weights(left, right, c) * a * (a + 2 * b)
        return total

    def varying(self) -> None:
        """Logarithms are never constant."""

    def constant_statistics(self, varying: BoolArray | None) -> str | None:
        """Logarithms are never constant."""
        return None

    def cost(self, part: Part) -> Cost:
        """As without coupling, and m - 1 nodes for the coupling."""
        p = self.n_columns + 1
        return Cost(p * p, 2 * p - 3, p * p) if part == "gamma" else super().cost(part)

    def node_features(self, part: Part, node: int, rows: GradientRows) -> Array:
        """The blocks of all nodes, that of the reference last, then those that couple the others with it."""
        if part == "g":
            return super().node_features(part, node, rows)
        v, h = rows.v, rows.h
        c, reference = node % self.n_columns, v[:, self.reference]
        if c == self.others.size:
            return _packed(reference, h.sum(axis=1))
        own = v[:, self.others[c]]
        if c == node:
            return _packed(own, h[:, c])
        products = own[:, :, None] * (-_ROOT2 * h[:, c, None, None] * reference[:, None, :])
        return products.reshape(len(products), -1)

    def average(
        self, gamma_weights: Array | None = None, g_weights: Array | None = None, *, storage: Storage | None = None
    ) -> QuadraticLoss:
        """The weighted averages of Gamma and g as a quadratic loss; weights are 1/n by default."""
        check_dense(storage or self.storage)
        c_gamma, c_g = self._read_weights(gamma_weights, g_weights)
        v, h, g, _ = self.rows
        last, each = v[:, self.reference], list(enumerate(self.others.tolist()))
        own = [_weighted_square(v[:, j], c_gamma * h[:, c]) for c, j in each]
        own.insert(self.reference, _weighted_square(last, c_gamma * h.sum(axis=1)))
        coupling = [-(v[:, j] * (c_gamma * h[:, c])[:, None]).T @ last for c, j in each]
        return QuadraticLoss(
            np.stack(own),
            np.tensordot(c_g, g, axes=1),
            gamma_last=np.stack(coupling),
            reference=self.reference,
            zero_sums=self.zero_sums,
        )

    def _slopes(self, z: Array) -> tuple[Array, Array]:
        slopes = np.einsum("njp,jp->nj", self.rows.v, z)
        along = slopes[:, self.others] - slopes[:, [self.reference]]
        weighted = self.rows.h * along
        T = np.insert(weighted, self.reference, -weighted.sum(axis=1), axis=1)
        return np.einsum("nj,nj->n", weighted, along), T


class StatisticElements(_GradientElements):
    """Elements of any exponential family with r statistics: O(n m r) numbers.

    Parameters
    ----------
    x : array of shape (n, m)
    v : array of shape (n, m, r)
        Derivatives of the statistics in every column.
    h : array of shape (n, m)
    g : array of shape (n, 1, r)
    """

    def _gamma_products(self, left: GradientRows, right: GradientRows) -> Array:
        """sum_jk h_j h_k (v_j . v_k)^2."""
        total = np.zeros((*left.h.shape[:-1], right.h.shape[-2]))
        for j in range(self.n_columns):
            for k in range(self.n_columns):
                angle = left.v[..., j, :] @ transposed(right.v[..., k, :])
                total += left.h[..., :, None, j] * right.h[..., None, :, k] * angle**2
        return total

    def varying(self) -> BoolArray | None:
        """Statistics that some row says something about, shape (r,)."""
        return np.asarray((self.rows.v != 0).any(axis=(0, 1)))

    def constant_statistics(self, varying: BoolArray | None) -> str | None:
        """Whether a statistic has no derivative in any row."""
        assert varying is not None
        constant = np.flatnonzero(~varying)
        if not constant.size:
            return None
        return (
            f"Statistic {constant[0]} of t is constant on these data (its derivative is zero in every row), so its "
            "parameter cannot be estimated; leave it out."
        )

    def cost(self, part: Part) -> Cost:
        """m^2 products of n x r arrays."""
        m, r = self.n_columns, self.rows.v.shape[-1]
        return Cost(m * m * (r + 2), 1, r * (r + 1) / 2) if part == "gamma" else Cost(r, 1, r)

    def node_features(self, part: Part, node: int, rows: GradientRows) -> Array:
        """The upper triangle of Gamma, or g."""
        if part == "g":
            return rows.g[:, 0]
        total = _packed(rows.v[:, 0], rows.h[:, 0])
        for j in range(1, self.n_columns):
            total += _packed(rows.v[:, j], rows.h[:, j])
        return total

    def average(
        self, gamma_weights: Array | None = None, g_weights: Array | None = None, *, storage: Storage | None = None
    ) -> StatisticLoss:
        """The weighted averages of Gamma, shape (r, r), and g, shape (r,); weights are 1/n by default."""
        check_dense(storage or self.storage)
        c_gamma, c_g = self._read_weights(gamma_weights, g_weights)
        v, h, g, _ = self.rows
        gamma = sum(_weighted_square(v[:, j], c_gamma * h[:, j]) for j in range(self.n_columns))
        return StatisticLoss(np.asarray(gamma), c_g @ g[:, 0])

    def row_losses(self, *parameters: Array) -> Array:
        """Each row's own score-matching loss at theta, shape (n,); infinite for rows that overflow."""
        (theta,) = parameters
        with np.errstate(over="ignore", invalid="ignore"):
            slopes = self.rows.v @ theta
            losses: Array = 0.5 * np.einsum("nj,nj->n", self.rows.h, slopes**2) - self.rows.g[:, 0] @ theta
        losses[self.overflow | ~np.isfinite(losses)] = np.inf
        return losses


def _stacked(interaction: Array, location: Array) -> Array:
    """z_1..z_m, shape (m, m+1), or with covariates (m, m+1+q)."""
    return np.concatenate([interaction, location_rows(location)]).T


def _weighted_square(v: Array, weights: Array) -> Array:
    """sum_i c_i v_i v_i', shape (p, p), exactly symmetric."""
    square = (v * weights[:, None]).T @ v
    return (square + square.T) / 2


def _packed(v: Array, weights: Array) -> Array:
    """C v v' of every row, upper triangle with off-diagonal entries times sqrt(2), shape (n, p(p+1)/2)."""
    p = v.shape[1]
    result = np.empty((len(v), p * (p + 1) // 2))
    position = 0
    for k in range(p):
        weighted = weights * v[:, k]
        result[:, position] = weighted * v[:, k]
        np.multiply((_ROOT2 * weighted)[:, None], v[:, k + 1 :], out=result[:, position + 1 : position + p - k])
        position += p - k
    return result


class ModeratedElements(NodeElements):
    """Elements of n rows with moderators: O(n m^2 (1 + Q)) numbers.

    Parameters
    ----------
    plain : elements of the same rows without moderators and covariates
    w : array of shape (n, Q)
        Moderators.
    c : array of shape (n, q)
        Covariates of the location.
    parts : Parts
    counts : array of shape (n, m), optional
        How often what a row adds to the loss of every node counts.
    """

    def __init__(
        self, plain: PowerElements | NodeElements, w: Array, c: Array, parts: Parts, counts: Array | None = None
    ) -> None:
        v, h, g, x = _gradients(plain)
        if counts is not None:
            h, g = h * counts, g * counts[:, :, None]
        m = plain.n_columns
        self.parts, self.n_locations = parts, 1 + c.shape[1]
        v, g = (
            np.concatenate(
                [part[:, :, :m], *(part[:, :, :m] * own[:, None, None] for own in w.T), part[:, :, m:],
                 part[:, :, m:] * c[:, None, :]],
                axis=2,
            )
            for part in (v, g)
        )  # fmt: skip
        super().__init__(x, v, h, g)
        self.overflow |= plain.overflow

    @property
    def n_interactions(self) -> int:
        """Entries of z_j that are interactions."""
        return self.n_columns * self.parts.count

    def row_identity(self) -> tuple[Array, ...]:
        """The rows themselves, and what belongs to moderators and covariates."""
        return self.rows.x, self.rows.v[:, :, self.n_columns :]

    def cost(self, part: Part) -> Cost:
        """One product of n x p arrays per node."""
        p, m = self.rows.v.shape[2], self.n_columns
        return Cost(m * p, m, p * p / 2) if part == "gamma" else Cost(m * p, m, p)

    def average(
        self, gamma_weights: Array | None = None, g_weights: Array | None = None, *, storage: Storage | None = None
    ) -> QuadraticLoss:
        """The weighted averages of Gamma and g as a quadratic loss; weights are 1/n by default."""
        loss = super().average(gamma_weights, g_weights, storage=storage)
        return QuadraticLoss(loss.blocks, loss.g, parts=self.parts)

    def row_gradients(
        self, interaction: Array, location: Array, rows: IntArray, nodes: IntArray, *, symmetric: bool
    ) -> Array:
        """Gradient of each row's loss in some parameters, shape (n, d)."""
        gradients = super().row_gradients(interaction, location, rows, nodes, symmetric=False)
        if symmetric:
            entries, others = mirrored(rows, nodes, self.n_columns)
            pairs = np.flatnonzero((others != nodes) & (rows < self.n_interactions))
            gradients[:, pairs] += super().row_gradients(
                interaction, location, entries[pairs], others[pairs], symmetric=False
            )
        return gradients

    def pair_squares(self, counts: RowCounts, z: tuple[Array, ...], z0: tuple[Array, ...], own: Array) -> Array:
        """Sums of squared gradients, shape (2, m, (1 + Q) m), a few rows at a time."""
        sums = np.zeros((2, self.n_columns, self.n_interactions))
        for gradients in self._weighted_gradients(counts, z, z0, own):
            sums[0] += np.einsum("njk,njk->jk", gradients, gradients)
            sums[1] += np.einsum("njk,njk->jk", gradients, self._other_ends(gradients))
        return sums

    def pair_powers(
        self, counts: RowCounts, z: tuple[Array, ...], z0: tuple[Array, ...], own: Array, centre: Array
    ) -> Array:
        """Sums of second and fourth powers of the gradients, shape (2, m, (1 + Q) m), a few rows at a time."""
        sums = np.zeros((2, self.n_columns, self.n_interactions))
        for gradients in self._weighted_gradients(counts, z, z0, own):
            squares = (gradients + self._other_ends(gradients)) ** 2
            sums[0] += squares.sum(axis=0)
            sums[1] += np.einsum("njk,njk->jk", squares, squares)
        return sums

    def _other_ends(self, gradients: Array) -> Array:
        """Of every pair in every part the entry of the other node."""
        n, m = len(gradients), self.n_columns
        return np.asarray(gradients.reshape(n, m, -1, m).transpose(0, 3, 2, 1).reshape(gradients.shape))

    def _weighted_gradients(
        self, counts: RowCounts, z: tuple[Array, ...], z0: tuple[Array, ...], own: Array
    ) -> Iterator[Array]:
        """What rows add to the gradient in entry k of z_j, less what its own parameters take."""
        slopes = counts.gamma[:, None] * self._slopes(np.concatenate([z[0], z[1].T]).T)[1]
        if counts.pulls.any():
            slopes -= counts.pulls[:, None] * self._slopes(np.concatenate([z0[0], z0[1].T]).T)[1]
        nodes, entries = np.arange(self.n_columns), self.parts.own_entries(self.n_columns, self.n_locations)
        for chunk in chunks(self.n_rows, rows_within(CHUNK_BYTES, self.rows.v[0].size)):
            v, _, g, _ = self.take(chunk)
            whole = slopes[chunk, :, None] * v - counts.g[chunk, None, None] * g
            gradients = whole[:, :, : self.n_interactions].copy()
            for factor, at in zip(own, entries, strict=True):
                gradients -= factor * whole[:, nodes, at, None]
            yield gradients

    def constant_statistics(self, varying: BoolArray | None) -> str | None:
        """As without moderators, which are looked at apart."""
        assert varying is not None
        m, M = self.n_columns, self.n_interactions
        return super().constant_statistics(np.concatenate([varying[:, :m], varying[:, M:]], axis=1))


def _gradients(plain: PowerElements | NodeElements) -> GradientRows:
    """The arrays v, h, g and x of elements of either kind.

    Those of a power family hold A = h a^2, B = h a e and C = h e^2 for v_j = (-a_j u, e_j): sqrt(h) v_j is
    (-sqrt(A) u, sqrt(C)), with the sign of B.
    """
    if isinstance(plain, NodeElements):
        return plain.rows
    u, A, B, C, alpha, beta, gamma, _ = plain.rows
    n, m = u.shape
    v, g = np.empty((n, m, m + 1)), np.empty((n, m, m + 1))
    v[:, :, :m] = -np.sqrt(A)[:, :, None] * u[:, None, :]
    v[:, :, m] = np.where(B < 0, -1.0, 1.0) * np.sqrt(C + plain.constant_C)
    g[:, :, :m] = alpha[:, :, None] * u[:, None, :]
    g[:, np.arange(m), np.arange(m)] += beta
    g[:, :, m] = gamma
    return GradientRows(v, np.ones((n, m)), g, u)
