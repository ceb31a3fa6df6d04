"""Row weights by all three ways, against explicit block means and another algorithm."""

import numpy as np
import pytest
from designs import first, swept
from reference import block_means, brute_median, exact_row_elements
from registry import CASES, STATISTICS

import robscore as rs
from robscore.elements import cheapest_way
from robscore.medians import make_blocks

WAYS = ["rows", "nodes", "streamed"]


def by_name(value):
    return str(value)


@pytest.mark.parametrize(("case", "n_blocks"), swept(CASES + STATISTICS, [1, 2, 3, 5, 7, 12, 24]), ids=by_name)
def test_medians_agree_with_brute_force(case, n_blocks):
    X = case.draw(np.random.default_rng(5), 24, 3)
    elements = rs.score_elements(case.family, X)
    means = block_means(elements, make_blocks(24, n_blocks))
    rows = [np.array(part) for part in zip(*(exact_row_elements(elements, i) for i in range(24)), strict=True)]
    for way in WAYS:
        weights = rs.robust_weights(elements, n_blocks, way=way)
        for part in (0, 1):
            assert (weights[part] >= 0).all()
            assert weights[part].sum() == pytest.approx(1, abs=1e-12)
            expected = means[part].mean(axis=0) if n_blocks <= 2 else brute_median(means[part])
            ours = weights[part] @ rows[part]
            scale = np.linalg.norm(expected)
            assert np.linalg.norm(ours - expected) <= 1e-8 * scale


@pytest.mark.parametrize(("case", "n_blocks"), swept(CASES + STATISTICS, [4, 9, 30]), ids=by_name)
def test_weights_agree_across_ways(case, n_blocks):
    elements = rs.score_elements(case.family, case.draw(np.random.default_rng(8), 30, 4))
    first, *others = (rs.robust_weights(elements, n_blocks, way=way) for way in WAYS)
    for other in others:
        np.testing.assert_allclose(other.gamma_weights, first.gamma_weights, atol=1e-9)
        np.testing.assert_allclose(other.g_weights, first.g_weights, atol=1e-9)


@pytest.mark.parametrize("case", CASES + STATISTICS, ids=by_name)
def test_block_gram_is_that_of_explicit_block_means(case):
    elements = rs.score_elements(case.family, case.draw(np.random.default_rng(2), 17, 3))
    blocks = [np.array([0, 5, 3]), np.array([16]), np.array([1, 2]), np.array([9, 10, 11, 12])]
    for ours, means in zip(elements.block_gram(blocks), block_means(elements, blocks), strict=True):
        np.testing.assert_allclose(ours, means @ means.T, rtol=1e-11)


def test_large_blocks_by_streaming():
    X = np.random.default_rng(0).gamma(2.0, size=(700, 2))
    elements = rs.score_elements("sqrt", X)
    streamed, rows = (rs.robust_weights(elements, 5, way=way) for way in ("streamed", "rows"))
    np.testing.assert_allclose(streamed.gamma_weights, rows.gamma_weights, atol=1e-8)


def test_many_blocks_are_streamed_and_agree_with_the_rows_way():
    X = np.random.default_rng(0).gamma(2.0, size=(3000, 4))
    elements = rs.score_elements("sqrt", X)
    streamed, rows = (rs.robust_weights(elements, 1500, way=way) for way in ("streamed", "rows"))
    np.testing.assert_allclose(streamed.gamma_weights, rows.gamma_weights, atol=1e-10)
    np.testing.assert_allclose(streamed.g_weights, rows.g_weights, atol=1e-10)


@pytest.mark.parametrize(
    ("n", "m", "n_blocks", "expected"),
    [(1000, 100, 200, "rows"), (20_000, 30, 100, "nodes"), (200_000, 3, 40_000, "streamed")],
)
def test_the_way_is_chosen_by_cost_and_memory(n, m, n_blocks, expected):
    elements = rs.score_elements("sqrt", np.ones((n, m)))
    assert cheapest_way(elements, "gamma", n_blocks, n) == expected


def test_one_block_weighs_all_rows_alike():
    elements = rs.score_elements("sqrt", np.random.default_rng(0).gamma(1.0, size=(40, 3)))
    for weights in rs.robust_weights(elements, 1):
        np.testing.assert_allclose(weights, 1 / 40)


