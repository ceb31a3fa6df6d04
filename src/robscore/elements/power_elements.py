"""Elements of the power families, held in O(n m) numbers.

They are, node by node (z_j = (K_1j, ..., K_mj, eta_j)),

    Gamma_j(x) = [[ A_j u u',  -B_j u ],  [ -B_j u',  C_j ]]         g_j(x) = alpha_j u + beta_j e_j + gamma_j e_eta

so a data set is the design u and a few coefficient arrays. With covariates, c = (1, c_1, ..., c_q) for every row, node
j has the locations eta_j0, ..., eta_jq in place of one: the constant 1 that eta meets becomes c,

    Gamma_j(x) = [[ A_j u u',  -B_j u c' ],  [ -B_j c u',  C_j c c' ]]     g_j(x) = alpha_j u + beta_j e_j + gamma_j c

Everything after needs only inner products of elements and their weighted means, and both come from here without ever
holding Gamma of a row. A mean of Gamma is a flat vector for every node, in which a symmetric matrix has its
off-diagonal entries once, times the root of 2: inner products of such vectors are those of the matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from robscore._tools.memory import chunks, rows_within
from robscore._tools.threads import in_threads
from robscore._tools.typing import Array, IntArray
from robscore.elements.row_elements import (
    CHUNK_BYTES,
    Cost,
    LossWeights,
    PairwiseElements,
    Parameters,
    Part,
    Storage,
    dot,
    transposed,
)
from robscore.losses.quadratic import MANY_COLUMNS, FactoredLoss, QuadraticLoss, RestrictedLoss
from robscore.rows.partition import Partition

ROOT2 = np.sqrt(2.0)
_FEW_ZEROS = 0.9  # guards time only: with a larger share of rows of weight, leaving out the others costs more (copies)


class PowerRows(NamedTuple):
    """The arrays of some rows; each has shape (..., rows, columns); c without its leading 1."""

    u: Array
    A: Array
    B: Array
    C: Array
    alpha: Array
    beta: Array
    gamma: Array
    c: Array


class PowerElements(PairwiseElements):
    """Elements of n rows under a power family.

    Parameters
    ----------
    u : array of shape (n, m)
        The design that all nodes share.
    A, B, C : arrays of shape (n, m), or (n, 1) when all nodes have the same Gamma block
    alpha, beta, gamma : arrays of shape (n, m)
    c : array of shape (n, q), optional
        Covariates of the location.
    bound : float, optional; what no squared norm of a row exceeds, where that is known

    Attributes
    ----------
    n_rows, n_columns : int
    n_locations : int
        1 + q.
    by_column : bool
        Whether the arrays are functions of the columns one by one; False unless a family says so.
    rows : the arrays, but for what all rows share of C, which is ``constant_C``
    overflow : boolean array of shape (n,)
        Rows so large that the products of their elements overflow. They count as infinitely far: their arrays are set
        to zero here and no weight may be put on them.
    """

    by_column = False
    forms_gamma = False

    def __init__(
        self,
        u: Array,
        A: Array,
        B: Array,
        C: Array,
        alpha: Array,
        beta: Array,
        gamma: Array,
        c: Array | None = None,
        bound: float | None = None,
    ) -> None:
        self.n_rows, self.n_columns = u.shape
        self.copies = self.n_columns // A.shape[1]
        c = np.zeros((self.n_rows, 0)) if c is None else c
        self.n_locations = 1 + c.shape[1]
        # What is the same in all rows moves no distance, and the digits of small elements would be lost beside it.
        is_same = self.n_locations == 1 and (C[0] == C).all()
        self.constant_C = C[0].copy() if is_same else np.zeros(C.shape[1])
        if self.constant_C.any():
            C = C - self.constant_C
        self.rows = PowerRows(u, A, B, C, alpha, beta, gamma, c)
        self.same_B, self.same_C = B is A, C is A  # then products are those of A
        self.constant = self.copies * float(self.constant_C @ self.constant_C)
        self._find_overflow(largest_norm(self.rows) if bound is None else bound)

    def shared_by_rows(self) -> Array:
        """The part of C that all rows share; zero where rows differ in it."""
        return self.constant_C

    def share(self, value: Array | None) -> None:
        """Leave out this part of C instead."""
        if value is None or np.array_equal(value, self.constant_C):
            return
        C = np.where(self.overflow[:, None], 0.0, self.rows.C + (self.constant_C - value))
        self.rows, self.same_C, self.constant_C = self.rows._replace(C=C), False, value
        self.constant = self.copies * float(value @ value)

    def given(self, c: Array) -> PowerElements:
        """Return the same rows with covariates of the location, shape (n, q)."""
        u, A, B, C, alpha, beta, gamma, _ = self.rows
        C = C + self.constant_C if self.constant_C.any() else C
        B, C = A if self.same_B else B, A if self.same_C else C  # the new elements look whether they are one array
        return PowerElements(u, A, B, C, alpha, beta, gamma, c)

    # Inner products -----------------------------------------------------------------------------

    def products(self, part: Part, left: PowerRows, right: PowerRows) -> Array:
        """Inner products of the elements of all rows in ``left`` with all in ``right``.

        Gamma: s^2 <A, A> + 2 s k <B, B> + k^2 <C, C> with s = <u, u> and k = <c, c>, where a = b: (s + k)^2 <A, A>.
        g: s <alpha, alpha> + <alpha u, beta> + <beta, alpha u> + <beta, beta> + k <gamma, gamma>.
        """
        s = left.u @ transposed(right.u)
        if part == "gamma":
            k = 1.0 if self.n_locations == 1 else 1.0 + left.c @ transposed(right.c)
            if self.same_B and self.same_C:
                total = left.A @ transposed(right.A)
                s += k
                s *= s
                total *= s
            else:
                total = (
                    (left.A @ transposed(right.A)) * s**2
                    + (left.B @ transposed(right.B)) * (2 * s * k)
                    + (left.C @ transposed(right.C)) * k**2
                )
            return self.copies * total
        total = left.alpha @ transposed(right.alpha)
        total *= s
        left_linear = np.concatenate([left.alpha * left.u + left.beta, left.beta, *spread(left.gamma, left.c)], axis=-1)
        right_linear = np.concatenate([right.beta, right.alpha * right.u, *spread(right.gamma, right.c)], axis=-1)
        return total + left_linear @ transposed(right_linear)

    def squared_norms(self, part: Part) -> Array:
        """|Gamma(x)|^2 or |g(x)|^2 of every row, shape (n,)."""
        u, A, B, C, alpha, beta, gamma, c = self.rows
        s, k = dot(u, u), 1.0 + dot(c, c)
        if part == "gamma":
            return self.copies * (s**2 * dot(A, A) + 2 * s * k * dot(B, B) + k**2 * dot(C, C))
        linear = 2 * dot(alpha * u, beta) + dot(beta, beta) + k * dot(gamma, gamma)
        return s * dot(alpha, alpha) + linear

    # Weighted sums, as flat vectors whose inner products are those of the elements ------------------

    def mean(self, part: Part, weights: Array) -> Array:
        """sum_i c_i e(x_i) as flat vectors of the nodes, shape (nodes, f), for one of ``copies`` equal blocks."""
        m, L = self.n_columns, self.n_locations
        if part == "g":
            u, _, _, _, alpha, beta, gamma, c = self.rows
            total = np.empty((m, m + L))
            total[:, :m] = (weights[:, None] * alpha).T @ u if alpha.any() else 0.0
            total[np.arange(m), np.arange(m)] += weights @ beta
            total[:, m] = weights @ gamma if gamma.any() else 0.0
            total[:, m + 1 :] = (weights[:, None] * gamma).T @ c if L > 1 else 0.0
            return total
        n_pairs, n_features = m * (m + 1) // 2, self._n_features

        def mean_of(chunk: slice) -> Array:
            positive = chunk.start + np.flatnonzero(weights[chunk])
            some = positive if positive.size < _FEW_ZEROS * (chunk.stop - chunk.start) else chunk
            rows, c = self.take(some), weights[some, None]
            cA = c * rows.A
            cB = cA if self.same_B else c * rows.B
            own = np.empty((self.rows.A.shape[1], n_features))
            own[:, :n_pairs] = cA.T @ pairs_of(rows.u).T
            for k, column in enumerate(columns_with_one(rows.c)):
                own[:, n_pairs + k * m : n_pairs + (k + 1) * m] = -ROOT2 * ((cB * column).T @ rows.u)
            own[:, n_pairs + L * m] = (c * rows.C).sum(axis=0)
            if L > 1:
                own[:, n_pairs + L * m :] = (c * rows.C).T @ own_pairs(rows.c).T
            return own

        total = np.zeros((self.rows.A.shape[1], n_features))
        for own in self._over_chunks(part, mean_of):
            total += own
        return total

    def inner(self, part: Part, mean: Array) -> Array:
        """<mean, e(x_i)> for every row, shape (n,)."""
        m, n_pairs = self.n_columns, self.n_columns * (self.n_columns + 1) // 2
        last = n_pairs + self.n_locations * m

        def inner_of(chunk: slice) -> Array:
            rows = self.take(chunk)
            if part == "g":
                linear = rows.u @ mean[:, :m].T
                total = dot(rows.alpha, linear) + rows.beta @ mean.diagonal() + rows.gamma @ mean[:, m]
                return total + dot(rows.gamma, rows.c @ mean[:, m + 1 :].T) if self.n_locations > 1 else total
            total = dot(rows.A, (mean[:, :n_pairs] @ pairs_of(rows.u)).T)
            for k, column in enumerate(columns_with_one(rows.c)):
                total -= ROOT2 * dot(rows.B * column, rows.u @ mean[:, n_pairs + k * m : n_pairs + (k + 1) * m].T)
            if self.n_locations > 1:
                return self.copies * (total + dot(rows.C, (mean[:, last:] @ own_pairs(rows.c)).T))
            return self.copies * (total + rows.C @ mean[:, last])

        return np.concatenate(list(self._over_chunks(part, inner_of)))

    def _over_chunks(self, part: Part, work: Callable[[slice], Array]) -> Iterator[Array]:
        """Yield the results for chunks of rows, in order; on all cores where there are many."""
        chunks_of_rows = self.row_chunks(part)
        return (in_threads if len(chunks_of_rows) > 3 else map)(work, chunks_of_rows)

    def mean_squared_norm(self, part: Part, mean: Array) -> float:
        """|mean|^2 in the elements' inner product."""
        flat = mean.ravel()
        return float(flat @ flat) * (self.copies if part == "gamma" else 1)

    def node_means(self, part: Part, partition: Partition, nodes: Sequence[int] | None = None) -> Iterator[Array]:
        """Block means of some nodes or all, one at a time, each of shape (K, f); their Gram matrices add up."""
        if nodes is None:
            nodes = range(self.cost(part).nodes)
        u, *others, c = self.ordered(partition)
        A, B, C, alpha, beta, gamma = (partition.repeated(array) for array in others)
        sizes = partition.totals[:, None]
        m = self.n_columns
        if part == "g":
            for j in nodes:
                rows = np.concatenate([alpha[:, [j]] * u, gamma[:, [j]], gamma[:, [j]] * c], axis=1)
                rows[:, j] += beta[:, j]
                yield partition.sums(rows) / sizes
            return
        n_pairs = m * (m + 1) // 2
        upper = np.triu_indices(m)
        double = np.where(upper[0] == upper[1], 1.0, ROOT2)
        for j in nodes:
            means = np.empty((partition.n_blocks, self._n_features))
            for size, members, rows in partition.by_size():
                for some in chunks(members.size, rows_within(CHUNK_BYTES, m * (m + size), at_least=1)):
                    block_u = u[rows[some]]
                    weighted = A[rows[some], j, None] * block_u
                    means[members[some], :n_pairs] = (transposed(weighted) @ block_u)[:, upper[0], upper[1]] * double
            for k, column in enumerate(columns_with_one(c)):
                at = n_pairs + k * m
                means[:, at : at + m] = -ROOT2 * partition.sums(B[:, [j]] * column * u)
            means[:, n_pairs + self.n_locations * m :] = partition.sums(C[:, [j]] * own_pairs(c).T)
            means *= np.sqrt(self.copies)
            yield means / sizes

    def node_features(self, part: Part, node: int, rows: PowerRows) -> Array:
        """One node's elements of some rows, shape (rows, f)."""
        u, A, B, C, alpha, beta, gamma, c = rows
        if part == "g":
            features = np.concatenate([alpha[:, [node]] * u, gamma[:, [node]], gamma[:, [node]] * c], axis=1)
            features[:, node] += beta[:, node]
            return features
        pairs = A[:, [node]] * pairs_of(u).T
        across = [-ROOT2 * B[:, [node]] * column * u for column in columns_with_one(c)]
        whole = np.concatenate([pairs, *across, C[:, [node]] * own_pairs(c).T], axis=1)
        return np.sqrt(self.copies) * whole

    @property
    def _n_features(self) -> int:
        """Numbers of a node's Gamma, by symmetry."""
        p = self.n_columns + self.n_locations
        return p * (p + 1) // 2

    def cost(self, part: Part) -> Cost:
        """Two products of n x m arrays for a product of rows."""
        m, nodes = self.n_columns, self.rows.A.shape[1]
        return Cost((m + nodes) / 2, nodes, m * m / 2) if part == "gamma" else Cost(m, m, m)

    def row_identity(self) -> tuple[Array, ...]:
        """The design, what depends on the weights, and covariates."""
        return (self.rows.u, self.rows.B, self.rows.gamma, *([self.rows.c] if self.n_locations > 1 else []))

    def columns(self) -> Array:
        """The design, whose columns rise with the data's."""
        return self.rows.u

    # The loss -----------------------------------------------------------------------------------

    def _averaged(self, c_gamma: Array, c_g: Array, storage: Storage) -> QuadraticLoss:
        m = self.n_columns
        few = m < MANY_COLUMNS or self.copies > 1
        if storage in ("matrix-free", "float32") or (storage == "auto" and not few):
            return self._factored(c_gamma, c_g, np.float32 if storage == "float32" else np.float64)
        blocks = unpacked(self.mean("gamma", c_gamma), m, self.n_locations)
        blocks[:, m, m] += self.constant_C * c_gamma.sum()
        return QuadraticLoss(blocks, self.mean("g", c_g))

    def restricted(self, weights: LossWeights, z0: Parameters, entries: Sequence[IntArray]) -> QuadraticLoss:
        """The weighted averages, of every node's block and g those entries alone, its locations the last of them."""
        if self.copies > 1:  # one block for all nodes
            return super().restricted(weights, z0, entries)
        from robscore.elements.averages_on_support import averages_on  # numba is imported when it is first needed

        at_rows = (z0[0], self._at_rows(z0[1])) if z0 else z0
        return RestrictedLoss(entries, *averages_on(entries, self.rows, weights, at_rows, self.constant_C))

    def mean_g(self, weights: Array) -> Array:
        """The weighted sum of g, shape (m, m + L)."""
        return self.mean("g", weights)

    def _factored(self, c_gamma: Array, c_g: Array, precision: type[np.floating[Any]]) -> FactoredLoss:
        """The loss without Gamma, from the rows whose weight is not zero."""
        kept = np.flatnonzero(c_gamma)
        rows, c = self.take(kept), c_gamma[kept, None]
        a, b, s = c * rows.A, c * rows.B, (c * rows.C).sum(axis=0) + self.constant_C * c_gamma.sum()
        m, L, wide = self.n_columns, self.n_locations, (self.n_columns, kept.size)
        u, a, b = (np.ascontiguousarray(np.broadcast_to(array.T, wide), dtype=precision) for array in (rows.u, a, b))
        if L == 1:
            return FactoredLoss(u, a, b, np.broadcast_to(s, (m,)).copy(), self.mean("g", c_g))
        given = np.column_stack([np.ones(kept.size), rows.c])
        own = np.broadcast_to(c * (rows.C + self.constant_C), wide[::-1])
        s = (own.T @ (given[:, :, None] * given[:, None, :]).reshape(-1, L * L)).reshape(m, L, L)
        return FactoredLoss(u, a, b, s, self.mean("g", c_g), np.ascontiguousarray(given.T, dtype=precision))

    def gamma_times(self, weights: Array, *parameters: Array) -> Array:
        """(sum_i c_i Gamma(x_i)) z, without Gamma: with p = u K and T = A p - B eta it is sum_i c_i T u'."""
        u, A, B, C, *_ = self.rows
        interaction, location = parameters[0], self._at_rows(parameters[1])
        m, c = self.n_columns, weights[:, None]
        p = u @ interaction
        product = np.empty((m, m + self.n_locations))
        product[:, :m] = (c * (A * p - B * location)).T @ u
        in_location = c * ((C + self.constant_C) * location - B * p)
        product[:, m] = in_location.sum(axis=0)
        product[:, m + 1 :] = in_location.T @ self.rows.c
        return product

    def _at_rows(self, location: Array) -> Array:
        """The location of every row, shape (n, m), from that of all, shape (m, 1 + q); of (m,) as it is."""
        return location if self.n_locations == 1 else location[:, 0] + self.rows.c @ location[:, 1:].T

    def _row_losses(self, *parameters: Array) -> Array:
        """l_i = sum_j 1/2 z_j' Gamma_j(x_i) z_j - g_j(x_i)' z_j, by p = u K."""
        u, A, B, C, alpha, beta, gamma, _ = self.rows
        interaction, location = parameters[0], self._at_rows(parameters[1])
        p = u @ interaction
        quadratic = A * p**2 - 2 * B * p * location + (C + self.constant_C) * location**2
        linear = alpha * p + beta * interaction.diagonal() + gamma * location
        losses: Array = (0.5 * quadratic - linear).sum(axis=1)
        return losses

    def row_gradients(
        self, interaction: Array, location: Array, rows: IntArray, nodes: IntArray, *, symmetric: bool
    ) -> Array:
        """Gradient of each row's loss in some parameters, shape (n, d).

        Parameter c is entry rows[c] of z_nodes[c], entries from m on being eta; with ``symmetric`` K_ij stands for both
        entries. In K_.j the gradient is u T_j - beta_j e_j with T = A p - B eta - alpha and p = u K.
        """
        u, A, B, C, alpha, beta, gamma, c = self.rows
        m, location = self.n_columns, self._at_rows(location)
        p = u @ interaction
        T = A * p - B * location - alpha
        gradients = np.empty((self.n_rows, rows.size))
        is_location = rows >= m
        if is_location.any():
            in_location = -B * p + (C + self.constant_C) * location - gamma
            gradients[:, is_location] = in_location[:, nodes[is_location]]
            effects = np.flatnonzero(rows > m)
            gradients[:, effects] *= c[:, rows[effects] - m - 1]
        i, j = rows[~is_location], nodes[~is_location]
        in_interaction = u[:, i] * T[:, j]
        if symmetric:
            in_interaction += np.where(i == j, 0.0, u[:, j] * T[:, i])
        in_interaction[:, i == j] -= beta[:, j[i == j]]
        gradients[:, ~is_location] = in_interaction
        return gradients

    def gradient_factors(self, interaction: Array, location: Array) -> tuple[Array, Array] | None:
        """The design, and T = A p - B eta - alpha, where columns have no covariates and boundaries of their own."""
        if self.n_locations > 1 or not self.by_column:
            return None
        u, A, B, _, alpha, *_ = self.rows
        return u, A * u * interaction.diagonal() - B * location - alpha

    def pair_squares(self, weights: LossWeights, z: Parameters, z0: Parameters, own: Array) -> Array:
        """Sums of squared gradients, from products of n x m arrays: the gradient in K_kj is u_k T_j.

        What ``own`` takes away are the gradients in K_jj and eta_j, of which squares and products with others remain.
        """
        u, (T, *taken) = self.rows.u, self._weighted_slopes(weights, z, z0)
        squares, across = (T * T).T @ (u * u), (T * u).T @ (T * u)
        mixed = np.zeros_like(squares)  # of what is taken away from [j, k] with the gradient itself at [k, j]
        for gradient, factor in zip(taken, own, strict=True):
            squares -= 2 * factor * ((T * gradient).T @ u)
            mixed += factor * ((gradient * u).T @ T)
        across -= mixed + mixed.T
        of_own: Array | float = 0.0
        for gradient, factor in zip(taken, own, strict=True):
            squares += factor * factor * np.einsum("ij,ij->j", gradient, gradient)[:, None]
            of_own = of_own + factor * (gradient.T @ gradient) * factor.T
        for (first, a), (second, b) in combinations(zip(taken, own, strict=True), 2):
            squares += 2 * a * b * np.einsum("ij,ij->j", first, second)[:, None]
            both = a * (first.T @ second) * b.T
            of_own = of_own + both + both.T
        return np.stack([squares, across + of_own])

    def pair_powers(self, weights: LossWeights, z: Parameters, z0: Parameters, own: Array, centre: Array) -> Array:
        """Sums of second and fourth powers of the gradients, with the design centred."""
        T, *_ = self._weighted_slopes(weights, z, z0)
        u = self.rows.u - centre
        T2, u2, both = T * T, u * u, T * u
        squares, fourths = T2.T @ u2, (T2 * T2).T @ (u2 * u2)
        mixed = (T2 * both).T @ (u2 * both)
        return np.stack(
            [
                squares + squares.T + 2 * (both.T @ both),
                fourths + fourths.T + 4 * (mixed + mixed.T) + 6 * (both * both).T @ (both * both),
            ]
        )

    def _weighted_slopes(self, weights: LossWeights, z: Parameters, z0: Parameters) -> tuple[Array, ...]:
        """T, with u_k T_j what a row adds to the gradient in K_kj; and what it adds in K_jj and eta_j, shape (n, m)."""
        u, A, B, C, alpha, beta, gamma, c = self.rows
        c_g = weights.g[:, None]
        T, location = -c_g * alpha, -c_g * gamma
        for row_weights, parameters in ((weights.gamma, z), (-weights.pulls, z0)):
            if row_weights.any():
                interaction, eta = parameters[0], self._at_rows(parameters[1])
                p = u @ interaction
                T += row_weights[:, None] * (A * p - B * eta)
                location += row_weights[:, None] * ((C + self.constant_C) * eta - B * p)
        return T, u * T - c_g * beta, location, *(location * column for column in c.T[:, :, None])


