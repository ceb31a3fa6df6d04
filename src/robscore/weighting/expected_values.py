"""What a fit expects of good rows: how far from the middle they lie, their residuals, and how surprising they are.

Known where rows are normal once the family has made them symmetric, whatever the seed; else those of rows that are
drawn from the fit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtri

from robscore._tools.memory import chunks
from robscore._tools.typing import AnyArray, Array
from robscore.families.family import Family, Parameters
from robscore.families.samplers.normal import NormalSampler
from robscore.families.samplers.sampler import Sampler
from robscore.weighting.central_rows import Scatter
from robscore.weighting.column_scaling import Standard
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


# Rows simulated from one fit after another, for comparison with the data.

_FEWEST_CHAINS, _MOST_CHAINS, _CELLS = 2000, 8000, 80_000  # for families that are sampled by chains from given rows
_FIRST_SWEEPS, _MORE_SWEEPS = 10, 5


class Simulator:
    """Always the same random numbers, so that the rows of two fits differ by the fits alone.

    Parameters
    ----------
    family : Family
    start : array of shape (k, m)
        Good rows of the data, for chains to start from.
    seed : int
    """

    def __init__(self, family: Family, start: Array, seed: int) -> None:
        self.family, self.seed = family, seed
        count = int(np.clip(_CELLS // start.shape[1], _FEWEST_CHAINS, _MOST_CHAINS))
        chosen = np.linspace(0, len(start) - 1, count).round().astype(np.intp)
        self.chains, self.sweeps = start[chosen], _FIRST_SWEEPS

    def expected(self, parameters: Parameters, standard: Standard, scatter: Scatter) -> Expected | None:
        """What these parameters expect of good rows; None where the family cannot be sampled."""
        sampler = self.family.sampler() if self.family.is_pairwise else None
        if isinstance(sampler, NormalSampler):
            return OfNormal(sampler, parameters, standard, scatter, partial(self._simulated, sampler, parameters))
        drawn = self.draw(parameters)
        return None if drawn is None else OfDraws(drawn, standard, scatter)

    def draw(self, parameters: Parameters) -> Array | None:
        """Rows, shape (N, m); None where the family cannot be sampled."""
        if not self.family.is_pairwise:
            return None
        try:
            self.family.check_parameters(*parameters)
            return self._simulated(self.family.sampler(), parameters)
        except (ValueError, TypeError):  # a domain or parameters that cannot be sampled
            return None

    def _simulated(self, sampler: Sampler, parameters: Parameters) -> Array:
        drawn = sampler.simulate(*parameters, seed=self.seed, start=self.chains, sweeps=self.sweeps)
        if self.sweeps == _FIRST_SWEEPS and sampler.from_start:
            self.chains, self.sweeps = drawn[-len(self.chains) :], _MORE_SWEEPS  # all later chains start here
        return drawn


# How long normal vectors are: quantiles of a quadratic form, computed and not drawn.
#
# With w normal of mean mu and covariance C = V diag(l) V', the square of its length is Q = sum l_i (g_i + b_i)^2, where
# g is standard normal and b = diag(l)^-1/2 V' mu. Its characteristic function is
#
#     phi(u) = prod (1 - 2 i l_k u)^-1/2 exp(i l_k b_k^2 u / (1 - 2 i l_k u))
#
# and (Davies, 1973), with a step d so small that Q hardly ever exceeds 2 pi / d,
#
#     P(Q < x) = 1/2 - sum_k Im[phi(u_k) exp(-i u_k x)] / (pi (k + 1/2)),      u_k = (k + 1/2) d.

_KNOTS, _MOST_TERMS = 400, 4000
_NEGLIGIBLE = 1e-6  # phi beyond the last term
_SURE = 1e-5  # probabilities closer than that to 0 or 1 are not interpolated
_BLOCK = 500  # terms at a time


def quantiles_of_length(mean: Array, covariance: Array, count: int) -> Array | None:
    """So many evenly spread quantiles of the length of normal vectors, ascending, shape (count,).

    None where too many terms would be needed, as for two or three columns: few columns are drawn accurately.

    Parameters
    ----------
    mean : array of shape (m,)
    covariance : array of shape (m, m)
    count : int

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import chi
    >>> lengths = quantiles_of_length(np.zeros(8), np.eye(8), 999)
    >>> bool(np.allclose(lengths, chi(8).ppf((np.arange(999) + 0.5) / 999), rtol=1e-4))
    True
    """
    spread, directions = np.linalg.eigh(covariance)
    keep = spread > 1e-12 * spread[-1]
    spread, shift = spread[keep], (directions.T @ mean)[keep] ** 2 / spread[keep]
    average, variance = float(spread @ (1 + shift)), float(2 * spread**2 @ (1 + 2 * shift))
    largest = average + 6 * np.sqrt(variance) + 30 * spread[-1]
    terms = _terms(spread, shift, step=np.pi / largest)
    if terms is None:
        return None
    u, weights = terms
    x = np.linspace((largest / _KNOTS) ** (1 / 3), largest ** (1 / 3), _KNOTS) ** 3
    below = np.full(_KNOTS, 0.5)
    for first in range(0, u.size, _BLOCK):
        some = slice(first, first + _BLOCK)
        below -= (np.exp(np.multiply.outer(x, -1j * u[some])) @ weights[some]).imag
    below = np.maximum.accumulate(below)
    inside = (below > _SURE) & (below < 1 - _SURE)
    inside[1:] &= np.diff(below) > 0
    if np.count_nonzero(inside) < 10:
        return None
    between = PchipInterpolator(ndtri(below[inside]), np.cbrt(x[inside]), extrapolate=True)
    wanted = ndtri((np.arange(count) + 0.5) / count)
    return np.asarray(np.sqrt(np.maximum(between(wanted), 0.0) ** 3))


def _terms(spread: Array, shift: Array, step: float) -> tuple[Array, AnyArray] | None:
    """Where phi is taken, and phi over pi (k + 1/2), complex, both of shape (k,), as far as it is not negligible."""
    pieces: list[AnyArray] = []
    for first in range(0, _MOST_TERMS, _BLOCK):  # the absolute value of phi falls
        u = (np.arange(first, first + _BLOCK) + 0.5) * step
        log_phi = np.zeros(_BLOCK, dtype=complex)
        for one, away in zip(spread, shift, strict=True):
            factor = 1 - 2j * one * u
            log_phi += 1j * one * away * u / factor - 0.5 * np.log(factor)
        pieces.append(np.exp(log_phi))
        if abs(pieces[-1][-1]) <= _NEGLIGIBLE:
            break
    else:
        return None
    phi = np.concatenate(pieces)
    halves = np.arange(int(np.argmax(np.abs(phi) <= _NEGLIGIBLE)) + 1) + 0.5
    return np.asarray(halves * step, dtype=np.float64), phi[: halves.size] / (np.pi * halves)
