"""What a fit expects of good rows: step 4 of the row rule.

A fit of the rows with a weight says how good rows are distributed: how far from the centre they lie, how large the
residual of every column given the others is, and how surprising rows are. The values of N good rows are

- computed, whatever the seed, where rows are normal once the family has made them symmetric (:class:`NormalValues`);
- else measured on rows simulated from the fit (:class:`DrawnValues`).
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
from robscore.weighting.column_scaling import ColumnScaling
from robscore.weighting.surprise import Surprise

OUTER = 0.1  # share of the residuals of a column, on either side, that is compared, and so must be in order
_QUANTILES = 2**14  # N where the distribution is known
_AT_A_TIME = 2_000  # guards time: rows, so that what is made of them stays near the processor
_FEWEST_CHAINS, _MOST_CHAINS, _CELLS = 2000, 8000, 80_000  # for families that are sampled by chains from given rows
_FIRST_SWEEPS, _MORE_SWEEPS = 10, 5  # of chains that start from rows of the data, and from those of the fit before


class Expected(ABC):
    """The values that good rows have under one fit."""

    @property
    def drawn(self) -> Array | None:
        """Rows of the fit, shape (N, m); None where none had to be drawn."""
        return None

    @abstractmethod
    def distances(self) -> Array:
        """Give the distances from the centre, shape (N,)."""

    @abstractmethod
    def residuals(self) -> Array:
        """Give the residuals of every column given the others, shape (m, N); only the outer tenths are in order."""

    @abstractmethod
    def surprises(self, judged_by: Surprise) -> Array:
        """Give the surprise under the fit, shape (N,)."""


@dataclass(frozen=True, eq=False)
class DrawnValues(Expected):
    """The values of rows that were drawn from the fit.

    Attributes
    ----------
    rows : array of shape (N, m)
    scaling : ColumnScaling
        The map to z.
    scatter : Scatter
        That of the central rows in z.
    """

    rows: Array
    scaling: ColumnScaling
    scatter: Scatter

    @property
    def drawn(self) -> Array:
        """All of these rows."""
        return self.rows

    def distances(self) -> Array:
        """Measure the distances of the rows that were drawn."""
        return self._judged[0]

    def residuals(self) -> Array:
        """Measure the residuals of the rows that were drawn, and order the outer ones."""
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
        """Measure the surprises of the rows that were drawn."""
        return np.concatenate([judged_by(self.rows[piece]) for piece in chunks(len(self.rows), _AT_A_TIME)])

    @cached_property
    def _judged(self) -> tuple[Array, Array]:
        """Distances, shape (N,), and residuals, shape (m, N), in any order."""
        nobody = np.zeros(_AT_A_TIME, dtype=bool)
        distances, residuals = np.empty(len(self.rows)), np.empty((self.scatter.mean.size, len(self.rows)))
        for piece in chunks(len(self.rows), _AT_A_TIME):
            z = self.scaling(self.rows[piece])
            distances[piece], own = self.scatter.judge(z, nobody[: len(z)])
            residuals[:, piece] = own.T
        return distances, residuals


@dataclass(frozen=True, eq=False)
class NormalValues(Expected):
    """The values that a normal distribution gives the rows: lengths of normal vectors, and normal residuals.

    Attributes
    ----------
    sampler : NormalSampler
        That of the family.
    parameters : Parameters
        Those of the fit.
    scaling : ColumnScaling
        The map to z, which is then normal.
    scatter : Scatter
        That of the central rows in z.
    draw : callable
        Gives rows, which are needed where there are but a few columns.
    """

    sampler: NormalSampler
    parameters: Parameters
    scaling: ColumnScaling
    scatter: Scatter
    draw: Callable[[], Array]

    def distances(self) -> Array:
        """Compute the lengths of normal vectors."""
        mean, covariance = self._moments
        root = np.linalg.cholesky(self.scatter.precision).T
        known = quantiles_of_length(root @ (mean - self.scatter.mean), root @ covariance @ root.T, _QUANTILES)
        return self._drawn.distances() if known is None else known

    def residuals(self) -> Array:
        """Compute normal residuals: as many in the tails as there should be."""
        mean, covariance = self._moments
        slopes = self.scatter.precision / np.sqrt(np.diagonal(self.scatter.precision))
        deviation = np.sqrt(np.einsum("ij,ij->j", slopes, covariance @ slopes))
        return np.asarray(((mean - self.scatter.mean) @ slopes)[:, None] + deviation[:, None] * _normal_quantiles())

    def surprises(self, judged_by: Surprise) -> Array:
        """Compute half the square of the length of a normal vector, above the least surprise."""
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
        deviation = self.scaling.deviation
        return (mean - self.scaling.middle) / deviation, covariance / np.multiply.outer(deviation, deviation)

    @cached_property
    def _drawn(self) -> DrawnValues:
        return DrawnValues(self.draw(), self.scaling, self.scatter)


@lru_cache(maxsize=1)
def _normal_quantiles() -> Array:
    """Evenly spread quantiles of the standard normal distribution, ascending."""
    quantiles: Array = ndtri((np.arange(_QUANTILES) + 0.5) / _QUANTILES)
    quantiles.flags.writeable = False
    return quantiles


class Simulator:
    """Draws rows from one fit after another with the same random numbers, so that they differ by the fits alone.

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

    def expected(self, parameters: Parameters, scaling: ColumnScaling, scatter: Scatter) -> Expected | None:
        """Give what these parameters expect of good rows; None where the family cannot be sampled."""
        sampler = self.family.sampler() if self.family.is_pairwise else None
        if isinstance(sampler, NormalSampler):
            return NormalValues(sampler, parameters, scaling, scatter, partial(self._simulated, sampler, parameters))
        drawn = self.draw(parameters)
        return None if drawn is None else DrawnValues(drawn, scaling, scatter)

    def draw(self, parameters: Parameters) -> Array | None:
        """Draw rows, shape (N, m); None where the family cannot be sampled."""
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


