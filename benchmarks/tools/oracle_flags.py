"""Flags of wrong cells by somebody who knows the truth: the parameters, what wrong cells look like, and how many."""

from collections.abc import Callable

import numpy as np
from scipy.special import expit
from scipy.stats import gaussian_kde

import robscore as rs
from robscore.cells.conditionals import conditionals
from robscore.cells.draw_cells import DrawingOrder, redrawn

_SWEEPS, _FIRST, _POINTS = 24, 8, 120  # of flags and draws; those left out of the average; of grids


def flags_by_truth(
    family: rs.families.Family,
    truth: rs.simulate.Model,
    Y: np.ndarray,
    log_q: Callable[[np.ndarray, int], np.ndarray],
    share: float,
    seed: int,
) -> np.ndarray:
    """Return cells of Y, shape (n, m), that are more likely wrong than not.

    By Gibbs sweeps: every cell is called wrong with its odds given the rest of the completed row, and redrawn if so.

    Parameters
    ----------
    family, truth : of the good cells
    Y : array of shape (n, m)
    log_q : the logarithm of the density of wrong cells, at values of a column
    share : of wrong cells
    seed : int
    """
    n, m = Y.shape
    at = truth.interaction, truth.location
    wrong_density = np.column_stack([log_q(Y[:, j], j) for j in range(m)])
    rng, order = np.random.default_rng(seed), DrawingOrder(np.arange(n), np.arange(m))
    usual = np.ones(n, dtype=bool)
    total, middle = np.zeros(Y.shape), np.median(Y, axis=0)
    X = np.where(np.abs(Y - middle) > 4 * np.median(np.abs(Y - middle), axis=0), middle, Y)
    for sweep in range(_FIRST + _SWEEPS):
        found = conditionals(family, X, at, Y, np.arange(m), usual, _POINTS)
        with np.errstate(over="ignore", invalid="ignore"):
            log_odds = np.log(share) - np.log1p(-share) + wrong_density - found.log_density
            probability = expit(np.nan_to_num(log_odds, nan=-np.inf))
        wrong = rng.random(Y.shape) < probability
        X = redrawn(family, np.where(wrong, X, Y), wrong, at, order=order, sweeps=1, rng=rng)
        total += probability if sweep >= _FIRST else 0.0
    return np.asarray(total / _SWEEPS > 0.5)


def pareto_density(X: np.ndarray, *, on_line: bool) -> Callable[[np.ndarray, int], np.ndarray]:
    """Return the log density of cells 3 (1 + Pareto(1)) times, or deviations above, the median of their column."""
    middle, deviation = np.median(X, axis=0), X.std(axis=0)

    def log_q(x: np.ndarray, j: int) -> np.ndarray:
        unit = deviation[j] if on_line else middle[j]
        times = (x - middle[j] if on_line else x) / (3 * unit)  # 1 + Pareto(1) has the density 1 / times^2
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(times >= 1, -2 * np.log(times) - np.log(3 * unit), -np.inf)

    return log_q


def column_density(X: np.ndarray) -> Callable[[np.ndarray, int], np.ndarray]:
    """Return a kernel estimate of the log density of a column, on the scale of x^(1/4) where x is positive."""
    positive = bool((X > 0).all())

    def log_q(x: np.ndarray, j: int) -> np.ndarray:
        if not positive:
            return np.asarray(gaussian_kde(X[:, j]).logpdf(x))
        return np.asarray(gaussian_kde(X[:, j] ** 0.25).logpdf(x**0.25) - 0.75 * np.log(x) - np.log(4))

    return log_q
