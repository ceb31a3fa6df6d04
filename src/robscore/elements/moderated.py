"""Elements whose interactions change with moderators: K(c) = K_0 + w_1 K_1 + ... + w_Q K_Q at every row.

    v_j = (k_j, w_1 k_j, ..., w_Q k_j, e_j c),      k_j and e_j what K_.j and eta_j meet without moderators

Of any pairwise family: what multiplies K is repeated, times each moderator, and still Gamma_j = h_j v_j v_j'.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robscore._tools.memory import chunks, rows_within
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.elements.base import CHUNK_BYTES, Cost, Part, RowCounts, Storage
from robscore.elements.gradients import GradientRows, NodeElements
from robscore.elements.power import PowerElements
from robscore.losses.parts import Parts, mirrored
from robscore.losses.quadratic import QuadraticLoss


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
