"""Where the iteration starts: the point with the least total distance, found by products of the points."""

import numpy as np
import pytest

from robscore.medians.clouds import PointCloud

RNG = np.random.default_rng(0)
CLOUDS = {
    "normal": RNG.normal(size=(60, 5)),
    "ties": RNG.integers(-2, 3, size=(60, 2)).astype(float),
    "far": np.vstack([RNG.normal(size=(40, 3)), 1e30 * RNG.normal(size=(15, 3))]),
    "two tight clusters": np.repeat([[1e5, 0.0], [-1e5, 3.0]], [30, 31], axis=0) + 1e-6 * RNG.normal(size=(61, 2)),
    "all equal": np.zeros((7, 2)),
}


@pytest.mark.parametrize("points", CLOUDS.values(), ids=CLOUDS)
def test_candidates_hold_the_point_of_least_total_distance(points):
    p = RNG.integers(1, 4, len(points)).astype(float)
    total = np.linalg.norm(points[:, None] - points[None], axis=2) @ p
    candidates = PointCloud(points)._nearest_in_total(np.arange(len(points)), p)
    assert int(np.argmin(total)) in candidates


def test_candidates_are_few_where_points_differ():
    points = RNG.normal(size=(500, 50))
    assert PointCloud(points)._nearest_in_total(np.arange(500), np.ones(500)).size < 5
