"""RobustGraph and the graph a user holds in the end."""

import importlib.util

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from designs import swept
from registry import refused_checks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

import robscore as rs
from robscore.graph import association

NAMES = ["Basel", "Bern", "Chur", "Davos", "Genève", "Zürich"]


def data(seed=0, m=6, n=400, n_edges=5):
    truth = rs.simulate.random_model(m, n_edges, min_eigenvalue=0.5, random_state=seed)
    return truth, rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=n, random_state=seed + 10)


CLASSIC = {"n_blocks": 1, "alphas": 10}  # where bad rows do not matter


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # 15 rows of 30 columns
@parametrize_with_checks([rs.RobustGraph("sqrt")], expected_failed_checks=refused_checks)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [rs.RobustGraph("gaussian"), rs.RobustGraph("gaussian", n_blocks=1), rs.RobustGraph("sqrt", alpha=0.1, rule="or")],
    expected_failed_checks=refused_checks,
)
def test_scikit_learn_checks_of_other_settings(estimator, check):
    check(estimator)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_names_run_through_to_the_edges(library):
    _, X = data()
    model = rs.RobustGraph("sqrt", n_edges=5, **CLASSIC).fit(library(dict(zip(NAMES, X.T, strict=True))))
    edges = model.edges()
    assert isinstance(edges, library)
    assert list(edges.columns) == ["source", "target", "interaction", "association"]
    assert set(edges["source"]) | set(edges["target"]) <= set(NAMES)
    strengths = np.abs(np.asarray(edges["association"]))
    assert (np.diff(strengths) <= 0).all()
    for source, target, interaction, value in zip(*(list(edges[c]) for c in edges.columns), strict=True):
        i, j = NAMES.index(source), NAMES.index(target)
        assert interaction == model.interaction_[i, j]
        assert value == model.association_[i, j]


def test_arrays_give_a_pandas_table_or_a_structured_array(monkeypatch):
    _, X = data()
    model = rs.RobustGraph("sqrt", n_edges=4, **CLASSIC).fit(X)
    assert isinstance(model.edges(), pd.DataFrame)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    table = model.edges()
    assert table.dtype.names == ("source", "target", "interaction", "association")
    assert table["source"][0].startswith("x")
    assert table.size == 4


def test_a_missing_library_is_named_with_its_remedy(monkeypatch):
    _, X = data()
    graph = rs.RobustGraph("sqrt", n_edges=4, **CLASSIC).fit(X).graph_
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"networkx: pip install 'robscore\[plot\]'"):
        graph.to_networkx()
    with pytest.raises(ImportError, match=r"matplotlib: pip install 'robscore\[plot\]'"):
        rs.plot.plot_recovery(np.eye(2), np.eye(2), layout=np.zeros((2, 2)))


def test_an_empty_graph_has_an_empty_table():
    _, X = data()
    for X_given in (X, pl.DataFrame(X)):
        model = rs.RobustGraph("sqrt", n_edges=0, **CLASSIC).fit(X_given)
        assert len(model.edges()) == 0
        assert "none" in model.summary()


def test_degrees_networkx_and_graphml(tmp_path):
    _, X = data()
    graph = rs.RobustGraph("sqrt", n_edges=5, **CLASSIC).fit(pd.DataFrame(X, columns=NAMES)).graph_
    net = graph.to_networkx()
    assert dict(net.degree()) == graph.degree
    assert sum(graph.degree.values()) == 10
    graph.to_graphml(tmp_path / "graph.graphml")
    again = nx.read_graphml(tmp_path / "graph.graphml")
    assert set(again.nodes) == set(NAMES)
    for source, target, values in again.edges(data=True):
        i, j = NAMES.index(source), NAMES.index(target)
        assert values["association"] == graph.association[i, j]
        assert values["interaction"] == graph.interaction[i, j]


def test_association_is_the_partial_correlation_of_gaussian_data():
    X = np.random.default_rng(0).normal(size=(300, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0.5], [0, 0, 1]])
    model = rs.RobustGraph("gaussian", n_blocks=1, alpha=0.0, tol=1e-10).fit(X)
    from scipy.stats import pearsonr

    def rest(j):
        others = np.column_stack([np.ones(300), X[:, [k for k in range(3) if k not in (j[0], j[1])]]])
        return [X[:, k] - others @ np.linalg.lstsq(others, X[:, k], rcond=None)[0] for k in j]

    for pair in [(0, 1), (0, 2), (1, 2)]:
        assert model.association_[pair] == pytest.approx(pearsonr(*rest(pair))[0], abs=1e-6)
    np.testing.assert_array_equal(model.association_.diagonal(), 1)


