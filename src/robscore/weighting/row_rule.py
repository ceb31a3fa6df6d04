"""How much a row counts, as a rule that was learnt from some rows and can be applied to any others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING, Self

import numpy as np

from robscore._tools.typing import AnyArray, Array, BoolArray, IntArray
from robscore.families.family import Family, Parameters
from robscore.rows.row_source import Rows
from robscore.weighting.central_rows import Scatter
from robscore.weighting.clusters import Clusters
from robscore.weighting.column_scaling import Standard
from robscore.weighting.row_weights import RowWeights
from robscore.weighting.surprise import Surprise

if TYPE_CHECKING:
    from robscore.families.family import Family

_BAND = 0.1  # of a limit, to either side of it, in which rows count in part
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
        phi, slopes, reasons = rows.gather(partial(_weigh, self), overflow, members)
        return self._tapered(phi, slopes, rows), reasons

    def weigh_others(self, rows: Rows, family: Family, members: BoolArray) -> tuple[RowWeights, IntArray]:
        """The same for rows not seen before: whether they overflow is checked on the way."""
        phi, slopes, reasons = rows.gather(partial(_weigh_unseen, self, Screen.of(self), family), members)
        return self._tapered(phi, slopes, rows), reasons

    def _tapered(self, phi: Array, slopes: Array, rows: Rows) -> RowWeights:
        """Of very many rows zeros need not be held."""
        slopes = slopes if slopes.any() else np.broadcast_to(np.float64(0.0), phi.shape)
        return RowWeights.tapered(phi, slopes, self.parameters, rows.frequency)

    def trust_distance(self, distance: Array, surprise: Array) -> Array:
        """How much rows count by their distance and surprise, shape (n,): nothing if they are too far from the middle.

        A tail of real rows may be longer than the family's, so that distance alone does not tell unless rows lie apart.
        """
        surely, perhaps = (_inside(distance, limit) for limit in self.far)
        return np.where(surprise > self.surprising, np.minimum(perhaps, surely), surely)

    def trust_columns(self, residuals: Array) -> Array:
        """How much rows count by their residuals, shape (n, m), one of which may be too small or large, shape (n,)."""
        trust = np.ones(len(residuals))
        least, most = self.well_inside
        inside = ((residuals >= least) & (residuals <= most)).all(axis=1)
        perhaps = np.flatnonzero(~inside)  # of very many rows most are in the midst of all limits
        some = residuals[perhaps]
        trusted = np.minimum(_inside(some, self.high), _inside(-some, -self.low))
        trust[perhaps] = trusted.min(axis=1, initial=1.0)
        return trust

    @property
    def surely_near(self) -> float:
        """A distance up to which rows count in full."""
        return (1 - 1.01 * _BAND) * min(self.far)

    @property
    def well_inside(self) -> tuple[Array, Array]:
        """Residuals between which rows count in full, shape (m,) each."""
        least, most = self.low.copy(), self.high.copy()
        for limits, inwards in ((least, 1), (most, -1)):
            finite = np.isfinite(limits)
            limits[finite] += inwards * 1.01 * _BAND * np.abs(limits[finite])
        return least, most

    def describe(self, X: Array, reason: IntArray) -> list[str]:
        """How rows X, shape (n, m), are bad, one text per row."""
        z = self.standard(X)
        likely = self.judged_by(X) < self.too_likely
        return [_words(*one) for one in zip(z, reason.tolist(), likely.tolist(), strict=True)]


def _inside(values: Array, limit: float | Array) -> Array:
    """1 below a limit and 0 above: a limit is known to some per cent only, so in its band values count in part.

    Of values of shape (n,) and one limit, or of shape (n, m) and a limit for each column.
    """
    with np.errstate(invalid="ignore", divide="ignore"):  # where there is no limit, or no band about it
        band = _BAND * np.abs(limit)
        partly = np.clip((limit + band - values) / (2 * band), 0.0, 1.0)
    return np.where((band > 0) & (band < np.inf), partly, values <= limit)


def _weigh(rule: Rule, X: Array, overflow: BoolArray, members: BoolArray) -> tuple[Array, Array, AnyArray]:
    """What some rows count, its slope in their surprise, and why it is less than all, shape (n,) each."""
    z = rule.standard(X)
    distance, residuals = rule.scatter.judge(z, members)
    surprise = np.where(overflow, np.inf, rule.judged_by(X))
    not_far = np.where(overflow, 0.0, rule.trust_distance(distance, surprise))
    trust = np.minimum(not_far, rule.trust_columns(residuals))
    in_cluster = rule.clusters.contains(z)
    trust[in_cluster] = 0.0
    reasons = np.select(
        [trust == 1, in_cluster, not_far < 1],
        [Reason.NONE, Reason.CLUSTER, Reason.FAR],
        default=Reason.COLUMN,
    ).astype(np.int8)  # there may be very many rows
    rate = rule.judged_by.rate(X)
    weights = RowWeights.between(
        surprise, *rule.taper, rule.parameters, rate if isinstance(rate, np.ndarray) else None
    ).times(trust)
    assert weights.phi is not None
    assert weights.slopes is not None
    reasons[(reasons == Reason.NONE) & (weights.phi < 1)] = Reason.SURPRISE
    return weights.phi, weights.slopes, reasons


def _weigh_unseen(
    rule: Rule, screen: Screen | None, family: Family, X: Array, members: BoolArray
) -> tuple[Array, Array, AnyArray]:
    """As :func:`_weigh`, of those rows that may not count in full; whether rows overflow is found out here."""
    overflow = family.overflow(X)
    if screen is None:
        return _weigh(rule, X, overflow, members)
    n = len(X)
    phi, slopes, reasons = np.ones(n), np.zeros(n), np.full(n, Reason.NONE, dtype=np.int8)
    rest = np.flatnonzero(overflow | ~screen(X))
    if rest.size:
        phi[rest], slopes[rest], reasons[rest] = _weigh(rule, X[rest], overflow[rest], members[rest])
    return phi, slopes, reasons


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


# Rows that surely count in full, found in single precision: at half the cost, which of very many rows is most of it.
#
# With s(x) the map of the column scaling, P the precision of the central rows and D the roots of its diagonal,
# y = D (z - mean) is affine in s(x), and
#
#     residuals = y M,      distance^2 = y M y',      M = D^-1 P D^-1
#
# Single precision moves y by at most 4 eps (|y| + b), with b the norm of the factors times 1 + |s(x)| at y = 0, entry j
# of y M by (m + 8) eps (|y| + b) |M_j|, and y M y' by (2 m + 16) eps (|y| + b)^2 times the norm of |M|. The distance
# and the least eigenvalue of M bound |y|. A row that is inside all limits by more than that counts in full. All
# others are weighed in double precision.

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
