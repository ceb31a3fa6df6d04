"""Columns made nearly symmetric and put on one scale: step 1 of the row rule, to compare rows without a fit.

    z = (s(x) - median) / (1.4826 median absolute deviation)

with s the family's own monotone map (:meth:`robscore.families.family.Family.symmetric`): a power, the logarithm, log
ratios of a composition. What columns owe to covariates is taken away first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robscore._tools.deviations import MAD
from robscore._tools.typing import Array, IntArray
from robscore.families.family import Family

_FAR = 1e6  # deviations; guards arithmetic: stands for infinity, and for what is not a number
_STEPS, _SMALL = 15, 0.1  # of least absolute deviations; residuals below that share of the median count as squares


@dataclass(frozen=True)
class ColumnScaling:
    """The map from rows x to z.

    Attributes
    ----------
    family : Family
    middle, deviation : arrays of shape (m,)
    slopes : array of shape (q, m), or None
        Slopes of the columns on q covariates.
    """

    family: Family
    middle: Array
    deviation: Array
    slopes: Array | None = None

    @classmethod
    def of(cls, family: Family, X: Array) -> ColumnScaling:
        """Measure the columns of X, shape (n, m)."""
        slopes = None
        with np.errstate(all="ignore"):  # infinities and what is no number are dealt with below
            columns = family.symmetric(X)
        if family.n_given:
            c = X[:, family.own_columns(X.shape[1]) :]
            slopes = _robust_slopes(c, columns)
            columns = columns - c @ slopes
        middle = np.median(columns, axis=0)
        with np.errstate(invalid="ignore"):
            away = np.abs(columns - middle)
        deviation = MAD * np.median(away, axis=0)
        for j in np.flatnonzero(~(deviation > 1e-12 * np.max(away, axis=0, initial=0.0, where=np.isfinite(away)))):
            # Half of the values are equal, so the others give the scale. Of two values neither is far out.
            finite = away[:, j][np.isfinite(away[:, j])]
            two = np.unique(finite).size == 2
            deviation[j] = (float(finite.max() if two else finite.mean()) if finite.size else 0.0) or 1.0
        return cls(family, middle, deviation, slopes)

    def reordered(self, columns: IntArray) -> ColumnScaling:
        """Put the columns in another order."""
        slopes = None if self.slopes is None else self.slopes[:, columns]
        return replace(self, middle=self.middle[columns], deviation=self.deviation[columns], slopes=slopes)

    def __call__(self, X: Array) -> Array:
        """Turn the rows X into z, shape (n, m)."""
        with np.errstate(all="ignore"):
            columns = self.family.symmetric(X)
            if self.slopes is not None:
                columns = columns - X[:, columns.shape[1] :] @ self.slopes
            z = columns - self.middle
            z /= self.deviation
        z[np.isnan(z)] = _FAR
        return np.clip(z, -_FAR, _FAR, out=z)


def _robust_slopes(c: Array, columns: Array) -> Array:
    """Regress every column on the covariates by least absolute deviations, reweighting squares; shape (q, m)."""
    design = np.column_stack([np.ones(len(c)), c])
    slopes = np.zeros((c.shape[1], columns.shape[1]))
    for j, given in enumerate(columns.T):
        usable = np.isfinite(given)
        x, y = design[usable], given[usable]
        weights = np.ones(len(y))
        for _ in range(_STEPS):
            weighted = x * weights[:, None]
            fitted = np.linalg.lstsq(weighted.T @ x, weighted.T @ y, rcond=None)[0]
            away = np.abs(y - x @ fitted)
            weights = 1 / np.maximum(away, _SMALL * max(float(np.median(away)), np.finfo(float).tiny))
        slopes[:, j] = fitted[1:]
    return slopes


def canonical_order(z: Array) -> tuple[IntArray, IntArray]:
    """Order the columns and the rows in a way that does not depend on the order in which they are given.

    Sums round by the order of their terms, and random numbers go to rows by their position: in this order neither
    shows how the table was sorted.
    """
    bent = np.arcsinh(z)
    columns = np.argsort(bent.mean(axis=0), kind="stable")
    key = bent[:, columns] @ np.cos(np.arange(1, z.shape[1] + 1))
    return columns, np.argsort(key, kind="stable")
