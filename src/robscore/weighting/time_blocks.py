"""How many neighbouring rows belong together: blocks for standard errors of time series.

Rows that depend on those before them carry less information than as many independent ones. What matters is not how the
columns depend on their own past but how the rows' influences do: pooled over all pairs, their autocorrelations r_1,
r_2, ... say how much the variance of a mean is stretched,

    tau = 1 + 2 (r_1 + r_2 + ...)      (summed in pairs while these are positive, as Geyer has it)

Blocks have the size that is best for a variance from block sums (Andrews, 1991, for Bartlett's kernel) of an
autoregression with the same tau, rho = (tau - 1) / (tau + 1); the share of the variance that they miss is then known,

    missed = 2 rho / ((1 - rho^2) size)

Rows that are sorted by a class or a column, or that drift, resemble each other too, but over a good part of the table:
there is nothing to average over, and the order says how the table was written, not how the rows came about. In a series
dependence has faded after a twentieth of the rows, which distinguishes the two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robscore._tools.typing import Array

_FEWEST_ROWS = 40  # for autocorrelations to be known at all
_FEWEST_BLOCKS = 20  # for a variance from block sums
_CLEAR = 3.0  # standard errors that the first autocorrelation must be away from zero
_MOST_MISSED = 0.5  # of the variance, that is made up for
_FADED = 0.1  # of the first autocorrelation, between a twentieth and a tenth of the rows apart: less in a series


@dataclass(frozen=True)
class TimeBlocks:
    """Blocks of neighbouring rows, and the dependence that they are made for.

    Attributes
    ----------
    size : int
        Rows that stay together; 1 where they do not depend on each other.
    tau : float
        The autocorrelation time: this many rows carry as much information as one.
    lasts : bool
        Whether rows far apart resemble each other as well: they are sorted, or drift.
    """

    size: int = 1
    tau: float = 1.0
    lasts: bool = False

    @property
    def tau_of_series(self) -> float:
        """The autocorrelation time, and 1 where the rows are not a series."""
        return 1.0 if self.size == 1 or self.lasts else self.tau

    @property
    def factor(self) -> float:
        """The factor on standard errors from blocks, for the variance that blocks miss."""
        rho = (self.tau - 1) / (self.tau + 1)
        missed = 2 * rho / ((1 - rho**2) * self.size) if self.size > 1 else 0.0
        return float(1 / np.sqrt(1 - min(missed, _MOST_MISSED)))

    def for_rows(self, n_rows: int) -> TimeBlocks:
        """Give the blocks for the same dependence in a longer series."""
        return self if self.size == 1 else TimeBlocks(_size(n_rows, self.tau), self.tau, self.lasts)

    @classmethod
    def of(cls, influences: Array) -> TimeBlocks:
        """Measure the dependence of influences of rows in order, shape (n, p)."""
        n = len(influences)
        spread = np.sqrt(np.einsum("ij,ij->j", influences, influences))
        varying = influences[:, spread > 0] / spread[spread > 0]
        if n < _FEWEST_ROWS or not varying.shape[1]:
            return cls()
        first = np.einsum("ij,ij->", varying[1:], varying[:-1]) / varying.shape[1]
        if first * np.sqrt(n) < _CLEAR:
            return cls()
        found = autocorrelations(varying, n // 4)
        pairs = found[: found.size - found.size % 2].reshape(-1, 2).sum(axis=1)
        stop = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else pairs.size
        tau = max(float(2 * pairs[:stop].sum() - 1), 1.0)
        lasts = float(found[n // 20 : n // 10].mean()) > _FADED * found[1]
        return cls(_size(n, tau), tau, lasts)


def autocorrelations(rows: Array, most: int) -> Array:
    """Correlate columns of length one, pooled, with themselves 0, 1, ... rows later, shape (most + 1,)."""
    n = len(rows)
    spectrum = np.fft.rfft(rows, n=2 * n, axis=0)
    together = np.fft.irfft((np.abs(spectrum) ** 2).mean(axis=1))[: most + 1]
    return np.asarray(together / together[0])


def _size(n: int, tau: float) -> int:
    """Compute the best size of blocks for n rows, of which as many as tau carry the information of one."""
    rho = (tau - 1) / (tau + 1)
    best = 1.1447 * (4 * rho**2 / ((1 - rho) ** 2 * (1 + rho) ** 2) * n) ** (1 / 3)
    return int(np.clip(np.ceil(best), 1, max(n // _FEWEST_BLOCKS, 1)))
