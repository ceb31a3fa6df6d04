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
from robscore.elements.power_elements import ROOT2, PowerElements
from robscore.elements.row_elements import (
    CHUNK_BYTES,
    Cost,
    Elements,
    LossWeights,
    PairwiseElements,
    Parameters,
    Part,
    Storage,
    transposed,
)
from robscore.losses.interaction_parts import PLAIN, Parts, mirrored
from robscore.losses.quadratic import QuadraticLoss, StatisticLoss, location_rows


class GradientRows(NamedTuple):
    """The arrays of some rows; the rows' axis is the last one before those named here.

    v : (rows, q, p), h : (rows, q or fewer), g : (rows, q', p), x : (rows, m)
    """

    v: Array
    h: Array
    g: Array
    x: Array


class _GradientElements(Elements):
    """Elements that are held as gradients of statistics: what the kinds below share.

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
        """The rows themselves, and the parts of v that covariates add."""
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
        """Inner products of Gamma of all rows in ``left`` with all in ``right``."""

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

    parts: Parts = PLAIN

    @property
    def n_interactions(self) -> int:
        """M, the entries of z_j that are interactions: m, and as many for every moderator."""
        return self.n_columns * self.parts.count

    def given(self, c: Array) -> Self:
        """Return the same rows with covariates of the location, shape (n, q): each multiplies what eta_j meets."""
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
        """An inner product takes one of n x (m+1) arrays per node."""
        p = self.n_columns + 1
        return Cost(p * p, p - 1, p * p / 2) if part == "gamma" else Cost(p * p, p - 1, p)

    def node_features(self, part: Part, node: int, rows: GradientRows) -> Array:
        """h_j v_j v_j', its upper triangle, or g_j."""
        if part == "g":
            return rows.g[:, node]
        return _packed(rows.v[:, node], rows.h[:, node])

    def _averaged(self, c_gamma: Array, c_g: Array, storage: Storage) -> QuadraticLoss:
        v, h, g, _ = self.rows
        blocks = np.stack([_weighted_square(v[:, j], c_gamma * h[:, j]) for j in range(self.n_columns)])
        return QuadraticLoss(blocks, np.tensordot(c_g, g, axes=1), parts=self.parts)

    def _slopes(self, z: Array) -> tuple[Array, Array]:
        """Twice each row's quadratic part, shape (n,), and T, shape (n, m): its gradient in z_j is T_j v_j."""
        slopes = np.einsum("njp,jp->nj", self.rows.v, z)
        weighted = self.rows.h * slopes
        return np.einsum("nj,nj->n", weighted, slopes), weighted

    def _row_losses(self, *parameters: Array) -> Array:
        z = _stacked(*parameters)
        losses: Array = 0.5 * self._slopes(z)[0] - np.einsum("njp,jp->n", self.rows.g, z)
        return losses

    def row_gradients(
        self, interaction: Array, location: Array, rows: IntArray, nodes: IntArray, *, symmetric: bool
    ) -> Array:
        """Gradient of each row's loss in some parameters, shape (n, d)."""
        v, _, g, _ = self.rows
        T = self._slopes(_stacked(interaction, location))[1]
        gradients = T[:, nodes] * v[:, nodes, rows] - g[:, nodes, rows]
        if symmetric:
            entries, others = mirrored(rows, nodes, self.n_columns)
            pairs = np.flatnonzero((others != nodes) & (rows < self.n_interactions))
            i, j = entries[pairs], others[pairs]
            gradients[:, pairs] += T[:, j] * v[:, j, i] - g[:, j, i]
        return gradients

    def pair_squares(self, weights: LossWeights, z: Parameters, z0: Parameters, own: Array) -> Array:
        """Sums of squared gradients, shape (2, m, (1 + Q) m), a few rows at a time: each has so many of them."""
        sums = np.zeros((2, self.n_columns, self.n_interactions))
        for gradients in self._weighted_gradients(weights, z, z0, own):
            sums[0] += np.einsum("njk,njk->jk", gradients, gradients)
            sums[1] += np.einsum("njk,njk->jk", gradients, self._other_ends(gradients))
        return sums

    def pair_powers(self, weights: LossWeights, z: Parameters, z0: Parameters, own: Array, centre: Array) -> Array:
        """Sums of second and fourth powers of the gradients, shape (2, m, (1 + Q) m), a few rows at a time."""
        sums = np.zeros((2, self.n_columns, self.n_interactions))
        for gradients in self._weighted_gradients(weights, z, z0, own):
            squares = (gradients + self._other_ends(gradients)) ** 2
            sums[0] += squares.sum(axis=0)
            sums[1] += np.einsum("njk,njk->jk", squares, squares)
        return sums

    def _other_ends(self, gradients: Array) -> Array:
        """Gradients by node and entry, shape (rows, m, M), with the other entry of each pair in its place."""
        n, m = len(gradients), self.n_columns
        return np.asarray(gradients.reshape(n, m, -1, m).transpose(0, 3, 2, 1).reshape(gradients.shape))

    def _weighted_gradients(self, weights: LossWeights, z: Parameters, z0: Parameters, own: Array) -> Iterator[Array]:
        """Yield what rows add to the gradient in entry k of z_j, less what its own parameters take, (rows, m, M)."""
        M = self.n_interactions
        slopes = weights.gamma[:, None] * self._slopes(_stacked(*z))[1]
        if weights.pulls.any():
            slopes -= weights.pulls[:, None] * self._slopes(_stacked(*z0))[1]
        nodes, entries = np.arange(self.n_columns), self.parts.own_entries(self.n_columns, self.n_locations)
        for chunk in chunks(self.n_rows, rows_within(CHUNK_BYTES, self._numbers_of_gradients)):
            v, _, g, _ = self.take(chunk)
            whole = slopes[chunk, :, None] * v - weights.g[chunk, None, None] * g
            gradients = whole[:, :, :M].copy()
            for factor, at in zip(own, entries, strict=True):
                gradients -= factor * whole[:, nodes, at, None]
            yield gradients

    @property
    def _numbers_of_gradients(self) -> int:
        """Numbers of a row at a time; the size of the pieces decides how sums are rounded."""
        return self.n_columns**2

    def varying(self) -> BoolArray | None:
        """Entries of z whose statistic has a derivative other than zero in some row, shape (m, m+1)."""
        return np.asarray(self.rows.v.any(axis=0))

    def constant_statistics(self, varying: BoolArray | None) -> str | None:
        """Name a kind of statistics whose derivatives are zero in all rows."""
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
        """None: logarithms are never constant."""

    def constant_statistics(self, varying: BoolArray | None) -> str | None:
        """None: logarithms are never constant."""
        return None

    def cost(self, part: Part) -> Cost:
        """An inner product costs as much as without coupling; the coupling adds m - 1 nodes."""
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
        products = own[:, :, None] * (-ROOT2 * h[:, c, None, None] * reference[:, None, :])
        return products.reshape(len(products), -1)

    def _averaged(self, c_gamma: Array, c_g: Array, storage: Storage) -> QuadraticLoss:
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
        """Statistics with a derivative other than zero in some row, shape (r,)."""
        return np.asarray((self.rows.v != 0).any(axis=(0, 1)))

    def constant_statistics(self, varying: BoolArray | None) -> str | None:
        """Name a statistic whose derivative is zero in all rows."""
        assert varying is not None
        constant = np.flatnonzero(~varying)
        if not constant.size:
            return None
        return (
            f"Statistic {constant[0]} of t is constant on these data (its derivative is zero in every row), so its "
            "parameter cannot be estimated; leave it out."
        )

    def cost(self, part: Part) -> Cost:
        """An inner product takes m^2 of n x r arrays."""
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

    def _averaged(self, c_gamma: Array, c_g: Array, storage: Storage) -> StatisticLoss:
        v, h, g, _ = self.rows
        gamma = sum(_weighted_square(v[:, j], c_gamma * h[:, j]) for j in range(self.n_columns))
        return StatisticLoss(np.asarray(gamma), c_g @ g[:, 0])

    def _row_losses(self, *parameters: Array) -> Array:
        (theta,) = parameters
        slopes = self.rows.v @ theta
        losses: Array = 0.5 * np.einsum("nj,nj->n", self.rows.h, slopes**2) - self.rows.g[:, 0] @ theta
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
        np.multiply((ROOT2 * weighted)[:, None], v[:, k + 1 :], out=result[:, position + 1 : position + p - k])
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
    weights : array of shape (n, m), optional
        How many times the row weights in the loss of every node.
    """

    def __init__(
        self, plain: PowerElements | NodeElements, w: Array, c: Array, parts: Parts, weights: Array | None = None
    ) -> None:
        v, h, g, x = _gradients(plain)
        if weights is not None:
            h, g = h * weights, g * weights[:, :, None]
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

    def row_identity(self) -> tuple[Array, ...]:
        """The rows themselves, and the parts of v that moderators and covariates add."""
        return self.rows.x, self.rows.v[:, :, self.n_columns :]

    def cost(self, part: Part) -> Cost:
        """An inner product takes one of n x p arrays per node."""
        p, m = self.rows.v.shape[2], self.n_columns
        return Cost(m * p, m, p * p / 2) if part == "gamma" else Cost(m * p, m, p)

    @property
    def _numbers_of_gradients(self) -> int:
        return int(self.rows.v[0].size)

    def constant_statistics(self, varying: BoolArray | None) -> str | None:
        """Name statistics as without moderators, which are checked apart."""
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
