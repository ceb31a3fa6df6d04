"""Which rows are bad, without prior knowledge: the row rule, step by step.

1. Columns are made nearly symmetric and put on one scale (:mod:`robscore.weighting.column_scaling`).
2. Rows with far nearer neighbours than most are in a cluster and left out (:mod:`robscore.weighting.clusters`).
3. The central rows are a start that no cluster dominates (:mod:`robscore.weighting.central_rows`).
4. The family is fitted to the rows with a weight, by a fit that is a continuous function of the data
   (:mod:`robscore.weighting.proper_parameters`), and rows are drawn from it (:mod:`robscore.weighting.expected_rows`).
5. Data and expectation are compared (:mod:`robscore.weighting.tails`) in the distance from the centre and in the
   residual of every column given the others, by which rows are left out, and in the surprise -log p
   (:mod:`robscore.weighting.surprise`), by which they lose weight smoothly, so that the fit of clean rows is not biased
   (:mod:`robscore.weighting.row_weights`). Back to 4 until the weights settle, as a rule after two fits.

:class:`robscore.weighting.row_rule.RowRule` has the numbers. :meth:`TrainingRows.of` is step 1,
:meth:`TrainingRows.learn` steps 2 to 5; :mod:`robscore.weighting.row_limits` applies the limits that were found to any
rows. Nothing depends on the order of the rows, and only rounding on that of the columns. With very many rows the limits
are learnt from a random sample and applied to all.
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
from robscore.weighting.expected_rows import Simulator, judged
from robscore.weighting.proper_parameters import proper
from robscore.weighting.row_limits import RowLimits
from robscore.weighting.row_rule import RowRule
from robscore.weighting.row_weights import RowWeights
from robscore.weighting.surprise import Surprise
from robscore.weighting.tails import compare, count_below, quantile, value_at

START_CONTAMINATION = 0.1  # what blocks guard against by default: K = 0.4 n
_SETTLED, _SETTLED_SHARE = 0.15, 1e-4  # guards time: rows, and share of all, whose weight may still change
_ONE_IN_TEN = (0.1, 0.9)  # quantiles of residuals: what is large for a column, on either side
_TOO_LIKELY = 0.01  # quantile of the expected surprise: words for a row that has less

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
    limits : RowLimits
        What was learnt, to judge other rows by.
    copies : int
        Rows that are equal to others, beyond what rounding explains.
    members : boolean array of shape (n,)
        The central rows, which the scatter was measured on.
    """

    weights: RowWeights
    reasons: IntArray
    loss: Loss
    parameters: Parameters
    limits: RowLimits
    copies: int
    members: BoolArray


def reweigh(
    elements: Elements, rows: Rows, family: Family, fit: PilotFit, rule: RowRule, seed: int
) -> Reweighted | None:
    """Weigh the rows by limits learnt from them; None if so many would be left out that no family is right.

    Parameters
    ----------
    elements : Elements
        Those of all rows.
    rows : Rows
        The same, as the family sees them.
    family : Family
    fit : callable
        From a loss, the number of rows behind it, and the order of its columns to parameters, without jumps.
    rule : RowRule
    seed : int
        By which a sample of very many rows is drawn.
    """
    n = elements.n_rows
    sample = np.arange(n)
    if rows.frequency is not None:
        sample = rows_by_frequency(rows.frequency, seed, rule.most_rows)
    elif n > rule.most_rows:
        sample = np.sort(np.random.default_rng(seed).choice(n, size=rule.most_rows, replace=False))
    training = TrainingRows.of(family, rows.take(sample), elements.overflow[sample], sample)
    limits, members = training.learn(fit, rule)
    is_member = np.zeros(n, dtype=bool)
    is_member[sample[training.order[members]]] = True
    weights, reasons = limits.weigh(rows, elements.overflow, is_member)
    if not weights.counted.size or (weights.share_dropped or 0.0) > rule.most:
        return None
    copies = count_copies(training.X[training.is_first])
    return Reweighted(weights, reasons, weights.loss(elements), limits.parameters, limits, copies, is_member)


