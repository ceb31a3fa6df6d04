"""Elements of rows with holes, entry by entry: each entry of Gamma and g by the rows in which its cells are there.

An entry of Gamma_j needs three cells at most, x_j, x_k and x_l; one of g_j two. With w = 1 where a cell is there, and
the share p of (weighted) rows in which all cells of an entry are,

    Gamma_j[k, l] = sum_i c_i w_ij w_ik w_il A_ij u_ik u_il / p_jkl,   g_j[k] = sum_i c_i w_ij w_ik alpha_ij u_ik / p_jk

which is unbiased where cells are missing completely at random, in one pass. (Where all nodes share Gamma, as of the
Gaussian, x_j is not needed.) A row's own elements are taken relative to these means,

    Gamma-bar + w (Gamma(x) - Gamma-bar) / p

whose average is the same, and whose spread is that of the estimate: an entry that is not there says nothing new.
The blocks of Gamma need not be positive semidefinite; ``sound`` puts the nearest that are in their place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robscore._tools.memory import chunks, rows_within
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.elements.base import (
    CHUNK_BYTES,
    Cost,
    PairwiseElements,
    Part,
    RowCounts,
    Storage,
    check_dense,
    transposed,
)
from robscore.elements.packing import ROOT2
from robscore.elements.pair_sums import less_own_parameters, summed_powers, summed_squares
from robscore.elements.power import PowerElements
from robscore.losses.quadratic import Loss, QuadraticLoss, location_rows
from robscore.losses.semidefinite import nearest_semidefinite

if TYPE_CHECKING:
    from robscore.families.family import Family


class AvailableRows(NamedTuple):
    """The arrays of some rows, zero where they need a cell that is not there; and which cells are, 0 or 1."""

    u: Array
    A: Array
    B: Array
    C: Array
    alpha: Array
    beta: Array
    gamma: Array
    c: Array
    there: Array


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of the rows in which the cells of every entry are there.

    Attributes
    ----------
    gamma : array of shape (m, p, p), or (1, p, p) where nodes share it
    g : array of shape (m, p)
    centre : QuadraticLoss, or None
        The means of all entries, which a row's own are taken relative to.
    """

    gamma: Array
    g: Array
    centre: QuadraticLoss | None = None


