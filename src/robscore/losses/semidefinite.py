"""The nearest loss with a minimum, where entries that were averaged over different rows do not fit together."""

from __future__ import annotations

import numpy as np

from robscore._tools.typing import Array, BoolArray
from robscore.losses.quadratic import QuadraticLoss

_ROUNDING = 1e-10  # of eigenvalues of blocks with a diagonal of 1
_LEAST = 0.01  # eigenvalue of a mended one: with zero there need not be a minimum


def nearest_semidefinite(loss: QuadraticLoss) -> QuadraticLoss:
    """With positive definite blocks in place of those that are not even semidefinite.

    The nearest with no eigenvalue below .01, in units in which diagonals are 1.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.losses.quadratic import QuadraticLoss
    >>> from robscore.losses.semidefinite import nearest_semidefinite
    >>> block = np.array([[1.0, 1.2], [1.2, 1.0]])
    >>> nearest_semidefinite(QuadraticLoss(block[None], np.zeros((1, 2)))).blocks[0].round(6)
    array([[1.105, 1.095],
           [1.095, 1.105]])
    """
    size, values, vectors = _spectra(loss.blocks)
    bad = values[:, 0] < -_ROUNDING
    if not bad.any():
        return loss
    mended = (vectors[bad] * np.maximum(values[bad], _LEAST)[:, None, :]) @ np.swapaxes(vectors[bad], 1, 2)
    blocks = loss.blocks.copy()
    blocks[bad] = mended * size[bad][:, :, None] * size[bad][:, None, :]
    return QuadraticLoss(blocks, loss.g)


def indefinite(loss: QuadraticLoss) -> BoolArray:
    """Which blocks are not positive semidefinite, shape (m,) or (1,)."""
    return np.asarray(_spectra(loss.blocks)[1][:, 0] < -_ROUNDING)


def _spectra(blocks: Array) -> tuple[Array, Array, Array]:
    """Roots of the diagonals, and eigenvalues and eigenvectors of the blocks with a diagonal of 1."""
    diagonal = np.einsum("jkk->jk", blocks)
    size = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    return size, *np.linalg.eigh(blocks / (size[:, :, None] * size[:, None, :]))
