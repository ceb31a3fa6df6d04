"""Which rows count, and how much, without prior knowledge: found by fits that are continuous in the data.

1. Columns are made nearly symmetric and put on one scale (:mod:`robscore.weighting.column_scaling`).
2. Rows with far nearer neighbours than most are in a cluster and are out (:mod:`robscore.weighting.clusters`).
3. The rows in the middle are a start that no cluster can dominate (:mod:`robscore.weighting.central_rows`).
4. The family is fitted to the rows that count, by a fit that is a continuous function of the data, and rows are
   simulated from it (:mod:`robscore.weighting.expected_values`), where what it expects of them is not known
   (:mod:`robscore.weighting.expected_values`).
5. Data and expectation are compared (:mod:`robscore.weighting.tails`): once in the distance from the middle, by which
   rows are left out; then, fit after fit, in the residual of every column given the others, by which rows are left
   out, and in the surprise -log p, by which they lose weight smoothly, so that the fit of clean rows is not biased
   (:mod:`robscore.weighting.row_weights`). Back to 4 until this settles, as a rule after two fits.

Nothing depends on the order of the rows, and only rounding on that of the columns. With very many rows the rule is
learnt from a random sample and applied to all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.elements import Elements
from robscore.families.family import Family, Parameters
from robscore.losses.quadratic import Loss
from robscore.rows.row_source import Rows
from robscore.weighting.central_rows import find_middle
from robscore.weighting.clusters import Clusters, count_copies
from robscore.weighting.column_scaling import Standard, canonical_order
from robscore.weighting.expected_values import OUTER, Simulator
from robscore.weighting.proper_parameters import proper
from robscore.weighting.row_rule import Rule
from robscore.weighting.row_weights import RowWeights
from robscore.weighting.surprise import Surprise
from robscore.weighting.tails import LARGEST_SHARE, Caution, Tail, blended, count_below, gap_near, value_at

START_CONTAMINATION = 0.1  # what blocks guard against by default: K = 0.4 n
_MOST_ROWS = 10_000  # that the rule is learnt from
_TOO_MANY = 0.4  # rows left out, as a share, that no family can be right with
_ITERATIONS = 4
_SETTLED, _SETTLED_SHARE = 0.15, 1e-4  # rows, and share of all, whose weight may still change: drifts go on for long
_ROWS_A_COLUMN = 5  # for surprise to be looked at by the first fit: else all but the middle would surprise

_LEEWAY = 2.0  # for every column over the root of n: a fit likes its own rows
_OF_DISTANCE = Caution()
_OF_SURPRISE = Caution(steps=3)
_OF_COLUMNS = Caution(bulk=(OUTER, 1 - OUTER), leeway=2.0, lowest=0.95, errors=(6.0, 12.0), purity=3.0, steps=1)
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
    weights : what every row counts, by a taper
    reasons : integer array of shape (n,)
        Why a row counts less than in full; see :class:`robscore.weighting.row_rule.Reason`.
    loss : the tapered loss
    parameters : the fit that rows were judged by
    rule : what was learnt, to judge other rows by
    copies : rows that are equal to others, beyond what rounding explains
    members : boolean array of shape (n,)
        The rows that the rule's scatter was taken from.
    """

    weights: RowWeights
    reasons: IntArray
    loss: Loss
    parameters: Parameters
    rule: Rule
    copies: int
    members: BoolArray


