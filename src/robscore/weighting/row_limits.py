"""The limits that the row rule has learnt from some rows, applied to any rows: their weights, and why they lose any.

A limit is known to some per cent only, so within a band about it rows keep a part of their weight. That of a row is

    phi = trust * taper(surprise),      trust = min(by distance, by residuals), 0 in a cluster
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial
from typing import Self

import numpy as np

from robscore._tools.typing import AnyArray, Array, BoolArray, IntArray
from robscore.families.family import Family, Parameters
from robscore.rows.row_source import Rows
from robscore.weighting.central_rows import Scatter
from robscore.weighting.clusters import Clusters
from robscore.weighting.column_scaling import ColumnScaling
from robscore.weighting.row_rule import RowRule
from robscore.weighting.row_weights import RowWeights
from robscore.weighting.surprise import Surprise

_ORDINARY = 3.5  # deviations up to which a column is of ordinary size, when a row is described


class Reason(IntEnum):
    """Why a row has less than its full weight."""

    NONE = 0
    CLUSTER = 1
    FAR = 2
    COLUMN = 3
    SURPRISE = 4


@dataclass(frozen=True)
class RowLimits:
    """Limits beyond which rows lose their weight.

    Attributes
    ----------
    rule : RowRule
        What they were found by.
    scaling : ColumnScaling
        How rows become z.
    clusters : Clusters
        What rows are compared with to see whether their neighbours are too near.
    scatter : Scatter
        That of the central rows.
    far : float
        The largest distance that keeps its weight.
    low, high : arrays of shape (m,)
        The smallest and largest residual of a column given the others that keep their weight.
    judged_by : Surprise
        The fit that rows are judged by, and how surprising they are under it.
    taper : (float, float)
        The surprise up to which rows keep their full weight, and the one from which on they have none.
    too_likely : float
        A surprise so small that hardly a simulated row has it.
    """

    rule: RowRule
    scaling: ColumnScaling
    clusters: Clusters
    scatter: Scatter
    far: float
    low: Array
    high: Array
    judged_by: Surprise
    taper: tuple[float, float] = (np.inf, np.inf)
    too_likely: float = -np.inf

    @property
    def parameters(self) -> Parameters:
        """The parameters of the fit that rows are judged by."""
        return self.judged_by.parameters

    def reordered(self, columns: IntArray) -> Self:
        """Put the columns in another order."""
        return replace(
            self,
            scaling=self.scaling.reordered(columns),
            clusters=self.clusters.reordered(columns),
            scatter=self.scatter.reordered(columns),
            low=self.low[columns],
            high=self.high[columns],
            judged_by=self.judged_by.reordered(columns),
        )

    def weigh(self, rows: Rows, overflow: BoolArray, members: BoolArray) -> tuple[RowWeights, IntArray]:
        """Weigh rows and give the reasons, shape (n,); ``members`` are those that the scatter was measured on."""
        return self._gathered(rows, *rows.gather(partial(_weigh, self), overflow, members))

    def weigh_many(self, rows: Rows, overflow: BoolArray, members: BoolArray) -> tuple[RowWeights, IntArray]:
        """Weigh rows in the same way, at less cost where most of them surely have full weight."""
        return self._gathered(rows, *rows.gather(partial(_weigh_screened, self, Screen.of(self)), overflow, members))

    def weigh_others(self, rows: Rows, family: Family, members: BoolArray) -> tuple[RowWeights, IntArray]:
        """Weigh rows not seen before in the same way: whether they overflow is checked on the way."""
        return self._gathered(rows, *rows.gather(partial(_weigh_unseen, self, Screen.of(self), family), members))

    def _gathered(self, rows: Rows, phi: Array, slopes: Array, reasons: IntArray) -> tuple[RowWeights, IntArray]:
        slopes = slopes if slopes.any() else np.broadcast_to(np.float64(0.0), phi.shape)  # zeros need not be held
        return RowWeights.tapered(phi, slopes, self.parameters, rows.frequency), reasons

    def tapered(self, X: Array, surprise: Array, trust: Array) -> RowWeights:
        """Weigh rows X, shape (n, m), by their surprise and trust, shape (n,) each."""
        return RowWeights.between(surprise, *self.taper, self.parameters, self.judged_by.rate(X)).times(trust)

    def trust_distance(self, distance: Array) -> Array:
        """Say how much of their weight rows keep by their distance, shape (n,)."""
        return inside(distance, self.far, self.rule.band)

    def trust_columns(self, residuals: Array) -> Array:
        """Say how much of their weight rows keep, shape (n,), by their residuals, shape (n, m)."""
        trust = np.ones(len(residuals))
        least, most = self.well_inside
        is_inside = ((residuals >= least) & (residuals <= most)).all(axis=1)
        perhaps = np.flatnonzero(~is_inside)  # of very many rows most are in the midst of all limits
        some, band = residuals[perhaps], self.rule.band
        trusted = np.minimum(inside(some, self.high, band), inside(-some, -self.low, band))
        trust[perhaps] = trusted.min(axis=1, initial=1.0)
        return trust

    @property
    def surely_near(self) -> float:
        """A distance up to which rows keep their full weight."""
        return (1 - 1.01 * self.rule.band) * self.far

    @property
    def well_inside(self) -> tuple[Array, Array]:
        """Residuals between which rows keep their full weight, shape (m,) each."""
        least, most = self.low.copy(), self.high.copy()
        for limits, inwards in ((least, 1), (most, -1)):
            finite = np.isfinite(limits)
            limits[finite] += inwards * 1.01 * self.rule.band * np.abs(limits[finite])
        return least, most

    def describe(self, X: Array, reason: IntArray) -> list[str]:
        """Describe how rows X, shape (n, m), are bad, one text per row."""
        z = self.scaling(X)
        likely = self.judged_by(X) < self.too_likely
        return [_described(*one) for one in zip(z, reason.tolist(), likely.tolist(), strict=True)]


def inside(values: Array, limit: float | Array, share: float) -> Array:
    """Fall from 1 below a limit to 0 above it, linearly within a band of that share of the limit to either side.

    For values of shape (n,) and one limit, or of shape (n, m) and a limit for each column.
    """
    with np.errstate(invalid="ignore", divide="ignore"):  # where there is no limit, or no band about it
        band = share * np.abs(limit)
        partly = np.clip((limit + band - values) / (2 * band), 0.0, 1.0)
    return np.where((band > 0) & (band < np.inf), partly, values <= limit)


def _weigh(limits: RowLimits, X: Array, overflow: BoolArray, members: BoolArray) -> tuple[Array, Array, AnyArray]:
    """Give the phi of some rows, its slope in their surprise, and why it is less than 1, shape (n,) each."""
    z = limits.scaling(X)
    distance, residuals = limits.scatter.judge(z, members)
    surprise = np.where(overflow, np.inf, limits.judged_by(X))
    not_far = np.where(overflow, 0.0, limits.trust_distance(distance))
    trust = np.minimum(not_far, limits.trust_columns(residuals))
    in_cluster = limits.clusters.contains(z)
    trust[in_cluster] = 0.0
    reasons = np.select(
        [trust == 1, in_cluster, not_far < 1],
        [Reason.NONE, Reason.CLUSTER, Reason.FAR],
        default=Reason.COLUMN,
    ).astype(np.int8)  # there may be very many rows
    weights = limits.tapered(X, surprise, trust)
    assert weights.phi is not None
    assert weights.slopes is not None
    reasons[(reasons == Reason.NONE) & (weights.phi < 1)] = Reason.SURPRISE
    return weights.phi, weights.slopes, reasons


def _weigh_unseen(
    limits: RowLimits, screen: Screen | None, family: Family, X: Array, members: BoolArray
) -> tuple[Array, Array, AnyArray]:
    """Do as :func:`_weigh_screened`; whether rows overflow is found out here."""
    return _weigh_screened(limits, screen, X, family.overflow(X), members)


def _weigh_screened(
    limits: RowLimits, screen: Screen | None, X: Array, overflow: BoolArray, members: BoolArray
) -> tuple[Array, Array, AnyArray]:
    """Do as :func:`_weigh` for those rows that may not have full weight."""
    if screen is None:
        return _weigh(limits, X, overflow, members)
    n = len(X)
    phi, slopes, reasons = np.ones(n), np.zeros(n), np.full(n, Reason.NONE, dtype=np.int8)
    rest = np.flatnonzero(overflow | ~screen(X))
    if rest.size:
        phi[rest], slopes[rest], reasons[rest] = _weigh(limits, X[rest], overflow[rest], members[rest])
    return phi, slopes, reasons


def _described(z: Array, reason: int, likely: bool) -> str:  # noqa: FBT001
    """Describe a row by what it was found by, else by the size of its columns, or by how these go together."""
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


_EPS = float(np.finfo(np.float32).eps)
_LARGEST = 10.0  # times the root of the number of columns: distances beyond are looked at closely in any case


@dataclass(frozen=True)
class Screen:
    """Finds rows that surely have full weight in single precision: at half the cost, most of it for very many rows.

    With s(x) the map of the column scaling, P the precision of the central rows and D the roots of its diagonal,
    y = D (z - mean) is affine in s(x), and

        residuals = y M,      distance^2 = y M y',      M = D^-1 P D^-1

    Single precision moves y by at most 4 eps (|y| + b), with b the norm of the factors times 1 + |s(x)| at y = 0, entry
    j of y M by (m + 8) eps (|y| + b) |M_j|, and y M y' by (2 m + 16) eps (|y| + b)^2 times the norm of |M|. The
    distance and the least eigenvalue of M bound |y|. A row that is inside all limits by more than that has its full
    weight. All others are weighed in double precision.

    Attributes
    ----------
    family : Family
    shift, factor : arrays of shape (m,)
        y = (s(x) - shift) factor.
    mixing : array of shape (m, m)
        M.
    low, high : arrays of shape (m,)
        Those of the residuals; these five in single precision.
    largest : float
        That of the squared distance.
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
    def of(cls, limits: RowLimits) -> Self | None:
        """Derive it from limits; None where rows must be compared with others or their covariates, or M is extreme."""
        scaling, scatter = limits.scaling, limits.scatter
        if limits.clusters.limit > -np.inf or scaling.slopes is not None or limits.judged_by.levels is not None:
            return None
        m, D = len(scatter.mean), np.sqrt(np.diagonal(scatter.precision))
        shift, factor = scaling.middle + scatter.mean * scaling.deviation, D / scaling.deviation
        mixing = scatter.precision / D / D[:, None]
        distance = min(limits.surely_near, _LARGEST * np.sqrt(m))
        apart = 1 + scatter.own_share * distance**2  # by which a row's own part in the scatter may raise its square
        squared = distance**2 / apart
        length = np.sqrt(2 * squared / np.linalg.eigvalsh(mixing)[0])  # of y, with room for what it is off by
        length += 4 * np.linalg.norm((1 + np.abs(shift)) * factor)
        off = (2 * m + 16) * _EPS * length**2 * np.linalg.norm(np.abs(mixing), 2)
        away = (m + 8) * _EPS * length * np.linalg.norm(mixing, axis=0)
        if not off < squared / 2:
            return None
        low, high = limits.well_inside
        low = np.maximum(low, low / np.sqrt(apart)) + away
        high = np.minimum(high, high / np.sqrt(apart)) - away
        ends = low.astype(np.float32), high.astype(np.float32), float(squared - off)
        affine = shift.astype(np.float32), factor.astype(np.float32), mixing.astype(np.float32)
        return cls(scaling.family, *affine, *ends, limits.judged_by, limits.taper[0])

    def __call__(self, X: Array) -> BoolArray:
        """Tell which of the rows X, shape (n, m), surely have full weight, shape (n,); NaN and infinities do not."""
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