def test_a_diagonal_that_is_not_positive_is_warned_about():
    values, remarks = association(np.array([[-1.0, 0.5], [0.5, 4.0]]))
    assert values[0, 1] == -0.25
    assert "not positive" in str(remarks[0].message)
    assert association(np.eye(2))[1] == []


def test_the_summary_can_be_read():
    _, X = data()
    model = rs.RobustGraph("sqrt").fit(pd.DataFrame(X, columns=NAMES))
    summary = model.summary()
    for word in (
        "400",
        "SquareRoot()",
        "alpha",
        f"{model.graph_.n_edges} of 15",
        "converged  yes",
        "chosen by f1",
    ):
        assert word in summary
    assert summary == f"finding    4 clear links among 15 pairs of variables\n{model.graph_}"
    effective = 1 / np.sum(model.row_weights_**2, axis=0)
    assert f"effective sample size {effective.min():.0f}" in summary


@pytest.mark.parametrize(("target", "rule"), swept([0, 1, 5, 9, 14, 15], ["symmetric", "and", "or"]))
def test_a_number_of_edges(target, rule):
    _, X = data()
    model = rs.RobustGraph("sqrt", n_edges=target, rule=rule, **CLASSIC).fit(X)
    assert model.graph_.n_edges == target
    assert model.alpha_ in model.path_.alphas
    assert (np.diff(model.path_.alphas) <= 0).all()
    np.testing.assert_array_equal(model.interaction_, model.interaction_.T)


def test_the_nearest_number_of_edges_is_said(monkeypatch):
    _, X = data()
    monkeypatch.setattr("robscore.selection.n_edges._ROUNDS", 0)
    model = rs.RobustGraph("sqrt", n_edges=8, n_blocks=1, alphas=2, alpha_min_ratio=1e-2).fit(X)
    assert any("exactly n_edges=8 edges; the nearest has" in caution for caution in model.cautions_)


def test_a_given_penalty_has_a_path_of_one():
    _, X = data()
    model = rs.RobustGraph("sqrt", alpha=0.05, n_blocks=1).fit(X)
    assert model.path_.alphas.tolist() == [0.05]
    assert model.alpha_ == 0.05
    assert model.criterion_ is None


def test_selection_keeps_the_criterion():
    _, X = data()
    model = rs.RobustGraph("sqrt").fit(X)
    assert model.criterion_.shape == model.path_.alphas.shape
    best = np.flatnonzero(model.criterion_ == model.criterion_.min())
    assert model.alpha_ == model.path_.alphas[best[-1]]


@pytest.mark.parametrize(
    ("family", "factors"),
    swept(
        ["sqrt", "gamma", "truncated-gaussian", "log-log", "gaussian"],
        [np.array([1e-3, 1, 25.4, 1e3, 7, 0.2]), 1e-3, 25.4, 1e3],
    ),
    ids=str,
)
def test_units_change_no_edge(family, factors):
    _, X = data()
    dirty, _ = rs.simulate.contaminate_pareto(X, 0.05, random_state=1)
    options = {} if family == "sqrt" else {"n_blocks": 80}
    plain, other = (rs.RobustGraph(family, **options).fit(Y) for Y in (dirty, dirty * factors))
    np.testing.assert_array_equal(other.graph_.adjacency, plain.graph_.adjacency)
    np.testing.assert_allclose(other.association_, plain.association_, atol=1e-5)
    assert other.alpha_ == pytest.approx(plain.alpha_, rel=1e-6)
    np.testing.assert_allclose(other.row_losses(dirty * factors), plain.row_losses(dirty), rtol=1e-4, atol=1e-4)


def test_permuting_columns_permutes_the_graph():
    _, X = data()
    order = np.random.default_rng(1).permutation(6)
    plain, permuted = (rs.RobustGraph("sqrt").fit(Y) for Y in (X, X[:, order]))
    np.testing.assert_array_equal(permuted.graph_.adjacency, plain.graph_.adjacency[np.ix_(order, order)])


