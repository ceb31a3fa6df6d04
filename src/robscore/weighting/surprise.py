"""How surprising rows are under a fit: -log p(x), up to a constant.

Given covariates the constant depends on them, and so does the spread. So each row's -log p is compared with that of
rows simulated at its own covariates c:

    (E(x, c) - mu(c)) / sigma(c)

mu and sigma^2 being smooth functions of c, fitted to simulated rows: for a Gaussian both are exact, since mu is
quadratic in c and sigma does not depend on it. A taper stays exact for any shift and scale that depend on c alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement

import numpy as np

from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.families.family import Family, Parameters
from robscore.losses.interaction_parts import reordered
from robscore.rows.row_source import Rows

_MOST_SQUARED = 8  # covariates with which squares and products are taken in
_RIDGE = 1e-6
_LEAST_VARIANCE, _LARGEST_VARIANCE = 0.25, 4.0  # of rows at some covariates, over that of all


@dataclass(frozen=True)
class Levels:
    """What is usual at given covariates.

    Attributes
    ----------
    low, high : arrays of shape (q,)
        Between which covariates were seen; beyond, nothing is claimed, and the ends are taken.
    mean, variance : arrays of coefficients of the features of c
    typical : float
        The variance over all.
    """

    low: Array
    high: Array
    mean: Array
    variance: Array
    typical: float

    @classmethod
    def of(cls, c: Array, energy: Array) -> Levels:
        """From simulated rows: their covariates, shape (N, q), and -log p, shape (N,)."""
        low, high = c.min(axis=0), c.max(axis=0)
        features = _features(c)
        usual = np.isfinite(energy)
        mean = _regressed(features[usual], energy[usual])
        away = (energy[usual] - features[usual] @ mean) ** 2
        typical = max(float(away.mean()), np.finfo(float).tiny)
        return cls(low, high, mean, _regressed(features[usual], away), typical)

    def standardised(self, c: Array, energy: Array) -> Array:
        """(E - mu(c)) / sigma(c), shape (n,)."""
        return np.asarray((energy - self._features(c) @ self.mean) / self.spread(c))

    def spread(self, c: Array) -> Array:
        """The deviation sigma(c), shape (n,)."""
        relative = self._features(c) @ self.variance / self.typical
        return np.sqrt(self.typical * np.clip(relative, _LEAST_VARIANCE, _LARGEST_VARIANCE))

    def _features(self, c: Array) -> Array:
        return _features(np.clip(c, self.low, self.high))


@dataclass(frozen=True)
class Surprise:
    """How surprising rows are under a fit.

    Attributes
    ----------
    family : Family
    parameters : of the fit
    levels : Levels, or None without covariates
    """

    family: Family
    parameters: Parameters
    levels: Levels | None = None

    @classmethod
    def of(cls, family: Family, parameters: Parameters, drawn: Array | None) -> Surprise:
        """With what is usual at given covariates, from rows that were drawn from the fit, if there are any."""
        plain = cls(family, parameters)
        if not family.n_given or drawn is None:
            return plain
        return cls(family, parameters, Levels.of(_given(family, drawn), plain(drawn)))

    def __call__(self, X: Array) -> Array:
        """Of rows X, shape (n, m), as an array of shape (n,); infinite where it is not a number."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            surprise = -self.family.log_density(X, *self.parameters)
            if self.levels is not None:
                surprise = self.levels.standardised(_given(self.family, X), surprise)
        return np.asarray(np.where(np.isnan(surprise), np.inf, surprise))

    def at_most(self, X: Array) -> Array:
        """What the surprise of rows X does not exceed, shape (n,), without covariates; may be NaN where it is large."""
        return -self.family.least_log_density(X, *self.parameters)

    def of_all(self, rows: Rows, overflow: BoolArray) -> Array:
        """Of every row, shape (n,); infinite for rows that overflow."""
        surprise: Array = rows.gather(partial(_of, self))
        surprise[overflow] = np.inf
        return surprise

    def rate(self, X: Array) -> Array | float:
        """By how much the surprise rises with -log p, shape (n,); 1 without covariates."""
        return 1.0 if self.levels is None else 1 / self.levels.spread(_given(self.family, X))

    def reordered(self, columns: IntArray) -> Surprise:
        """For columns in another order."""
        if not self.family.is_pairwise:
            return self
        K, eta = self.parameters
        return Surprise(self.family, (reordered(K, columns), eta[columns]), self.levels)


def _of(surprise: Surprise, X: Array) -> Array:
    return surprise(X)


def _given(family: Family, X: Array) -> Array:
    """The covariates of rows."""
    return X[:, family.own_columns(X.shape[1]) :]


def _features(c: Array) -> Array:
    """1, c and, of few covariates, their squares and products, shape (n, f)."""
    columns = [np.ones(len(c)), *c.T]
    if c.shape[1] <= _MOST_SQUARED:
        columns += [c[:, i] * c[:, j] for i, j in combinations_with_replacement(range(c.shape[1]), 2)]
    return np.column_stack(columns)


def _regressed(features: Array, values: Array) -> Array:
    """Least squares with a little ridge: squares of zeros and ones are the same once more."""
    gram = features.T @ features / len(features)
    gram[np.diag_indices(len(gram))] += _RIDGE * gram.diagonal().mean()
    return np.asarray(np.linalg.solve(gram, features.T @ values / len(features)))
