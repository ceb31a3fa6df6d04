"""Rows that are too near each other: step 2 of the row rule finds copies, a dead sensor, a cluster in one place.

With d_i the distance of row i to its fifth nearest neighbour, after z was bent by arcsinh so that no tail stretches it,

    row i is in a cluster where  log d_i < median log d - max(log 2, 5 deviations of log d)

The factor by which good rows' d_i vary shrinks with the number of columns, and it does not matter where a cluster lies.
Clusters are looked for before any fit: their rows are ordinary under every fit that they dominate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robscore._tools.deviations import MAD
from robscore._tools.memory import chunks
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.weighting.row_rule import RowRule

_MOST_COMPARED = 2000  # guards time: rows that neighbours are looked for among
_AT_A_TIME = 1000  # guards memory: rows whose distances to all others are held


@dataclass(frozen=True)
class Clusters:
    """The rows that others are compared with, and the distance below which they are too near.

    Attributes
    ----------
    reference : array of shape (r, m)
        Rows among which neighbours are looked for, bent by arcsinh.
    rounding : float
        What the rounding of the columns may add to a squared distance: else equal values would look like a cluster.
    limit : float
        Rows with a smaller log distance are in a cluster; minus infinity where there is none.
    neighbours : int
        The neighbour whose distance it is.
    """

    reference: Array
    rounding: float
    limit: float
    neighbours: int

    @classmethod
    def of(cls, z: Array, rule: RowRule) -> Clusters:
        """Learn from rows z, shape (n, m), in an order that has nothing to do with where they are."""
        n = len(z)
        reference = np.arcsinh(z[:: max(1, -(-n // _MOST_COMPARED))])
        rounding = float(np.sum(np.minimum(_resolution(z), 1.0) ** 2)) / 6
        logs = _log_distances(np.arcsinh(z), reference, rounding, rule.neighbours)
        middle = float(np.median(logs))
        deviation = MAD * float(np.median(logs[logs >= middle] - middle))  # by the looser half: it holds no cluster
        limit = middle - max(np.log(rule.nearer), rule.cluster_deviations * deviation)
        count = int(np.count_nonzero(logs < limit))
        is_some = rule.neighbours < count <= rule.largest_cluster * n
        return cls(reference, rounding, limit if is_some else -np.inf, rule.neighbours)

    def reordered(self, columns: IntArray) -> Clusters:
        """Put the columns in another order."""
        return replace(self, reference=self.reference[:, columns])

    def contains(self, z: Array) -> BoolArray:
        """Tell which rows are in a cluster, shape (n,)."""
        if self.limit == -np.inf:
            return np.zeros(len(z), dtype=bool)
        return _log_distances(np.arcsinh(z), self.reference, self.rounding, self.neighbours) < self.limit


def _log_distances(bent: Array, reference: Array, rounding: float, neighbours: int) -> Array:
    """Measure from every row to its fifth nearest neighbour (or itself and four), shape (n,)."""
    squares = np.einsum("ij,ij->i", reference, reference)
    k = min(neighbours, len(reference) - 1)
    nearest = np.empty(len(bent))
    for some in chunks(len(bent), _AT_A_TIME):
        part = bent[some]
        distances = np.einsum("ij,ij->i", part, part)[:, None] + squares - 2 * part @ reference.T
        nearest[some] = np.partition(distances, k, axis=1)[:, k]
    return np.asarray(0.5 * np.log(np.maximum(nearest, 1e-10 * bent.shape[1]) + rounding))


def _resolution(z: Array) -> Array:
    """Estimate how columns are rounded, shape (m,): the median step between values if many are equal, else 0."""
    steps = np.zeros(z.shape[1])
    for j, column in enumerate(z.T):
        values = np.unique(column)
        if 1 < values.size < len(column) / 2:
            steps[j] = np.median(np.diff(values))
    return steps


def count_copies(X: Array) -> int:
    """Count the rows of X, shape (n, m), that are copies of another: 0 if the rounding of columns explains them."""
    n = len(X)
    copies = n - len(np.unique(X, axis=0))
    if not copies:
        return 0
    agreement = 1.0  # the probability that two rows agree, were columns independent
    for column in X.T:
        counts = np.unique(column, return_counts=True)[1]
        agreement *= float(np.sum((counts / n) ** 2) - 1 / n)  # beyond a row's agreement with itself
    expected = n * n * max(agreement, 0.0) / 2
    return copies if copies > 10 * expected else 0