def test_forbidden_edges_stay_out_and_free_ones_in():
    _, X = data()
    W = np.ones((6, 6))
    W[0, 1] = W[1, 0] = np.inf
    W[2, 3] = W[3, 2] = 0.0
    for k in range(0, 100, 20):
        model = rs.RobustGraph("sqrt", penalty_weights=W, alpha=0.3 / (k + 1), n_blocks=1).fit(X)
        assert model.interaction_[0, 1] == 0
        assert model.interaction_[2, 3] != 0


def test_fewer_rows_than_columns():
    X = np.random.default_rng(0).gamma(1.0, size=(20, 30))
    model = rs.RobustGraph("sqrt", diagonal_multiplier=0.1, n_blocks=5).fit(X)
    assert model.converged_
    assert np.isfinite(model.interaction_).all()


@pytest.mark.parametrize("m", [1, 2])
def test_few_columns(m):
    X = np.random.default_rng(0).gamma(1.0, size=(100, m))
    model = rs.RobustGraph("sqrt").fit(X)
    assert model.association_.shape == (m, m)
    assert "columns" in model.summary()


def test_the_grid_of_penalties_does_not_decide_the_graph():
    """Patience counts graphs, not penalties, and among equal graphs the least shrunk is taken."""
    truth = rs.simulate.random_model(10, 8, random_state=0)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=600, random_state=1)
    found = [rs.RobustGraph("sqrt", alphas=count, n_blocks=1).fit(X) for count in (100, 1000)]
    assert abs(found[0].graph_.n_edges - found[1].graph_.n_edges) <= 2
    top = found[0].path_.alpha_max
    beyond = rs.RobustGraph("sqrt", alphas=np.geomspace(10 * top, top / 1000, 130), n_blocks=1).fit(X)
    assert abs(beyond.graph_.n_edges - found[0].graph_.n_edges) <= 2
    for options in ({"penalize_diagonal": True}, {"penalize_diagonal": True, "location_ratio": 1.0}):
        assert rs.RobustGraph("sqrt", **options, n_blocks=1).fit(X).graph_.n_edges > 3


@pytest.mark.parametrize("columns", [[0, 1, 2, 3, 4, 5], [2000, 2001, 2002, 2003, 2004, 2005]])
def test_column_names_that_are_no_strings(columns):
    _, X = data()
    model = rs.RobustGraph("sqrt", n_edges=5, **CLASSIC).fit(pd.DataFrame(X, columns=columns))
    assert set(model.edges()["source"]) <= {str(name) for name in columns}


def test_nearly_dependent_columns_are_solved_however_slowly():
    rng = np.random.default_rng(0)
    low = rng.normal(5, 5, 800).round(1)
    high = (low + np.abs(rng.normal(8, 3, 800))).round(1)
    X = np.column_stack([low, high, ((low + high) / 2).round(1)])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    path = rs.solve_path(rs.score_elements("gaussian", X).average(), 30)
    assert path.converged.all()
    assert path.n_edges[-1] > 0


def test_exactly_uncorrelated_columns_have_an_empty_path():
    design = np.array([[a, b, c] for a in (-1.0, 1) for b in (-1.0, 1) for c in (-1.0, 1)]) + np.array([0.1, 0.2, 0.3])
    path = rs.solve_path(rs.score_elements("gaussian", design).average(), 10)
    assert path.n_edges.max() == 0


def test_a_column_that_hardly_varies_is_named():
    X = np.random.default_rng(0).normal(size=(50, 4))
    X[:, 2] = 3 + 1e-9 * X[:, 0]
    with pytest.raises(ValueError, match=r"Columns \[2\] hardly vary"):
        rs.solve_path(rs.score_elements("gaussian", X).average())


def test_a_zero_on_the_diagonal_gives_a_bounded_association():
    values, remarks = association(np.array([[0.0, 0.5], [0.5, 4.0]]))
    assert values[0, 1] == -1
    assert remarks


def test_the_chosen_penalty_is_one_that_converged():
    X = np.random.default_rng(0).gamma(1.0, size=(30, 60))
    with pytest.warns(ConvergenceWarning):
        model = rs.RobustGraph("sqrt", n_blocks=1).fit(X)
    assert model.converged_
    assert not model.path_.converged.all()


