"""Direct draws of rows that are normal, or normal after a change of variables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.random import Generator
from scipy.linalg import solve_triangular
from scipy.special import ndtri

from robscore._tools.typing import Array
from robscore.families.samplers.sampler import Chains, Draws, Sampler

# How many numbers are simulated at a time, which guards memory, and the log2 of the fewest and of the most rows.
_MOST_NUMBERS, _LEAST_LOG2, _LARGEST_LOG2 = 2**19, 12, 14
_SMALLEST = 1e-12  # smallest probability distinguished from 0, whose quantile would be infinite


@dataclass(frozen=True)
class NormalSampler(Sampler):
    """Draws rows f(y) where y is normal with precision K and mean K^-1 (eta + shift).

    Attributes
    ----------
    change : f, the identity by default
    shift : float
        What the change of variables adds to eta.
    """

    change: Callable[[Array], Array] | None = None
    shift: float = 0.0

    def draw(self, K: Array, eta: Array, n_rows: int, chains: Chains, rng: Generator) -> Draws:
        """Draw independent rows."""
        rows = self._rows(K, eta, rng.standard_normal((len(K), n_rows)))
        return Draws(rows, np.full(len(K), float(n_rows)))

    def simulate(self, K: Array, eta: Array, *, seed: int, start: Array, sweeps: int) -> Array:
        """Draw quasi-random rows: scrambled Sobol points fill space more evenly than random ones."""
        count = 2 ** int(np.clip(np.log2(_MOST_NUMBERS / len(K)), _LEAST_LOG2, _LARGEST_LOG2))
        return self._rows(K, eta, _quasi_random_normals(len(K), count, seed))

    def draw_each(self, K: Array, eta: Array, *, start: Array, sweeps: int, rng: Generator) -> Array:
        """Draw independent rows."""
        return self._rows(K, eta, rng.standard_normal(eta.T.shape))

    def law_given(self, own: float | Array, rest: Array, eta: float | Array, x: Array) -> tuple[Array, Array] | None:
        """Columns, or their logarithms, are normal given the others."""
        y = self.undone(x)
        if y is None:
            return None
        z = (y - (eta + self.shift - rest) / own) * np.sqrt(own)
        return 0.5 * (np.log(own / (2 * np.pi)) - z**2) - (0.0 if self.change is None else y), z

    def undone(self, x: Array) -> Array | None:
        """The normal y of values x, in the same shape; None where the inverse of the change is not known."""
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
    """Standard normal noise, shape (m, count), which is kept, since all fits of a run ask for the same."""
    from scipy.stats import qmc

    points = qmc.Sobol(m, scramble=True, rng=np.random.default_rng(seed)).random(count)
    normals: Array = ndtri(np.clip(points, _SMALLEST, 1 - _SMALLEST)).T
    normals.flags.writeable = False
    return normals
