"""What single precision says of rows is right: those it clears count in full."""

import numpy as np
import pytest
from designs import swept

import robscore as rs
from robscore.families import get_family
from robscore.weighting.row_limits import Reason, Screen, _weigh

FAMILIES = ["sqrt", "gaussian", "truncated-gaussian", "gamma", "log-log"]


def rows_of(family, seed, n=2000, m=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m)) @ (np.eye(m) + 0.3 * np.tri(m))
    if family != "gaussian":
        X = np.exp(0.4 * X)
    X[::20] *= 1 + rng.pareto(1.0, size=X[::20].shape)
    return X


@pytest.mark.parametrize(("family", "offset"), swept(FAMILIES, [1.0, 1e-3]))
def test_rows_that_are_cleared_count_in_full(family, offset):
    fit = rs.RobustGraph(family, alphas=10).fit(offset * rows_of(family, 0)).fitted_
    limits, scaled = fit.weighed.found.limits, fit.prepared.preparation
    X = scaled.scaling.apply(offset * rows_of(family, 1, n=20_000)) if scaled.scaling else rows_of(family, 1, n=20_000)
    screen = Screen.of(limits)
    if screen is None:
        pytest.skip("rows are compared with others")
    cleared = screen(X)
    for members in (np.zeros(len(X), dtype=bool), np.ones(len(X), dtype=bool)):
        phi, slopes, reasons = _weigh(limits, X, scaled.scaled_family.overflow(X), members)
        assert (phi[cleared] == 1).all()
        assert (slopes[cleared] == 0).all()
        assert (reasons[cleared] == Reason.NONE).all()
    assert np.count_nonzero(cleared) > 0.8 * np.count_nonzero(phi == 1)  # or nothing is gained


@pytest.mark.parametrize("family", FAMILIES)
def test_least_log_density_is_just_below(family):
    rng = np.random.default_rng(0)
    X, K = np.exp(rng.normal(size=(500, 30))), rng.normal(size=(30, 30))
    K, eta = K @ K.T / 30, rng.normal(size=30)
    one = get_family(family)
    exact, least = one.log_density(X, K, eta), one.least_log_density(X, K, eta)
    assert (least <= exact).all()
    assert (exact - least < 1e-3 * (np.abs(exact) + np.abs(K).sum() * (1 + (X**2).sum(axis=1)))).all()


def test_what_is_not_a_number_is_not_cleared():
    fit = rs.RobustGraph("sqrt").fit(rows_of("sqrt", 0)).fitted_
    screen = Screen.of(fit.weighed.found.limits)
    X = np.tile(np.median(fit.prepared.rows.values, axis=0), (5, 1))
    assert screen(X).all()
    X[0, 0], X[1, 1], X[2, 2], X[3, 3] = np.nan, np.inf, 1e300, 1e60
    np.testing.assert_array_equal(screen(X), [False, False, False, False, True])
