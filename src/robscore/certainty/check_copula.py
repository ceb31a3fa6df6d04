"""Does the Gaussian copula fit? Of two columns it says more than how much they go together, whatever their margins.

Margins can be anything, so what can be wrong is how columns go together. With s_j the scores of a column (the mean of
the latent number, of variance 1 here, given the cell's interval), u_j = Phi(s_j), and q(x) what is left of x^2 after 1
and x, a pair has

    joint extremes  mean(q(s_j) q(s_k))   large where columns are extreme together more often than normal ones
    a bend          mean(q(u_j) u_k)      not zero where column k first rises and then falls with column j
    association     mean(s_j s_k)         which the fit has followed

Scores of cells that are known to an interval vary less than latent numbers, and margins are those of the same rows. So
all three are compared with those of rows simulated from the fit, discretised by its margins, without the cells that are
missing, and given margins of their own. By these rows each of the first two is also freed of what it has in common with
the association, which makes up for its being estimated. A column of two values has q = 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, stdtr

from robscore._tools.typing import Array, IntArray
from robscore.families.copula import GaussianCopula, Margins
from robscore.fitting.fit_result import Fit
from robscore.fitting.latent_scale import latent_correlations

N_SIMULATED, FEW_SIMULATED = 200, 60  # tables; where the check should cost little beside the fit
_LEAST_LEFT = 1e-3  # deviation of what is left of s^2, relative to s^2, of columns of more than two values
BENDS = "a dependence that bends"
_KINDS = ("extremes that come together", "extremes that avoid each other", BENDS)


@dataclass(frozen=True, eq=False)
class PairCheck:
    """How far every pair is from what the copula says.

    Attributes
    ----------
    z : array of shape (3, m, m)
        z-scores: of joint extremes (symmetric), of column k bending with column j (entry j, k), and the larger one of
        the bends both ways (symmetric). NaN where a column has two values, and on the diagonal.
    p_values : array of shape (m, m)
        Of a pair, by the largest of its z-scores, each counted as often as there are.
    tails : float
        The z-score of the mean of all joint extremes.
    n_simulated : int
    """

    z: Array
    p_values: Array
    tails: float
    n_simulated: int

    @property
    def p_tails(self) -> float:
        """Of the mean of all joint extremes."""
        return float(_two_sided(self.tails, self.n_simulated))

    @property
    def p_value(self) -> float:
        """Of all pairs at once: joint extremes of all pairs together, or the pair that stands out most."""
        pairs = self.p_values[np.triu_indices(len(self.p_values), k=1)]
        known = pairs[np.isfinite(pairs)]
        if not known.size:
            return 1.0
        alone = float(known.min()) * known.size
        return min(1.0, 2 * min(self.p_tails, alone))

    @property
    def p_columns(self) -> Array:
        """Of a column, by its pairs, shape (m,)."""
        known = np.where(np.isfinite(self.p_values), self.p_values, 1.0)
        return np.asarray(np.minimum(known.min(axis=1) * max(len(known) - 1, 1), 1.0))

    def misses(self, j: int, k: int) -> str:
        """What is wrong with a pair, in words."""
        extremes, bend = self.z[0, j, k], self.z[2, j, k]
        if not abs(extremes) > abs(bend):
            return _KINDS[2]
        return _KINDS[0] if extremes > 0 else _KINDS[1]


def check_pairs(fit: Fit, rows: IntArray, columns: IntArray, n_simulated: int) -> PairCheck:
    """Check some columns of a copula's fit by some of its rows, by ascending positions."""
    family, margins = fit.prepared.preparation.family, fit.prepared.preparation.scaling
    assert isinstance(family, GaussianCopula)
    assert isinstance(margins, Margins)
    X = margins.undo(fit.prepared.rows.take(rows))[:, columns]
    filling = fit.prepared.filling
    missing = np.zeros(X.shape, dtype=bool) if filling is None else filling.missing[np.ix_(rows, columns)]
    names = [fit.names[j] for j in columns]
    own, R = family.of_columns(names), latent_correlations(fit.loss)[np.ix_(columns, columns)]
    root = np.linalg.cholesky(R)
    rng, some = np.random.default_rng([fit.settings.seed, 3]), margins.of_columns(columns)

    def tables() -> Iterator[Array]:
        yield X
        for _ in range(n_simulated):
            yield some.undo(rng.standard_normal(X.shape) @ root.T)

    found = []
    for table in tables():
        table[missing] = np.nan
        found.append(_statistics(_scores(own.margins(table, names), table)))
    return _compared(np.stack(found))