class AvailableElements(PairwiseElements):
    """Elements of n rows with holes under a power family.

    Parameters
    ----------
    whole : PowerElements
        Of the rows with something in every hole.
    there : boolean array of shape (n, m)
        Cells that are there.
    shares : Shares
    """

    def __init__(self, whole: PowerElements, there: BoolArray, shares: Shares) -> None:
        self.n_rows, self.n_columns = there.shape
        self.n_locations, self.copies, self.shares = whole.n_locations, whole.copies, shares
        self.overflow = whole.overflow
        w = np.where(self.overflow[:, None], 0.0, there)
        u, A, B, C, alpha, beta, gamma, c = whole.rows
        own = w if self.copies == 1 else np.ones((self.n_rows, 1))
        self.rows = AvailableRows(
            w * u, own * A, own * B, own * (C + whole.constant_C), w * alpha, w * beta, w * gamma, c, w
        )

    # Averages ---------------------------------------------------------------------------------------

    def average(
        self, gamma_weights: Array | None = None, g_weights: Array | None = None, *, storage: Storage | None = None
    ) -> QuadraticLoss:
        """The weighted averages, entry by entry; weights are 1/n by default."""
        check_dense(storage or self.storage)
        c_gamma, c_g = self._read_weights(gamma_weights, g_weights)
        sums = PowerElements(*self.rows[:-1]).average(c_gamma, c_g, storage="dense")
        return QuadraticLoss(sums.blocks / self.shares.gamma, sums.g / self.shares.g)

    def sound(self, loss: Loss) -> Loss:
        """With the nearest positive semidefinite blocks."""
        assert isinstance(loss, QuadraticLoss)
        return nearest_semidefinite(loss)

    # Single rows ------------------------------------------------------------------------------------

    def _times(self, rows: AvailableRows, z: Array) -> Array:
        """Gamma(x_i) z of some rows, relative to the mean, shape (rows, m, p), with z of shape (m, p)."""
        m, w, shared = self.n_columns, rows.there, self.copies > 1
        given = np.column_stack([np.ones(len(w)), rows.c])
        found = np.empty((len(w), m, z.shape[1]))
        for j in range(m):
            node, inverse = (0 if shared else j), 1.0 / self.shares.gamma[0 if shared else j]
            A, B, C = rows.A[:, [node]], rows.B[:, [node]], rows.C[:, [node]]
            at, pulled = (given @ z[j, m:])[:, None], rows.u * z[j, :m]
            found[:, j, :m] = rows.u * (A * (pulled @ inverse[:m, :m]) - B * at * inverse[:m, m])
            found[:, j, m:] = given * (C * at * inverse[m, m] - B * (pulled @ inverse[:m, [m]]))
            if self.shares.centre is not None:
                mean = self.shares.centre.blocks[node]
                own, weighted = 1.0 if shared else w[:, [j]], inverse * mean
                pulled = w * z[j, :m]
                found[:, j, :m] -= own * w * (pulled @ weighted[:m, :m] + weighted[:m, m:] @ z[j, m:])
                found[:, j, m:] -= own * (pulled @ weighted[:m, m:] + weighted[m:, m:] @ z[j, m:])
                found[:, j] += mean @ z[j]
        return found

    def _linear(self, rows: AvailableRows) -> Array:
        """g(x_i) of some rows, relative to the mean, shape (rows, m, p)."""
        m, w = self.n_columns, rows.there
        found = np.empty((len(w), m, m + self.n_locations))
        found[:, :, :m] = rows.alpha[:, :, None] * rows.u[:, None, :]
        found[:, np.arange(m), np.arange(m)] += rows.beta
        found[:, :, m:] = rows.gamma[:, :, None] * np.column_stack([np.ones(len(w)), rows.c])[:, None, :]
        if self.shares.centre is not None:
            needed = np.concatenate([w, np.ones((len(w), self.n_locations))], axis=1)
            found -= w[:, :, None] * needed[:, None, :] * self.shares.centre.g
        found /= self.shares.g
        return found if self.shares.centre is None else found + self.shares.centre.g

    def _chunks(self) -> list[slice]:
        return chunks(self.n_rows, rows_within(CHUNK_BYTES, self.n_columns * (self.n_columns + self.n_locations)))

    def row_losses(self, *parameters: Array) -> Array:
        """Each row's own loss, shape (n,), what is not there as on average; infinite for rows that overflow."""
        z, losses = _stacked(*parameters), np.empty(self.n_rows)
        with np.errstate(over="ignore", invalid="ignore"):
            for chunk in self._chunks():
                rows = self.take(chunk)
                losses[chunk] = np.einsum("njp,jp->n", 0.5 * self._times(rows, z) - self._linear(rows), z)
        losses[self.overflow | ~np.isfinite(losses)] = np.inf
        return losses

    def row_gradients(
        self, interaction: Array, location: Array, rows: IntArray, nodes: IntArray, *, symmetric: bool
    ) -> Array:
        """Gradient of each row's loss in some parameters, shape (n, d)."""
        z, gradients = _stacked(interaction, location), np.empty((self.n_rows, rows.size))
        mirrored = np.flatnonzero((rows != nodes) & (rows < self.n_columns)) if symmetric else np.zeros(0, dtype=int)
        for chunk in self._chunks():
            some = self.take(chunk)
            whole = self._times(some, z) - self._linear(some)
            gradients[chunk] = whole[:, nodes, rows]
            gradients[chunk, mirrored] += whole[:, rows[mirrored], nodes[mirrored]]
        return gradients

    def _weighted_gradients(
        self, counts: RowCounts, z: tuple[Array, ...], z0: tuple[Array, ...], own: Array
    ) -> Iterator[Array]:
        """What rows add to the gradient in entry k of z_j, less what its own parameters take, (rows, m, m) each."""
        for chunk in self._chunks():
            rows = self.take(chunk)
            whole = counts.gamma[chunk, None, None] * self._times(rows, _stacked(*z))
            if counts.pulls[chunk].any():
                whole -= counts.pulls[chunk, None, None] * self._times(rows, _stacked(*z0))
            whole -= counts.g[chunk, None, None] * self._linear(rows)
            yield less_own_parameters(whole, own)

    def pair_squares(self, counts: RowCounts, z: tuple[Array, ...], z0: tuple[Array, ...], own: Array) -> Array:
        """Sums of squared gradients, a few rows at a time."""
        return summed_squares(self._weighted_gradients(counts, z, z0, own), self.n_columns)

    def pair_powers(
        self, counts: RowCounts, z: tuple[Array, ...], z0: tuple[Array, ...], own: Array, centre: Array
    ) -> Array:
        """Sums of second and fourth powers of the gradients, a few rows at a time."""
        return summed_powers(self._weighted_gradients(counts, z, z0, own), self.n_columns)

    # Inner products, from the elements themselves -------------------------------------------------

    def node_features(self, part: Part, node: int, rows: AvailableRows) -> Array:
        """One node's elements of some rows, not relative to a mean, shape (rows, f)."""
        given = np.column_stack([np.ones(len(rows.u)), rows.c])
        if part == "g":
            linear = np.column_stack([rows.alpha[:, [node]] * rows.u, rows.gamma[:, [node]] * given])
            linear[:, node] += rows.beta[:, node]
            return np.asarray(linear / self.shares.g[node])
        A, B, C = (array[:, node, None, None] for array in (rows.A, rows.B, rows.C))
        u, c = rows.u, given
        inner, across, own = (left[:, :, None] * right[:, None, :] for left, right in ((u, u), (u, c), (c, c)))
        blocks = np.block([[A * inner, -B * across], [-B * transposed(across), C * own]]) / self.shares.gamma[node]
        upper = np.triu_indices(blocks.shape[1])
        return np.asarray(blocks[:, upper[0], upper[1]] * np.where(upper[0] == upper[1], 1.0, ROOT2))

    def products(self, part: Part, left: AvailableRows, right: AvailableRows) -> Array:
        """Inner products of the elements of all rows in ``left`` with all in ``right``."""
        nodes = range(self.cost(part).nodes)
        every = (self.node_features(part, j, left) @ self.node_features(part, j, right).T for j in nodes)
        return np.asarray((self.copies if part == "gamma" else 1) * sum(every))

    def squared_norms(self, part: Part) -> Array:
        """|Gamma(x)|^2 or |g(x)|^2 of every row, shape (n,)."""
        features = (self.node_features(part, j, self.rows) for j in range(self.cost(part).nodes))
        return np.asarray((self.copies if part == "gamma" else 1) * sum((own**2).sum(axis=1) for own in features))

    def cost(self, part: Part) -> Cost:
        """As many numbers for a product as a node has."""
        p = self.n_columns + self.n_locations
        numbers = p * (p + 1) / 2 if part == "gamma" else p
        return Cost(numbers, self.rows.A.shape[1] if part == "gamma" else self.n_columns, numbers)

    def columns(self) -> Array:
        """The design, zero where a cell is not there."""
        return self.rows.u


