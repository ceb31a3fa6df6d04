"""Score matching with rows that count less and less the less likely they are.

Score matching stays exact when every row is weighted by a smooth function of itself: for phi(x) >= 0 the identity
behind it holds with phi h_j in place of h_j. Here phi is a function of the surprise E(x) = -z0' t(x), which is -log p
under a first fit z0 (of a family without a base density), and falls from 1 to 0. Since h_j d_j phi v_j = -phi'(E)
Gamma_j z0, the weighted elements are

    Gamma~ = phi Gamma,      g~ = phi g + phi'(E) Gamma z0

so nothing but two weighted averages is needed, for every family. Dropping rows (a phi that jumps) would bias the fit
on clean data, as truncation does; a taper does not, wherever it sets in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robscore._tools.typing import Array, IntArray
from robscore.elements import Elements
from robscore.losses.quadratic import Loss


@dataclass(frozen=True)
class Taper:
    """What every row counts.

    Attributes
    ----------
    weights : array of shape (n,)
        phi, between 0 and 1.
    slopes : array of shape (n,)
        Its derivative in the surprise, zero or negative.
    parameters : of the fit that the surprise was measured by
    """

    weights: Array
    slopes: Array
    parameters: tuple[Array, ...]

    @classmethod
    def hard(cls, weights: Array, parameters: tuple[Array, ...]) -> Taper:
        """Weights of shape (n,) that do not change with the surprise."""
        return cls(weights, np.broadcast_to(np.float64(0.0), weights.shape), parameters)

    @classmethod
    def between(cls, surprise: Array, start: float, end: float, parameters: tuple[Array, ...]) -> Taper:
        """1 up to ``start``, 0 from ``end`` on, a cubic in between; surprise has shape (n,) and may be infinite."""
        if not (start < end < np.inf):  # nothing lies in between
            return cls.hard(np.where(surprise <= start, 1.0, 0.0), parameters)
        t = (end - surprise) / (end - start)
        np.clip(t, 0.0, 1.0, out=t)
        slopes = 1 - t  # in place from here on: there may be very many rows
        slopes *= t
        slopes *= -6 / (end - start)
        weights = 3 - 2 * t
        weights *= t
        weights *= t
        return cls(weights, slopes, parameters)

    def in_words(self) -> str:
        """How many rows were dropped, and how many count in part."""
        n = self.weights.size
        dropped = int(np.count_nonzero(self.weights == 0))
        in_part = int(np.count_nonzero((self.weights > 0) & (self.weights < 1)))
        words = f"{dropped} of {n} rows ({dropped / n:.1%}) dropped"
        return f"{words}, {in_part} count in part" if in_part else words

    def loss(self, elements: Elements, rows: IntArray | None = None) -> Loss:
        """The averaged loss of all rows, or of some."""
        weights, slopes = self.weights, self.slopes
        if rows is not None:
            elements, weights, slopes = elements.subset(rows), weights[rows], slopes[rows]
        total = weights.sum()
        share = weights / total
        loss = elements.average(share, share)
        pull(loss, elements, slopes / total, self.parameters)
        return loss

    def row_losses(self, elements: Elements, rows: IntArray, parameters: tuple[Array, ...]) -> Array:
        """What some rows, given by their elements, add to that loss (times the sum of weights), shape (rows,).

        With z' Gamma z0 = l(z + z0) - l(z) - l(z0), l a row's plain loss.
        """
        weights, slopes = self.weights[rows], self.slopes[rows]
        plain = elements.row_losses(*parameters)
        losses = weights * np.where(weights > 0, plain, 0.0)
        bent = np.flatnonzero(slopes)
        if bent.size:
            some = elements.subset(bent)
            both = some.row_losses(*(a + b for a, b in zip(parameters, self.parameters, strict=True)))
            losses[bent] -= slopes[bent] * (both - plain[bent] - some.row_losses(*self.parameters))
        return losses


def pull(loss: Loss, elements: Elements, slopes: Array, parameters: tuple[Array, ...]) -> None:
    """Add to g of a weighted loss what the slopes of the weights, shape (n,), make of it: (sum slopes Gamma) z0."""
    if slopes.any():
        loss.g += elements.gamma_times(slopes, *parameters)
