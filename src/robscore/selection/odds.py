"""How likely it is that a pair has an edge, from how far it stands out among all pairs.

Scores of pairs without an edge are normal with variance 1; those of edges are normal about an effect d, whose own
distribution has no mass near zero, since an edge that cannot be distinguished from none is not worth finding:

    d ~ (d / tau)^2 N(0, tau^2)       (a product moment prior: Johnson and Rossell, 2010)

The share of edges and tau are those that make the scores likeliest, with tau at least sqrt(log p) / 2, which grows as
the largest of p scores without an edge does: were edges smaller, noise with slightly heavy tails would pass for many
of them. Whether there is any edge at all is asked in :mod:`robscore.selection.any_edge`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import erf

from robscore._tools.typing import Array, BoolArray, IntArray

_EFFECTS, _LARGEST_EFFECT = 21, 32.0  # how many values of tau are tried, and the largest, in standard errors
_LARGEST = 600.0  # logarithm of odds, so that their exponential is finite
_LEAST_SCORE = 1e-3
_PRECISION = 1e-10  # of the share of edges


class Odds(NamedTuple):
    """Which pairs have an edge, as far as scores tell.

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
    """From absolute scores, shape (p,); of those that did not enter the score is only an upper bound.

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
    """Logarithm of the density of scores with an edge over that without."""
    variance = 1 + effect**2
    share = effect**2 / variance
    return np.asarray(0.5 * score**2 * share - 0.5 * np.log(variance) + np.log((1 + score**2 * share) / variance))


def log_below(bound: Array, effect: float = 0.0) -> Array:
    """Logarithm of the probability of a score below a bound, with an edge of this size, or without any."""
    variance = 1 + effect**2
    root = np.maximum(bound, _LEAST_SCORE) / np.sqrt(variance)  # nearer to 0 the ratio of two is rounding
    below = erf(root * np.sqrt(0.5))
    if effect:
        below -= effect**2 / variance * root * np.sqrt(2 / np.pi) * np.exp(-(root**2) / 2)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(below, 0)))


def likeliest_share(ratio: Array, counts: IntArray | None = None) -> float:
    """The share of edges that maximises sum log(1 + share (ratio - 1)), by Newton's method between bounds.

    ``counts`` says how often every ratio is there.
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
