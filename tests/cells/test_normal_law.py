"""Holes of normal rows given the rest: drawn at once, with the moments that they should have."""

import numpy as np
import pytest

import robscore as rs
from robscore.cells import DrawingOrder, completions, normal_given_the_rest


@pytest.mark.parametrize("family", ["gaussian", "log-log"])
def test_completions_have_the_conditional_moments(family: str) -> None:
    """Against textbook formulas of the covariance; completions do not depend on each other."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(5, 5))
    K, eta = A @ A.T + np.eye(5), rng.normal(size=5)
    Y, holes = rng.normal(size=(6, 5)), rng.random((6, 5)) < 0.5
    X = Y if family == "gaussian" else np.exp(Y)
    order = DrawingOrder(np.arange(6)[::-1], np.array([2, 0, 4, 1, 3]))
    rngs = [np.random.default_rng([1, k]) for k in range(20_000)]
    drawn = completions(
        rs.families.get_family(family), X, holes, (K, eta), order=order, sweeps=[1] * len(rngs), rngs=rngs
    )
    np.testing.assert_array_equal(drawn[:, ~holes], np.broadcast_to(X[~holes], (len(rngs), (~holes).sum())))
    normal = drawn if family == "gaussian" else np.log(drawn)
    covariance = np.linalg.inv(K)
    mean = covariance @ (eta if family == "gaussian" else eta + 1)  # dx = x d log x
    for row in range(6):
        missing, there = np.flatnonzero(holes[row]), np.flatnonzero(~holes[row])
        slope = covariance[np.ix_(missing, there)] @ np.linalg.inv(covariance[np.ix_(there, there)])
        rest = covariance[np.ix_(missing, missing)] - slope @ covariance[np.ix_(there, missing)]
        own = normal[:, row, missing]
        np.testing.assert_allclose(own.mean(axis=0), mean[missing] + slope @ (Y[row, there] - mean[there]), atol=0.03)
        np.testing.assert_allclose(np.atleast_2d(np.cov(own.T)), rest, atol=0.03)
        if missing.size:
            assert abs(np.corrcoef(own[:-1, 0], own[1:, 0])[0, 1]) < 0.03


def test_rows_without_holes_have_no_law() -> None:
    assert list(normal_given_the_rest(np.ones((3, 2)), np.zeros((3, 2), dtype=bool), np.eye(2), np.zeros(2))) == []
