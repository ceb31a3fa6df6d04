"""Rows in time: lagged graphs, and standard errors of rows that depend on those before them."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris, load_wine

import robscore as rs
from robscore.certainty import find_time_blocks
from robscore.weighting import TimeBlocks, autocorrelations


def autoregressive(rho, n=500, m=4, seed=0, noise=None):
    rng = np.random.default_rng(seed)
    X = np.zeros((n + 100, m))
    transition = rho * np.eye(m) if np.ndim(rho) == 0 else rho
    for t in range(1, n + 100):
        X[t] = transition @ X[t - 1] + rng.normal(size=m) @ (np.eye(m) if noise is None else noise)
    return X[100:]


def test_lagged_rows_stand_beside_those_before_them():
    X = np.arange(12.0).reshape(6, 2)
    now, before = rs.lagged(X, lags=2)
    np.testing.assert_array_equal(now, X[2:])
    assert list(before) == ["x0[-1]", "x1[-1]", "x0[-2]", "x1[-2]"]
    np.testing.assert_array_equal(before["x1[-1]"], X[1:5, 1])
    np.testing.assert_array_equal(before["x0[-2]"], X[:4, 0])
    for library in (pd.DataFrame, pl.DataFrame):
        now, before = rs.lagged(library({"a": X[:, 0], "b": X[:, 1]}))
        assert isinstance(now, library)
        assert list(before) == ["a[-1]", "b[-1]"]
        assert len(now) == 5
    with pytest.raises(ValueError, match="too few for lags=5"):
        rs.lagged(X, lags=5)


def test_the_lagged_gaussian_is_the_regression_on_the_rows_before():
    transition = np.array([[0.5, 0.3, 0], [0, 0.4, 0], [0.2, 0, 0.6]])
    X = autoregressive(transition, n=300, m=3)
    now, before = rs.lagged(X)
    model = rs.RobustScoreMatching("gaussian", n_blocks=1).fit(now, covariates=before)
    design = np.column_stack([np.ones(299), X[:-1]])
    coefficients, *_ = np.linalg.lstsq(design, X[1:], rcond=None)
    residuals = X[1:] - design @ coefficients
    np.testing.assert_allclose(rs.autoregression(model), coefficients[1:].T, atol=1e-8)
    np.testing.assert_allclose(model.interaction_, np.linalg.inv(residuals.T @ residuals / 299), rtol=1e-7)
    with pytest.raises(ValueError, match="has no mean that is linear"):
        rs.autoregression(rs.RobustScoreMatching("sqrt").fit(np.abs(now) + 0.1, covariates=before))
    with pytest.raises(ValueError, match="had no covariates"):
        rs.autoregression(rs.RobustScoreMatching("gaussian").fit(now))


def test_what_only_comes_from_the_time_before_is_no_edge_given_it():
    transition = np.array([[0.7, 0, 0], [0.6, 0.3, 0], [0.6, 0, 0.3]])  # the first column drives both others
    X = autoregressive(transition, n=800, m=3)
    now, before = rs.lagged(X)
    table = rs.RobustGraph("gaussian").fit(now, covariates=before).edge_intervals()
    plain = rs.RobustGraph("gaussian").fit(X).edge_intervals(block_size=1)
    assert table["p_value"].min() > 0.005
    assert plain["p_value"].min() < 1e-6


def test_blocks_follow_the_dependence_of_the_rows():
    sizes = []
    for rho in (0.0, 0.6, 0.9):
        fit = rs.RobustGraph("gaussian", n_edges=2).fit(autoregressive(rho, n=600)).fitted_
        sizes.append(find_time_blocks(fit, ~np.eye(4, dtype=bool)).size)
    assert sizes[0] == 1
    assert 1 < sizes[1] < sizes[2] <= 30
    lagged = rs.lagged(autoregressive(0.9, n=600))
    model = rs.RobustGraph("gaussian", n_edges=2).fit(lagged.X, covariates=lagged.covariates)
    assert find_time_blocks(model.fitted_, ~np.eye(4, dtype=bool)).size == 1  # given the row before, nothing is left
    assert not any("time series" in str(caution) for caution in model.cautions_)


def test_autocorrelations_are_those_of_the_definition():
    rows = np.random.default_rng(0).normal(size=(50, 3))
    rows /= np.sqrt((rows**2).sum(axis=0))
    found = autocorrelations(rows, 3)
    np.testing.assert_allclose(found, [np.mean((rows[k:] * rows[: 50 - k]).sum(axis=0)) for k in range(4)], atol=1e-12)


def test_what_blocks_miss_is_made_up_for():
    assert TimeBlocks().factor == 1.0
    rho, size = 0.8, 30
    lags = np.arange(1, size)
    of_blocks = 1 + 2 * np.sum((1 - lags / size) * rho**lags)  # variance of a block sum over its rows
    tau = (1 + rho) / (1 - rho)
    assert TimeBlocks(size, tau).factor == pytest.approx(np.sqrt(tau / of_blocks), rel=0.02)


def test_intervals_are_wider_where_rows_depend_on_each_other_and_the_same_where_they_do_not():
    series, independent = autoregressive(0.8, n=500), np.random.default_rng(0).normal(size=(500, 4))
    for X, wider in ((series, True), (independent, False)):
        model = rs.RobustGraph("gaussian", n_edges=2).fit(X)
        auto, alone = (model.edge_intervals(block_size=size) for size in ("auto", 1))
        errors = [np.sort(np.asarray(table["interaction_error"])) for table in (auto, alone)]
        if wider:
            assert (errors[0] > 1.3 * errors[1]).all()
        else:
            np.testing.assert_array_equal(*errors)
    with pytest.raises(ValueError, match="block_size='years' is not known"):
        model.edge_intervals(block_size="years")


def test_intervals_of_split_rows_and_of_effects_follow_the_dependence_too():
    X, c = autoregressive(0.8, n=600), autoregressive(0.9, n=600, m=1, seed=5)
    model = rs.RobustGraph("gaussian", n_edges=3).fit(X, covariates=c)
    assert len(model.edge_intervals(estimate="split")) <= 6
    auto, alone = (model.effects(block_size=size) for size in ("auto", 1))
    assert np.median(auto["effect_error"]) > 1.3 * np.median(alone["effect_error"])


def edges_of(X, **options):
    return rs.RobustGraph("gaussian", **options).fit(X).graph_.n_edges


@pytest.mark.parametrize("rule", ["f1", "ebic", "fdr"])
def test_a_series_gives_no_denser_graph_than_independent_rows(rule):
    """Without any edge; rows in any other order do not show that they are a series."""
    series = [autoregressive(0.9, n=600, m=8, seed=seed) for seed in range(2)]
    assert sum(edges_of(X, select=rule) for X in series) <= 4
    shuffled = [np.random.default_rng(0).permutation(X) for X in series]
    assert sum(edges_of(X, select=rule) for X in shuffled) > 10


def test_n_rows_of_a_series_count_as_fewer():
    model = rs.RobustGraph("gaussian").fit(autoregressive(0.6, n=800, m=6))
    tau = (1 + 0.36) / (1 - 0.36)  # products of two columns have correlation rho^2
    assert model.fitted_.chosen.tau == pytest.approx(tau, rel=0.25)
    assert "rows of a series as" in str(model.graph_)
    assert "The graph was chosen as if " in str(model.cautions_[0])
    now, before = rs.lagged(autoregressive(0.6, n=800, m=6))
    assert rs.RobustGraph("gaussian").fit(now, covariates=before).fitted_.chosen.tau == 1.0
    counts = np.ones(800)
    counts[0] = 2
    assert rs.RobustGraph("gaussian").fit(autoregressive(0.6, n=800), sample_weight=counts).fitted_.chosen.tau == 1.0


def test_rows_that_are_sorted_or_drift_or_independent_count_in_full():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6)) @ (np.eye(6) + 0.5 * np.eye(6, k=1))
    t = np.linspace(-1, 1, 600)[:, None]
    by_class = [X + 2 * rng.normal(size=(k, 6))[np.arange(600) * k // 600] for k in (2, 3, 5)]
    for rows in (X, X[np.argsort(X[:, 0])], X + 2 * t, X * (1.5 + t), *by_class, load_wine().data, load_iris().data):
        assert rs.RobustGraph("gaussian").fit(rows).fitted_.chosen.tau == 1.0


def test_dependence_that_lasts_is_told_from_a_series():
    rng = np.random.default_rng(0)
    assert TimeBlocks.of(rng.normal(size=(1000, 5))) == TimeBlocks()
    series = TimeBlocks.of(autoregressive(0.8, n=1000, m=5))
    classes = TimeBlocks.of(rng.normal(size=(1000, 5)) + np.repeat(rng.normal(size=(4, 5)), 250, axis=0))
    assert series.size > 1
    assert series.tau_of_series == series.tau == pytest.approx(9, rel=0.3)
    assert classes.size > 1
    assert classes.tau_of_series == 1.0


@pytest.mark.parametrize("family", ["sqrt", "truncated-gaussian", "simplex"])
def test_a_series_is_found_in_any_family(family):
    X = np.exp(autoregressive(0.8, n=600, m=5))
    if family == "simplex":
        X /= X.sum(axis=1, keepdims=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen, shuffled = (
            rs.RobustGraph(family).fit(rows).fitted_.chosen for rows in (X, np.random.default_rng(0).permutation(X))
        )
    assert 1.5 < chosen.tau < 10
    assert shuffled.tau == 1.0
