"""The graph that tests find at a false discovery rate: the promise is kept, and the graph is what the tests say."""

import warnings

import numpy as np
import pandas as pd
import pytest

import robscore as rs
from robscore.report.sentences import methods

CLASSIC = {"n_blocks": 1, "alphas": 10}  # where bad rows do not matter


def rows(family="sqrt", m=8, n_edges=7, n=600, seed=0):
    truth = rs.simulate.random_model(m, n_edges, min_eigenvalue=0.5, random_state=seed)
    return truth, rs.simulate.sample(family, truth.interaction, truth.location, n_rows=n, random_state=seed + 1)


def by_tests(X, family="sqrt", given=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rs.RobustGraph(family, select="fdr", **options).fit(X, **(given or {}))


def share_of_false(model, truth):
    found = model.graph_.adjacency
    return (found & ~truth.adjacency).sum() / max(found.sum(), 1)


def assert_is_what_tests_say(model, fdr=0.1):
    table = model.edge_intervals(fdr=fdr)
    assert list(table["in_graph"]) == list(table["significant"])
    assert model.graph_.n_edges == np.count_nonzero(table["significant"])


@pytest.mark.parametrize("family", ["gaussian", "sqrt"])
def test_between_independent_columns_any_edge_is_as_rare_as_promised(family):
    level, n_tables, rng = 0.2, 60, np.random.default_rng(0)
    draw = rng.normal if family == "gaussian" else rng.exponential
    n_wrong = sum(by_tests(draw(size=(250, 8)), family, fdr=level, **CLASSIC).graph_.n_edges > 0 for _ in range(60))
    assert n_wrong <= n_tables * level + 3 * np.sqrt(n_tables * level * (1 - level))


@pytest.mark.parametrize("share", [0.0, 0.05])
def test_of_a_sparse_graph_no_more_edges_are_false_than_promised(share):
    level, false, found = 0.1, [], []
    for seed in range(20):
        truth, X = rows(m=12, n_edges=10, seed=10 * seed)
        X = rs.simulate.contaminate_pareto(X, share, random_state=seed).X
        model = by_tests(X, fdr=level, alphas=30)
        false.append(share_of_false(model, truth))
        found.append((model.graph_.adjacency & truth.adjacency).sum() / truth.adjacency.sum())
    assert np.mean(false) <= level + 3 * np.std(false, ddof=1) / np.sqrt(len(false))
    assert np.mean(found) > 0.5


@pytest.mark.parametrize("family", ["gaussian", "sqrt", "copula"])
def test_orders_of_rows_and_columns_change_nothing(family):
    _, X = rows("gaussian" if family == "copula" else family, m=6, n_edges=5, n=250)
    rng = np.random.default_rng(0)
    i, j = rng.permutation(len(X)), rng.permutation(6)
    first, second = by_tests(X, family), by_tests(X[np.ix_(i, j)], family)
    np.testing.assert_array_equal(second.graph_.adjacency, first.graph_.adjacency[np.ix_(j, j)])
    np.testing.assert_allclose(second.association_, first.association_[np.ix_(j, j)], atol=1e-3)


def test_a_stricter_rate_gives_a_part_of_the_graph():
    _, X = rows()
    strict, loose = (by_tests(X, fdr=fdr) for fdr in (0.001, 0.3))
    assert strict.graph_.n_edges < loose.graph_.n_edges
    assert loose.graph_.adjacency[strict.graph_.adjacency].all()
    assert_is_what_tests_say(strict, 0.001)


def test_the_graph_is_estimated_without_a_penalty_and_stands_last_on_the_path():
    _, X = rows()
    model = by_tests(X, **CLASSIC)
    outside = np.where(model.graph_.adjacency | np.eye(8, dtype=bool), 0.0, np.inf)
    free = rs.RobustGraph("sqrt", alpha=0.0, penalty_weights=outside, n_blocks=1).fit(X)
    np.testing.assert_allclose(model.interaction_, free.interaction_, rtol=0.01, atol=1e-3)
    np.testing.assert_allclose(model.location_, free.location_, rtol=0.01, atol=1e-3)
    assert (model.alpha_, model.position_) == (0.0, len(model.path_.alphas) - 1)
    assert model.graph_at(-1).n_edges == model.graph_.n_edges
    assert model.criterion_ is None
    np.testing.assert_array_equal(model.path_.alphas[:-1], rs.RobustGraph("sqrt", **CLASSIC).fit(X).path_.alphas)
    assert "on the pairs that tests find at a false discovery rate of 10 %" in model.summary()


@pytest.mark.parametrize("family", ["gaussian", "sqrt", "gamma", "truncated-gaussian", "log-log", "simplex", "copula"])
def test_every_family_has_tests(family):
    _, X = rows(m=5, n_edges=4, n=300)
    X = X + 0.01
    model = by_tests(X / X.sum(axis=1, keepdims=True) if family == "simplex" else X, family, alphas=20)
    assert_is_what_tests_say(model)


def missing(X):
    X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    return X, {}, {"missing": "impute"}


def shifted(X):
    z = np.random.default_rng(0).normal(size=len(X))
    return X + z[:, None], {"covariates": z[:, None]}, {}


def with_bad_cells(X):
    X[::50, 0] += 30
    return X, {}, {"cells": True}


def with_bad_rows(X):
    X[:15] += 40
    return X, {}, {}


@pytest.mark.parametrize("harm", [missing, shifted, with_bad_cells, with_bad_rows])
def test_it_goes_with_all_that_data_need(harm):
    truth, X = rows("gaussian", m=6, n_edges=5, n=500)
    X, given, options = harm(X)
    model = by_tests(X, "gaussian", given, **options)
    assert_is_what_tests_say(model)
    assert (model.graph_.adjacency & truth.adjacency).sum() >= 8
    assert share_of_false(model, truth) <= 0.4


@pytest.mark.parametrize("rule", ["symmetric", "and"])
def test_forbidden_pairs_stay_out_and_free_ones_in(rule):
    _, X = rows()
    found = by_tests(X).graph_.adjacency
    W = np.ones_like(found, dtype=float)
    (i, j), (a, b) = np.argwhere(np.triu(found))[0], np.argwhere(np.triu(~found, 1))[0]
    W[i, j] = W[j, i] = np.inf
    W[a, b] = W[b, a] = 0.0
    graph = by_tests(X, penalty_weights=W, rule=rule).graph_.adjacency
    assert (found[i, j], graph[i, j]) == (True, False)
    assert (found[a, b], graph[a, b]) == (False, True)


def test_with_few_rows_one_half_links_and_the_other_tests():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 60))
    X[:, 1:] += 0.8 * X[:, :-1]
    model = by_tests(X, "gaussian")
    assert "in one half of the rows, among those that the other half links" in model.summary()
    assert_is_what_tests_say(model)
    assert 10 < model.graph_.n_edges < 100


