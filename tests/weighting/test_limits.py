"""Where rows stop counting: limits with a band."""

import numpy as np
import pytest

from robscore.weighting.row_limits import inside

_BAND = 0.1


@pytest.mark.parametrize("limit", [2.0, -3.0])
def test_within_its_band_a_limit_leaves_rows_in_part(limit):
    values = np.linspace(-10, 10, 2001)
    trust = inside(values, limit, _BAND)
    assert (np.diff(trust) <= 0).all()
    assert np.abs(np.diff(trust)).max() <= 0.01 / (2 * _BAND * abs(limit)) + 1e-9
    np.testing.assert_array_equal(trust[values < limit - _BAND * abs(limit) - 1e-9], 1)
    np.testing.assert_array_equal(trust[values > limit + _BAND * abs(limit) + 1e-9], 0)
    assert inside(np.array([limit]), limit, _BAND) == pytest.approx(0.5)


@pytest.mark.parametrize("limit", [0.0, np.inf])
def test_a_limit_without_a_band_is_sharp(limit):
    np.testing.assert_array_equal(
        inside(np.array([-1.0, 0.0, 1.0, np.inf]), limit, _BAND), [1, 1, limit > 1, limit > 1]
    )