def test_one_warning_a_fit_that_points_to_the_caller():
    X = np.random.default_rng(0).gamma(1.0, size=(30, 60))
    with pytest.warns(ConvergenceWarning, match="The graph shown has converged. On the path to it, ") as record:
        rs.RobustGraph("sqrt", n_blocks=1, reweight=True).fit(X)
    assert [item.category for item in record] == [ConvergenceWarning]
    assert record[0].filename == __file__


def test_a_criterion_without_a_finite_value_is_an_error():
    X = np.random.default_rng(0).gamma(1.0, size=(30, 60))
    with pytest.raises(ValueError, match="infinite on the whole path"):
        rs.RobustGraph("sqrt", alphas=[0.01, 0.005], diagonal_multiplier=0.5, select="ebic", n_blocks=1).fit(X)


def test_paths_and_graphs_can_be_shown_and_compared():
    _, X = data()
    model = rs.RobustGraph("sqrt", n_edges=5, **CLASSIC).fit(X)
    assert repr(model.graph_) == "<Graph of 6 columns with 5 edges>"
    assert "solutions" in repr(model.path_)
    assert model.path_ == model.path_
    assert model.path_.alphas.size <= 101


def test_reweighting_is_in_the_summary():
    _, X = data()
    dirty, _ = rs.simulate.contaminate_pareto(X, 0.05, random_state=3)
    summary = rs.RobustGraph("sqrt", reweight=True).fit(dirty).summary()
    assert "400 rows" in summary
    assert "dropped" in summary
    assert "dropped" not in rs.RobustGraph("sqrt", reweight=False, n_blocks=80).fit(dirty).summary()


def test_verbose_says_what_happens(capsys):
    _, X = data()
    rs.RobustGraph("sqrt", verbose=1, n_blocks=80, reweight=True).fit(X)
    out = capsys.readouterr().out
    for word in ("400 rows", "alpha =", "dropped"):
        assert word in out
    rs.RobustGraph("sqrt", verbose=1, n_blocks=80).fit(X)
    assert "80 blocks" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"alpha": 0.1, "n_edges": 3}, "alpha=0.1 and n_edges=3 contradict"),
        ({"alpha": -1.0}, "alpha=-1.0"),
        ({"n_edges": 16}, "between 0 and 15"),
        ({"n_edges": -1}, "n_edges=-1"),
        ({"n_edges": 2.5}, "whole number"),
        ({"select": "aic"}, "select='aic' is not known"),
        ({"diagonal_multiplier": -1}, "diagonal_multiplier=-1"),
        ({"penalty_weights": np.triu(np.ones((6, 6)))}, "symmetric"),
        ({"penalty_weights": -np.ones((6, 6))}, "negative"),
        ({"penalty_weights": np.ones((3, 3)), "n_edges": 2}, "shape"),
        ({"penalty_weights": "none"}, "penalty_weights must be numeric"),
        ({"location_weights": "none", "location_ratio": 1.0}, "location_weights must be numeric"),
        ({"diagonal_multiplier": "a"}, "diagonal_multiplier='a'"),
        ({"alpha": "a"}, "alpha='a'"),
        ({"tol": "a"}, "tol='a'"),
        ({"alphas": True}, "alphas=True"),
        ({"alphas": "many"}, "alphas='many'"),
        ({"penalty_weights": np.diag([-1.0] * 6), "penalize_diagonal": True}, "negative"),
    ],
)
def test_bad_arguments(options, match):
    _, X = data()
    with pytest.raises(ValueError, match=match):
        rs.RobustGraph("sqrt", **options).fit(X)


def test_negative_data_name_the_estimator():
    _, X = data()
    with pytest.raises(ValueError, match=r"^Negative values in data passed to RobustGraph: column 'x2'"):
        rs.RobustGraph("sqrt").fit(X - np.array([0, 0, 100, 0, 0, 0]))


def test_the_docstring_begins_with_what_it_does_for_the_user():
    start = rs.RobustGraph.__doc__.split("It is theta-hat")[0]
    assert start.startswith("Learns which columns of a table are directly linked")
    for method in ("summary()", "edges()", "suspicious_rows()", "report(path)"):
        assert f"``{method}``" in start
    for riddle in ("K", "theta", "penalty", "Definition"):
        assert riddle not in start.split()