def _stacked(interaction: Array, location: Array) -> Array:
    return np.concatenate([np.asarray(interaction), location_rows(location)]).T


@dataclass(frozen=True, eq=False)
class AvailableView:
    """From rows with holes to their elements, in place of a family.

    Attributes
    ----------
    family : a power family, on columns that are free of each other
    typical : array of shape (m,)
        A value inside the domain for every column, to stand in holes, which does not matter.
    shares : Shares
    """

    family: Family
    typical: Array
    shares: Shares

    def elements(self, X: Array) -> AvailableElements:
        """Of rows X, shape (n, m), with NaN where nothing is there, and covariates after their columns."""
        m = self.typical.size
        there = ~np.isnan(X[:, :m])
        filled = np.concatenate([np.where(there, X[:, :m], self.typical), X[:, m:]], axis=1)
        whole = self.family.elements(filled)
        assert isinstance(whole, PowerElements)
        return AvailableElements(whole, there, self.shares)

    def numbers_of_gamma(self, n_columns: int) -> int:
        """As of the family."""
        return self.family.numbers_of_gamma(n_columns)


def counts_of(there: Array, weights: Array, n_given: int, *, shared: bool) -> QuadraticLoss:
    """Weights of the rows in which the cells of every entry are there, of cells there, shape (n, m), 0 or 1."""
    m = there.shape[1]
    own = np.ones((len(there), 1)) if shared else there
    marks = PowerElements(there, own, own, own, there, np.zeros_like(there), there)
    counts = marks.average(weights, weights, storage="dense")
    entries = np.append(np.arange(m), np.full(1 + n_given, m))
    return QuadraticLoss(np.abs(counts.blocks)[:, entries[:, None], entries], counts.g[:, entries])
