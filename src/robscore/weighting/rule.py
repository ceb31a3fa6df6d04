"""What a row counts, as a rule that was learnt from some rows and can be applied to any others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial

import numpy as np

from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.families.base import Parameters
from robscore.rows.base import Rows
from robscore.weighting.clusters import Clusters
from robscore.weighting.middle import Scatter
from robscore.weighting.row_weights import RowWeights
from robscore.weighting.standard import Standard
from robscore.weighting.surprise import Surprise

_ORDINARY = 3.5  # deviations up to which a column is of ordinary size


class Reason(IntEnum):
    """Why a row counts less than in full."""

    NONE = 0
    CLUSTER = 1
    FAR = 2
    COLUMN = 3
    SURPRISE = 4


@dataclass(frozen=True)
class Rule:
    """Limits beyond which rows do not count.

    Attributes
    ----------
    standard : how rows become z
    clusters : what has too near neighbours
    scatter : of the rows in the middle
    far : (float, float)
        The largest distance that counts, and the largest that counts where a row is surprising too.
    surprising : float
        A surprise that few simulated rows exceed.
    low, high : arrays of shape (m,)
        The smallest and largest residual of a column given the others that count.
    judged_by : Surprise
        The fit that rows are judged by, and how surprising they are under it.
    taper : (start, end)
        Surprise up to which rows count in full, and from which on not at all.
    too_likely : float
        A surprise so small that hardly a simulated row has it.
    """

    standard: Standard
    clusters: Clusters
    scatter: Scatter
    far: tuple[float, float]
    surprising: float
    low: Array
    high: Array
    judged_by: Surprise
    taper: tuple[float, float]
    too_likely: float

    @property
    def parameters(self) -> Parameters:
        """Of the fit that rows are judged by."""
        return self.judged_by.parameters

    def reordered(self, columns: IntArray) -> Rule:
        """For columns in another order."""
        return replace(
            self,
            standard=self.standard.reordered(columns),
            clusters=self.clusters.reordered(columns),
            scatter=self.scatter.reordered(columns),
            low=self.low[columns],
            high=self.high[columns],
            judged_by=self.judged_by.reordered(columns),
        )

    def weigh(self, rows: Rows, overflow: BoolArray, members: BoolArray) -> tuple[RowWeights, IntArray]:
        """What rows count, and why, shape (n,); ``members`` are those that the scatter was taken from."""
        surprise, reasons, rate = rows.gather(partial(_judge, self), overflow, members)
        weights = RowWeights.between(surprise, *self.taper, self.parameters, rate if rate.size else None)
        weights = weights.only(reasons == Reason.NONE)
        weights = weights if rows.frequency is None else weights.counting(rows.frequency)
        assert weights.phi is not None
        reasons[(reasons == Reason.NONE) & (weights.phi < 1)] = Reason.SURPRISE
        return weights, reasons

    def is_far(self, distance: Array, surprise: Array) -> BoolArray:
        """Rows, by their distance and surprise, shape (n,), that are too far from the middle.

        A tail of real rows may be longer than the family's, so that distance alone does not tell unless rows lie apart.
        """
        surely, perhaps = self.far
        return np.asarray((distance > surely) | ((distance > perhaps) & (surprise > self.surprising)))

    def is_wrong(self, residuals: Array) -> BoolArray:
        """Rows with a residual, shape (n, m), that is too small or too large, shape (n,)."""
        return np.asarray(((residuals < self.low) | (residuals > self.high)).any(axis=1))

    def in_words(self, X: Array, reason: IntArray) -> list[str]:
        """In which way rows X, shape (n, m), are bad, one text a row."""
        z = self.standard(X)
        likely = self.judged_by(X) < self.too_likely
        return [_words(*one) for one in zip(z, reason.tolist(), likely.tolist(), strict=True)]


def _judge(rule: Rule, X: Array, overflow: BoolArray, members: BoolArray) -> tuple[Array, IntArray, Array]:
    """Surprise of some rows, why they do not count whatever that is, and its rate if not 1, shape (n,) each."""
    z = rule.standard(X)
    distance, residuals = rule.scatter.judge(z, members)
    surprise = np.where(overflow, np.inf, rule.judged_by(X))
    reasons = np.select(
        [rule.clusters.contains(z), rule.is_far(distance, surprise) | overflow, rule.is_wrong(residuals)],
        [Reason.CLUSTER, Reason.FAR, Reason.COLUMN],
        default=Reason.NONE,
    )
    rate = rule.judged_by.rate(X)
    return surprise, reasons, rate if isinstance(rate, np.ndarray) else np.zeros(0)


def _words(z: Array, reason: int, likely: bool) -> str:  # noqa: FBT001
    """By what it was found, else by the size of its columns, or by how these go together."""
    large = z[np.abs(z) >= _ORDINARY]
    if reason == Reason.CLUSTER:
        words = "in a cluster"
    elif reason == Reason.COLUMN or large.size == 1:
        words = "one column"
    elif large.size:
        words = "too large" if large.sum() > 0 else "too small"
    else:
        words = "wrong dependence"
    return f"{words}, too likely" if likely else words
