"""In which way does a family miss its columns? By what rows that are drawn from the fit have, and the data have not.

For a column: the share of its most frequent value, humps, skewness, tails; for a pair, a curve: a column that rises and
falls along another. Each is a number of the data beside the same number of simulated rows, so that what the family
itself says (a gamma variable is skewed) is no fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import gaussian_kde, rankdata

from robscore._tools.messages import clipped
from robscore._tools.numbers import evenly_spread
from robscore._tools.typing import Array, IntArray
from robscore.certainty.unusual_values import values_of
from robscore.family_choice.data_profile import kind_if_no_measurement
from robscore.fitting.fit_result import Fit
from robscore.rows.row_source import some_of
from robscore.weighting.expected_rows import Simulator
from robscore.weighting.proper_parameters import proper

CURVE = "a curve along"
_ROUNDING = 1e-9  # relative: it guards rounding


@dataclass(frozen=True)
class MisfitRule:
    """From where on a difference between data and simulated rows is named.

    Attributes
    ----------
    many_ties : float, default 0.1
        Share of the rows that one value has.
    skewness : float, default 0.15
        Difference of (q95 + q5 - 2 q50) / (q95 - q5), which lies between -1 and 1.
    tails : float, default 1.25
        Factor between the ratios of the ranges that hold 98 % and half of the rows.
    valley : float, default 0.7
        Height of the lowest place between two humps, over the lower one.
    hump : float, default 0.2
        Height of the lower hump, over the higher one.
    curve : float, default 0.25
        Difference of the correlations of one column's ranks with what is left of another's squares after a line.
    most_rows : int, default 2000
        Rows that are looked at: it saves time.
    """

    many_ties: float = 0.1
    skewness: float = 0.15
    tails: float = 1.25
    valley: float = 0.7
    hump: float = 0.2
    curve: float = 0.25
    most_rows: int = 2000


def describe_misfit(fit: Fit, columns: IntArray) -> list[str]:
    """Say in which way the fit misses some columns, as "rain, snow (61% are 0)"; the names alone if none is clear."""
    rule, m = MisfitRule(), len(fit.names)
    prepared = fit.prepared
    counted = np.flatnonzero(fit.weights.gamma_weights)
    some = evenly_spread(counted, rule.most_rows, some_of(prepared.rows.frequency, counted))
    X, given = prepared.rows.take(some)[:, :m], values_of(fit, some)
    drawn = _drawn(fit, some)
    told: dict[str, list[str]] = {}
    for j in columns.tolist():
        told.setdefault(next(_of_column(rule, fit, j, X, given, drawn), ""), []).append(clipped(fit.names[j]))
    return [f"{', '.join(which)} ({words})" if words else ", ".join(which) for words, which in told.items()]


def _drawn(fit: Fit, some: IntArray) -> Array | None:
    """Rows drawn from the fit, as it scales them, shape (N, m); None where it cannot be sampled, or has covariates."""
    family = fit.prepared.preparation.scaled_family
    if fit.n_given:
        return None
    found = Simulator(family, fit.prepared.rows.take(some)).draw(proper(family, fit.loss, fit.unshrunk))
    return None if found is None or not np.isfinite(found).all() else found[: MisfitRule.most_rows]


def _of_column(rule: MisfitRule, fit: Fit, j: int, X: Array, given: Array, drawn: Array | None) -> Iterator[str]:
    """In which ways the fit misses a column, the one first that says most."""
    own = given[~np.isnan(given[:, j]), j]
    values, rows = np.unique(own, return_counts=True)
    if kind := kind_if_no_measurement(own):
        yield kind
    if rows.max() >= rule.many_ties * own.size:
        yield f"{rows.max() / own.size:.0%} are {values[rows.argmax()]:.6g}"
    if drawn is None:
        return
    bends = curves(X, j) - curves(drawn, j)
    k = int(np.argmax(np.abs(bends)))
    if abs(bends[k]) > rule.curve:
        yield f"{CURVE} {clipped(fit.names[k])}"
    if has_two_humps(X[:, j], rule) and not has_two_humps(drawn[:, j], rule):
        yield "two humps"
    skewed = skewness(X[:, j]) - skewness(drawn[:, j])
    if abs(skewed) > rule.skewness:
        yield f"skewed to the {'right' if skewed > 0 else 'left'}"
    ratio = tails(X[:, j]) / tails(drawn[:, j])
    if not 1 / rule.tails < ratio < rule.tails:
        yield f"{'long' if ratio > 1 else 'short'} tails"


def skewness(x: Array) -> float:
    """Skewness by quantiles, (q95 + q5 - 2 q50) / (q95 - q5)."""
    low, middle, high = np.quantile(x, (0.05, 0.5, 0.95))
    return float((high + low - 2 * middle) / (high - low)) if high > low else 0.0


def tails(x: Array) -> float:
    """The range of 98 % of the values over that of half of them."""
    least, low, high, most = np.quantile(x, (0.01, 0.25, 0.75, 0.99))
    return float((most - least) / (high - low)) if high > low else np.inf


def has_two_humps(x: Array, rule: MisfitRule) -> bool:
    """Whether a smooth density of the values, shape (n,), has two humps with a valley between them."""
    low, high = np.quantile(x, (0.01, 0.99))
    inside = x[(x >= low) & (x <= high)]
    if not low < high or inside.std() == 0:
        return False
    height = gaussian_kde(inside)(np.linspace(low, high, 200))
    peaks = np.flatnonzero((height[1:-1] > height[:-2]) & (height[1:-1] >= height[2:])) + 1
    if peaks.size < 2:
        return False
    first, second = np.sort(peaks[np.argsort(height[peaks])[-2:]])
    lower, higher = np.sort(height[[first, second]])
    return bool(lower >= rule.hump * higher and height[first:second].min() <= rule.valley * lower)


def curves(X: Array, j: int) -> Array:
    """How much column j rises and falls along each of the others, from -1 to 1, of rows X, shape (n, m): (m,)."""
    ranks = rankdata(X, axis=0) / len(X)
    ranks -= ranks.mean(axis=0)
    length = np.maximum((ranks**2).sum(axis=0), np.finfo(float).tiny)
    squares = ranks**2 - (ranks**2).mean(axis=0) - ranks * ((ranks**3).sum(axis=0) / length)
    size = np.sqrt((squares**2).sum(axis=0) * length[j])
    found = squares.T @ ranks[:, j] / np.where(size > _ROUNDING * length, size, np.inf)  # two values have no bend
    found[j] = 0.0
    return np.asarray(found)