_KNOTS, _MOST_TERMS = 400, 4000  # of the distribution of a length, and of the sum that gives it
_NEGLIGIBLE = 1e-6  # phi beyond the last term
_SURE = 1e-5  # probabilities closer than that to 0 or 1 are not interpolated
_BLOCK = 500  # guards memory: terms at a time


def quantiles_of_length(mean: Array, covariance: Array, count: int) -> Array | None:
    """Compute evenly spread quantiles of the length of normal vectors, ascending, shape (count,).

    With w normal of mean mu and covariance C = V diag(l) V', the square of its length is Q = sum l_i (g_i + b_i)^2,
    where g is standard normal and b = diag(l)^-1/2 V' mu. Its characteristic function is

        phi(u) = prod (1 - 2 i l_k u)^-1/2 exp(i l_k b_k^2 u / (1 - 2 i l_k u))

    and (Davies, 1973), with a step d so small that Q hardly ever exceeds 2 pi / d,

        P(Q < x) = 1/2 - sum_k Im[phi(u_k) exp(-i u_k x)] / (pi (k + 1/2)),      u_k = (k + 1/2) d.

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
    # The cube root of Q is nearly normal, so it is nearly a straight line over normal quantiles.
    between = PchipInterpolator(ndtri(below[inside]), np.cbrt(x[inside]), extrapolate=True)
    wanted = ndtri((np.arange(count) + 0.5) / count)
    return np.asarray(np.sqrt(np.maximum(between(wanted), 0.0) ** 3))


def _terms(spread: Array, shift: Array, step: float) -> tuple[Array, AnyArray] | None:
    """Give the u_k, and phi(u_k) over pi (k + 1/2), complex, both of shape (k,), as far as phi is not negligible."""
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
