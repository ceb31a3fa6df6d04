"""Changing the units of a column changes nothing but the units of the answer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import full_gamma
from registry import CASES, STATISTICS

import robscore as rs

FACTORS = np.array([1e-3, 25.4, 1e3])


def in_units(family, factors):
    """The same family where every column is measured in other units: bounds move along."""
    return family.scaled(rs.families.Scaling(np.zeros(factors.size), 1 / factors))


# Log-log without location does not scale: there the unit of a column has a meaning.
SCALING = [
    (case, fit_location)
    for case in CASES
    for fit_location in (True, False)
    if case.scales and (fit_location or case.family.a > 0)
]


@pytest.mark.parametrize(("case", "fit_location"), SCALING, ids=str)
@pytest.mark.parametrize("n_blocks", [1, 15])
def test_units_only_change_the_units_of_the_answer(case, n_blocks, fit_location):
    X = case.draw(np.random.default_rng(3), 90, 3)
    options = {"n_blocks": n_blocks, "fit_location": fit_location}
    plain = rs.RobustScoreMatching(case.family, **options).fit(X)
    other = rs.RobustScoreMatching(in_units(case.family, FACTORS), **options).fit(X * FACTORS)
    np.testing.assert_allclose(other.row_weights_, plain.row_weights_, atol=1e-9)
    s, a, b = FACTORS, case.family.a, case.family.b
    scale = np.outer(s, s) ** a
    np.testing.assert_allclose(other.interaction_ * scale, plain.interaction_, rtol=1e-6, atol=1e-8)
    if fit_location:
        # a = b = 0: log(s x) = log s + log x, and the location absorbs the shift.
        expected = plain.location_ / s**b if a else plain.location_ + plain.interaction_ @ np.log(s)
        np.testing.assert_allclose(other.location_, expected, rtol=1e-5, atol=1e-7 * np.abs(expected).max())
    else:
        np.testing.assert_array_equal(other.location_, 0)


@pytest.mark.parametrize("case", [case for case in STATISTICS if case.scales], ids=str)
@pytest.mark.parametrize("n_blocks", [1, 15])
@pytest.mark.parametrize("factor", [1e-3, 25.4])
def test_units_of_distributions_of_one_column(case, n_blocks, factor):
    X = case.draw(np.random.default_rng(3), 90, 1)
    plain = rs.RobustScoreMatching(case.family, n_blocks=n_blocks).fit(X)
    other = rs.RobustScoreMatching(in_units(case.family, np.array([factor])), n_blocks=n_blocks).fit(X * factor)
    np.testing.assert_allclose(other.row_weights_, plain.row_weights_, atol=1e-9)
    expected = plain.theta_ / factor ** np.array(case.family.powers)
    np.testing.assert_allclose(other.theta_, expected, rtol=1e-6)


# A cap, or a bound other than 0, changes the weight function with the units.
HOMOGENEOUS = [
    case
    for case in CASES
    if case.scales
    and isinstance(case.family.boundary, rs.boundary.Power)
    and case.family.domain == rs.domains.NonNegative()
]


@pytest.mark.parametrize("case", HOMOGENEOUS, ids=str)
def test_scaling_maps_back_to_the_unscaled_classic_estimate(case):
    """With one block the median is the mean, and with one column the scale only multiplies the loss."""
    X = case.draw(np.random.default_rng(4), 80, 1)
    scaled, plain = (rs.RobustScoreMatching(case.family, n_blocks=1, scale=scale).fit(X) for scale in ("median", None))
    np.testing.assert_allclose(scaled.theta_, plain.theta_, rtol=1e-8)


def test_gaussian_estimates_do_not_depend_on_scaling_at_one_block():
    X = np.random.default_rng(0).normal(size=(60, 4)) * [1, 10, 0.1, 3] + [5, -3, 0, 100]
    for scale in ("median", None):
        model = rs.RobustScoreMatching("gaussian", n_blocks=1, scale=scale).fit(X)
        precision = np.linalg.inv(np.cov(X.T, bias=True))
        np.testing.assert_allclose(np.linalg.solve(model.interaction_, model.location_), X.mean(axis=0), rtol=1e-6)
        np.testing.assert_allclose(model.interaction_, precision, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_extreme_units(scale):
    X = np.random.default_rng(0).gamma(2.0, size=(100, 3))
    plain, other = (rs.RobustScoreMatching(n_blocks=20).fit(Y) for Y in (X, X * scale))
    np.testing.assert_allclose(other.interaction_ * scale, plain.interaction_, rtol=1e-6)


def test_a_gaussian_sample_shifted_by_1e8_has_the_same_weights():
    X = np.random.default_rng(0).normal(size=(200, 3))
    plain, moved = (rs.RobustScoreMatching("gaussian", n_blocks=40).fit(X + shift) for shift in (0.0, 1e8))
    np.testing.assert_allclose(moved.row_weights_, plain.row_weights_, atol=1e-6)


@pytest.mark.parametrize("case", CASES, ids=str)
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=3, deadline=None)
def test_permuting_columns_permutes_the_answer(case, seed):
    rng = np.random.default_rng(seed)
    X = case.draw(rng, 60, 3)
    order = np.append(rng.permutation(2), 2) if case.last_is_special else rng.permutation(3)
    plain, permuted = (rs.RobustScoreMatching(case.family, n_blocks=12).fit(Y) for Y in (X, X[:, order]))
    np.testing.assert_allclose(permuted.row_weights_, plain.row_weights_, atol=1e-9)
    np.testing.assert_allclose(permuted.interaction_, plain.interaction_[np.ix_(order, order)], rtol=1e-5, atol=1e-6)


@given(st.integers(0, 2**32 - 1), st.sampled_from(CASES), st.integers(1, 20))
@settings(max_examples=40, deadline=None)
def test_gamma_hat_is_positive_semidefinite(seed, case, n_blocks):
    elements = rs.score_elements(case.family, case.draw(np.random.default_rng(seed), 20, 3))
    gamma = full_gamma(elements.average(*rs.robust_weights(elements, n_blocks, shuffle=True, random_state=0)))
    assert np.linalg.eigvalsh(gamma)[0] >= -1e-12 * np.abs(gamma).max()
