"""Normal rows, and what is normal after a change of variables, drawn directly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.linalg import solve_triangular
from scipy.special import gammaincinv, ndtr, ndtri

from robscore._tools.typing import Array
from robscore.families.samplers.sampler import Draws, Sampler

_MOST_NUMBERS, _LEAST_LOG2, _LARGEST_LOG2 = 2**21, 11, 17  # simulated at a time
_SMALLEST = 1e-12  # smallest probability distinguished from 0
_QUANTILES, _KNOTS = 2**14, 101


@dataclass(frozen=True)
class NormalSampler(Sampler):
    """Rows f(y) with y normal of precision K and mean K^-1 (eta + shift).

    Attributes
    ----------
    change : f, the identity by default
    shift : float
        What the change of variables adds to eta.
    """

    change: Callable[[Array], Array] | None = None
    shift: float = 0.0

    def draw(
        self,
        K: Array,
        eta: Array,
        n_rows: int,
        *,
        burn_in: int,
        thin: int,
        start: Array | None,
        rng: np.random.Generator,
    ) -> Draws:
        """Independent rows."""
        rows = self._rows(K, eta, rng.standard_normal((len(K), n_rows)))
        return Draws(rows, np.full(len(K), float(n_rows)))

    def simulate(self, K: Array, eta: Array, *, seed: int, start: Array, sweeps: int) -> Array:
        """Quasi-random rows: scrambled Sobol points fill space more evenly than random ones."""
        count = 2 ** int(np.clip(np.log2(_MOST_NUMBERS / len(K)), _LEAST_LOG2, _LARGEST_LOG2))
        return self._rows(K, eta, _quasi_random_normals(len(K), count, seed))

    def moments(self, K: Array, eta: Array) -> tuple[Array, Array]:
        """Mean and covariance of y, shapes (m,) and (m, m)."""
        covariance = np.linalg.inv(K)
        return np.asarray(np.linalg.solve(K, eta + self.shift)), np.asarray((covariance + covariance.T) / 2)

    def surprises(self, K: Array, eta: Array) -> Array | None:
        """Half of a chi-squared number with m degrees of freedom, above the minimum, which is at the mean."""
        if self.shift:  # the least is not at the mean
            return None
        return _half_chi_squared(len(K)) - 0.5 * float(eta @ np.linalg.solve(K, eta))

    def draw_each(self, K: Array, eta: Array, *, start: Array, sweeps: int, rng: np.random.Generator) -> Array:
        """Independent rows."""
        return self._rows(K, eta, rng.standard_normal(eta.T.shape))

    def law_given(self, own: float | Array, rest: Array, eta: float | Array, x: Array) -> tuple[Array, Array] | None:
        """Normal, or what has a normal logarithm."""
        y = self.undone(x)
        if y is None:
            return None
        z = (y - (eta + self.shift - rest) / own) * np.sqrt(own)
        return 0.5 * (np.log(own / (2 * np.pi)) - z**2) - (0.0 if self.change is None else y), z

    def undone(self, x: Array) -> Array | None:
        """Values of x that are normal, in the same shape; None where that change is not known."""
        if self.change not in (None, np.exp):
            return None
        return x if self.change is None else np.log(x)

    def _rows(self, K: Array, eta: Array, noise: Array) -> Array:
        """Rows from standard normal noise of shape (m, n); eta has shape (m,) or (n, m)."""
        inverse_root = solve_triangular(np.linalg.cholesky(K), np.eye(len(K)), lower=True)
        rows = noise.T @ inverse_root  # a product is much faster than solving for many columns
        rows += np.linalg.solve(K, (eta + self.shift if self.shift else eta).T).T
        with np.errstate(over="ignore"):
            return rows if self.change is None else self.change(rows)


@lru_cache(maxsize=2)
def _quasi_random_normals(m: int, count: int, seed: int) -> Array:
    """Standard normal noise, shape (m, count)."""
    from scipy.stats import qmc

    points = qmc.Sobol(m, scramble=True, rng=np.random.default_rng(seed)).random(count)
    normals: Array = ndtri(np.clip(points, _SMALLEST, 1 - _SMALLEST)).T
    normals.flags.writeable = False
    return normals


@lru_cache(maxsize=8)
def _half_chi_squared(m: int) -> Array:
    """Evenly spread quantiles: their cube roots are nearly a straight line of normal ones, and known in between."""
    normal = ndtri((np.arange(_QUANTILES) + 0.5) / _QUANTILES)
    knots = np.linspace(normal[0], normal[-1], _KNOTS)
    quantiles: Array = CubicSpline(knots, np.cbrt(gammaincinv(m / 2, ndtr(knots))))(normal) ** 3
    quantiles.flags.writeable = False
    return quantiles
