"""The quadratic score-matching loss of a pairwise family.

loss(K, eta) = sum_j 1/2 z_j' Gamma_j z_j - g_j' z_j,      z_j = (K_1j, ..., K_mj, eta_j)
"""

from __future__ import annotations

import numpy as np

from robscore._typing import Array, IntArray


class QuadraticLoss:
    """Averaged elements: one (m+1) x (m+1) block a node, or a single block that all nodes share.

    Parameters
    ----------
    blocks : array of shape (m, m+1, m+1) or (1, m+1, m+1)
    g : array of shape (m, m+1)
        Row j belongs to node j.

    Attributes
    ----------
    shared : bool
        Whether one block serves all nodes (the Gaussian on R^m).
    """

    def __init__(self, blocks: Array, g: Array) -> None:
        self.blocks = blocks
        self.g = g
        self.n_columns = g.shape[0]
        self.shared = blocks.shape[0] == 1 < self.n_columns

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
        z = np.concatenate([np.asarray(interaction), np.asarray(location)[None, :]]).T
        quadratic = np.einsum("jk,jkl,jl->", z, self.gamma, z, optimize=True)
        return float(0.5 * quadratic - np.sum(self.g * z))


def assemble_hessian(blocks: Array, position: IntArray, size: int) -> Array:
    """D' Gamma D, shape (size, size), for some free parameters.

    Parameters
    ----------
    blocks : array of shape (m or 1, p, p)
    position : integer array of shape (m, p)
        Which parameter entry k of z_j is; -1 where it is none. Two entries may be the same parameter.
    size : int
    """
    hessian = np.zeros((size, size))
    for j, own in enumerate(position):
        entries = np.flatnonzero(own >= 0)
        block = blocks[0 if len(blocks) == 1 else j]
        hessian[np.ix_(own[entries], own[entries])] += block[np.ix_(entries, entries)]
    return hessian