def test_bad_rows_lose_weight_and_partitions_are_averaged():
    X = np.random.default_rng(0).gamma(1.0, size=(200, 3))
    X[[3, 50, 120]] *= 1e4
    elements = rs.score_elements("sqrt", X)
    once = rs.robust_weights(elements, 40)
    averaged = rs.robust_weights(elements, 40, n_partitions=10, random_state=0)
    for weights in (once, averaged):
        assert weights.gamma_weights[[3, 50, 120]].max() < 1e-5
        assert weights.gamma_weights.sum() == pytest.approx(1)
    assert np.unique(averaged.gamma_weights).size > np.unique(once.gamma_weights).size
    again = rs.robust_weights(elements, 40, n_partitions=10, random_state=0)
    np.testing.assert_array_equal(averaged.gamma_weights, again.gamma_weights)


def test_large_blocks_do_not_cost_memory():
    elements = rs.score_elements("sqrt", np.ones((20_000, 200)))
    assert cheapest_way(elements, "gamma", 3, 20_000) != "rows"


@pytest.mark.parametrize("s", [1e-4, 1e-7, 1e-10])
def test_small_units_lose_no_digits_of_raw_gaussian_weights(s):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[:6] *= 30
    plain, small = (rs.robust_weights(rs.score_elements("gaussian", Y), 60) for Y in (X, X * s))
    linear = rs.geometric_median(np.array([-x for x in X]))  # at tiny units only the part linear in x counts
    if s < 1e-6:
        np.testing.assert_allclose(small.gamma_weights, linear.weights, atol=1e-5)
    assert np.isfinite(plain.gamma_weights).all()


