"""What a fit expects of good rows: how far from the middle they lie, their residuals, and how surprising they are.

Known where rows are normal once the family has made them symmetric, whatever the seed; else those of rows that are
drawn from the fit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import ndtri

from robscore._tools.memory import chunks
from robscore._tools.typing import Array
from robscore.families.family import Parameters
from robscore.families.samplers.normal import NormalSampler
from robscore.weighting.middle import Scatter
from robscore.weighting.normal_lengths import quantiles_of_length
from robscore.weighting.standard import Standard
from robscore.weighting.surprise import Surprise

_QUANTILES = 2**14  # of a distribution that is known
_AT_A_TIME = 2_000  # rows, so that what is made of them stays near the processor
OUTER = 0.1  # share of the residuals of a column, on either side, that is looked at


class Expected(ABC):
    """Of the rows of one fit."""

    @property
    def drawn(self) -> Array | None:
        """Rows of the fit, shape (N, m); None where none had to be drawn."""
        return None

    @abstractmethod
    def distances(self) -> Array:
        """From the middle, shape (N,)."""

    @abstractmethod
    def residuals(self) -> Array:
        """Of every column given the others, shape (m, N), in ascending order; those between the outer tenths in any."""

    @abstractmethod
    def surprises(self, judged_by: Surprise) -> Array:
        """Under the fit, shape (N,)."""


@dataclass(frozen=True, eq=False)
class OfDraws(Expected):
    """As rows that were drawn have them.

    Attributes
    ----------
    rows : array of shape (N, m)
    standard : how they become z
    scatter : of the middle of z
    """

    rows: Array
    standard: Standard
    scatter: Scatter

    @property
    def drawn(self) -> Array:
        """All of them."""
        return self.rows

    def distances(self) -> Array:
        """Of those that were drawn."""
        return self._judged[0]

    def residuals(self) -> Array:
        """Of those that were drawn."""
        columns = self._judged[1]
        count = columns.shape[1]
        outer = int(np.ceil(OUTER * count)) + 2
        for own in columns:  # one place after the other is much faster than both at once, and than all in order
            own.partition(count - outer - 1)
            own[: count - outer].partition(outer)
            own[:outer].sort()
            own[count - outer :].sort()
        return columns

    def surprises(self, judged_by: Surprise) -> Array:
        """Of those that were drawn."""
        return np.concatenate([judged_by(self.rows[piece]) for piece in self._pieces])

    @cached_property
    def _judged(self) -> tuple[Array, Array]:
        """Distances, shape (N,), and residuals, shape (m, N), in any order."""
        nobody = np.zeros(_AT_A_TIME, dtype=bool)
        distances, residuals = np.empty(len(self.rows)), np.empty((self.scatter.mean.size, len(self.rows)))
        for piece in self._pieces:
            z = self.standard(self.rows[piece])
            distances[piece], own = self.scatter.judge(z, nobody[: len(z)])
            residuals[:, piece] = own.T
        return distances, residuals

    @property
    def _pieces(self) -> list[slice]:
        return chunks(len(self.rows), _AT_A_TIME)


@dataclass(frozen=True, eq=False)
class OfNormal(Expected):
    """As the normal distribution has them.

    Attributes
    ----------
    sampler : of the rows
    parameters : of the fit
    standard : how rows become z, which is then normal
    scatter : of the middle of z
    draw : gives rows, which are needed where there are but a few columns
    """

    sampler: NormalSampler
    parameters: Parameters
    standard: Standard
    scatter: Scatter
    draw: Callable[[], Array]

    def distances(self) -> Array:
        """Lengths of normal vectors."""
        mean, covariance = self._moments
        root = np.linalg.cholesky(self.scatter.precision).T
        known = quantiles_of_length(root @ (mean - self.scatter.mean), root @ covariance @ root.T, _QUANTILES)
        return self._drawn.distances() if known is None else known

    def residuals(self) -> Array:
        """Normal: as many in the tails as there should be."""
        mean, covariance = self._moments
        slopes = self.scatter.precision / np.sqrt(np.diagonal(self.scatter.precision))
        deviation = np.sqrt(np.einsum("ij,ij->j", slopes, covariance @ slopes))
        return np.asarray(((mean - self.scatter.mean) @ slopes)[:, None] + deviation[:, None] * _normal_quantiles())

    def surprises(self, judged_by: Surprise) -> Array:
        """Half the square of the length of a normal vector, above the least."""
        known = self.sampler.surprises(*self.parameters)
        if known is not None:
            return known
        K, eta = self.parameters
        least, mean = np.linalg.solve(K, eta), self.sampler.moments(K, eta)[0]
        away = np.asarray(np.linalg.cholesky(K).T @ (mean - least))
        lengths = quantiles_of_length(away, np.eye(len(K)), _QUANTILES)
        return self._drawn.surprises(judged_by) if lengths is None else 0.5 * (lengths**2 - eta @ least)

    @cached_property
    def _moments(self) -> tuple[Array, Array]:
        """Mean and covariance of z, shapes (m,) and (m, m)."""
        mean, covariance = self.sampler.moments(*self.parameters)
        deviation = self.standard.deviation
        return (mean - self.standard.middle) / deviation, covariance / np.multiply.outer(deviation, deviation)

    @cached_property
    def _drawn(self) -> OfDraws:
        return OfDraws(self.draw(), self.standard, self.scatter)


@lru_cache(maxsize=1)
def _normal_quantiles() -> Array:
    """Evenly spread, ascending."""
    quantiles: Array = ndtri((np.arange(_QUANTILES) + 0.5) / _QUANTILES)
    quantiles.flags.writeable = False
    return quantiles
