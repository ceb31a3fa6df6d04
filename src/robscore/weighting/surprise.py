"""How surprising rows are under a fit: E(x) = -log p(x), up to a constant.

Given covariates the constant depends on them, and so does the spread. So each row's -log p is compared with that of
rows simulated at its own covariates c:

    surprise = (E(x, c) - mu(c)) / sigma(c)

mu and sigma^2 being smooth functions of c, fitted to simulated rows: for a Gaussian both are exact, since mu is
quadratic in c and sigma does not depend on it. A taper stays exact for any shift and scale that depend on c alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.families.family import Family, Parameters
from robscore.losses.interaction_parts import reordered
from robscore.rows.row_source import Rows

_MOST_SQUARED = 8  # covariates up to which squares and products are features too
_RIDGE = 1e-6  # guards rounding
_LEAST_VARIANCE, _LARGEST_VARIANCE = 0.25, 4.0  # of rows at some covariates, over that of all


@dataclass(frozen=True)
class Levels:
    """The mean mu(c) and the variance sigma^2(c) of -log p at given covariates.

    Attributes
    ----------
    low, high : arrays of shape (q,)
        The range of the covariates that were seen; beyond it nothing is claimed, and its ends are taken.
    mean, variance : arrays of shape (f,)
        Coefficients of the features of c.
    typical : float
        The variance over all rows.
    """

    low: Array
    high: Array
    mean: Array
    variance: Array
    typical: float

    @classmethod
    def of(cls, c: Array, energy: Array) -> Levels:
        """Fit them to simulated rows: their covariates, shape (N, q), and -log p, shape (N,)."""
        low, high = c.min(axis=0), c.max(axis=0)
        features = _features(c)
        usual = np.isfinite(energy)
        mean = _regressed(features[usual], energy[usual])
        away = (energy[usual] - features[usual] @ mean) ** 2
        typical = max(float(away.mean()), np.finfo(float).tiny)
        return cls(low, high, mean, _regressed(features[usual], away), typical)

    def standardised(self, c: Array, energy: Array) -> Array:
        """Compute (E - mu(c)) / sigma(c), shape (n,)."""
        return np.asarray((energy - self._features(c) @ self.mean) / self.spread(c))

    def spread(self, c: Array) -> Array:
        """Compute the deviation sigma(c), shape (n,)."""
        relative = self._features(c) @ self.variance / self.typical
        return np.sqrt(self.typical * np.clip(relative, _LEAST_VARIANCE, _LARGEST_VARIANCE))

    def _features(self, c: Array) -> Array:
        return _features(np.clip(c, self.low, self.high))


@dataclass(frozen=True)
class Surprise:
    """The function that says how surprising rows are under a fit.

    Attributes
    ----------
    family : Family
    parameters : Parameters
        Those of the fit.
    levels : Levels, or None
        None without covariates.
    """

    family: Family
    parameters: Parameters
    levels: Levels | None = None

    @classmethod
    def of(cls, family: Family, parameters: Parameters, drawn: Array | None) -> Surprise:
        """Learn what is usual at given covariates from rows that were drawn from the fit, if there are any."""
        plain = cls(family, parameters)
        if not family.n_given or drawn is None:
            return plain
        return cls(family, parameters, Levels.of(_given(family, drawn), plain(drawn)))

    def __call__(self, X: Array) -> Array:
        """Compute the surprise of rows X, shape (n, m), as (n,); infinite where it is not a number."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            surprise = -self.family.log_density(X, *self.parameters)
            if self.levels is not None:
                surprise = self.levels.standardised(_given(self.family, X), surprise)
        return np.asarray(np.where(np.isnan(surprise), np.inf, surprise))

    def at_most(self, X: Array) -> Array:
        """Bound the surprise of rows X from above, shape (n,), without covariates; may be NaN where it is large."""
        return -self.family.least_log_density(X, *self.parameters)

    def of_all(self, rows: Rows, overflow: BoolArray) -> Array:
        """Compute the surprise of every row, shape (n,); infinite for rows that overflow."""
        surprise: Array = rows.gather(self)
        surprise[overflow] = np.inf
        return surprise

    def rate(self, X: Array) -> Array | None:
        """Say by how much the surprise rises with -log p, shape (n,); None without covariates, where it is 1."""
        return None if self.levels is None else 1 / self.levels.spread(_given(self.family, X))

    def reordered(self, columns: IntArray) -> Surprise:
        """Put the columns in another order."""
        if not self.family.is_pairwise:
            return self
        K, eta = self.parameters
        return Surprise(self.family, (reordered(K, columns), eta[columns]), self.levels)


def _given(family: Family, X: Array) -> Array:
    """Take the covariates of rows."""
    return X[:, family.own_columns(X.shape[1]) :]


def _features(c: Array) -> Array:
    """Give 1, c and, of few covariates, their squares and products, shape (n, f)."""
    columns = [np.ones(len(c)), *c.T]
    if c.shape[1] <= _MOST_SQUARED:
        columns += [c[:, i] * c[:, j] for i, j in combinations_with_replacement(range(c.shape[1]), 2)]
    return np.column_stack(columns)


def _regressed(features: Array, values: Array) -> Array:
    """Solve least squares with a little ridge, for squares of zeros and ones are the same column once more."""
    gram = features.T @ features / len(features)
    gram[np.diag_indices(len(gram))] += _RIDGE * gram.diagonal().mean()
    return np.asarray(np.linalg.solve(gram, features.T @ values / len(features)))
