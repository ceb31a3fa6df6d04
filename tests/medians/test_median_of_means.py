import numpy as np
import pytest

import robscore as rs
from robscore.medians import make_blocks


@pytest.mark.parametrize(("n", "n_blocks"), [(10, 3), (1000, 400), (7, 7), (7, 1), (12, 4)])
def test_block_sizes_differ_by_at_most_one_and_cover_all_rows(n, n_blocks):
    for rng in (None, np.random.default_rng(0)):
        blocks = make_blocks(n, n_blocks, rng)
        sizes = [len(block) for block in blocks]
        assert len(blocks) == n_blocks
        assert max(sizes) - min(sizes) <= 1
        assert sorted(np.concatenate(blocks)) == list(range(n))
    if 1 < n_blocks < n:
        assert np.array_equal(np.concatenate(make_blocks(n, n_blocks)), np.arange(n))


@pytest.mark.parametrize(
    ("n", "contamination", "expected"),
    [(1000, 0.05, 200), (1000, 0.0, 1), (261, 0.01, 10), (100, 0.4, 100), (3, 0.1, 1), (10, 0.0125, 1), (10, 0.04, 2)],
)
def test_number_of_blocks(n, contamination, expected):
    assert rs.n_blocks_for(n, contamination) == expected


@pytest.mark.parametrize("contamination", [-0.01, 0.5, 1.0, np.nan])
def test_contamination_outside_its_range(contamination):
    with pytest.raises(ValueError, match=r"contamination=.*\[0, 0.5\)"):
        rs.n_blocks_for(100, contamination)


@pytest.mark.parametrize("n_blocks", [0, 11, 2.5, True])
def test_number_of_blocks_outside_its_range(n_blocks):
    with pytest.raises(ValueError, match="n_blocks"):
        rs.median_of_means(np.zeros((10, 2)), n_blocks)


def test_one_block_is_the_mean_and_n_blocks_the_geometric_median():
    points = np.random.default_rng(0).normal(size=(30, 4)) + 1e6
    mean = rs.median_of_means(points, 1)
    np.testing.assert_allclose(mean.median, points.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(mean.weights, 1 / 30)
    np.testing.assert_allclose(rs.median_of_means(points, 30).median, rs.geometric_median(points).median, rtol=1e-12)


def test_blocks_of_unequal_size():
    points = np.random.default_rng(0).normal(size=(11, 3))
    means = np.array([points[block].mean(axis=0) for block in make_blocks(11, 4)])
    expected = rs.geometric_median(means)
    result = rs.median_of_means(points, 4)
    np.testing.assert_allclose(result.median, expected.median, atol=1e-9)
    assert result.weights.sum() == pytest.approx(1)


def test_averaging_over_partitions_is_repeatable_and_forgets_the_order():
    rng = np.random.default_rng(0)
    points = rng.gamma(1.0, size=(60, 2))
    first = rs.median_of_means(points, 12, n_partitions=5, random_state=3)
    again = rs.median_of_means(points, 12, n_partitions=5, random_state=3)
    np.testing.assert_array_equal(first.weights, again.weights)

    def disagreement(**options):
        order = rng.permutation(60)
        medians = [rs.median_of_means(p, 12, **options).median for p in (points, points[order])]
        return np.linalg.norm(medians[0] - medians[1])

    one = np.mean([disagreement() for _ in range(10)])
    many = np.mean([disagreement(n_partitions=30, random_state=0) for _ in range(10)])
    assert many < one / 2


def test_a_block_that_overflows_counts_for_nothing():
    points = np.concatenate([[1e308, 1e308], np.random.default_rng(0).normal(size=18)])
    result = rs.median_of_means(points, 10)
    assert (result.weights[:2] == 0).all()
    assert abs(result.median[0]) < 1
    with pytest.raises(ValueError, match="overflow"):
        rs.median_of_means(np.full(4, 1.7e308) * [1, 1, -1, -1] + 0, 1 + 1)


def test_bad_number_of_partitions():
    with pytest.raises(ValueError, match="n_partitions"):
        rs.median_of_means(np.zeros((10, 2)), 3, n_partitions=0)
