"""The square-root model by Gibbs sweeps with exact conditionals.

With y = sqrt(x) the square-root model has the conditional density

    y_j given the rest  ~  y exp(-K_jj y^2 + 2 b y),      b = eta_j - sum_{k != j} K_jk y_k

and t = sqrt(K_jj) y has density f(t) ~ t exp(-(t - c)^2), c = b / sqrt(K_jj), which is sampled exactly by
rejection, from one of two envelopes:

    c > 0.2   normal about the mode t*, variance 1/2; since (log f)'' <= -2, accept with (t/t*) exp(1 - t/t*)
    else      gamma of shape 2 and rate r = sqrt(c^2 + 4) - c; accept with exp(-(t - c - r/2)^2)

Either accepts more than two thirds of its proposals.
"""

from __future__ import annotations

import numpy as np

from robscore._tools.typing import Array
from robscore.families.samplers.base import Draws, Sampler
from robscore.families.samplers.in_numpy import draw_conditionals
from robscore.families.samplers.mixing import effective_sample_size

# Of rows that are simulated. Limits far out need many rows more than they need rows that do not depend on each other:
# what a column is given the others is redrawn in every sweep.
_FEWEST, _MOST, _BURN_IN, _LARGEST_THIN = 2_000, 80_000, 100, 2
_WORK, _MOST_UPDATES = 80_000_000, 4_000_000  # updates times columns, and updates
_FARTHEST = 1e7  # of c: beyond, rounding would refuse every proposal


def draw_square_root(c: Array, rng: np.random.Generator) -> Array:
    """Exact draws of t, one for every c, shape (n,); NaN where c is not a number."""
    known = ~np.isnan(c)
    drawn = np.full(c.shape, np.nan)
    drawn[known] = draw_conditionals(np.clip(c[known], -_FARTHEST, _FARTHEST), rng)
    return drawn


class SquareRootSampler(Sampler):
    """One chain, in compiled code; without numba, several at a time."""

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
        """Rows of the chain after ``burn_in`` sweeps, ``thin`` sweeps apart."""
        X = self._chain(K, eta, n_rows, burn_in, thin, rng)
        return Draws(X, effective_sample_size(X) if n_rows >= 4 else np.full(len(K), float(n_rows)))

    def simulate(self, K: Array, eta: Array, *, seed: int, start: Array, sweeps: int) -> Array:
        """One chain, thinned as much as a fixed number of updates allows."""
        sweeps = min(_WORK // len(K), _MOST_UPDATES) // len(K)
        count = int(np.clip(sweeps, _FEWEST, _MOST))
        thin = int(np.clip(sweeps // count, 1, _LARGEST_THIN))
        return self._chain(K, eta, count, _BURN_IN, thin, np.random.default_rng(seed))

    def draw_each(self, K: Array, eta: Array, *, start: Array, sweeps: int, rng: np.random.Generator) -> Array:
        """A chain for every row."""
        from robscore.families.samplers.kernels import gibbs_square_root_rows

        rows: Array = gibbs_square_root_rows(K, np.ascontiguousarray(eta), np.sqrt(start), sweeps, rng)
        return rows**2

    @staticmethod
    def _chain(K: Array, eta: Array, n_rows: int, burn_in: int, thin: int, rng: np.random.Generator) -> Array:
        from robscore.families.samplers.kernels import gibbs_square_root

        rows: Array = gibbs_square_root(np.ascontiguousarray(K), np.ascontiguousarray(eta), n_rows, burn_in, thin, rng)
        return rows**2
