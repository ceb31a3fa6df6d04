"""The blocks of a quadratic in z = (z_1, ..., z_m), all in one flat array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robscore._tools.typing import Array, IntArray


class Blocks(NamedTuple):
    """The symmetric blocks Q_j, one after the other; each node has as many entries of z as its block has rows.

    Attributes
    ----------
    Q : flat array
    starts : integer array, one per node: where its block begins in Q (all may share one)
    firsts, sizes : integer arrays, one per node: its part of z
    owners : integer array of the length of z: the node of each entry
    """

    Q: Array
    starts: IntArray
    firsts: IntArray
    sizes: IntArray
    owners: IntArray

    @classmethod
    def stacked(cls, blocks: Array, n_nodes: int) -> Blocks:
        """From an array of shape (nodes, p, p), or (1, p, p) if all share one."""
        p, nodes = blocks.shape[1], np.arange(n_nodes)
        starts = nodes * p * p if len(blocks) == n_nodes else np.zeros_like(nodes)
        return cls(np.ascontiguousarray(blocks).ravel(), starts, nodes * p, np.full_like(nodes, p), np.repeat(nodes, p))

    @classmethod
    def ragged(cls, blocks: Sequence[Array]) -> Blocks:
        """From one square array per node."""
        sizes = np.array([len(block) for block in blocks], dtype=np.intp)
        starts, firsts = (np.cumsum(lengths) - lengths for lengths in (sizes**2, sizes))
        Q = np.concatenate([block.ravel() for block in blocks])
        return cls(Q, starts, firsts, sizes, np.repeat(np.arange(sizes.size), sizes))

    def block(self, node: int) -> Array:
        """Q_j as a square array."""
        start, size = self.starts[node], self.sizes[node]
        return self.Q[start : start + size * size].reshape(size, size)
