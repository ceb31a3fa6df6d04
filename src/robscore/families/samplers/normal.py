"""Normal rows, and what is normal after a change of variables, drawn directly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robscore._tools.typing import Array
from robscore.families.samplers.base import Draws, Sampler


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
        noise = np.linalg.solve(np.linalg.cholesky(K).T, rng.standard_normal((len(K), n_rows))).T
        rows = np.asarray(np.linalg.solve(K, eta + self.shift if self.shift else eta) + noise, dtype=float)
        return Draws(rows if self.change is None else self.change(rows), np.full(len(K), float(n_rows)))
