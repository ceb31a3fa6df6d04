import numpy as np
import pandas as pd
import polars as pl
import pytest
from registry import refused_checks
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import robscore as rs


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # 15 rows of 30 columns
@parametrize_with_checks([rs.RobustScoreMatching()], expected_failed_checks=refused_checks)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        rs.RobustScoreMatching("gaussian", n_blocks=1),
        rs.RobustScoreMatching("truncated-gaussian", scale=None),
    ],
    expected_failed_checks=refused_checks,
)
def test_scikit_learn_checks_of_other_settings(estimator, check):
    check(estimator)


def data(n=300, m=4, seed=0):
    truth = rs.simulate.random_model(m, m - 1, min_eigenvalue=0.5, random_state=seed)
    return truth, rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=n, random_state=seed)


def test_classic_gaussian_score_matching_is_the_inverse_covariance():
    X = np.random.default_rng(0).normal(size=(100, 5)) @ np.triu(np.ones((5, 5)))
    model = rs.RobustScoreMatching("gaussian", n_blocks=1, scale=None).fit(X)
    np.testing.assert_allclose(model.interaction_, np.linalg.inv(np.cov(X.T, bias=True)), rtol=1e-8)


@pytest.mark.parametrize("fit_location", [True, False])
def test_the_estimate_minimises_the_loss_over_symmetric_matrices(fit_location):
    from scipy.optimize import minimize

    _, X = data(m=3)
    model = rs.RobustScoreMatching(scale=None, n_blocks=20, fit_location=fit_location).fit(X)
    elements = rs.score_elements("sqrt", X)
    loss = elements.average(*model.row_weights_.T)
    upper = np.triu_indices(3)

    def objective(theta):
        K = np.zeros((3, 3))
        K[upper] = theta[:6]
        K = K + np.triu(K, 1).T
        return loss.value(K, theta[6:] if fit_location else np.zeros(3))

    found = minimize(objective, np.zeros(model.theta_.size), method="BFGS", options={"gtol": 1e-10})
    assert objective(model.theta_) <= found.fun + 1e-9
    np.testing.assert_allclose(model.theta_, found.x, atol=1e-3)
    assert (model.location_ == 0).all() is np.bool_(not fit_location)


def test_it_learns_the_truth_from_many_rows():
    truth, X = data(n=20_000, m=4)
    model = rs.RobustScoreMatching(n_blocks=1).fit(X)
    np.testing.assert_allclose(model.interaction_, truth.interaction, atol=0.15)
    np.testing.assert_allclose(model.location_, truth.location, atol=0.2)


def test_row_losses_and_score_see_bad_rows():
    _, X = data(n=400)
    dirty, bad = rs.simulate.contaminate_pareto(X, 0.05, random_state=1)
    model = rs.RobustScoreMatching().fit(dirty)
    losses = model.row_losses(dirty)
    assert np.median(losses[bad]) > np.median(np.delete(losses, bad))
    assert model.score(X) == pytest.approx(model.score(dirty), abs=1.0)
    boxed = rs.RobustScoreMatching(rs.families.SquareRoot(domain=rs.domains.Intervals([(0, 1e6)])), n_blocks=1).fit(X)
    assert boxed.score(X) == pytest.approx(-boxed.row_losses(X).mean())  # its own loss: it cannot be compared


def test_rows_beyond_all_bounds_have_infinite_loss():
    _, X = data()
    model = rs.RobustScoreMatching().fit(X)
    X[3] = 1e300
    losses = model.row_losses(X)
    assert losses[3] == np.inf
    assert np.isfinite(model.score(X))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_data_frames_of_any_library_give_the_same_numbers(library):
    _, X = data()
    names = ["basel", "bern", "chur", "davos"]
    table = library(dict(zip(names, X.T, strict=True)))
    model = rs.RobustScoreMatching().fit(table)
    np.testing.assert_allclose(model.interaction_, rs.RobustScoreMatching().fit(X).interaction_, rtol=1e-9)
    assert list(model.feature_names_in_) == names


def test_random_partitions_repeat_with_the_seed():
    _, X = data()
    options = {"n_blocks": 60, "n_partitions": 4}
    first, again, other = (rs.RobustScoreMatching(**options, random_state=s).fit(X).theta_ for s in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0


def test_cloning_keeps_the_family():
    model = rs.RobustScoreMatching(rs.families.Gamma(boundary=rs.boundary.CappedPower(2, 3)))
    assert clone(model).family == model.family


@pytest.mark.parametrize("m", [1, 2])
def test_few_columns(m):
    X = np.random.default_rng(0).gamma(1.0, size=(200, m))
    model = rs.RobustScoreMatching().fit(X)
    assert model.interaction_.shape == (m, m)
    assert np.isfinite(model.theta_).all()
