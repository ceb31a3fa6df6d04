"""Where rows stop counting: limits with a band, and tails that need no drawing."""

import numpy as np
import pytest
from scipy.stats import chi2, kstest

from robscore.families import get_family
from robscore.families.samplers import Chains
from robscore.weighting.row_rule import _BAND, _inside


@pytest.mark.parametrize("limit", [2.0, -3.0])
def test_within_its_band_a_limit_leaves_rows_in_part(limit):
    values = np.linspace(-10, 10, 2001)
    trust = _inside(values, limit)
    assert (np.diff(trust) <= 0).all()
    assert np.abs(np.diff(trust)).max() <= 0.01 / (2 * _BAND * abs(limit)) + 1e-9
    np.testing.assert_array_equal(trust[values < limit - _BAND * abs(limit) - 1e-9], 1)
    np.testing.assert_array_equal(trust[values > limit + _BAND * abs(limit) + 1e-9], 0)
    assert _inside(np.array([limit]), limit) == pytest.approx(0.5)


@pytest.mark.parametrize("limit", [0.0, np.inf])
def test_a_limit_without_a_band_is_sharp(limit):
    np.testing.assert_array_equal(_inside(np.array([-1.0, 0.0, 1.0, np.inf]), limit), [1, 1, limit > 1, limit > 1])


@pytest.mark.parametrize("m", [1, 4, 30])
def test_surprises_of_normal_rows_are_half_of_chi_squared_numbers(m):
    rng = np.random.default_rng(m)
    A = rng.normal(size=(m, m))
    K, eta = np.eye(m) + A @ A.T / m, rng.normal(size=m)
    sampler = get_family("gaussian").sampler()
    known = sampler.surprises(K, eta)
    probability = (np.arange(known.size) + 0.5) / known.size
    least = -0.5 * eta @ np.linalg.solve(K, eta)
    np.testing.assert_allclose(known - least, chi2.ppf(probability, m) / 2, rtol=1e-5, atol=1e-9)
    drawn = sampler.draw(K, eta, 4000, Chains(burn_in=0, thin=1, start=None), rng).X
    assert kstest(-get_family("gaussian").log_density(drawn, K, eta), known).pvalue > 1e-3


def test_surprises_that_are_not_known_are_drawn():
    K = np.eye(3)
    assert get_family("log-log").sampler().surprises(K, np.zeros(3)) is None
    assert get_family("sqrt").sampler().surprises(K, np.zeros(3)) is None
