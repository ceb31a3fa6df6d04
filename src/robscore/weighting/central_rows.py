"""The central rows and their scatter: step 3 of the row rule, a start that no cluster dominates.

First distances are by median and deviation along the principal directions of the wrapped columns: a cluster draws a
direction to itself, and then lies far out on it (as in the OGK estimator of Maronna and Zamar, 2002). Then, nine times,

    central rows = the nearest 70 % by  d^2 = (z - mean)' P (z - mean)

with mean and P = C^-1 of the central rows before, the correlations in C shrunk. A central row is judged by the others
alone, without its own part in mean and P: else rows that are in would stay in. The subset of smallest determinant is
not used: any tight cluster would be in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from robscore._tools.deviations import MAD
from robscore._tools.typing import Array, BoolArray, IntArray

_STEPS = 9
_LEAST_VARIANCE = 1e-8  # guards rounding: of a column of z that is constant
_LARGEST_PART = 0.99  # guards rounding: of a squared distance, that a row may owe to itself


@dataclass(frozen=True)
class Scatter:
    """Mean and shrunk covariance of some rows of z.

    Attributes
    ----------
    mean : array of shape (m,)
    precision : array of shape (m, m)
    own_share : float
        What a row that it was taken from adds to the covariance: (1 - ridge) / rows.
    """

    mean: Array
    precision: Array
    own_share: float

    @classmethod
    def of(cls, z: Array, ridge: float) -> Scatter:
        """Measure the rows z, shape (n, m)."""
        mean = z.mean(axis=0)
        centred = z - mean
        covariance = centred.T @ centred / len(z)
        shrunk = (1 - ridge) * covariance
        np.fill_diagonal(shrunk, np.maximum(np.diagonal(covariance), _LEAST_VARIANCE))
        precision = np.asarray(cho_solve(cho_factor(shrunk), np.eye(len(shrunk))))
        return cls(mean, precision, (1 - ridge) / len(z))

    def reordered(self, columns: IntArray) -> Scatter:
        """Put the columns in another order."""
        return Scatter(self.mean[columns], self.precision[np.ix_(columns, columns)], self.own_share)

    def judge(self, z: Array, members: BoolArray) -> tuple[Array, Array]:
        """Give distances, shape (n,), and residuals of every column given the others, shape (n, m).

        ``members``, shape (n,), are the rows that the scatter was measured on. Without its own part in P, the distance
        of such a row and its residuals are larger by 1 / sqrt(1 - own_share d^2).
        """
        centred = z - self.mean
        pulled = centred @ self.precision
        squares = np.einsum("ij,ij->i", pulled, centred)
        own = np.where(members, 1 / np.sqrt(1 - np.minimum(self.own_share * squares, _LARGEST_PART)), 1.0)
        pulled *= 1 / np.sqrt(np.diagonal(self.precision))
        if members.any():
            pulled *= own[:, None]
        return np.sqrt(squares) * own, pulled


def find_central_rows(z: Array, allowed: BoolArray, share: float, shrinkage: float) -> tuple[Scatter, BoolArray]:
    """Find the central rows among those allowed, shape (n,): their scatter, and which they are.

    They are a share of the rows, and correlations are shrunk, the more the fewer rows there are for the columns.
    """
    ridge = max(shrinkage, z.shape[1] / (z.shape[1] + np.count_nonzero(allowed)))
    distances = _along_directions(z, allowed, ridge)
    for _ in range(_STEPS):
        members = allowed & (distances <= np.quantile(distances[allowed], share))
        scatter = Scatter.of(z[members], ridge)
        distances, _ = scatter.judge(z, members)
    return scatter, members


def _along_directions(z: Array, allowed: BoolArray, ridge: float) -> Array:
    """Measure the first distances, shape (n,), along the principal directions of the wrapped columns."""
    bent = _wrapped(z[allowed])
    _, directions = np.linalg.eigh(bent.T @ bent)
    scores = z @ directions
    away = scores - np.median(scores[allowed], axis=0)
    variance = (MAD * np.median(np.abs(away[allowed]), axis=0)) ** 2
    return np.sqrt((away**2 / ((1 - ridge) * variance + ridge)).sum(axis=1))


def _wrapped(z: Array) -> Array:
    """Leave values up to 1.5, pull larger ones to 0, which they reach at 4 (Raymaekers and Rousseeuw, 2021)."""
    size = np.abs(z)
    return np.where(size < 1.5, z, np.sign(z) * 1.541 * np.tanh(0.862 * np.maximum(4.0 - size, 0.0)))
