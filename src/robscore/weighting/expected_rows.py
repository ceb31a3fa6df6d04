"""Rows that a fit expects: step 4 of the row rule compares the data with them.

A fit of the rows with a weight says how good rows are distributed: how far from the centre they lie, how large the
residual of every column given the others is, and how surprising rows are. All of it is measured on rows that are drawn
from the fit, always with the same random numbers, so that two fits differ by themselves alone, and so that the answer
does not depend on the seed.
"""

from __future__ import annotations

import numpy as np

from robscore._tools.memory import chunks
from robscore._tools.typing import Array
from robscore.families.family import Family, Parameters
from robscore.weighting.central_rows import Scatter
from robscore.weighting.column_scaling import ColumnScaling

_AT_A_TIME = 2_000  # guards time: rows, so that what is made of them stays near the processor
_FEWEST_CHAINS, _MOST_CHAINS, _CELLS = 2000, 8000, 80_000  # for families that are sampled by chains from given rows
_FIRST_SWEEPS, _MORE_SWEEPS = 10, 5  # of chains that start from rows of the data, and from those of the fit before
_SEED = 0


class Simulator:
    """Draws rows from one fit after another with the same random numbers.

    Parameters
    ----------
    family : Family
    start : array of shape (k, m)
        Good rows of the data, for chains to start from.
    """

    def __init__(self, family: Family, start: Array) -> None:
        self.family = family
        count = int(np.clip(_CELLS // start.shape[1], _FEWEST_CHAINS, _MOST_CHAINS))
        chosen = np.linspace(0, len(start) - 1, count).round().astype(np.intp)
        self.chains, self.sweeps = start[chosen], _FIRST_SWEEPS

    def draw(self, parameters: Parameters) -> Array | None:
        """Draw rows, shape (N, m); None where the family cannot be sampled."""
        if not self.family.is_pairwise:
            return None
        try:
            self.family.check_parameters(*parameters)
            sampler = self.family.sampler()
            drawn = sampler.simulate(*parameters, seed=_SEED, start=self.chains, sweeps=self.sweeps)
        except (ValueError, TypeError):  # a domain or parameters that cannot be sampled
            return None
        if self.sweeps == _FIRST_SWEEPS and sampler.from_start:
            self.chains, self.sweeps = drawn[-len(self.chains) :], _MORE_SWEEPS  # all later chains start here
        return drawn


def judged(rows: Array, scaling: ColumnScaling, scatter: Scatter) -> tuple[Array, Array]:
    """Distances, shape (N,), ascending, and residuals, shape (N, m), of rows that were drawn, shape (N, m)."""
    nobody = np.zeros(_AT_A_TIME, dtype=bool)
    distances, residuals = np.empty(len(rows)), np.empty((len(rows), scatter.mean.size))
    for piece in chunks(len(rows), _AT_A_TIME):
        z = scaling(rows[piece])
        distances[piece], residuals[piece] = scatter.judge(z, nobody[: len(z)])
    distances.sort()
    return distances, residuals