def rows_by_frequency(frequency: Array, seed: int, most: int) -> IntArray:
    """Repeat positions of rows, ascending, by their frequency; at most so many of them."""
    reached = repetitions(frequency)
    if reached[-1] <= most:
        return np.repeat(np.arange(frequency.size), np.diff(reached, prepend=0))
    drawn = np.random.default_rng(seed).choice(frequency.size, size=most, p=frequency / frequency.sum())
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

    def learn(self, fit: PilotFit, rule: RowRule) -> tuple[RowLimits, BoolArray]:
        """Learn limits by steps 2 to 5; also give the central rows, which the scatter was measured on."""
        n, m = self.z.shape
        # Step 2. If nothing is left, the clusters are the data.
        clusters = Clusters.of(self.z[self.is_first], rule)
        allowed = ~clusters.contains(self.z) & ~self.elements.overflow
        if not allowed.any():
            allowed = ~self.elements.overflow
        # Step 3.
        scatter, members = find_central_rows(self.z, allowed, rule.central, rule.shrinkage)
        distances, residuals = scatter.judge(self.z, members)
        simulator, far, no_limits = Simulator(self.family, self.X[members]), np.inf, np.full(m, np.inf)
        weights, overfit = RowWeights.hard(members.astype(float), ()), rule.overfit * m / n
        for number in range(rule.fits):
            # Step 4. The fit, and the rows that it expects.
            try:
                parameters = self._parameters(fit, weights)
            except ValueError:
                if number or np.array_equal(members, allowed):
                    raise
                weights = RowWeights.hard(allowed.astype(float), ())  # in the middle some columns do not vary
                parameters = self._parameters(fit, weights)
            drawn = simulator.draw(parameters)
            judged_by = Surprise.of(self.family, parameters, drawn)
            surprise = judged_by(self.X)
            expected = None if drawn is None else judged(drawn, self.scaling, scatter)
            # Step 5. Distances, once, as the central rows stay the same. Then residuals, then surprises, of the rows
            # that the comparisons before have left.
            if number == 0:
                far = compare(np.sort(distances[allowed]), None if expected is None else expected[0], rule, overfit).cut
            limits = RowLimits(rule, self.scaling, clusters, scatter, far, -no_limits, no_limits, judged_by)
            trust = np.where(allowed, limits.trust_distance(distances), 0.0)
            if expected is not None and trust.any():
                low, high = _limits_of_columns(residuals[trust > 0], expected[1], rule, overfit)
                limits = replace(limits, low=low, high=high)
                trust = np.minimum(trust, limits.trust_columns(residuals))
            simulated = None if drawn is None else np.sort(judged_by(drawn))
            left = np.sort(surprise[trust > 0])
            limits = replace(limits, taper=_taper(left, compare(left, simulated, rule, overfit).cut, rule))
            if simulated is not None:
                limits = replace(limits, too_likely=value_at(simulated, _TOO_LIKELY * simulated.size))
            before = weights.phi
            assert before is not None
            weights = limits.tapered(self.X, surprise, trust)
            if not weights.counted.size:
                weights = RowWeights.hard(trust, parameters)
            assert weights.phi is not None
            if np.abs(weights.phi - before).sum() <= _SETTLED + _SETTLED_SHARE * n:
                break
        return limits.reordered(np.argsort(self.columns)), members

    def _parameters(self, fit: PilotFit, weights: RowWeights) -> Parameters:
        """Fit the family to the rows that have a weight."""
        loss = weights.loss(self.elements)
        return proper(self.family, loss, fit(loss, weights.counted.size, self.columns))


def _limits_of_columns(residuals: Array, expected: Array, rule: RowRule, overfit: float) -> tuple[Array, Array]:
    """Compare the largest residuals of rows: the least and the largest that keep their weight, shape (m,) each.

    Residuals of shapes (n, m) and (N, m) are measured, on either side, by what one in ten exceeds.
    """
    low, high = (np.full(residuals.shape[1], limit) for limit in (-np.inf, np.inf))
    scales = [np.quantile(some, _ONE_IN_TEN, axis=0) for some in (residuals, expected)]
    has_sides = np.logical_and.reduce([(scale[0] < 0) & (scale[1] > 0) for scale in scales])
    used = np.flatnonzero(has_sides)
    if used.size:
        worst, usual = (
            np.sort(np.maximum(some[:, used] / scale[0, used], some[:, used] / scale[1, used]).max(axis=1))
            for some, scale in zip((residuals, expected), scales, strict=True)
        )
        low[used], high[used] = compare(worst, usual, rule, overfit).cut * scales[0][:, used]
    return low, high


def _taper(ordered: Array, cut: float, rule: RowRule) -> tuple[float, float]:
    """Find where a taper about a cut starts and ends, for surprises in ascending order, shape (n,).

    So many rows below the cut are in it as ``width`` says of those above: none where all are below. It ends a band
    beyond the cut.
    """
    if not (ordered.size and np.isfinite(cut)):
        return np.inf, np.inf
    n, middle = ordered.size, quantile(ordered, 0.5)
    above = n - 1 - count_below(ordered, cut)
    start = max(value_at(ordered, n - 1 - (1 + rule.width) * above), middle)
    return min(start, cut), cut + rule.band * max(cut - middle, 0.0)
