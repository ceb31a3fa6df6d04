"""Wrong cells of one table, looked for round after round."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robscore._tools.errors import UsageError
from robscore._tools.typing import Array, BoolArray
from robscore.cells.completing import without_covariates
from robscore.cells.conditionals import conditionals, has_conditionals
from robscore.cells.faults import stuck_cells
from robscore.cells.order import DrawingOrder
from robscore.cells.wrong import CellScale, WrongCells
from robscore.families.base import Family, Parameters
from robscore.weighting.standard import Standard

_POINTS = 120  # of the grids that conditional densities are integrated on
_FORGET = 0.5  # what an earlier round counts beside the next


@dataclass(frozen=True, eq=False)
class Suspects:
    """Cells of a table, and how likely each is to be wrong.

    Attributes
    ----------
    family : of the rows
    observed : array of shape (n, m), with covariates
    missing : boolean array of shape (n, m), without
    scale : the cells on a common scale
    wrong : what the last round says of them
    probability : array of shape (n, m)
        That a cell is wrong, averaged over the last rounds.
    stuck : boolean array of shape (n, m)
        Cells of stuck sensors, which are wrong whatever the others say, for a value may be right by chance.
    """

    family: Family
    observed: Array
    missing: BoolArray
    scale: CellScale
    wrong: WrongCells
    probability: Array
    stuck: BoolArray

    @classmethod
    def of(cls, family: Family, observed: Array, missing: BoolArray) -> Suspects:
        """By each column alone."""
        if not has_conditionals(without_covariates(family, observed.shape[1])):
            raise UsageError(
                f"Wrong cells cannot be looked for in {family!r}: that needs a pairwise family on [0, inf) or the real "
                "line. Fit without cells."
            )
        scale = CellScale.of(Standard.of(family, observed), observed)
        stuck = stuck_cells(np.where(missing, np.nan, observed[:, : missing.shape[1]]))
        wrong = WrongCells.first(scale, ~missing & ~stuck)
        return cls(family, observed, missing, scale, wrong, np.where(stuck, 1.0, wrong.probability), stuck)

    @property
    def flagged(self) -> BoolArray:
        """Cells that are taken for wrong, shape (n, m)."""
        return np.asarray(self.wrong.flagged | self.stuck)

    @property
    def share(self) -> float:
        """Of wrong cells in the table, as far as rows are not wrong as a whole; stuck ones apart."""
        return self.wrong.pooled_share

    @property
    def likely_wrong(self) -> BoolArray:
        """Cells that are more likely wrong than not, shape (n, m), in rows that are not wrong as a whole."""
        return np.asarray(self.repairable > 0.5)

    @property
    def repairable(self) -> Array:
        """The probability of being wrong, shape (n, m); zero in rows that are wrong as a whole."""
        return np.where(self.wrong.repaired[:, None] | self.stuck, self.probability, 0.0)

    def drawn(self, rng: np.random.Generator, order: DrawingOrder) -> BoolArray:
        """Cells to take for wrong this time, shape (n, m): each as often as it is likely to be."""
        uniform = np.empty(self.missing.shape)
        uniform[np.ix_(order.rows, order.columns)] = rng.random(self.missing.shape)
        return np.asarray((uniform < self.wrong.probability) & self.wrong.repaired[:, None] | self.stuck)

    def updated(self, X: Array, parameters: Parameters, counted: BoolArray) -> Suspects:
        """By what a fit says of every cell given the rest of the completed rows X, shape (n, m)."""
        base, own, at = self.family.at(X, *parameters)
        m = own.shape[1]
        found = conditionals(base, own, at, self.observed[:, :m], np.arange(m), counted, _POINTS)
        wrong = self.wrong.updated(self.scale, found, ~self.missing & ~self.stuck, counted)
        probability = _FORGET * self.probability + (1 - _FORGET) * wrong.probability
        return replace(self, wrong=wrong, probability=np.where(self.stuck, 1.0, probability))
