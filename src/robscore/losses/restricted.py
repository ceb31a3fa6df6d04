"""The quadratic loss on a support: of every node only the entries of Gamma that its own parameters meet.

    loss(K, eta) = sum_j 1/2 z_j' Gamma_j[S_j, S_j] z_j - g_j' z_j,      S_j = {k: K_kj may differ from 0} and eta_j

With d neighbours per column that is m (d + 2)^2 numbers in place of m^3, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csc_array

from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.losses.parts import PLAIN
from robscore.losses.quadratic import QuadraticLoss, dense, location_rows


class RestrictedLoss(QuadraticLoss):
    """Averaged elements of a pairwise family on a support.

    Parameters
    ----------
    entries : integer arrays, one per node
        S_j, ascending: neighbours, j itself, and the entries of its locations, from m on.
    corners : arrays of shape (|S_j|, |S_j|), one per node
    g : array of shape (m, m+1)
        Zero at entries that are not in the support.
    """

    def __init__(self, entries: Sequence[IntArray], corners: Sequence[Array], g: Array) -> None:
        self.entries, self.corners, self.parts = list(entries), list(corners), PLAIN
        self.g = g
        self.gamma_last, self.reference = None, -1
        self.zero_sums = False
        self.n_columns = g.shape[0]
        self.shared = False

    @property
    def blocks(self) -> Array:  # type: ignore[override]
        """Not there: most of Gamma is not known."""
        raise ValueError("This loss knows Gamma on the support of a graph only.")

    def __iadd__(self, other: QuadraticLoss) -> QuadraticLoss:
        """The sum of two losses on the same support, in place."""
        assert isinstance(other, RestrictedLoss)
        for own, more in zip(self.corners, other.corners, strict=True):
            own += more
        self.g += other.g
        return self

    def block(self, node: int, rows: IntArray, columns: IntArray) -> Array:
        """Some entries of a node's block, shape (rows, columns), all of them in its support."""
        own = self.entries[node]
        return self.corners[node][np.searchsorted(own, rows)[:, None], np.searchsorted(own, columns)]

    def diagonal(self) -> Array:
        """The diagonals of all blocks, shape (m, m+1); zero where they are not known."""
        result = np.zeros(self.g.shape)
        for j, (own, part) in enumerate(zip(self.entries, self.corners, strict=True)):
            result[j, own] = part.diagonal()
        return result

    def gamma_times(self, interaction: Array | csc_array, location: Array) -> Array:
        """Gamma z, shape (m, m+1), of a z on the support; zero at other entries, where it is not known."""
        z = np.concatenate([dense(interaction), location_rows(location)]).T
        product = np.zeros(self.g.shape)
        for j, (own, part) in enumerate(zip(self.entries, self.corners, strict=True)):
            product[j, own] = part @ z[j, own]
        return product

    def best_location(self, pulled: Array) -> Array:
        """S^-1 of what pulls at the locations of every column, shape (m, L)."""
        L = self.n_locations
        return np.array([np.linalg.solve(part[-L:, -L:], own) for part, own in zip(self.corners, pulled, strict=True)])

    def pulls_of(self, interaction: Array | csc_array) -> Array:
        """t_j' K_j: what the interactions of every column pull at its locations, shape (m, L)."""
        L, K = self.n_locations, dense(interaction)
        return np.array([part[-L:, :-L] @ K[own[:-L], j] for j, (own, part) in enumerate(self._nodes)])

    @property
    def _nodes(self) -> list[tuple[IntArray, Array]]:
        return list(zip(self.entries, self.corners, strict=True))


def entries_of(edges: BoolArray, n_locations: int) -> list[IntArray]:
    """S_j of every node: its neighbours by the edges, shape (m, m), itself, and its locations."""
    m = len(edges)
    return [np.append(np.flatnonzero(edges[:, j] | (np.arange(m) == j)), m + np.arange(n_locations)) for j in range(m)]
