"""Laws of the geometric median."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import brute_median, sum_of_distances

import robscore as rs
from robscore.medians.clouds import GramCloud
from robscore.medians.geometric_median import median_weights


@st.composite
def clouds(draw, heavy=True):
    seed = draw(st.integers(0, 2**32 - 1))
    size = draw(st.integers(3, 40))
    dimension = draw(st.integers(2, 8))
    rng = np.random.default_rng(seed)
    return rng.standard_t(1.5 if heavy else 10, size=(size, dimension))


@given(clouds())
@settings(max_examples=60, deadline=None)
def test_weights_are_convex_and_give_the_median(points):
    median, weights, _, converged = rs.geometric_median(points)
    assert converged
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(weights @ points, median, atol=1e-9 * np.abs(points).max())


@given(clouds())
@settings(max_examples=40, deadline=None)
def test_agrees_with_a_general_optimiser(points):
    median = rs.geometric_median(points).median
    expected = brute_median(points)
    spread = np.median(np.linalg.norm(points - expected, axis=1))
    assert np.linalg.norm(median - expected) <= 1e-6 * spread
    assert sum_of_distances(points, median) <= sum_of_distances(points, expected) * (1 + 1e-12)


@given(clouds(), st.floats(-9, 9), st.sampled_from([0.0, 1.0, 1e4, 1e8]))
@settings(max_examples=60, deadline=None)
def test_scaling_and_shifting_move_the_median_along(points, exponent, shift):
    plain = rs.geometric_median(points)
    scale = 10.0**exponent
    moved = rs.geometric_median(points * scale)
    np.testing.assert_allclose(moved.weights, plain.weights, atol=1e-9)
    np.testing.assert_allclose(moved.median, plain.median * scale, atol=1e-8 * scale * np.abs(points).max())
    shifted = rs.geometric_median(points + shift)
    np.testing.assert_allclose(shifted.median, plain.median + shift, atol=1e-6 * max(1, np.abs(points).max()))


def test_a_shift_of_1e8_leaves_the_weights():
    points = np.random.default_rng(0).normal(size=(30, 4))
    exact = np.round(points * 2**20) / 2**20  # so that adding 1e8 loses nothing
    plain, moved = rs.geometric_median(exact), rs.geometric_median(exact + 1e8)
    np.testing.assert_allclose(moved.weights, plain.weights, atol=1e-6)


@given(clouds(), st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_rotating_rotates_and_permuting_permutes(points, seed):
    rng = np.random.default_rng(seed)
    rotation = np.linalg.qr(rng.normal(size=(points.shape[1],) * 2))[0]
    plain = rs.geometric_median(points)
    np.testing.assert_allclose(
        rs.geometric_median(points @ rotation).median, plain.median @ rotation, atol=1e-8 * np.abs(points).max()
    )
    order = rng.permutation(len(points))
    np.testing.assert_allclose(rs.geometric_median(points[order]).weights, plain.weights[order], atol=1e-8)


@given(clouds(heavy=False), st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_duplicates_keep_their_multiplicity(points, times):
    multiplicity = np.ones(len(points))
    multiplicity[0] += times
    repeated = np.concatenate([points, np.repeat(points[:1], times, axis=0)])
    weighted = rs.geometric_median(points, multiplicity)
    np.testing.assert_allclose(rs.geometric_median(repeated).median, weighted.median, atol=1e-8)


@given(clouds(heavy=False))
@settings(max_examples=30, deadline=None)
def test_inner_products_alone_give_the_same_weights(points):
    direct = rs.geometric_median(points)
    by_gram = median_weights(GramCloud(points @ points.T))
    assert by_gram.converged
    spread = np.abs(points).max()
    np.testing.assert_allclose(by_gram.weights @ points, direct.median, atol=1e-7 * spread)


def test_median_at_a_data_point_puts_all_weight_there():
    points = np.array([[0.0, 0.0], [3.0, 0.1], [-1.0, 2.0], [-1.0, -2.5], [0.0, 0.0]])
    result = rs.geometric_median(points)
    np.testing.assert_array_equal(result.median, [0, 0])
    np.testing.assert_allclose(result.weights, [0.5, 0, 0, 0, 0.5])
    assert result.converged


@pytest.mark.parametrize(
    ("values", "expected"),
    [([1.0, 2, 10], 2), ([1.0, 2, 4, 10], 3), ([5.0, 1], 3), ([7.0], 7), ([1.0, 1, 1, 9], 1), ([1.0, 1, 3, 3], 2)],
)
def test_on_a_line_it_is_the_median_with_midpoints(values, expected):
    assert rs.geometric_median(values).median == pytest.approx(expected)
    direction = np.array([3.0, -1.0, 2.0])
    on_line = np.outer(values, direction) + 5
    np.testing.assert_allclose(rs.geometric_median(on_line).median, expected * direction + 5)
    by_gram = median_weights(GramCloud(on_line @ on_line.T))
    assert by_gram.converged
    np.testing.assert_allclose(by_gram.weights @ on_line, expected * direction + 5)


def test_weighted_median_on_a_line():
    assert rs.geometric_median([0.0, 1.0, 2.0], [1, 1, 3]).median == pytest.approx(2)
    assert rs.geometric_median([0.0, 1.0, 2.0], [1, 0, 1]).median == pytest.approx(1)


def test_all_points_equal_have_uniform_weights():
    np.testing.assert_allclose(rs.geometric_median(np.full((6, 3), 2.5)).weights, 1 / 6)
    gram = np.full((6, 6), 3.7)
    np.testing.assert_allclose(median_weights(GramCloud(gram)).weights, 1 / 6)


def test_two_points_give_the_mean():
    np.testing.assert_allclose(rs.geometric_median([[0.0, 4.0], [2.0, 0.0]]).median, [1, 2])


@pytest.mark.parametrize("size", [1e3, 1e30, 1e200, 1e300])
def test_one_far_point_moves_the_median_a_bounded_way(size):
    points = np.random.default_rng(1).normal(size=(21, 3))
    clean = rs.geometric_median(points).median
    far = np.concatenate([points, [[size, -size, size]]])
    result = rs.geometric_median(far)
    assert np.linalg.norm(result.median - clean) < 0.5
    assert result.converged


def test_a_majority_of_weight_far_away_wins():
    assert rs.geometric_median([0.0, 1.0, 1e300], [1, 1, 5]).median == 1e300
    points = [[0.0, 0.0]] * 6 + [[10.0, 0.0], [11.0, 0.0], [10.0, 1.0], [1e300, 0.0]]
    weights = [0.01] * 6 + [1.0] * 4
    far, nearer = (rs.geometric_median([*points[:-1], [x, 0.0]], weights).median for x in (1e120, 1e10))
    np.testing.assert_allclose(far, nearer, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-200, 1e-170, 1e160])
def test_the_scale_of_the_weights_does_not_matter(scale):
    points = np.random.default_rng(0).normal(size=(11, 3))
    np.testing.assert_allclose(
        rs.geometric_median(points, np.full(11, scale)).median, rs.geometric_median(points).median, atol=1e-9
    )


@pytest.mark.parametrize("size", [1e12, 1e16, 1e30, 1e130])
def test_an_outlier_in_the_first_place_does_no_more_harm_than_in_the_last(size):
    points = np.concatenate([[[size, size]], np.random.default_rng(0).normal(size=(20, 2))])
    np.testing.assert_allclose(rs.geometric_median(points).median, rs.geometric_median(points[::-1]).median, atol=1e-9)


@pytest.mark.parametrize("e", [1e-2, 1e-3, 1e-4, 1e-5])
def test_four_corners_have_the_crossing_of_their_diagonals_however_flat(e):
    points = np.array([[0, 0], [1, e], [2, -e], [3.1, 0.3 * e]])
    result = rs.geometric_median(points)
    crossing = np.array([1.4307692307692308, 1.4307692307692308 * 0.3 / 3.1 * e])
    assert result.converged
    np.testing.assert_allclose(result.median, crossing, rtol=1e-5)


@pytest.mark.parametrize("seed", range(8))
def test_elongated_clouds_in_many_dimensions(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(4, 30)) * np.append(1e4, np.ones(29))
    basis = np.linalg.qr(points.T)[0]
    direct, in_span = rs.geometric_median(points), rs.geometric_median(points @ basis)
    assert direct.converged
    np.testing.assert_allclose(direct.weights, in_span.weights, atol=1e-6)


@pytest.mark.parametrize("aspect", [1e-1, 1e-2, 1e-3])
@pytest.mark.parametrize("seed", range(5))
def test_elongated_clouds_by_inner_products(aspect, seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(rng.choice([4, 6, 8, 20]), 3)) * [1, aspect, aspect]
    direct, by_gram = rs.geometric_median(points), median_weights(GramCloud(points @ points.T))
    assert direct.converged
    assert by_gram.converged
    np.testing.assert_allclose(by_gram.weights @ points, direct.median, atol=1e-7)


def test_many_points_in_few_dimensions():
    points = np.random.default_rng(2).standard_t(2, size=(50_000, 2))
    median, _, n_iter, converged = rs.geometric_median(points)
    difference = points - median
    gradient = (difference / np.linalg.norm(difference, axis=1)[:, None]).sum(axis=0)
    assert converged
    assert n_iter < 100
    assert np.linalg.norm(gradient) < 1


def test_an_iteration_cut_short_says_so():
    points = np.random.default_rng(3).normal(size=(30, 3))
    result = median_weights(GramCloud(points @ points.T), max_iter=2)
    assert not result.converged
    assert result.weights.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("points", "weights", "match"),
    [
        ([[np.nan, 1.0]], None, "NaN"),
        ([[np.inf, 1.0]], None, "infinite"),
        (np.zeros((0, 2)), None, "shape"),
        ([1.0, 2.0], [1.0], "one per point"),
        ([1.0, 2.0], [-1.0, 2.0], "non-negative"),
        ([1.0, 2.0], [0.0, 0.0], "not all zero"),
    ],
)
def test_bad_points_are_refused(points, weights, match):
    with pytest.raises(ValueError, match=match):
        rs.geometric_median(points, weights)
