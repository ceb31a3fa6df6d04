"""Simulated tables of mixed columns, each a function of a latent normal number: rows, bad rows, and the truth."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import norm, poisson, rankdata
from scipy.stats import t as student

import robscore as rs

KINDS = ("log-normal", "two values", "answers", "zeros", "counts", "heavy tails")
NUMERIC = ("log-normal", "zeros", "counts", "heavy tails")
DAMAGES = ("Pareto", "other rows", "six deviations", "straight lines", "copies")
SHARE = 0.05
_THRESHOLDS = {"two values": [0.2], "answers": [-1.2, -0.4, 0.3, 1.1], "zeros": [-0.25]}
_MEAN_COUNT = 3
_CERTAIN = 1e-12  # probabilities closer to 0 or 1 have no quantile that is finite


@dataclass(frozen=True, eq=False)
class MixedTable:
    """A table of mixed columns and what is true of it.

    Attributes
    ----------
    X : array of shape (n, m)
    latent : array of shape (n, m)
        The numbers behind X, before rows were made bad.
    bad : boolean array of shape (n,)
    association : array of shape (m, m)
        Partial correlations of the latent numbers, 0 on the diagonal.
    kinds : tuple of m of the ``KINDS``
    """

    X: np.ndarray
    latent: np.ndarray
    bad: np.ndarray
    association: np.ndarray
    kinds: tuple[str, ...]


def mixed_table(
    n: int, m: int = 24, seed: int = 0, damage: str = "clean", only: str | None = None, n_edges: int | None = None
) -> MixedTable:
    """Return n rows of m columns, of all kinds in turn or of one alone, with 5 edges for 4 columns."""
    truth = rs.simulate.random_model(m, 5 * m // 4 if n_edges is None else n_edges, random_state=seed)
    K, covariance = truth.interaction, np.linalg.inv(truth.interaction)
    deviation, size = np.sqrt(covariance.diagonal()), np.sqrt(K.diagonal())
    rng = np.random.default_rng([seed, n])
    Z = rng.multivariate_normal(np.zeros(m), covariance / np.multiply.outer(deviation, deviation), size=n)
    kinds = tuple(KINDS[j % len(KINDS)] if only is None else only for j in range(m))
    X, bad = damaged(Z, kinds, damage, rng)
    return MixedTable(X, Z, bad, np.where(np.eye(m), 0.0, -K / np.multiply.outer(size, size)), kinds)


def columns_of(Z: np.ndarray, kinds: Sequence[str]) -> np.ndarray:
    """Return columns of these kinds as functions of latent numbers, shape (n, m)."""
    X = np.empty(Z.shape)
    for j, (z, kind) in enumerate(zip(Z.T, kinds, strict=True)):
        probability = np.clip(ndtr(z), _CERTAIN, 1 - _CERTAIN)
        if kind == "log-normal":
            X[:, j] = np.exp(z)
        elif kind == "zeros":
            X[:, j] = np.maximum(z - _THRESHOLDS[kind][0], 0.0)
        elif kind == "counts":
            X[:, j] = poisson.ppf(probability, _MEAN_COUNT)
        elif kind == "heavy tails":
            X[:, j] = student.ppf(probability, 2)
        else:
            X[:, j] = np.digitize(z, _THRESHOLDS[kind])
    return X


def damaged(
    Z: np.ndarray, kinds: Sequence[str], damage: str, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the table of latent rows Z, shape (n, m), of which a share is bad, and which rows are, shape (n,)."""
    X, bad = columns_of(Z, kinds), np.zeros(len(Z), dtype=bool)
    if damage == "clean":
        return X, bad
    rows = rng.choice(len(Z), round(SHARE * len(Z)), replace=False)
    bad[rows], shape = True, (rows.size, Z.shape[1])
    if damage == "Pareto":
        X[rows] = np.where(np.isin(kinds, NUMERIC), pareto_values(X, kinds, rows.size, rng), X[rows])
    elif damage == "other rows":
        X[rows] = X[rng.integers(len(Z), size=shape), np.arange(Z.shape[1])]
    elif damage == "six deviations":
        X[rows] = columns_of(Z[rows] + 6 * rng.choice([-1.0, 1.0], size=shape), kinds)
    elif damage == "straight lines":
        X[rows] = np.where(np.isin(kinds, "answers"), rng.integers(5, size=(rows.size, 1)), X[rows])
    elif damage == "copies":
        X[rows] = X[rows[0]]
    else:
        raise ValueError(f"no damage called {damage}")
    return X, bad


def pareto_values(X: np.ndarray, kinds: Sequence[str], n: int, rng: np.random.Generator) -> np.ndarray:
    """Return n values a column from three medians of its size upwards; whole ones where there are counts."""
    values = 3 * np.median(np.abs(X), axis=0) * (1 + rng.pareto(1, size=(n, X.shape[1])))
    return np.where(np.isin(kinds, "counts"), np.round(values), values)


@cache
def efficiency(kind: str) -> float:
    """Return what a column says of a weak correlation, over what its latent numbers would say: the variance of E[z|x].

    An interval from a to b of probability p has the mean (phi(a) - phi(b)) / p, and points their own value.

    Examples
    --------
    >>> from benchmarks.tools.mixed_columns import efficiency
    >>> round(efficiency("log-normal"), 2), round(efficiency("two values"), 2)
    (1.0, 0.62)
    """
    if kind == "counts":
        inner = ndtri(poisson.cdf(np.arange(poisson.ppf(1 - _CERTAIN, _MEAN_COUNT)), _MEAN_COUNT))
    elif kind in _THRESHOLDS:
        inner = np.array(_THRESHOLDS[kind])
    else:
        return 1.0
    ends = np.concatenate([[-np.inf], inner, [np.inf]])
    density, at = norm.pdf(ends), np.nan_to_num(ends, posinf=0.0, neginf=0.0)
    probability = np.diff(ndtr(ends))
    of_intervals = np.diff(density) ** 2 / probability
    if kind == "zeros":  # points above the threshold: E[z^2; z > a] = p + a phi(a)
        return float(of_intervals[0] + probability[1] + at[1] * density[1])
    return float(of_intervals.sum())


def bound(kinds: Sequence[str]) -> float:
    """Return the least error of all associations near independence, over that of the latent rows: root mean square."""
    inverse = 1 / np.array([efficiency(kind) for kind in kinds])
    pairs = np.triu_indices(len(kinds), k=1)
    return float(np.sqrt(np.mean(np.multiply.outer(inverse, inverse)[pairs])))


def normal_scores(X: np.ndarray) -> np.ndarray:
    """Return the normal quantiles of ranks, the middle ones of values that several rows share."""
    return ndtri((rankdata(X, axis=0) - 0.5) / len(X))
