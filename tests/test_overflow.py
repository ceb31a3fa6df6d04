"""Rows that overflow: mostly told without looking at every row."""

import numpy as np
import pytest
from registry import CASES, positive

import robscore as rs
from robscore.elements.power_elements import largest_norm
from robscore.medians.clouds import LARGEST_SQUARED_NORM
from robscore.weighting import proper


@pytest.mark.parametrize("family", ["gaussian", "sqrt", "gamma", "truncated-gaussian"])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e60])
def test_no_norm_exceeds_the_bound(family, size):
    elements = rs.score_elements(family, size * np.random.default_rng(0).gamma(1.0, size=(50, 4)))
    norms = np.maximum(elements.squared_norms("gamma"), elements.squared_norms("g"))
    if not elements.overflow.any():
        assert norms.max() <= largest_norm(elements.rows)


@pytest.mark.parametrize("family", ["gaussian", "sqrt", "truncated-gaussian"])
def test_a_row_that_overflows_is_found_among_others(family):
    X = np.random.default_rng(0).gamma(1.0, size=(50, 4))
    X[7] = 1e200
    elements = rs.score_elements(family, X)
    np.testing.assert_array_equal(np.flatnonzero(elements.overflow), [7])
    assert largest_norm(elements.rows) < LARGEST_SQUARED_NORM  # its arrays are zero now


@pytest.mark.parametrize("exponent", [-300, -40, 0, 40, 70, 90, 140, 250])
@pytest.mark.parametrize("family", [case.family for case in CASES if case.draw is positive], ids=repr)
def test_a_family_tells_rows_that_overflow_as_its_elements_do(family, exponent):
    X = np.random.default_rng(0).gamma(1.0, size=(20, 3)) + 0.1
    X[7, 1] = 10.0**exponent
    family = family.resolved(X)
    np.testing.assert_array_equal(family.overflow(X), family.elements(X).overflow)


def test_a_first_fit_beyond_all_numbers_is_told_and_leaks_nothing():
    X = np.random.default_rng(0).exponential(size=(60, 1))
    X[:30] = 1e-310 * np.arange(1, 31)[:, None]  # a gap of hundreds of powers of ten
    assert np.isfinite(rs.RobustScoreMatching(rs.families.univariate.Exponential()).fit(X).theta_).all()
    loss = rs.score_elements(rs.families.univariate.Exponential(), np.full((9, 1), 1e-310)).average()
    parameters = (np.array([-np.inf]),)
    with pytest.raises(ValueError, match="no finite parameters: columns are too large or too small"):
        proper(rs.families.univariate.Exponential(), loss, parameters)