def test_very_many_rows_are_tested_on_a_sample(monkeypatch):
    monkeypatch.setattr("robscore.fitting.by_sample.MOST_ROWS", 1000)
    monkeypatch.setattr("robscore.fitting.by_sample._FEWEST_ROWS", 1000)
    truth, X = rows("gaussian", n=4000)
    model = by_tests(X, "gaussian")
    assert model.sampled_ is not None
    assert share_of_false(model, truth) <= 0.3
    assert model.graph_.n_edges >= 5


@pytest.mark.parametrize(
    ("n", "options", "given", "match"),
    [
        (300, {"fdr": 0.0}, {}, "fdr=0.0 must lie between 0 and 1"),
        (300, {"select": ["f1", "fdr"]}, {}, "give 'fdr' alone"),
        (12, {"n_blocks": 1}, {}, "select='fdr' tests pairs without a penalty.*Use more rows. Or use select='f1'"),
        (20, {"family": "copula"}, {}, "select='fdr' tests pairs.*Use more rows, or fewer columns. Or use select='f1'"),
        (300, {}, {"moderators": np.repeat(["a", "b"], 150)}, "tests the pairs of one graph.*differences"),
    ],
)
def test_where_it_cannot_be_had_an_error_says_what_to_do(n, options, given, match):
    _, X = rows("gaussian", n=n)
    options = {"family": "gaussian", "select": "fdr", **options}
    with pytest.raises(ValueError, match=match):
        rs.RobustGraph(**options).fit(X, **given)


def test_tests_that_do_not_fit_in_the_memory_are_refused_in_time():
    X = np.random.default_rng(0).normal(size=(200, 40))
    with pytest.raises(ValueError, match=r"Tests of all pairs of 40 columns take .* more than max_memory.*Raise it"):
        rs.RobustGraph("gaussian", select="fdr", max_memory="1 MB", **CLASSIC).fit(X)


def test_a_number_of_edges_comes_first_as_for_other_rules():
    _, X = rows()
    model = rs.RobustGraph("sqrt", select="fdr", n_edges=4, **CLASSIC).fit(X)
    assert model.graph_.n_edges == 4
    assert model.alpha_ > 0


def test_a_report_says_how_the_graph_was_chosen_and_figures_can_be_drawn():
    pytest.importorskip("matplotlib").use("Agg")
    _, X = rows()
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    model = by_tests(frame, fdr=0.05)
    words = methods(rs.report.record(model))
    assert "l1 penalty" not in words
    assert "estimated on the pairs that tests find at a false discovery rate of 5 %; it has" in words
    assert "in the chosen graph" in rs.plot.plot_path(model).get_title()
    with pytest.raises(ValueError, match="select='fdr'"):
        rs.plot.plot_criterion(model)
