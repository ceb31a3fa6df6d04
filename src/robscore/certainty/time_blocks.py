"""How many neighbouring rows belong together: blocks for standard errors of time series.

Rows that depend on those before them carry less information than as many independent ones. What counts is not how the
columns depend on their own past but how the rows' influences do: pooled over all pairs, their autocorrelations r_1,
r_2, ... say how much the variance of a mean is stretched,

    tau = 1 + 2 (r_1 + r_2 + ...)      (summed in pairs while these are positive, as Geyer has it)

As for an autoregression with the same tau, rho = (tau - 1) / (tau + 1), blocks have the size that is best for a
variance from block sums (Andrews, 1991, for Bartlett's kernel), and what they still miss is known: the share
2 rho / ((1 - rho^2) size).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robscore._tools.typing import Array, BoolArray
from robscore.certainty.influence import Solved, free_a_column, solve
from robscore.elements import Elements
from robscore.fitting.fit import Fit
from robscore.losses.quadratic import QuadraticLoss
from robscore.solvers.factor import SingularLossError
from robscore.weighting.weighted_rows import WeightedRows

_MOST_NUMBERS, _MOST_ROWS = 5_000_000, 5_000  # influences that are looked at
_FEWEST_ROWS = 40
_FEWEST_BLOCKS = 20
_CLEAR = 3.0  # standard errors that the first autocorrelation must be away from zero
_MOST_MISSED = 0.5


@dataclass(frozen=True)
class TimeBlocks:
    """How rows in time are taken together.

    Attributes
    ----------
    size : int
        Rows that stay together; 1 where they do not depend on each other.
    tau : float
        This many rows are worth one.
    """

    size: int = 1
    tau: float = 1.0

    @property
    def factor(self) -> float:
        """What standard errors from blocks are multiplied by, for what blocks miss."""
        rho = (self.tau - 1) / (self.tau + 1)
        missed = 2 * rho / ((1 - rho**2) * self.size) if self.size > 1 else 0.0
        return float(1 / np.sqrt(1 - min(missed, _MOST_MISSED)))

    def stretched(self, solved: Solved, n_rows: float, n_free: int) -> Solved:
        """The estimate with influences stretched by the rows that there are in effect, and by what blocks miss."""
        if self.size == 1:
            return solved
        worth = n_rows / self.tau
        stretch = np.sqrt(worth / max(worth - n_free, worth / 4))
        return replace(solved, stretch=float(max(stretch, solved.stretch) * self.factor))

    @classmethod
    def of(cls, influences: Array) -> TimeBlocks:
        """From influences of rows in order, shape (n, p)."""
        n = len(influences)
        spread = np.sqrt(np.einsum("ij,ij->j", influences, influences))
        telling = influences[:, spread > 0] / spread[spread > 0]
        if n < _FEWEST_ROWS or not telling.shape[1]:
            return cls()
        found = autocorrelations(telling, n // 4)
        if found[1] * np.sqrt(n) < _CLEAR:
            return cls()
        pairs = found[: found.size - found.size % 2].reshape(-1, 2).sum(axis=1)
        stop = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else pairs.size
        tau = max(float(2 * pairs[:stop].sum() - 1), 1.0)
        return cls(_size(n, tau), tau)


def autocorrelations(rows: Array, most: int) -> Array:
    """Of columns of length one, pooled, with themselves 0, 1, ... rows later, shape (most + 1,)."""
    n = len(rows)
    spectrum = np.fft.rfft(rows, n=2 * n, axis=0)
    together = np.fft.irfft((np.abs(spectrum) ** 2).mean(axis=1))[: most + 1]
    return np.asarray(together / together[0])


def find_time_blocks(fit: Fit, allowed: BoolArray) -> TimeBlocks:
    """From the influences of the rows of a fit, in order, on the pairs that are allowed, shape (m, m)."""
    if fit.weights.frequency is not None:
        return TimeBlocks()  # weighted rows are not a series
    n = fit.prepared.rows.n_rows
    elements: Elements = fit.elements()
    weights = fit.weights.some(np.arange(n))
    try:
        solved = solve(elements, weights, allowed, fit_location=fit.settings.fit_location)
    except SingularLossError:
        return TimeBlocks()
    looked_at = int(np.clip(_MOST_NUMBERS // max(solved.solution.rows.size, 1), 200, _MOST_ROWS))
    if looked_at < n:
        some = np.arange(looked_at)
        elements, weights = elements.subset(some), weights.some(some)
    found = TimeBlocks.of(solved.on_pairs(WeightedRows.of(elements, weights)))
    return found if found.size == 1 else TimeBlocks(_size(n, found.tau), found.tau)


def n_free_of(fit: Fit, allowed: BoolArray) -> int:
    """The most parameters that one column has."""
    assert isinstance(fit.loss, QuadraticLoss)
    return free_a_column(fit.loss, allowed, fit_location=bool(fit.settings.fit_location))


def _size(n: int, tau: float) -> int:
    """The best size of blocks for n rows, of which as many as tau are worth one."""
    rho = (tau - 1) / (tau + 1)
    best = 1.1447 * (4 * rho**2 / ((1 - rho) ** 2 * (1 + rho) ** 2) * n) ** (1 / 3)
    return int(np.clip(np.ceil(best), 1, max(n // _FEWEST_BLOCKS, 1)))
