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
from robscore.families.samplers.mixing import effective_sample_size


class SquareRootSampler(Sampler):
    """One chain, in compiled code."""

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
        from robscore.families.samplers.kernels import gibbs_square_root

        X = gibbs_square_root(K, eta, n_rows, burn_in, thin, rng) ** 2
        return Draws(X, effective_sample_size(X) if n_rows >= 4 else np.full(len(K), float(n_rows)))
