"""How likely it is that a pair has an edge, from how far it stands out among all pairs; and whether any pair has one.

Scores of pairs without an edge are normal with variance 1; those of edges are normal about an effect d, whose own
distribution has no mass near zero, since an edge that cannot be distinguished from none is not worth finding:

    d ~ (d / tau)^2 N(0, tau^2)       (a product moment prior: Johnson and Rossell, 2010)

The share of edges and tau are those that make the scores likeliest, with tau at least sqrt(log p) / 2, which grows as
the largest of p scores without an edge does: were edges smaller, noise with slightly heavy tails would pass for many
of them. Whether there is any edge at all is another question, for :class:`AnyEdge`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import erf

from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.losses.quadratic import QuadraticLoss
from robscore.selection.standard_errors import profile_out_node_parameters
from robscore.solvers.path import Path
from robscore.weighting.column_scaling import canonical_order
from robscore.weighting.row_weights import WeightedRows

_EFFECTS, _LARGEST_EFFECT = 21, 32.0  # how many values of tau are tried, and the largest, in standard errors
_LARGEST = 600.0  # guards rounding: logarithm of odds, so that their exponential is finite
_LEAST_SCORE = 1e-3  # guards rounding: nearer to 0 the ratio of two probabilities is nothing else
_PRECISION = 1e-10  # of the share of edges


class Odds(NamedTuple):
    """The odds that pairs have an edge, by their scores.

    Attributes
    ----------
    probability : array of shape (p,)
        That each pair has an edge.
    n_edges : float
        Their sum.
    evidence : float
        How much likelier (in logarithms) the scores are than without any edge.
    """

    probability: Array
    n_edges: float
    evidence: float


def find_odds(score: Array, entered: BoolArray) -> Odds:
    """Find the odds from absolute scores, shape (p,), which are upper bounds for pairs that did not enter.

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.abs(np.random.default_rng(0).normal(size=200))
    >>> odds = find_odds(np.append(noise, [5.0, 6.0, 7.0]), np.ones(203, dtype=bool))
    >>> odds.probability[-3:].round(2).tolist(), odds.n_edges < 5
    ([1.0, 1.0, 1.0], True)
    """
    best = Odds(np.zeros(score.size), 0.0, 0.0)
    smallest = 0.5 * np.sqrt(np.log(max(score.size, 2)))
    outside = ~entered
    below = log_below(score[outside])
    ratio = np.empty(score.size)
    for effect in np.geomspace(smallest, _LARGEST_EFFECT, _EFFECTS) if score.size else ():
        ratio[entered] = log_odds(score[entered], effect)
        ratio[outside] = log_below(score[outside], effect) - below
        np.exp(np.clip(ratio, -_LARGEST, _LARGEST, out=ratio), out=ratio)
        share = likeliest_share(ratio)
        evidence = float(np.log1p(share * (ratio - 1)).sum())
        if evidence > best.evidence:
            probability = share * ratio / (1 - share + share * ratio)
            best = Odds(probability, float(probability.sum()), evidence)
    return best


def log_odds(score: Array, effect: float) -> Array:
    """Compute the logarithm of the density of scores with an edge over that without."""
    variance = 1 + effect**2
    share = effect**2 / variance
    return np.asarray(0.5 * score**2 * share - 0.5 * np.log(variance) + np.log((1 + score**2 * share) / variance))


def log_below(bound: Array, effect: float = 0.0) -> Array:
    """Compute the logarithm of the probability of a score below a bound, with an edge of this size, or without any."""
    variance = 1 + effect**2
    root = np.maximum(bound, _LEAST_SCORE) / np.sqrt(variance)
    below = erf(root * np.sqrt(0.5))
    if effect:
        below -= effect**2 / variance * root * np.sqrt(2 / np.pi) * np.exp(-(root**2) / 2)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(below, 0)))


def likeliest_share(ratio: Array, counts: IntArray | None = None) -> float:
    """Find the share of edges that maximises sum log(1 + share (ratio - 1)), by Newton's method between bounds.

    ``counts`` is the frequency of every ratio.
    """
    excess = ratio - 1
    weighted = excess if counts is None else counts * excess
    if weighted.sum() <= 0:
        return 0.0
    low, high, share = 0.0, 1.0, 0.5
    while high - low > _PRECISION:
        parts = weighted / (1 + share * excess)
        slope, bend = float(parts.sum()), float(parts @ (excess / (1 + share * excess)))
        low, high = (share, high) if slope > 0 else (low, share)
        last, share = share, share + slope / bend
        if not low < share < high:
            share = (low + high) / 2
        elif abs(share - last) <= _PRECISION:
            break
    return share


_CLEAR = 8.0  # gain in log likelihood that leaves no doubt; noise never reaches it
_ENOUGH = 1.5  # that must do where columns cannot be put in other orders; noise reaches it once in thirty tables
_ORDERS, _LEVEL = 99, 0.05  # how many other orders are looked at, and the share that may have as large a gain
_TESTED_EFFECTS = (0.5, 1.0, 2.0, 4.0, 8.0)  # sizes of edges, in standard errors
_BINS, _HIGHEST = 16, 8  # per standard error, and how far: scores are counted, so that very many pairs cost little


@dataclass(frozen=True, eq=False)
class AnyEdge:
    """The question whether a table has any edge, answered with no more work than it needs.

    At the empty graph a row adds u_k T_j + u_j T_k to the derivative in K_jk; u_j and T_j depend on column j alone. So

        S_jk = sum_i (u_ik - mean u_k) (T_ij - mean T_j) + the same with j and k exchanged

    compares two columns, and where columns are independent, their rows may be put in any order without changing how S
    is distributed, whatever the columns look like. How much likelier edges make all of S, beside the same for other
    orders, is a test with an exact level. It sees many weak edges as well as a few strong ones, and is not fooled by
    heavy tails.

    Attributes
    ----------
    loss, path : QuadraticLoss, Path
        The loss and its solutions.
    rows : WeightedRows
        Those that the loss is made of, or a sample of them.
    pairs : two integer arrays of shape (p,)
        Those that are asked about.
    exchangeable : bool
        Whether the values of a column may change places: rows are complete, and no series.
    seed : int
        That of the orders.
    """

    loss: QuadraticLoss
    path: Path
    rows: WeightedRows
    pairs: tuple[IntArray, IntArray]
    exchangeable: bool
    seed: int

    def according_to(self, odds: Odds) -> bool:
        """Answer by the gain that edges bring along the path; where that leaves a doubt, by other orders."""
        if not 0 < odds.evidence < _CLEAR:
            return odds.evidence > 0
        return odds.evidence > _ENOUGH if self._in_any_order is None else self._in_any_order

    @cached_property
    def _in_any_order(self) -> bool | None:
        """Whether the gain stands out among those of other orders; None where columns have no other."""
        if not self.exchangeable:
            return None
        none = np.zeros_like(self.loss.completed(self.path.interactions[0])), np.zeros_like(self.path.locations[0])
        z = profile_out_node_parameters(self.loss, *none, fit_location=self.path.fit_location)
        factors = self.rows.elements.gradient_factors(*z)
        copies = self._copies()
        if factors is None or copies is None:
            return None
        u, T = (np.repeat(part, copies, axis=0) for part in factors)
        if len(u) < 3:
            return None
        columns, order = canonical_order(u)
        u, T = ((part - part.mean(axis=0))[order][:, columns] for part in (u, T))
        place = np.argsort(columns)
        pairs = place[self.pairs[0]], place[self.pairs[1]]
        spread = _spread(u, T)[pairs]
        observed = _gain(_sums(u, T)[pairs], spread)
        rng, index, as_large = np.random.default_rng(self.seed), np.tile(np.arange(len(u))[:, None], u.shape[1]), 0
        for _ in range(_ORDERS):
            other = rng.permuted(index, axis=0)
            moved = (np.take_along_axis(part, other, axis=0) for part in (u, T))
            as_large += _gain(_sums(*moved)[pairs], spread) >= observed
            if 1 + as_large > _LEVEL * (_ORDERS + 1):
                return False
        return True

    def _copies(self) -> IntArray | None:
        """Count the copies of each row, 0 for those with less than half a weight; None where counts are not whole."""
        once = self.rows.gamma_weights
        if self.rows.frequency is not None:
            once = np.divide(once, self.rows.frequency, out=np.zeros_like(once), where=self.rows.frequency > 0)
        times = np.ones_like(once) if self.rows.frequency is None else self.rows.frequency
        whole = times.astype(np.intp)
        return np.where(2 * once >= once.max(), whole, 0) if (times == whole).all() else None


def _sums(u: Array, T: Array) -> Array:
    """Compute S of all pairs, shape (m, m)."""
    S = u.T @ T
    return np.asarray(S + S.T)


def _spread(u: Array, T: Array) -> Array:
    """Compute the standard deviation of S over all orders of the columns, shape (m, m)."""
    in_u, in_T, both = (u * u).sum(axis=0), (T * T).sum(axis=0), (u * T).sum(axis=0)
    mixed = np.outer(in_u, in_T)
    return np.sqrt(np.maximum(mixed + mixed.T + 2 * np.outer(both, both), 0) / (len(u) - 1))


def _gain(S: Array, spread: Array) -> float:
    """Say how much likelier (in logarithms) edges make the scores S / spread, all of one size, the best, and share."""
    score = np.divide(np.abs(S), spread, out=np.zeros_like(S), where=spread > 0)
    counts = np.bincount(np.minimum(score * _BINS, _HIGHEST * _BINS).astype(np.intp), minlength=_HIGHEST * _BINS + 1)
    return max(0.0, *(float(counts @ np.log1p(likeliest_share(ratio, counts) * (ratio - 1))) for ratio in _ratios()))


@cache
def _ratios() -> tuple[Array, ...]:
    """Say for every size of edges how much likelier they make a score in the middle of each bin."""
    middles = (np.arange(_HIGHEST * _BINS + 1) + 0.5) / _BINS
    return tuple(np.exp(log_odds(middles, effect)) for effect in _TESTED_EFFECTS)
