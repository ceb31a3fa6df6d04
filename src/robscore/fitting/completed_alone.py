"""Rows whose cells are known to intervals, completed by themselves: to be held out of fits, or to be judged by them.

A fit must not judge cells that it drew itself, nor cells drawn by a fit that knew them: what chance linked there would
seem confirmed. Of two columns of two values such draws make up most of what is compared. So rows that are held out, and
those that others are fitted to, are completed apart, each by one pilot K of their own, the same for every penalty:

    draw z within the bounds, given R      ──>      R = ((n S + m R_0) / (n + m), with unit diagonal)      ──> ...

where S averages z z' over the draws of the last rounds, with the row weights, and n is their effective number. R_0,
which counts as much as m rows, stands in for rows where these are few: no links for folds, the fit's own correlations
for new rows, which may be a single one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from robscore._tools.typing import Array, IntArray
from robscore.cells.draw_cells import Bounds, DrawingOrder, completions
from robscore.elements import PairwiseElements
from robscore.elements.streamed import elements_of
from robscore.families.power import Gaussian
from robscore.fitting.latent_scale import unit_variances
from robscore.fitting.prepare import Prepared
from robscore.fitting.settings import Settings
from robscore.losses.quadratic import Loss
from robscore.rows.row_source import ArrayRows
from robscore.weighting.row_weights import RowWeights

_FIRST, _KEPT = 8, 12  # rounds; of two columns of two values a round leaves about .6 of what its start said, so .6^8
_SWEEPS = 2  # of draws, in a round


def completed_alone(bounds: Bounds, weights: Array, correlations: Array, seed: int) -> Array:
    """Completions of rows within bounds, two arrays of shape (n, m); shape (E, n, m), one where all are points.

    Parameters
    ----------
    bounds : two arrays of shape (n, m)
        Between which the latent numbers lie; equal where they are known.
    weights : array of shape (n,)
    correlations : array of shape (m, m)
        R_0: what is expected before the rows are seen.
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.families.copula import Margins
    >>> from robscore.fitting.completed_alone import completed_alone
    >>> z = np.random.default_rng(0).multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]], size=2000)
    >>> X = (z > 0).astype(float)
    >>> Z = completed_alone(Margins.of(X).bounds(X), np.ones(2000), np.eye(2), seed=0)
    >>> round(float(np.corrcoef(Z[-1].T)[0, 1]), 1)
    0.7
    """
    lower, upper = bounds
    cells, middle = lower < upper, ndtri((ndtr(lower) + ndtr(upper)) / 2)
    Z: Array = np.where(cells, middle, lower)
    if not cells.any():
        return Z[None]
    order = DrawingOrder.of(np.where(np.isinf(lower) & np.isinf(upper), np.nan, Z))
    share = weights / weights.sum()
    n, m = 1 / float(share @ share), Z.shape[1]
    R, kept = np.eye(m), []  # draws that are independent first: no cell stays at the middle that it began at
    for number in range(1 + _FIRST + _KEPT):
        parameters = np.asarray(np.linalg.inv(R)), np.zeros(m)
        rngs = [np.random.default_rng([seed, 4, number])]
        (Z,) = completions(Gaussian(), Z, cells, parameters, order=order, sweeps=[_SWEEPS], rngs=rngs, bounds=bounds)
        if number > _FIRST:
            kept.append(Z)
        now = np.mean([(one * share[:, None]).T @ one for one in kept or [Z]], axis=0)
        size = np.sqrt(now.diagonal())
        R = (n * now / np.multiply.outer(size, size) + m * correlations) / (n + m) if number else correlations
    return np.stack(kept)


@dataclass(frozen=True, eq=False)
class ApartRows:
    """Some rows of a fit as if there were no others.

    Attributes
    ----------
    prepared : Prepared
        With bounds of the cells.
    settings : Settings
    weights : array of shape (n,)
        Of all rows.
    """

    prepared: Prepared
    settings: Settings
    weights: Array

    def elements(self, some: IntArray) -> PairwiseElements:
        """The elements of some rows, by ascending positions, completed by themselves."""
        assert self.prepared.filling is not None
        assert self.prepared.filling.bounds is not None
        lower, upper = (side[some] for side in self.prepared.filling.bounds)
        # Blocks may leave no weight to any of few rows.
        weights, m = np.maximum(self.weights[some], np.finfo(float).tiny), lower.shape[1]
        rows = ArrayRows(completed_alone((lower, upper), weights, np.eye(m), self.settings.seed)[-1])
        family = self.prepared.preparation.scaled_family
        found = elements_of(family, rows, self.settings.memory).stored_as(self.settings.loss_storage)
        assert isinstance(found, PairwiseElements)
        return found

    def loss(self, elements: PairwiseElements, weights: RowWeights) -> Loss:
        """The loss of such elements, of latent numbers with variance 1."""
        return unit_variances(weights.loss(elements))
