"""The coordinates that a path for many columns has looked at so far, with their part of the blocks."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array

from robscore._tools.threads import one_thread
from robscore._tools.typing import Array, IntArray
from robscore.losses.quadratic import as_location, location_rows
from robscore.solvers.blocks import Blocks
from robscore.solvers.location import check_location, check_variation, slopes_of
from robscore.solvers.penalised import PenalisedLoss
from robscore.solvers.problem import Problem


class WorkingSet:
    """The coordinates looked at so far, with their part of the blocks.

    Parameters
    ----------
    penalised : PenalisedLoss
        Of a loss without coupling between nodes.

    Attributes
    ----------
    rows, nodes : integer arrays of shape (C,)
        Coordinate c is K_rows,nodes, both entries if symmetric; or of the locations of nodes from m on.
    weights : array of shape (C,)
    place : integer array of shape (m, p)
        Where an entry of z_j stands among those of node j in the set; -1 if it is not in it.
    """

    def __init__(self, penalised: PenalisedLoss) -> None:
        self.penalised = penalised
        loss, m = penalised.loss, penalised.loss.n_columns
        self.m = m
        self.width = m + loss.n_locations * (penalised.fit_location and not penalised.shifted)
        t, s = loss.couplings()
        self.linear = loss.g[:, : self.width].copy()
        self.t = self.slope = None
        diagonal = loss.diagonal()
        self.extra = penalised.diagonal_multiplier * diagonal[:, :m]
        if penalised.shifted:
            check_location(np.einsum("jkk->jk", s))
            self.t, self.slope = (np.broadcast_to(part, (m, *t.shape[1:])) for part in (t, slopes_of(s, t)))
            check_variation(loss, diagonal[:, :m] + self.extra - (self.slope * self.t).sum(axis=2))
            self.linear -= (self.slope * loss.g[:, None, m:]).sum(axis=2)
        self.place = np.full((m, self.width), -1, dtype=np.int32)
        self.own_entries: list[IntArray] = [np.zeros(0, dtype=np.intp) for _ in range(m)]
        self.own_blocks: list[Array] = [np.zeros((0, 0)) for _ in range(m)]
        self.rows, self.nodes, self.weights = np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0)
        self.add(*self._at_the_start())

    def _at_the_start(self) -> tuple[IntArray, IntArray]:
        """The diagonal, the locations, and edges without a penalty."""
        W, m = self.penalised.weights, self.m
        free = (W == 0) & ~np.eye(m, dtype=bool)
        nodes, rows = np.nonzero(np.tril(free) if self.penalised.symmetric else free.T)
        every = np.arange(m)
        rows, nodes = np.append(every, rows), np.append(every, nodes)
        if self.width > m:
            rows = np.append(rows, np.repeat(np.arange(m, self.width), m))
            nodes = np.append(nodes, np.tile(every, self.width - m))
        return rows, nodes

    @property
    def n_numbers(self) -> int:
        """Entries of blocks that are held."""
        return sum(block.size for block in self.own_blocks)

    def add(self, rows: IntArray, nodes: IntArray) -> None:
        """Take coordinates into the set that are not in it yet."""
        self.rows, self.nodes = np.append(self.rows, rows), np.append(self.nodes, nodes)
        self.weights = np.append(self.weights, self._weights_of(rows, nodes))
        both = (rows != nodes) & (rows < self.m) & self.penalised.symmetric
        all_rows, all_nodes = np.append(rows, nodes[both]), np.append(nodes, rows[both])
        order = np.argsort(all_nodes, kind="stable")
        changed, first = np.unique(all_nodes[order], return_index=True)
        with one_thread():  # small products: threads would only wait
            for node, new in zip(changed, np.split(all_rows[order], first[1:]), strict=True):
                self._extend(node, new)

    def _weights_of(self, rows: IntArray, nodes: IntArray) -> Array:
        penalised, weights = self.penalised, np.zeros(rows.size)
        off = (rows != nodes) & (rows < self.m)
        weights[off] = penalised.weights[rows[off], nodes[off]] * (2.0 if penalised.symmetric else 1.0)
        if penalised.penalize_diagonal:
            on = rows == nodes
            weights[on] = penalised.weights[rows[on], rows[on]]
        at = rows >= self.m
        weights[at] = location_rows(penalised.location_weights)[rows[at] - self.m, nodes[at]]
        return weights

    def _extend(self, node: int, new: IntArray) -> None:
        """More entries of one node's block."""
        old, m = self.own_entries[node], self.m
        entries = np.append(old, new)
        grown = np.empty((entries.size, entries.size))
        added = self.penalised.loss.block(node, new, entries)
        if self.t is not None and self.slope is not None:
            added -= self.slope[node, new] @ self.t[node, entries].T
        inside = np.flatnonzero(new < m)
        added[inside, old.size + inside] += self.extra[node, new[inside]]
        grown[: old.size, : old.size] = self.own_blocks[node]
        grown[old.size :] = added
        grown[: old.size, old.size :] = added[:, : old.size].T
        self.place[node, new] = np.arange(old.size, entries.size)
        self.own_entries[node], self.own_blocks[node] = entries, grown

    def problem(self) -> Problem:
        """The penalised problem in the coordinates of the set."""
        blocks = Blocks.ragged(self.own_blocks)
        linear = np.concatenate([self.linear[node, own] for node, own in enumerate(self.own_entries)])
        own = blocks.firsts[self.nodes] + self.place[self.nodes, self.rows]
        mirror = np.full(own.size, -1)
        both = np.flatnonzero((self.rows != self.nodes) & (self.rows < self.m) & self.penalised.symmetric)
        mirror[both] = blocks.firsts[self.rows[both]] + self.place[self.rows[both], self.nodes[both]]
        return Problem.of(blocks, linear, own, mirror, self.weights, self.penalised.penalty)

    def solution(self, theta: Array) -> tuple[csc_array, Array | None]:
        """K, sparse, and eta if it is a coordinate, from the values of the coordinates."""
        m = self.m
        used = np.flatnonzero(((theta != 0) | (self.rows == self.nodes)) & (self.rows < m))
        rows, nodes, values = self.rows[used], self.nodes[used], theta[used]
        if self.penalised.symmetric:
            both = rows != nodes
            rows, nodes = np.append(rows, nodes[both]), np.append(nodes, rows[both])
            values = np.append(values, values[both])
        K = csc_array((values, (rows, nodes)), shape=(m, m))
        if self.width == m:
            return K, None
        eta, at = np.zeros((m, self.width - m)), self.rows >= m
        eta[self.nodes[at], self.rows[at] - m] = theta[at]
        return K, as_location(eta)

    def gradient(self, theta: Array) -> Array:
        """The loss's derivative in every entry of K, row j for node j, shape (m, m)."""
        K, eta = self.solution(theta)
        if eta is None:
            eta = np.zeros(self.penalised.loss.location_shape)
            if self.slope is not None:
                each = np.moveaxis(self.slope, 2, 0)
                eta = as_location(np.column_stack([-np.asarray(K.multiply(own.T).sum(axis=0)).ravel() for own in each]))
        product = self.penalised.loss.gamma_times(K, eta)[:, : self.m]
        if self.penalised.diagonal_multiplier:
            product += self.extra * K.T.toarray()
        return np.asarray(product - self.linear[:, : self.m])
