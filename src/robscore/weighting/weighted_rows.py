"""What every row adds to the gradient of a weighted loss: the one thing that standard errors are made of."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robscore._tools.typing import Array, IntArray
from robscore.elements import Elements, PairwiseElements
from robscore.elements.base import RowCounts
from robscore.families.family import Parameters
from robscore.weighting.row_weights import RowWeights


@dataclass(frozen=True)
class WeightedRows:
    """Elements of n rows with what each counts, all or a piece of those that a loss is made of.

    Attributes
    ----------
    elements : of n rows
    gamma_weights, g_weights : arrays of shape (n,)
    pulls : array of shape (n,)
        What multiplies Gamma z0 in g; zero without a taper.
    parameters : z0, or nothing
    frequency : array of shape (n,), or None
        How often every row counts, which its weights include.
    """

    elements: PairwiseElements
    gamma_weights: Array
    g_weights: Array
    pulls: Array
    parameters: Parameters
    frequency: Array | None = None

    @classmethod
    def of(cls, elements: Elements, weights: RowWeights) -> WeightedRows:
        """All rows of a loss."""
        assert isinstance(elements, PairwiseElements)
        counts = weights.gamma_weights, weights.g_weights, weights.pulls
        return cls(elements, *counts, weights.parameters, weights.frequency)

    def times(self, factor: float | Array) -> WeightedRows:
        """With all weights multiplied, by one number or one each."""
        gamma_weights, g_weights, pulls = (factor * part for part in self._counts)
        return replace(self, gamma_weights=gamma_weights, g_weights=g_weights, pulls=pulls)

    @property
    def n_rows(self) -> float:
        """How many rows count, copies included."""
        counted = self.gamma_weights > 0
        return float(np.count_nonzero(counted) if self.frequency is None else self.frequency[counted].sum())

    def gradients(self, z: Parameters, rows: IntArray, nodes: IntArray, *, symmetric: bool) -> Array:
        """What every row adds to the gradient at z in some parameters, shape (n, d), as ``row_gradients`` names them.

        From gradients of plain losses at z, 2 z and z + z0: Gamma z, g and Gamma z0 of every row.
        """

        def gradients(interaction: Array, location: Array) -> Array:
            return self.elements.row_gradients(interaction, location, rows, nodes, symmetric=symmetric)

        at_once, at_twice = gradients(*z), gradients(2 * z[0], 2 * z[1])
        gamma_weights, g_weights = self.gamma_weights[:, None], self.g_weights[:, None]
        total: Array = gamma_weights * (at_twice - at_once) - g_weights * (at_twice - 2 * at_once)
        bent = np.flatnonzero(self.pulls)
        if bent.size:
            both = gradients(*(a + b for a, b in zip(z, self.parameters, strict=True)))
            total[bent] -= self.pulls[bent, None] * (both - at_once)[bent]
        total[self.elements.overflow] = 0.0
        return total

    def pair_squares(self, z: Parameters, own: Array) -> Array:
        """Sums over rows of squared gradients in every K_ij at z, as :meth:`PairwiseElements.pair_squares` has them."""
        return self.elements.pair_squares(self._rooted(1 / 2), z, self.parameters, own)

    def pair_kurtosis(self, z: Parameters, own: Array) -> Array:
        """Kurtosis over rows of these gradients, shape (m, m); 3 where rows are normal, or say nothing."""
        centre = np.average(self.elements.columns(), axis=0, weights=self.gamma_weights)
        with np.errstate(all="ignore"):  # what is beyond all numbers says nothing
            squares, fourths = self.elements.pair_powers(self._rooted(1 / 2), z, self.parameters, own, centre)
            if self.frequency is not None:
                _, fourths = self.elements.pair_powers(self._rooted(3 / 4), z, self.parameters, own, centre)
            kurtosis = fourths * self.n_rows / squares**2
        return np.nan_to_num(kurtosis, nan=3.0, posinf=3.0)

    @property
    def _counts(self) -> RowCounts:
        return RowCounts(self.gamma_weights, self.g_weights, self.pulls)

    def _rooted(self, power: float) -> RowCounts:
        """What rows count over a power of their frequency f: f copies of c / f have the squares c^2 / f."""
        if self.frequency is None:
            return self._counts
        return RowCounts(*(part / self.frequency**power for part in self._counts))