def largest_norm(rows: PowerRows) -> float:
    """A bound of all |Gamma(x)|^2 and |g(x)|^2 of a power family, at a fraction of their cost.

    Sums of squares over all rows stand in place of those over one. NaN where an array holds one, or where the bound
    itself overflows.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        sums = {id(array): _sum_of_squares(array) for array in rows}
        u, A, B, C, alpha, beta, gamma, c = (sums[id(array)] for array in rows)
        m, k = rows.u.shape[1], 1.0 + c
        of_gamma = m * (u**2 * A + 2 * u * k * B + k**2 * C)
        return float(of_gamma + 2 * u * alpha + 2 * beta + k * gamma)


def _sum_of_squares(array: Array) -> np.float64:
    flat = array.ravel(order="K")
    return np.float64(flat @ flat)


def pairs_of(u: Array) -> Array:
    """Products u_k u_l for k <= l of rows, shape (n, m), off-diagonal ones times sqrt(2), shape (m(m+1)/2, n)."""
    m = u.shape[1]
    columns = np.ascontiguousarray(u.T)
    result = np.empty((m * (m + 1) // 2, u.shape[0]))
    position = 0
    for k in range(m):
        np.multiply(columns[k], columns[k], out=result[position])
        np.multiply(ROOT2 * columns[k], columns[k + 1 :], out=result[position + 1 : position + m - k])
        position += m - k
    return result


def own_pairs(c: Array) -> Array:
    """Return products of pairs of the rows (1, c), as ``pairs_of``, with c of shape (n, q)."""
    return pairs_of(np.concatenate([np.ones((len(c), 1)), c], axis=1))


def columns_with_one(c: Array) -> list[Array | float]:
    """The columns of (1, c), shape (n, 1) each; the first as a number, which costs nothing."""
    return [1.0, *c.T[:, :, None]]


def unpacked(features: Array, m: int, n_locations: int = 1) -> Array:
    """Symmetric blocks, shape (..., m+L, m+L), from flat vectors as ``mean`` and ``node_features`` have them."""
    n_pairs, p = m * (m + 1) // 2, m + n_locations
    blocks = np.empty((*features.shape[:-1], p, p))
    last = n_pairs + n_locations * m
    for size, start, part in ((m, 0, features[..., :n_pairs]), (n_locations, m, features[..., last:])):
        upper = np.triu_indices(size)
        pairs = part / np.where(upper[0] == upper[1], 1.0, ROOT2)
        blocks[..., start + upper[0], start + upper[1]] = pairs
        blocks[..., start + upper[1], start + upper[0]] = pairs
    for k in range(n_locations):
        across = features[..., n_pairs + k * m : n_pairs + (k + 1) * m] / ROOT2
        blocks[..., :m, m + k] = blocks[..., m + k, :m] = across
    return blocks


def spread(gamma: Array, c: Array) -> list[Array]:
    """The array gamma, shape (..., n, m), times every column of (1, c), of the same shape each."""
    return [gamma, *(gamma * c[..., [k]] for k in range(c.shape[-1]))]