def _scores(margins: Margins, X: Array) -> Array:
    """The mean of the latent number given what each cell says, shape (n, m), with variance 1; 0 in missing cells."""
    lower, upper = margins.bounds(X)
    with np.errstate(invalid="ignore"):
        density = np.exp(-(lower**2) / 2) - np.exp(-(upper**2) / 2)
        inside = density / np.sqrt(2 * np.pi) / (ndtr(upper) - ndtr(lower))
    scores = np.where(lower == upper, lower, inside)
    scores = np.where(np.isfinite(scores), scores, 0.0)
    return _standard(scores)


def _statistics(scores: Array) -> Array:
    """Association, joint extremes, and bends of all pairs, shape (3, m, m); bends of k with j at (j, k)."""
    ranks = _standard(ndtr(scores))
    extremes, bend = _left_of_square(scores), _left_of_square(ranks)
    return np.stack([scores.T @ scores, extremes.T @ extremes, bend.T @ ranks]) / len(scores)


def _left_of_square(x: Array) -> Array:
    """What is left of x^2 after 1 and x, with variance 1; 0 for columns of two values."""
    square = x**2
    left = square - 1.0 - x * np.mean(x * square, axis=0)
    deviation = left.std(axis=0)
    is_left = deviation > _LEAST_LEFT * np.maximum(square.std(axis=0), 1.0)
    return np.where(is_left, left / np.where(is_left, deviation, 1.0), 0.0)


def _standard(x: Array) -> Array:
    """With mean 0 and variance 1; a column without variance stays 0."""
    centred = x - x.mean(axis=0)
    return np.asarray(centred / np.maximum(centred.std(axis=0), np.finfo(float).tiny))


def _compared(found: Array) -> PairCheck:
    """The first of some tables' statistics, shape (1 + B, 3, m, m), beside all others."""
    observed, simulated = found[0], found[1:]
    count, m = len(simulated), observed.shape[1]
    away, all_away = observed - simulated.mean(axis=0), simulated - simulated.mean(axis=0)
    slope = np.mean(all_away[:, 1:] * all_away[:, :1], axis=0) / np.maximum(
        np.mean(all_away[:, 0] ** 2, axis=0), 1e-300
    )
    left, all_left = away[1:] - slope * away[0], all_away[:, 1:] - slope * all_away[:, :1]
    deviation = np.sqrt(np.sum(all_left**2, axis=0) / (count - 2) * (1 + 1 / count))
    known = (deviation > 1e-9) & ~np.eye(m, dtype=bool)  # rounding is all that varies where a column has two values
    scale = np.where(known, deviation, 1.0)
    z = np.where(known, left / scale, np.nan)
    each = np.where(known, all_left / scale, 0.0)[:, 0]
    upper = np.triu_indices(m, k=1)
    together, all_together = np.nansum(z[0][upper]), each[:, upper[0], upper[1]].sum(axis=1)
    spread = float(np.sqrt(np.sum(all_together**2) / (count - 2) * (1 + 1 / count)))
    bend, across = np.nan_to_num(z[1]), np.nan_to_num(z[1].T)
    larger = np.where(known[1] | known[1].T, np.where(np.abs(bend) >= np.abs(across), bend, across), np.nan)
    largest = np.fmax(np.abs(z[0]), np.abs(larger))
    times = known[0].astype(float) + known[1] + known[1].T
    p_values = np.minimum(times * _two_sided(largest, count), 1.0)
    np.fill_diagonal(p_values, np.nan)
    return PairCheck(np.stack([z[0], z[1], larger]), p_values, together / spread if spread > 0 else 0.0, count)


def _two_sided(z: Array | float, count: int) -> Array | float:
    """P-values of z-scores whose mean and deviation come from so many simulated tables: Student's law."""
    return 2 * stdtr(count - 2, -np.abs(z))
