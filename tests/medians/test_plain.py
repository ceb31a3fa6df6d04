"""The bare iteration: where it says that it has the median, it has; where it cannot tell, it says nothing."""

import numpy as np
import pytest
from reference import brute_median

import robscore as rs
from robscore.medians.clouds import PointCloud
from robscore.medians.geometric_median import certified_median, median_weights

RNG = np.random.default_rng(0)


def bare_iteration(points, tol=1e-10):
    """Weiszfeld's iteration as anybody writes it down."""
    median = points.mean(axis=0)
    for _ in range(1000):
        distances = np.linalg.norm(points - median, axis=1)
        weights = 1 / distances
        weights /= weights.sum()
        last, median = median, weights @ points
        if np.linalg.norm(median - last) <= tol * distances.mean():
            break
    return median


@pytest.mark.parametrize("seed", range(20))
def test_what_is_certified_is_the_median(seed):
    rng = np.random.default_rng(seed)
    size, dimension = rng.integers(4, 60), rng.integers(2, 9)
    points = rng.standard_t(2, size=(size, dimension)) * rng.choice([1.0, 0.1], size=dimension)
    p = rng.uniform(0.1, 1, size=size)
    easy = certified_median(points, p, tol=1e-10)
    if easy is None:
        return  # no easy cloud; the next test counts how many are
    expected = median_weights(PointCloud(points - np.median(points, axis=0)), p)
    assert expected.converged
    np.testing.assert_allclose(easy.weights, expected.weights, atol=1e-8)
    np.testing.assert_allclose(easy.weights @ points, easy.median, atol=1e-9)


def test_most_clouds_are_easy_and_agree_with_a_general_optimiser():
    found = 0
    for _ in range(20):
        points = RNG.normal(size=(30, 4))
        easy = certified_median(points, np.ones(30), tol=1e-10)
        found += easy is not None
        if easy is not None:
            np.testing.assert_allclose(easy.median, brute_median(points), atol=1e-6)
    assert found >= 15


@pytest.mark.parametrize(
    "points",
    [
        np.outer([1.0, 2, 4, 10], [1.0, 2.0]),  # on a line
        RNG.normal(size=(40, 3)) * [1, 1e-4, 1e-4],  # nearly on one
        np.array([[0.0, 0.0], [1.0, 0.0], [1e200, 1.0], [-1e200, 3.0]]),  # squares overflow
    ],
)
def test_hard_clouds_are_left_to_the_safe_iteration(points):
    assert certified_median(points, np.ones(len(points)), tol=1e-10) is None
    assert rs.geometric_median(points).converged


def test_a_sample_of_bad_points_costs_no_digits():
    points = RNG.normal(size=(250, 3))
    bad = points.copy()
    bad[::10] = 1e30  # all that the first look sees
    near, far = rs.geometric_median(bad), rs.median_of_means(bad, 250)
    rest = rs.geometric_median(np.delete(points, np.s_[::10], axis=0)).median
    assert np.linalg.norm(near.median - rest) < 0.5
    np.testing.assert_allclose(far.median, near.median, atol=1e-8)


def test_a_heavy_point_is_the_median_at_once():
    points = np.vstack([np.zeros((40, 5)), RNG.normal(size=(60, 5))])
    result = rs.geometric_median(points)
    np.testing.assert_array_equal(result.median, np.zeros(5))
    np.testing.assert_allclose(result.weights[:40], 1 / 40)


@pytest.mark.parametrize("shape", [(1000, 1000), (10_000, 10)])
def test_easy_clouds_take_a_few_steps(shape):
    points = RNG.normal(size=shape)
    easy = certified_median(points, np.ones(len(points)), tol=1e-10)
    assert easy.n_iter < 15
    np.testing.assert_array_equal(rs.geometric_median(points).median, easy.median)