def reweigh(elements: Elements, rows: Rows, family: Family, fit: PilotFit, seed: int) -> Reweighted | None:
    """Weights for the rows, by a rule learnt from them; None if so many would be dropped that no family is right.

    Parameters
    ----------
    elements : of all rows
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
        sample = repeated(rows.frequency, seed)
    elif n > _MOST_ROWS:
        sample = np.sort(np.random.default_rng(seed).choice(n, size=_MOST_ROWS, replace=False))
    pilot = Pilot.of(family, rows.take(sample), elements.overflow[sample], sample)
    rule, members = pilot.learn(fit, seed)
    is_member = np.zeros(n, dtype=bool)
    is_member[sample[pilot.order[members]]] = True
    weights, reasons = rule.weigh(rows, elements.overflow, is_member)
    if not weights.counted.size or (weights.share_dropped or 0.0) > _TOO_MANY:
        return None
    copies = count_copies(pilot.X[pilot.is_first])
    return Reweighted(weights, reasons, weights.loss(elements), rule.parameters, rule, copies, is_member)


def repeated(frequency: Array, seed: int) -> IntArray:
    """Positions of rows, ascending, each about as often as its frequency says; at most so many as the rule looks at.

    Whole frequencies are met exactly. Where they are so small that rows would be lost, all are stretched.
    """
    total = max(float(frequency.sum()), float(frequency.size))
    reached = np.floor(np.cumsum(frequency) * (total / frequency.sum()) + 0.5).astype(np.int64)
    if reached[-1] <= _MOST_ROWS:
        return np.repeat(np.arange(frequency.size), np.diff(reached, prepend=0))
    drawn = np.random.default_rng(seed).choice(frequency.size, size=_MOST_ROWS, p=frequency / frequency.sum())
    return np.sort(drawn)


@dataclass(frozen=True)
class Pilot:
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
    standard : how X became z
    elements : of its rows
    is_first : boolean array of shape (n,)
        False for rows that are there again because of their frequency.
    """

    family: Family
    X: Array
    order: IntArray
    columns: IntArray
    z: Array
    standard: Standard
    elements: Elements
    is_first: BoolArray

    @classmethod
    def of(cls, family: Family, X: Array, overflow: BoolArray, numbers: IntArray) -> Pilot:
        """The rows X, shape (n, m), of which some may overflow; the same numbers, ascending, are the same row."""
        standard = Standard.of(family, X[~overflow] if 2 * np.count_nonzero(overflow) < len(X) else X)
        z = standard(X)
        columns, order = canonical_order(z)
        if family.columns_alike:
            family = family.reordered(columns)
        else:
            columns = np.arange(columns.size)
        every = np.append(columns, np.arange(columns.size, X.shape[1]))  # with covariates
        X, z = np.ascontiguousarray(X[np.ix_(order, every)]), np.ascontiguousarray(z[np.ix_(order, columns)])
        is_first = np.diff(numbers, prepend=-1) > 0
        return cls(family, X, order, columns, z, standard.reordered(columns), family.elements(X), is_first[order])

    def learn(self, fit: PilotFit, seed: int) -> tuple[Rule, BoolArray]:
        """The rule, and which rows its scatter was taken from."""
        clusters = Clusters.of(self.z[self.is_first])
        coarse = np.array([np.unique(column).size <= _FEW_VALUES for column in self.z.T])
        allowed = ~clusters.contains(self.z) & ~self.elements.overflow
        if not allowed.any():
            allowed = ~self.elements.overflow
        scatter, members = find_middle(self.z, allowed)
        distances, residuals = scatter.judge(self.z, members)
        simulator = Simulator(self.family, self.X[members], seed)
        weights = RowWeights.hard(members.astype(float), ())
        far, most_surprising, last_limits, last_above = (np.inf, np.inf), np.inf, np.zeros(0), None
        for iteration in range(_ITERATIONS):
            assert weights.phi is not None
            loss = weights.loss(self.elements)
            counted = int(np.count_nonzero(weights.phi))
            parameters = proper(self.family, loss, fit(loss, counted, self.columns))
            expected = simulator.expected(parameters, self.standard, scatter)
            judged_by = Surprise.of(self.family, parameters, None if expected is None else expected.drawn)
            surprise = judged_by(self.X)
            simulated = None if expected is None else expected.surprises(judged_by)
            if iteration == 0:
                far = self._far(distances[allowed], None if expected is None else expected.distances())
            with np.errstate(invalid="ignore"):  # rows so far out that their density is zero
                likely, surprising = (-np.inf, np.inf) if simulated is None else np.quantile(simulated, _UNUSUAL)
            everything = np.full(self.z.shape[1], np.inf)
            rule = Rule(
                self.standard, clusters, scatter, far, float(surprising), -everything, everything, judged_by,
                (np.inf, np.inf), float(likely),
            )  # fmt: skip
            trust = np.where(allowed, rule.trust_distance(distances, surprise), 0.0)
            good = trust > 0
            limits = _limits_of_columns(residuals[good], None if expected is None else expected.residuals())
            if iteration > 1:  # what one fit leaves out the next may take in, and so on
                limits = (limits + last_limits) / 2
            last_limits = limits
            rule = replace(rule, low=np.where(coarse, -np.inf, limits[0]), high=np.where(coarse, np.inf, limits[1]))
            trust = np.minimum(trust, rule.trust_columns(residuals))
            good = trust > 0
            if iteration or counted >= _ROWS_A_COLUMN * self.z.shape[1]:
                ordered = np.sort(surprise[good])
                taper, most_surprising = self._taper(ordered, simulated, most_surprising)
                taper, last_above = _halfway(ordered, taper, last_above if iteration > 1 else None)
                rule = replace(rule, taper=taper)
            last, weights = weights.phi, self._weights(rule, surprise, trust)
            if weights.phi is not None and np.abs(weights.phi - last).sum() <= _SETTLED + _SETTLED_SHARE * len(self.X):
                break
        return rule.reordered(np.argsort(self.columns)), members

    def _weights(self, rule: Rule, surprise: Array, trust: Array) -> RowWeights:
        rate = rule.judged_by.rate(self.X)
        weights = RowWeights.between(
            surprise, *rule.taper, rule.parameters, rate if isinstance(rate, np.ndarray) else None
        ).times(trust)
        return weights if weights.counted.size else RowWeights.hard(trust, rule.parameters)

    def _far(self, distances: Array, drawn: Array | None) -> tuple[float, float]:
        """The largest distance from the middle that counts, and that counts where a row is surprising too."""
        n, m = self.z.shape
        tail = Tail.of(distances, drawn, _OF_DISTANCE.looser(_LEEWAY * m / np.sqrt(n)))
        return blended(tail.limit, tail.cut, tail.apart), tail.cut

    def _taper(self, surprise: Array, simulated: Array | None, most: float) -> tuple[tuple[float, float], float]:
        """Where the taper starts and ends, and the share of the rows that are too surprising.

        That share never grows from fit to fit: fits of ever fewer rows would find ever more.
        """
        n, m = self.z.shape
        few = min(1.0, _LEEWAY * m / np.sqrt(n))  # with many rows for its columns a taper may take in good ones too
        caution = replace(_OF_SURPRISE, purity=1 + few * (_OF_SURPRISE.purity - 1), margin=few * _OF_SURPRISE.margin)
        tail = Tail.of(surprise, simulated, caution.looser(_LEEWAY * m / np.sqrt(n)))
        most = min(most, tail.share)
        return taper_for(surprise, most, tail.limit), most


