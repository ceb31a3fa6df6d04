"""What good cells look like, where a model fits no better than models fit real tables.

Residuals of the model's own cells are standard normal. Those of real ones are often more spread out, or a few of them
are; with the model's word alone all these cells would be called wrong. So good cells of column j have residuals from

    (1 - t_j) N(0, s_j^2)  +  t_j N(0, (3 s_j)^2)

with a spread s_j that is 1 unless the middle half of the column is clearly wider, and a share t_j of unusual cells,
which is estimated together with that of wrong ones. A cell is called wrong if it looks like other wrong cells, or if
it is farther out than unusual ones ever are, and not merely because the model did not expect it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, pdtrc

from robscore._tools.typing import Array, BoolArray
from robscore.cells.conditionals import Conditionals

_WIDER = 3.0  # times the spread, of unusual cells
_MIDDLE_HALF = 1.349  # of a standard normal number
_CHANCE = 2.0 * 1.17  # two standard errors of a spread by the middle half, times the root of the number of cells
_FEWEST = 10.0  # good cells of a column, to tell their spread
_POOLED = 50.0  # cells that the share of the whole table counts for in that of a column
_LARGEST = 0.3  # share of unusual cells
_FARTHEST_ONES = 20  # cells that are counted one by one
_IMPOSSIBLE = 1e-4  # chance of so many so far out
_STEPS = 10  # of the share of unusual cells, where no cell is wrong


@dataclass(frozen=True)
class GoodCells:
    """How likely cells are as good ones.

    Attributes
    ----------
    z : array of shape (n, m)
        Residuals over the spread of their columns.
    log_unit : array of shape (n, m)
        Log of the density of a usual cell or of an unusual one, whichever is larger; the unit of densities.
    usual, unusual : arrays of shape (n, m)
        Both densities in that unit.
    """

    z: Array
    log_unit: Array
    usual: Array
    unusual: Array

    @classmethod
    def of(cls, found: Conditionals, weight: Array) -> GoodCells:
        """By the conditional densities of cells, and what each counts as a good one, shape (n, m)."""
        residual = np.nan_to_num(found.residual)
        spread = spreads(residual, weight)
        z = residual / spread
        log_usual = -0.5 * z**2
        log_unusual = -0.5 * (z / _WIDER) ** 2 - np.log(_WIDER)
        larger = np.maximum(log_usual, log_unusual)
        log_unit = found.log_density + 0.5 * residual**2 - np.log(spread) + larger
        return cls(z, log_unit, np.exp(log_usual - larger), np.exp(log_unusual - larger))

    def density(self, share: Array) -> Array:
        """Of good cells, shape (n, m), with these shares of unusual ones."""
        return np.asarray((1 - share) * self.usual + share * self.unusual)

    def share_of_unusual(self, share: Array, good: Array, usable: BoolArray) -> Array:
        """t_j, shape (m,), after a step from ``share``; ``good`` is the probability that cells are, shape (n, m)."""
        unusual = np.where(usable, good * share * self.unusual / self.density(share), 0.0)
        return np.minimum(pooled_shares(unusual, usable), _LARGEST)

    def share_without_wrong_ones(self, share: Array, usable: BoolArray) -> Array:
        """t_j if all cells are good, shape (m,), from ``share`` on."""
        share = np.minimum(share, _LARGEST)
        for _ in range(_STEPS):
            share = self.share_of_unusual(share, np.ones_like(self.z), usable)
        return share

    def expected(self, edges: Array, share: Array, usable: BoolArray) -> Array:
        """How many cells should have z up to the first of some edges, between them, and beyond the last."""
        return np.diff(_below(np.concatenate([[-np.inf], edges, [np.inf]]), share, usable))

    def too_far_out(self, share: Array, usable: BoolArray) -> Array:
        """How likely cells are wrong, shape (n, m), because more lie so far out than these shares explain.

        Zero, unless so many among the farthest are nearly impossible.
        """
        far = np.abs(self.z)
        farthest = np.sort(far[usable])[: -_FARTHEST_ONES - 1 : -1]
        expected = 2 * _below(-farthest, share, usable)
        impossible = np.flatnonzero(pdtrc(np.arange(farthest.size), expected) < _IMPOSSIBLE)
        if not impossible.size:
            return np.zeros(far.shape)
        last = impossible[-1]
        return np.where(far >= farthest[last], 1 - expected[last] / (last + 1), 0.0)


def _below(z: Array, share: Array, usable: BoolArray) -> Array:
    """How many usable cells should lie below each of some z, with these shares of unusual ones."""
    counts = np.count_nonzero(usable, axis=0)
    return np.asarray((counts * (1 - share)).sum() * ndtr(z) + (counts * share).sum() * ndtr(z / _WIDER))


def spreads(residual: Array, weight: Array) -> Array:
    """s_j of residuals, shape (n, m), each of which counts so much: two standard errors below what is found, or 1.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.cells.good import spreads
    >>> X = np.random.default_rng(0).normal(size=(1000, 2)) * [1.0, 2.0]
    >>> X[:30] = 40.0  # wrong cells hardly matter
    >>> spreads(X, np.ones(X.shape)).round(1).tolist()
    [1.0, 1.8]
    """
    order = np.argsort(residual, axis=0)
    counts = np.cumsum(np.take_along_axis(weight, order, axis=0), axis=0)
    found = np.ones(residual.shape[1])
    for j in np.flatnonzero(counts[-1] >= _FEWEST):
        first, last = np.searchsorted(counts[:, j], np.array([0.25, 0.75]) * counts[-1, j])
        wide = (residual[order[last, j], j] - residual[order[first, j], j]) / _MIDDLE_HALF
        found[j] = max(1.0, wide * (1 - _CHANCE / np.sqrt(counts[-1, j])))
    return found


def pooled_shares(weight: Array, there: BoolArray) -> Array:
    """The share of a weight, shape (n, m), among the cells that are there, shape (m,), drawn to that of all columns."""
    total, counts = weight.sum(axis=0), np.count_nonzero(there, axis=0)
    pooled = total.sum() / max(counts.sum(), 1)
    return np.asarray((total + _POOLED * pooled) / (counts + _POOLED))