def groups(rng, n):
    return np.concatenate([rng.gamma(1.0, size=(7 * n // 10, 3)), rng.gamma(6.0, size=(3 * n // 10, 3))])


def test_sorted_groups_are_a_trap_and_warned_about():
    X = groups(np.random.default_rng(0), 1000)
    elements = rs.score_elements("sqrt", X)
    with pytest.warns(UserWarning, match=r"shuffle=True or n_partitions"):
        weights = rs.robust_weights(elements, 50)
    assert weights.gamma_weights[700:].sum() < 0.15
    mixed = rs.robust_weights(elements, 50, shuffle=True, random_state=0)
    assert mixed.gamma_weights[700:].sum() > 0.2


def with_covariance(rng, n, correlation, scale):
    shared = np.sqrt(correlation) * rng.normal(size=(n, 1))
    return scale * (np.sqrt(1 - correlation) * rng.normal(size=(n, 3)) + shared)


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_groups_that_differ_only_in_spread_or_dependence_are_warned_about(scale):
    rng = np.random.default_rng(0)
    X = np.concatenate([with_covariance(rng, 700, 0.0, 1.0), with_covariance(rng, 300, 0.9, scale)])
    with pytest.warns(UserWarning, match="resemble each other"):
        rs.robust_weights(rs.score_elements("gaussian", X), 50)


@pytest.mark.parametrize("seed", first(3, range(10)))
def test_rows_in_random_order_are_not_warned_about(seed):
    rng = np.random.default_rng(seed)
    X = rng.permutation(groups(rng, 500))
    X[rng.integers(500, size=25)] *= 1e6
    X[200:205] *= 1e5  # a burst of bad rows is no order
    for n_blocks in (3, 20, 100, 250):
        rs.robust_weights(rs.score_elements("sqrt", X), n_blocks)


@pytest.mark.parametrize("way", WAYS)
def test_blocks_that_overflow_get_weight_zero_in_both(way):
    X = np.random.default_rng(0).gamma(1.0, size=(100, 3))
    clean = rs.robust_weights(rs.score_elements("sqrt", X), 20, way=way)
    X[[7, 63]] = 1e300
    weights = rs.robust_weights(rs.score_elements("sqrt", X), 20, way=way)
    for part, plain in zip(weights, clean, strict=True):
        assert (part[5:10] == 0).all()
        assert (part[60:65] == 0).all()
        assert part.sum() == pytest.approx(1)
        assert np.isfinite(plain).all()
    loss = rs.score_elements("sqrt", X).average(*weights)
    assert np.isfinite(loss.gamma).all()


def test_half_of_the_blocks_overflowing_is_an_error():
    X = np.random.default_rng(0).gamma(1.0, size=(20, 2))
    X[::2] = 1e300
    with pytest.raises(ValueError, match="10 of 20 blocks"):
        rs.robust_weights(rs.score_elements("sqrt", X), 20)
    with pytest.raises(ValueError, match="more blocks"):
        rs.robust_weights(rs.score_elements("sqrt", X), 1)
    with pytest.raises(ValueError, match="10 rows have score-matching elements that overflow"):
        rs.score_elements("sqrt", X).average()


def test_mostly_identical_rows_are_an_error_from_five_blocks_on():
    X = np.random.default_rng(0).gamma(1.0, size=(40, 2))
    X[:20] = 0.0
    elements = rs.score_elements("sqrt", X)
    with pytest.raises(ValueError, match="20 of 40 blocks are identical"):
        rs.robust_weights(elements, 40)
    rs.robust_weights(elements, 2)
    X[:20] = np.random.default_rng(1).gamma(1.0, size=(20, 2))
    X[:10] = 0.0
    assert np.isfinite(rs.robust_weights(rs.score_elements("sqrt", X), 40)[0]).all()


def test_one_fill_value_in_many_blocks_is_outvoted():
    X = np.random.default_rng(0).gamma(2.0, size=(500, 3))
    clean = rs.RobustScoreMatching(n_blocks=100).fit(X)
    X[np.arange(45) * 5] = 9.969e36
    spoilt = rs.RobustScoreMatching(n_blocks=100).fit(X)
    assert np.abs(spoilt.theta_ - clean.theta_).max() < 2 * np.abs(clean.theta_).max()


@pytest.mark.parametrize("n_blocks", [10, 20, 80])
def test_data_with_few_distinct_rows_are_no_ties(n_blocks):
    X = np.random.default_rng(0).integers(1, 4, (400, 2)).astype(float)
    weights = rs.robust_weights(rs.score_elements("sqrt", X), n_blocks)
    assert weights.gamma_weights.sum() == pytest.approx(1)


def test_over_forty_percent_of_identical_blocks_are_refused():
    X = np.random.default_rng(0).gamma(1.0, size=(200, 3))
    X[:90] = 0
    with pytest.raises(ValueError, match="90 of 200 blocks are identical"):
        rs.robust_weights(rs.score_elements("sqrt", X), 200)


def test_large_streamed_blocks_with_weights_that_level_off():
    family = rs.families.TruncatedGaussian(boundary=rs.boundary.CappedPower(1.0, cap=0.3))
    X = np.random.default_rng(0).uniform(0.31, 0.6, size=(1000, 1))
    X[:200] *= 0.5
    elements = rs.score_elements(family, X)
    by_rows, streamed = (
        rs.robust_weights(elements, 10, shuffle=True, random_state=0, way=way) for way in ("rows", "streamed")
    )
    np.testing.assert_allclose(streamed.gamma_weights, by_rows.gamma_weights, atol=1e-8)


def test_rows_that_overflow_are_no_ties():
    rng = np.random.default_rng(0)
    X = rng.gamma(2.0, size=(100, 3))
    X[:41] = rng.uniform(0.5, 1, size=(41, 3)) * 1e300
    weights = rs.robust_weights(rs.score_elements("sqrt", rng.permutation(X)), 100)
    assert np.count_nonzero(weights.gamma_weights) == 59


def test_an_unknown_way_or_raw_data_are_refused():
    X = np.random.default_rng(0).gamma(2.0, size=(20, 2))
    with pytest.raises(ValueError, match="way='bogus'"):
        rs.robust_weights(rs.score_elements("sqrt", X), 5, way="bogus")
    with pytest.raises(TypeError, match="score_elements"):
        rs.robust_weights(X, 5)


def test_weights_of_the_wrong_length():
    elements = rs.score_elements("sqrt", np.ones((4, 2)))
    with pytest.raises(ValueError, match="gamma_weights must have shape"):
        elements.average(np.ones(3))


def test_averaging_is_linear_in_the_weights_and_row_losses_add_up():
    X = np.random.default_rng(0).gamma(1.0, size=(12, 3))
    rng = np.random.default_rng(1)
    K = rng.normal(size=(3, 3))
    K, eta = K + K.T, rng.normal(size=3)
    for family in ("sqrt", "gamma", "gaussian", "log-log"):
        elements = rs.score_elements(family, X)
        c = rng.dirichlet(np.ones(12))
        value = elements.average(c, c).value(K, eta)
        assert c @ elements.row_losses(K, eta) == pytest.approx(value)
