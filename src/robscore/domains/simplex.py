"""Compositions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.domains.base import Domain, Nearest

SUM_TOLERANCE = 1e-6  # by how much the entries of a composition may miss one


def misses_one(X: Array) -> Array:
    """By how much the sum of every row of X, shape (n, m), differs from one, shape (n, 1); perhaps infinite."""
    with np.errstate(over="ignore"):
        return np.asarray(np.abs(X.sum(axis=1, keepdims=True) - 1))


@dataclass(frozen=True)
class Simplex(Domain):
    """Rows of non-negative entries that sum to one: compositions.

    The last entry is 1 minus the rest, so a column moves against the last one and its boundary is where either
    becomes zero: d_j = min(x_j, x_m).

    Examples
    --------
    >>> import robscore as rs
    >>> rs.domains.Simplex().nearest([[0.5, 0.3, 0.2]]).distance
    array([[0.2, 0.2, 0.2]])
    """

    is_non_negative = True
    is_bounded = True

    def segments(self, X: Array) -> tuple[Array, Array]:
        """From 0 to x_j + x_m; the last entry is where the others leave it."""
        lower, upper = np.zeros(X.shape), X + X[:, -1:]
        lower[:, -1] = upper[:, -1] = X[:, -1]
        return lower[..., None], upper[..., None]

    def contains(self, X: ArrayLike) -> BoolArray:
        """Which entries of X, shape (n, m), are not negative; none in rows that do not sum to one."""
        x = np.asarray(X, dtype=float)
        return np.asarray((x >= 0) & (misses_one(x) <= SUM_TOLERANCE))

    def nearest(self, X: ArrayLike) -> Nearest:
        """min(x_j, x_m), which falls as x_j rises where x_m is the smaller one."""
        x = np.asarray(X, dtype=float)
        last = np.broadcast_to(x[:, -1:], x.shape)
        return Nearest(np.minimum(x, last), np.where(x <= last, 1.0, -1.0), np.zeros(x.shape, dtype=bool))

    def replaced(self, X: Array, j: int, values: Array) -> Array:
        """The rows with other values in column j; the last column takes up the difference."""
        changed = super().replaced(X, j, values)
        changed[:, -1] = np.maximum(X[:, -1] + X[:, j] - values, 0.0)
        return changed

    def free_columns(self, n_columns: int) -> range:
        """All but the last."""
        return range(n_columns - 1)

    def sweep_order(self, n_columns: int, rng: np.random.Generator) -> IntArray:
        """Any order: another part is the last each time, so that a small one does not hold up all others."""
        return rng.permutation(n_columns)

    def some_rows(self, n_rows: int, n_columns: int, rng: np.random.Generator) -> Array:
        """Rows drawn uniformly."""
        return rng.dirichlet(np.ones(n_columns), size=n_rows)

    def check_columns(self, n_columns: int) -> None:
        """Raise unless there are two columns at least."""
        if n_columns < 2:
            raise ValueError(f"{self!r} needs at least 2 columns that sum to one; the data have {n_columns}.")

    def __and__(self, other: Domain) -> Domain:
        raise TypeError("Simplex() cannot be joined with other domains; drop a column and use inequalities instead.")

    __or__ = __and__
