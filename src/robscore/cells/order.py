"""The order in which cells are drawn, so that the same random numbers meet the same cells however a table is given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from robscore._tools.typing import Array, BoolArray, IntArray


@dataclass(frozen=True)
class DrawingOrder:
    """An order of the rows and one of the columns.

    Attributes
    ----------
    rows : integer array of shape (n,)
    columns : integer array of shape (m,)
    """

    rows: IntArray
    columns: IntArray

    @classmethod
    def of(cls, X: Array) -> DrawingOrder:
        """By the observed cells of the rows X, shape (n, m): ranks within the columns do not depend on units.

        The columns first, by how the ranks of their cells go with those of the rest of their rows.
        """
        holes = np.isnan(X)
        ranks = rankdata(X, axis=0, nan_policy="omit") / np.maximum(np.count_nonzero(~holes, axis=0), 1) - 0.5
        ranks = np.where(holes, 0.0, ranks)
        centred = ranks - ranks.mean(axis=0)
        with_others = (centred * centred.sum(axis=1, keepdims=True)).mean(axis=0)
        columns = np.argsort(with_others, kind="stable")
        key = np.where(holes, 1.0, ranks)[:, columns] @ np.cos(np.arange(1, columns.size + 1))
        return cls(np.argsort(key, kind="stable"), columns)

    def rows_of(self, holes: BoolArray, j: int) -> IntArray:
        """The rows with a hole in column j, in order."""
        return self.rows[holes[self.rows, j]]