def _halfway(
    ordered: Array, taper: tuple[float, float], last: Array | None
) -> tuple[tuple[float, float], Array | None]:
    """The taper, and how many rows are above its start and its end; halfway to those of the last fit, if there are any.

    Rows are counted since surprise under two fits differs by a constant. Without this, two fits could take turns.
    """
    if not np.isfinite(taper).all():
        return taper, None
    above = ordered.size - np.array([count_below(ordered, value) for value in taper])
    if last is None:
        return taper, above
    above = (above + last) / 2
    return (value_at(ordered, ordered.size - above[0]), value_at(ordered, ordered.size - above[1])), above


def _limits_of_columns(residuals: Array, simulated: Array | None) -> Array:
    """The least and largest residuals of every column that count, shape (2, m)."""
    m = residuals.shape[1]
    if simulated is None:
        return np.array([np.full(m, -np.inf), np.full(m, np.inf)])
    caution = replace(_OF_COLUMNS, alone=_OF_COLUMNS.alone / (2 * m))
    values = np.ascontiguousarray(np.sort(residuals, axis=0).T)
    high = [tail.cut for tail in Tail.of_each(values, simulated, caution)]
    low = [-tail.cut for tail in Tail.of_each(-values[:, ::-1], -simulated[:, ::-1], caution)]
    return np.array([low, high])


def taper_for(ordered: Array, share: float, limit: float) -> tuple[float, float]:
    """Where a taper starts and ends that leaves out about that share of the rows; or else those beyond the limit.

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
