"""Interactions that change with moderators: K(c) = K_0 + c_1 K_1 + ... + c_Q K_Q, stacked in one matrix.

K_0 to K_Q stand below each other in a matrix of shape ((1 + Q) m, m), in place of (m, m): column j is all that node j
owns of them. Without moderators there is one part, and everything here changes nothing.

Every level of a category has its own part. Diagonals and estimates without a penalty are determined only up to a
constant that moves from the levels to K_0, so those of the first level are left out: as many numbers are free as there
are distinct values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robscore._tools.typing import AnyArray, Array, BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of the interactions: how many matrices there are, and which of them belong to one category.

    Attributes
    ----------
    count : int
        1 + Q.
    levels : tuple of tuples of int
        For every category the parts of all its levels, the first level first.
    penalties : array of shape (1 + Q, m, m) or (1 + Q, 1, 1), optional
        Factors of the penalty weights of every part; infinite where a part may have no edges.
    """

    count: int = 1
    levels: tuple[tuple[int, ...], ...] = ()
    penalties: Array | None = None

    @property
    def are_groups(self) -> bool:
        """Whether all parts but K_0 are the levels of one category."""
        return len(self.levels) == 1 and len(self.levels[0]) == self.count - 1

    @property
    def n_groups(self) -> int:
        """How many groups have interactions of their own: the levels of all categories, at least 1."""
        return max(1, sum(len(own) for own in self.levels))

    @property
    def with_diagonal(self) -> list[int]:
        """Parts whose diagonal is free: all but those of first levels."""
        first = {own[0] for own in self.levels}
        return [part for part in range(self.count) if part not in first]

    def own_entries(self, n_columns: int, n_locations: int) -> IntArray:
        """Entries of z_j that belong to column j alone, a row for each kind: free diagonals, then locations."""
        diagonals = [np.arange(n_columns) + part * n_columns for part in self.with_diagonal]
        locations = [np.full(n_columns, self.count * n_columns + k) for k in range(n_locations)]
        return np.stack([*diagonals, *locations])

    def tiled(self, allowed: BoolArray) -> BoolArray:
        """Repeat for every part, shape ((1 + Q) m, m), what is allowed in one, shape (m, m)."""
        return allowed if self.count == 1 else np.tile(allowed, (self.count, 1))

    def weights(self, weights: Array) -> Array:
        """Return penalty weights of all parts, shape ((1 + Q) m, m), from those of one, shape (m, m)."""
        if self.count == 1:
            return weights
        whole = np.tile(weights, (self.count, 1))
        if self.penalties is None:
            return whole
        times = np.broadcast_to(self.penalties, matrices(whole).shape).reshape(whole.shape)
        forbidden = np.isinf(whole) | np.isinf(times)
        return np.where(forbidden, np.inf, np.where(forbidden, 1.0, whole) * np.where(forbidden, 1.0, times))

    def penalised(self, factors: Array) -> Parts:
        """Return the same parts with the penalty on each multiplied by a factor, shape (1 + Q,)."""
        times = np.asarray(factors)[:, None, None]
        return replace(self, penalties=times if self.penalties is None else times * self.penalties)

    def pairs(self, n_columns: int) -> tuple[IntArray, IntArray]:
        """Both ends of all pairs i < j in every part; the first one counts on through the parts."""
        i, j = np.triu_indices(n_columns, k=1)
        if self.count == 1:
            return i, j
        return np.concatenate([i + part * n_columns for part in range(self.count)]), np.tile(j, self.count)

    def distinct(self, edges: BoolArray) -> BoolArray:
        """Return the edges, shape ((1 + Q) m, m), without those that the others determine, pair by pair.

        The levels of a category and K_0 together have one entry too many, and so have the levels of two categories.
        """
        if not self.levels:
            return edges
        kept = matrices(edges).copy()
        constant = kept[0].copy()
        for own in self.levels:
            full = kept[list(own)].all(axis=0)
            kept[own[0]] &= ~(full & constant)
            constant |= full
        return kept.reshape(edges.shape)


PLAIN = Parts()


def matrices(stacked: AnyArray) -> AnyArray:
    """Return K_0 to K_Q, shape (1 + Q, m, m), of a matrix of shape ((1 + Q) m, m)."""
    m = stacked.shape[1]
    return stacked.reshape(-1, m, m)


def each_transposed(stacked: AnyArray) -> AnyArray:
    """Transpose every part, shape ((1 + Q) m, m)."""
    if stacked.shape[0] == stacked.shape[1]:
        return stacked.T
    return matrices(stacked).transpose(0, 2, 1).reshape(stacked.shape)


def mirrored(rows: IntArray, nodes: IntArray, n_columns: int) -> tuple[IntArray, IntArray]:
    """Return the other entry of the same pair: entry j of part q of node i for entry i of part q of node j."""
    at = rows % n_columns
    return rows - at + nodes, at


def both_ends(by_node: Array, pairs: tuple[IntArray, IntArray]) -> Array:
    """Return both entries of pairs (i, j), shape (2, p), of an array of shape (m, (1 + Q) m), a row for every node."""
    i, j = pairs
    entries, nodes = mirrored(i, j, len(by_node))
    return np.stack([by_node[nodes, entries], by_node[j, i]])


def ends_exchanged(by_node: Array) -> Array:
    """Exchange the entries of each pair in an array of shape (m, (1 + Q) m), a row for every node."""
    return np.asarray(each_transposed(by_node.T).T)


def reordered(stacked: Array, columns: IntArray) -> Array:
    """Return every part with its columns in another order."""
    if stacked.shape[0] == stacked.shape[1]:
        return stacked[np.ix_(columns, columns)]
    return np.asarray(matrices(stacked)[:, columns[:, None], columns].reshape(stacked.shape))
