"""The row rule: which rows are bad, without prior knowledge, found by fits that are continuous in the data.

1. Columns are made nearly symmetric and put on one scale (:mod:`robscore.weighting.column_scaling`).
2. Rows with far nearer neighbours than most are in a cluster and left out (:mod:`robscore.weighting.clusters`).
3. The central rows are a start that no cluster dominates (:mod:`robscore.weighting.central_rows`).
4. The family is fitted to the rows with a weight, by a fit that is a continuous function of the data
   (:mod:`robscore.weighting.proper_parameters`). It says what good rows would look like: computed where they are
   normal, else measured on rows simulated from the fit (:mod:`robscore.weighting.expected_values`).
5. Data and expectation are compared (:mod:`robscore.weighting.tails`) in the distance from the centre and in the
   residual of every column given the others, by which rows are left out, and in the surprise -log p
   (:mod:`robscore.weighting.surprise`), by which they lose weight smoothly, so that the fit of clean rows is not biased
   (:mod:`robscore.weighting.row_weights`). Back to 4 until the weights settle, as a rule after two fits.

:meth:`TrainingRows.of` is step 1, :meth:`TrainingRows.learn` steps 2 to 5; :mod:`robscore.weighting.row_rule` applies
the limits that were found to any rows. Nothing depends on the order of the rows, and only rounding on that of the
columns. With very many rows the rule is learnt from a random sample and applied to all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from robscore._tools.numbers import repetitions
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.elements import Elements
from robscore.families.family import Family, Parameters
from robscore.losses.quadratic import Loss
from robscore.rows.row_source import Rows
from robscore.weighting.central_rows import find_central_rows
from robscore.weighting.clusters import Clusters, count_copies
from robscore.weighting.column_scaling import ColumnScaling, canonical_order
from robscore.weighting.expected_values import OUTER, Simulator
from robscore.weighting.proper_parameters import proper
from robscore.weighting.row_rule import RowRule
from robscore.weighting.row_weights import RowWeights
from robscore.weighting.surprise import Surprise
from robscore.weighting.tails import LARGEST_SHARE, Tail, TailCriteria, blended, count_below, gap_near, value_at

START_CONTAMINATION = 0.1  # what blocks guard against by default: K = 0.4 n
_MOST_ROWS = 10_000  # guards time: rows that the rule is learnt from
_TOO_MANY = 0.4  # share of the rows that no family can be right with, if they are left out
_ITERATIONS = 4  # fits, at most
_SETTLED, _SETTLED_SHARE = 0.15, 1e-4  # rows, and share of all, whose weight may still change: drifts go on for long
_ROWS_A_COLUMN = 5  # for surprise to be looked at after the first fit: else all but the central rows would surprise

_LEEWAY = 2.0  # for every column over the root of n: a fit likes its own rows
_OF_DISTANCE = TailCriteria()
_OF_SURPRISE = TailCriteria(steps=3)
_OF_COLUMNS = TailCriteria(bulk=(OUTER, 1 - OUTER), leeway=2.0, lowest=0.95, errors=(6.0, 12.0), purity=3.0, steps=1)
_UNUSUAL = (0.01, 0.9)  # quantiles of the simulated surprise: less is too likely, more is surprising

_EXCESS_INFLATION = 1.6  # bad rows that resemble good ones escape the comparison: so many times the excess are left out
_WIDTH, _LARGEST_WIDTH = 3.0, 0.5  # rows in the taper: so many times the bad ones, at most this share of the others
_FEW_VALUES = 10  # of a column: its residuals have no tail to speak of, but one of two values may be rare
_NEAR = 2.0  # a gap may leave out so many times more or fewer rows

PilotFit = Callable[[Loss, int, IntArray], Parameters]


@dataclass(frozen=True)
class Reweighted:
    """What reweighting found.

    Attributes
    ----------
    weights : RowWeights
        Those of the rows, by a taper.
    reasons : integer array of shape (n,)
        Why a row has less than its full weight; see :class:`robscore.weighting.row_rule.Reason`.
    loss : Loss
        The tapered loss.
    parameters : Parameters
        Those of the fit that rows were judged by.
    rule : RowRule
        What was learnt, to judge other rows by.
    copies : int
        Rows that are equal to others, beyond what rounding explains.
    members : boolean array of shape (n,)
        The central rows, which the rule's scatter was measured on.
    """

    weights: RowWeights
    reasons: IntArray
    loss: Loss
    parameters: Parameters
    rule: RowRule
    copies: int
    members: BoolArray


def reweigh(elements: Elements, rows: Rows, family: Family, fit: PilotFit, seed: int) -> Reweighted | None:
    """Weigh the rows by a rule learnt from them; None if so many would be left out that no family is right.

    Parameters
    ----------
    elements : Elements
        Those of all rows.
    rows : Rows
        The same, as the family sees them.
    family : Family
    fit : callable
        From a loss, the number of rows behind it, and the order of its columns to parameters, without jumps.
    seed : int
        Random seed.
    """
    n = elements.n_rows
    sample = np.arange(n)
    if rows.frequency is not None:
        sample = rows_by_frequency(rows.frequency, seed)
    elif n > _MOST_ROWS:
        sample = np.sort(np.random.default_rng(seed).choice(n, size=_MOST_ROWS, replace=False))
    training = TrainingRows.of(family, rows.take(sample), elements.overflow[sample], sample)
    rule, members = training.learn(fit, seed)
    is_member = np.zeros(n, dtype=bool)
    is_member[sample[training.order[members]]] = True
    weights, reasons = rule.weigh(rows, elements.overflow, is_member)
    if not weights.counted.size or (weights.share_dropped or 0.0) > _TOO_MANY:
        return None
    copies = count_copies(training.X[training.is_first])
    return Reweighted(weights, reasons, weights.loss(elements), rule.parameters, rule, copies, is_member)


def rows_by_frequency(frequency: Array, seed: int) -> IntArray:
    """Repeat positions of rows, ascending, by their frequency; at most so many as the rule looks at."""
    reached = repetitions(frequency)
    if reached[-1] <= _MOST_ROWS:
        return np.repeat(np.arange(frequency.size), np.diff(reached, prepend=0))
    drawn = np.random.default_rng(seed).choice(frequency.size, size=_MOST_ROWS, p=frequency / frequency.sum())
    return np.sort(drawn)


@dataclass(frozen=True)
class TrainingRows:
    """The rows that the rule is learnt from, in an order that does not depend on how they are given.

    Attributes
    ----------
    family : Family
    X : array of shape (n, m)
    order : integer array of shape (n,)
        Where its rows stand among those given.
    columns : integer array of shape (m,)
        Where its columns stand among those given: in another order only where the family treats them all alike.
    z : array of shape (n, m)
    scaling : ColumnScaling
        How X became z.
    elements : Elements
        Those of its rows.
    is_first : boolean array of shape (n,)
        False for rows that are repeated because of their frequency.
    """

    family: Family
    X: Array
    order: IntArray
    columns: IntArray
    z: Array
    scaling: ColumnScaling
    elements: Elements
    is_first: BoolArray

    @classmethod
    def of(cls, family: Family, X: Array, overflow: BoolArray, numbers: IntArray) -> TrainingRows:
        """Scale and order rows X, shape (n, m), some of which may overflow; equal numbers, ascending, are one row."""
        scaling = ColumnScaling.of(family, X[~overflow] if 2 * np.count_nonzero(overflow) < len(X) else X)
        z = scaling(X)
        columns, order = canonical_order(z)
        if family.columns_alike:
            family = family.reordered(columns)
        else:
            columns = np.arange(columns.size)
        every = np.append(columns, np.arange(columns.size, X.shape[1]))  # with covariates
        X, z = np.ascontiguousarray(X[np.ix_(order, every)]), np.ascontiguousarray(z[np.ix_(order, columns)])
        is_first = np.diff(numbers, prepend=-1) > 0
        return cls(family, X, order, columns, z, scaling.reordered(columns), family.elements(X), is_first[order])

    def learn(self, fit: PilotFit, seed: int) -> tuple[RowRule, BoolArray]:
        """Learn the rule by steps 2 to 5; also give the central rows, which its scatter was measured on."""
        # Step 2. If nothing is left, the clusters are the data.
        clusters = Clusters.of(self.z[self.is_first])
        allowed = ~clusters.contains(self.z) & ~self.elements.overflow
        if not allowed.any():
            allowed = ~self.elements.overflow
        # Step 3.
        scatter, members = find_central_rows(self.z, allowed)
        distances, residuals = scatter.judge(self.z, members)
        coarse = np.array([np.unique(column).size <= _FEW_VALUES for column in self.z.T])
        simulator = Simulator(self.family, self.X[members], seed)
        weights = RowWeights.hard(members.astype(float), ())
        leeway = float(_LEEWAY * self.z.shape[1] / np.sqrt(len(self.z)))
        none, no_columns = (np.inf, np.inf), np.full(self.z.shape[1], np.inf)  # limits that leave out nothing
        far, share = none, np.inf
        limits: Array | None = None
        above: Array | None = None
        for iteration in range(_ITERATIONS):
            assert weights.phi is not None
            counted = int(np.count_nonzero(weights.phi))
            # Step 4. The fit, and what it expects of good rows.
            loss = weights.loss(self.elements)
            parameters = proper(self.family, loss, fit(loss, counted, self.columns))
            expected = simulator.expected(parameters, self.scaling, scatter)
            judged_by = Surprise.of(self.family, parameters, None if expected is None else expected.drawn)
            surprise = judged_by(self.X)
            simulated = None if expected is None else expected.surprises(judged_by)
            # Step 5. Distances, once, as the central rows stay the same. Then residuals, then surprises, of the rows
            # that the comparisons before have left.
            if iteration == 0:
                criteria = replace(_OF_DISTANCE, leeway=_OF_DISTANCE.leeway + leeway)
                tail = Tail.of(distances[allowed], None if expected is None else expected.distances(), criteria)
                # The largest that keeps its weight, and the largest where a row is surprising too.
                far = blended(tail.limit, tail.cut, tail.apart), tail.cut
            likely, surprising = -np.inf, np.inf
            if simulated is not None:
                with np.errstate(invalid="ignore"):  # rows so far out that their density is zero
                    likely, surprising = np.quantile(simulated, _UNUSUAL).tolist()
            rule = RowRule(
                self.scaling, clusters, scatter, far, surprising, -no_columns, no_columns, judged_by, none, likely
            )
            trust = np.where(allowed, rule.trust_distance(distances, surprise), 0.0)
            drawn, last = None if expected is None else expected.residuals(), limits if iteration > 1 else None
            limits = _limits_of_columns(residuals[trust > 0], drawn, last)
            rule = replace(rule, low=np.where(coarse, -np.inf, limits[0]), high=np.where(coarse, np.inf, limits[1]))
            trust = np.minimum(trust, rule.trust_columns(residuals))
            if iteration or counted >= _ROWS_A_COLUMN * self.z.shape[1]:
                ordered = np.sort(surprise[trust > 0])
                taper, share = _taper(ordered, simulated, share, leeway)
                taper, above = _halfway(ordered, taper, above if iteration > 1 else None)
                rule = replace(rule, taper=taper)
            before, weights = weights.phi, rule.tapered(self.X, surprise, trust)
            if not weights.counted.size:
                weights = RowWeights.hard(trust, parameters)
            assert weights.phi is not None
            if np.abs(weights.phi - before).sum() <= _SETTLED + _SETTLED_SHARE * len(self.X):
                break
        return rule.reordered(np.argsort(self.columns)), members


def _taper(surprise: Array, expected: Array | None, most: float, leeway: float) -> tuple[tuple[float, float], float]:
    """Compare surprises: where the taper starts and ends, and the share of the rows that are too surprising.

    That share never grows from fit to fit: fits of ever fewer rows would find ever more.
    """
    few = min(1.0, leeway)  # with many rows for its columns a taper may take in good ones too
    criteria = replace(
        _OF_SURPRISE,
        purity=1 + few * (_OF_SURPRISE.purity - 1),
        margin=few * _OF_SURPRISE.margin,
        leeway=_OF_SURPRISE.leeway + leeway,
    )
    tail = Tail.of(surprise, expected, criteria)
    most = min(most, tail.share)
    return taper_for(surprise, most, tail.limit), most


def _limits_of_columns(residuals: Array, expected: Array | None, last: Array | None) -> Array:
    """Compare residuals: the least and the largest of every column that keep their weight, shape (2, m).

    What one fit leaves out the next may take in, and so on; halfway to the last limits, two fits cannot take turns.
    """
    m = residuals.shape[1]
    if expected is None:
        return np.array([np.full(m, -np.inf), np.full(m, np.inf)])
    criteria = replace(_OF_COLUMNS, alone=_OF_COLUMNS.alone / (2 * m))
    values = np.ascontiguousarray(np.sort(residuals, axis=0).T)
    high = [tail.cut for tail in Tail.of_each(values, expected, criteria)]
    low = [-tail.cut for tail in Tail.of_each(-values[:, ::-1], -expected[:, ::-1], criteria)]
    limits = np.array([low, high])
    return limits if last is None else (limits + last) / 2


def taper_for(ordered: Array, share: float, limit: float) -> tuple[float, float]:
    """Find where a taper starts and ends that leaves out about that share of the rows; or else those beyond the limit.

    ``ordered``, shape (n,), is their surprise in ascending order.
    """
    n = ordered.size
    share = min(_EXCESS_INFLATION * share, LARGEST_SHARE)
    if share * n < 1:
        return limit, np.inf
    width = min(_WIDTH * share, _LARGEST_WIDTH * (1 - share))
    end = value_at(ordered, (1 - share) * n)
    before = float(ordered[max(int(np.searchsorted(ordered, end)) - 1, 0)])
    start = min(value_at(ordered, (1 - share - width) * n), before)
    gap = gap_near(ordered, share, _NEAR)
    return blended(start, gap.below, gap.clear), blended(end, gap.above, gap.clear)


def _halfway(
    ordered: Array, taper: tuple[float, float], last: Array | None
) -> tuple[tuple[float, float], Array | None]:
    """Move a taper halfway to that of the last fit; also give how many rows are above its start and its end.

    Rows are counted since surprise under two fits differs by a constant. Without this, two fits could take turns.
    """
    if not np.isfinite(taper).all():
        return taper, None
    above = ordered.size - np.array([count_below(ordered, value) for value in taper])
    if last is None:
        return taper, above
    above = (above + last) / 2
    return (value_at(ordered, ordered.size - above[0]), value_at(ordered, ordered.size - above[1])), above
