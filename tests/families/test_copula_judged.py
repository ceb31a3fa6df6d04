"""What a fit of columns of any kind says of itself and of rows: whether it fits, losses, predictions, simulations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, poisson

import robscore as rs

CLASSIC = {"n_blocks": 1, "alphas": 10}


def kinds(n: int, seed: int = 0) -> np.ndarray:
    """Rows of a chain, as a continuous column, two values, answers, many zeros, and counts."""
    K = np.eye(5) + 0.4 * (np.eye(5, k=1) + np.eye(5, k=-1)) * -1
    covariance = np.linalg.inv(K)
    size = np.sqrt(covariance.diagonal())
    correlation = covariance / np.multiply.outer(size, size)
    z = np.random.default_rng(seed).multivariate_normal(np.zeros(5), correlation, size=n)
    make = (
        np.exp,
        lambda z: z > 0.3,
        lambda z: np.digitize(z, [-1.2, -0.4, 0.3, 1.1]),
        lambda z: np.maximum(z, 0.0),
        lambda z: poisson.ppf(norm.cdf(z), 3),
    )
    return np.column_stack([make[j](z[:, j]) for j in range(5)]).astype(float)


def test_a_dependence_that_bends_is_refuted() -> None:
    """Up to categories, and the pair is named."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    X = np.column_stack([x, np.abs(x) + 0.3 * rng.normal(size=500), rng.normal(size=500)])
    X[:, 0] = np.digitize(X[:, 0], [-1, -0.3, 0.3, 1])
    found = rs.RobustGraph("copula", **CLASSIC).fit(X).check_fit()
    assert found.verdict == "does not fit"
    assert "x0 and x1 (a dependence that bends)" in found.words
    assert (found.pairs["source"][0], found.pairs["target"][0]) == ("x0", "x1")
    assert found.columns["misses"].tolist() == ["a dependence that bends"] * 2 + [""]


def test_joint_extremes_beyond_normal_ones_are_refuted() -> None:
    rng = np.random.default_rng(0)
    z = rng.multivariate_normal(np.zeros(4), np.eye(4) * 0.6 + 0.4, size=2000)
    t = z / np.sqrt(rng.chisquare(5, size=(2000, 1)) / 5)
    found = rs.RobustGraph("copula", **CLASSIC).fit(t).check_fit()
    assert found.p_value < 1e-6
    assert "extreme together more often" in found.words
    assert rs.RobustGraph("copula", **CLASSIC).fit(z).check_fit().verdict == "fits"


@pytest.mark.long
def test_a_true_copula_is_refuted_as_often_as_the_level_says() -> None:
    p_values = [rs.RobustGraph("copula", **CLASSIC).fit(kinds(400, s)).check_fit().p_value for s in range(30)]
    assert np.mean(np.array(p_values) < 0.05) < 0.18
    assert np.mean(np.array(p_values) < 0.5) > 0.2
