"""Rows that surely count in full, found in single precision: at half the cost, which of very many rows is most of it.

With s(x) the map of :mod:`robscore.weighting.standard`, P the precision of the middle rows and D the roots of its
diagonal, y = D (z - mean) is affine in s(x), and

    residuals = y M,      distance^2 = y M y',      M = D^-1 P D^-1

Single precision moves y by at most 4 eps (|y| + b), with b the norm of the factors times 1 + |s(x)| at y = 0, entry j
of y M by (m + 8) eps (|y| + b) |M_j|, and y M y' by (2 m + 16) eps (|y| + b)^2 times the norm of |M|. The distance and
the least eigenvalue of M bound |y|. A row that is inside all limits by more than that counts in full. All others are
weighed in double precision (:mod:`robscore.weighting.rule`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from robscore._tools.typing import AnyArray, Array, BoolArray
from robscore.weighting.surprise import Surprise

if TYPE_CHECKING:
    from robscore.families.family import Family
    from robscore.weighting.rule import Rule

_EPS = float(np.finfo(np.float32).eps)
_LARGEST = 10.0  # times the root of the number of columns: distances beyond are looked at closely in any case


@dataclass(frozen=True)
class Screen:
    """What rows must keep to, to count in full for sure.

    Attributes
    ----------
    family : Family
    shift, factor : arrays of shape (m,)
        y = (s(x) - shift) factor.
    mixing : array of shape (m, m)
        M.
    low, high : arrays of shape (m,)
        Of the residuals; these five in single precision.
    largest : float
        Of the squared distance.
    judged_by : Surprise
    unsurprising : float
        The largest surprise.
    """

    family: Family
    shift: AnyArray
    factor: AnyArray
    mixing: AnyArray
    low: AnyArray
    high: AnyArray
    largest: float
    judged_by: Surprise
    unsurprising: float

    @classmethod
    def of(cls, rule: Rule) -> Self | None:
        """By a rule; None where rows must be compared with others, or with their covariates, or M is too extreme."""
        standard, scatter = rule.standard, rule.scatter
        if rule.clusters.limit > -np.inf or standard.slopes is not None or rule.judged_by.levels is not None:
            return None
        m, D = len(scatter.mean), np.sqrt(np.diagonal(scatter.precision))
        shift, factor = standard.middle + scatter.mean * standard.deviation, D / standard.deviation
        mixing = scatter.precision / D / D[:, None]
        distance = min(rule.surely_near, _LARGEST * np.sqrt(m))
        apart = 1 + scatter.own_share * distance**2  # by which a row's own part in the scatter may raise its square
        squared = distance**2 / apart
        length = np.sqrt(2 * squared / np.linalg.eigvalsh(mixing)[0])  # of y, with room for what it is off by
        length += 4 * np.linalg.norm((1 + np.abs(shift)) * factor)
        off = (2 * m + 16) * _EPS * length**2 * np.linalg.norm(np.abs(mixing), 2)
        away = (m + 8) * _EPS * length * np.linalg.norm(mixing, axis=0)
        if not off < squared / 2:
            return None
        low, high = rule.well_inside
        low = np.maximum(low, low / np.sqrt(apart)) + away
        high = np.minimum(high, high / np.sqrt(apart)) - away
        return cls(
            standard.family, _single(shift), _single(factor), _single(mixing), _single(low), _single(high),
            float(squared - off), rule.judged_by, rule.taper[0],
        )  # fmt: skip

    def __call__(self, X: Array) -> BoolArray:
        """Which of the rows X, shape (n, m), surely count in full, shape (n,); NaN and infinities do not."""
        with np.errstate(all="ignore"):
            y = self.family.roughly_symmetric(X)
            y -= self.shift
            y *= self.factor
            residuals = (self.mixing @ y.T).T  # column by column, as rows are read from files
            inside = (residuals >= self.low) & (residuals <= self.high)
            squares = np.einsum("ij,ij->i", residuals, y)
            return np.asarray(
                inside.all(axis=1) & (squares <= self.largest) & (self.judged_by.at_most(X) <= self.unsurprising)
            )


def _single(array: Array) -> AnyArray:
    return array.astype(np.float32)
