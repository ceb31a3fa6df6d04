"""Rows that are too near each other: copies, a dead sensor, a cluster in one place.

A row's distance to its fifth nearest neighbour varies by a factor that shrinks with the number of columns. Rows whose
neighbours are far nearer than those of most rows are in a cluster, wherever it is; such rows are ordinary by any
fit that they dominate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robscore._tools.deviations import MAD
from robscore._tools.memory import chunks
from robscore._tools.typing import Array, BoolArray, IntArray

_NEIGHBOURS = 5
_MOST_COMPARED = 2000  # rows that neighbours are looked for among
_TIGHTER = 2.0  # a cluster's rows are so many times nearer to each other, at least
_DEVIATIONS = 5.0  # of the log distance, by which they are nearer, at least
_LARGEST_SHARE = 0.4
_AT_A_TIME = 1000


@dataclass(frozen=True)
class Clusters:
    """What rows are compared with to see whether they have too near neighbours.

    Attributes
    ----------
    reference : array of shape (r, m)
        Rows among which neighbours are looked for, bent by arcsinh.
    rounding : float
        What the rounding of the columns may add to a squared distance.
    limit : float
        Rows with a smaller log distance are in a cluster; minus infinity where there is none.
    """

    reference: Array
    rounding: float
    limit: float

    @classmethod
    def of(cls, z: Array) -> Clusters:
        """Of rows z, shape (n, m), in an order that has nothing to do with where they are."""
        n = len(z)
        reference = np.arcsinh(z[:: max(1, -(-n // _MOST_COMPARED))])
        rounding = float(np.sum(np.minimum(_resolution(z), 1.0) ** 2)) / 6
        logs = _log_distances(np.arcsinh(z), reference, rounding)
        middle = float(np.median(logs))
        deviation = MAD * float(np.median(logs[logs >= middle] - middle))  # of the looser half: no cluster is in it
        limit = middle - max(np.log(_TIGHTER), _DEVIATIONS * deviation)
        count = int(np.count_nonzero(logs < limit))
        return cls(reference, rounding, limit if _NEIGHBOURS < count <= _LARGEST_SHARE * n else -np.inf)

    def reordered(self, columns: IntArray) -> Clusters:
        """For columns in another order."""
        return replace(self, reference=self.reference[:, columns])

    def contains(self, z: Array) -> BoolArray:
        """Which rows are in a cluster, shape (n,)."""
        if self.limit == -np.inf:
            return np.zeros(len(z), dtype=bool)
        return _log_distances(np.arcsinh(z), self.reference, self.rounding) < self.limit


def _log_distances(bent: Array, reference: Array, rounding: float) -> Array:
    """Of every row to its fifth nearest neighbour (or itself and four), shape (n,)."""
    squares = np.einsum("ij,ij->i", reference, reference)
    k = min(_NEIGHBOURS, len(reference) - 1)
    nearest = np.empty(len(bent))
    for some in chunks(len(bent), _AT_A_TIME):
        part = bent[some]
        distances = np.einsum("ij,ij->i", part, part)[:, None] + squares - 2 * part @ reference.T
        nearest[some] = np.partition(distances, k, axis=1)[:, k]
    return np.asarray(0.5 * np.log(np.maximum(nearest, 1e-10 * bent.shape[1]) + rounding))


def _resolution(z: Array) -> Array:
    """How finely columns are rounded, shape (m,): the median step between values where many are equal, else 0."""
    steps = np.zeros(z.shape[1])
    for j, column in enumerate(z.T):
        values = np.unique(column)
        if 1 < values.size < len(column) / 2:
            steps[j] = np.median(np.diff(values))
    return steps


def count_copies(X: Array) -> int:
    """Rows of X, shape (n, m), that are equal to an earlier one, beyond what the rounding of the columns explains."""
    n = len(X)
    copies = n - len(np.unique(X, axis=0))
    if not copies:
        return 0
    agreement = 1.0  # probability that two rows agree if columns were independent
    for column in X.T:
        counts = np.unique(column, return_counts=True)[1]
        agreement *= float(np.sum((counts / n) ** 2) - 1 / n)  # beyond a row's agreement with itself
    expected = n * n * max(agreement, 0.0) / 2
    return copies if copies > 10 * expected else 0
