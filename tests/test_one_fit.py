"""A fit as one value: checked before any work, complete after it, and honest where there is no answer."""

import pickle
import warnings

import numpy as np
import pytest
from designs import swept

import robscore as rs
from robscore._tools.messages import ArgumentError, UsageError


def normal(n=200, m=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, m))


WRONG = [
    {"shuffle": "yes"},
    {"n_partitions": 0},
    {"n_partitions": 1.5},
    {"n_blocks": 0},
    {"n_blocks": "many"},
    {"n_blocks": True},
    {"contamination": 0.7},
    {"contamination": "x"},
    {"reweight": "x"},
    {"alpha": -1.0},
    {"alpha": "x"},
    {"select": "aic"},
    {"select": []},
    {"n_edges": 1.5},
    {"n_edges": 100},
    {"alphas": -1},
    {"alphas": "x"},
    {"alphas": [0.1, -1.0]},
    {"alpha_min_ratio": 2},
    {"max_edges": 1.5},
    {"diagonal_multiplier": -1.0},
    {"rule": "xor"},
    {"penalty_weights": np.ones(3)},
    {"location_weights": np.ones(4)},
    {"penalize_diagonal": 1},
    {"fit_location": "x"},
    {"location_ratio": 0},
    {"scale": "x"},
    {"missing": "x"},
    {"max_memory": "x"},
    {"storage": "x"},
    {"tol": 0},
    {"tol": "x"},
    {"max_iter": 0},
    {"random_state": -1},
    {"random_state": "x"},
    {"n_jobs": 0},
    {"n_jobs": 2.5},
    {"verbose": "x"},
]


@pytest.mark.parametrize("argument", WRONG, ids=str)
def test_every_argument_is_checked_by_name_before_any_work(argument, monkeypatch):
    def work(*_, **__):
        raise AssertionError("work was begun")

    monkeypatch.setattr("robscore.fitting.fit.fit_prepared", work)
    with pytest.raises(ValueError, match=next(iter(argument))):
        rs.RobustGraph(**{"family": "gaussian", **argument}).fit(normal())


def test_errors_of_arguments_carry_their_facts():
    with pytest.raises(ArgumentError) as caught:
        rs.RobustGraph("gaussian", tol=3).fit(normal())
    error = caught.value
    assert (error.argument, error.value) == ("tol", 3)
    assert str(error) == "tol=3 must lie between 0 and 1."
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.argument, again.value, str(again)) == (ArgumentError, "tol", 3, str(error))


@pytest.mark.parametrize("estimator", [rs.RobustGraph, rs.RobustScoreMatching])
def test_contamination_and_a_number_of_blocks_contradict_each_other(estimator):
    with pytest.raises(UsageError, match=r"contamination=0.1 sets the number of blocks, and so does n_blocks=5"):
        estimator("gaussian", contamination=0.1, n_blocks=5).fit(normal())


def test_a_fit_that_does_not_exist_says_why_and_not_by_the_fit_before():
    model = rs.RobustScoreMatching("gaussian")
    with pytest.raises(ValueError, match=r"Only 3 of 3 rows have positive weight.*from 5 different rows"):
        model.fit(normal(3))
    doubled = np.column_stack([normal(), normal()[:, 0]])
    model = rs.RobustScoreMatching("gaussian").fit(normal(100, 3))
    for _ in range(2):
        with pytest.raises(ValueError, match="'x0', 'x4'"):
            model.fit(doubled)


def test_the_fit_is_frozen_and_holds_what_the_attributes_say():
    X = normal()
    X[3, 1] = np.nan
    model = rs.RobustGraph("gaussian", missing="drop").fit(X)
    fit = model.fitted_
    with pytest.raises(AttributeError):
        fit.loss = None
    np.testing.assert_array_equal(fit.used, np.delete(np.arange(200), 3))
    np.testing.assert_array_equal(fit.row_weights, model.row_weights_)
    assert model.row_weights_.shape == (200, 2)
    np.testing.assert_array_equal(fit.given[0], model.interaction_)
    np.testing.assert_array_equal(fit.prepared.preparation.unscale(fit.scaled)[0], model.interaction_)
    assert fit.chosen.position == model.position_
    assert model.path_.alphas[model.position_] == model.alpha_
    np.testing.assert_array_equal(model.graph_at(model.position_).interaction, model.interaction_)
    np.testing.assert_array_equal(fit.weights.loss(fit.elements()).gamma, fit.loss.gamma)


def test_the_position_on_the_path_is_known_where_penalties_are_equal():
    model = rs.RobustGraph("gaussian", n_blocks=1, alphas=[0.3, 0.1, 0.1, 0.1, 1e-3]).fit(normal() @ np.tri(4))
    assert model.position_ == model.choices_["f1"]
    record = rs.report.record(model)
    assert record.path["chosen"] == model.position_


@pytest.mark.parametrize("n_edges", [0, 2, 3, 6])
def test_a_penalty_found_for_a_number_of_edges_is_in_its_place(n_edges):
    model = rs.RobustGraph("gaussian", n_blocks=1, alphas=5, n_edges=n_edges).fit(normal() @ np.tri(4))
    assert model.path_.n_edges[model.position_] == n_edges == model.graph_.n_edges
    assert (np.diff(model.path_.alphas) <= 0).all()
    none = rs.RobustGraph("gaussian", n_blocks=1, alphas=[0.0], n_edges=n_edges).fit(normal() @ np.tri(4))
    assert none.graph_.n_edges == n_edges


@pytest.mark.parametrize(("n", "family"), swept([2, 3, 5, 8], ["gaussian", "sqrt"]))
def test_intervals_of_a_handful_of_rows_are_refused_in_words(n, family):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = rs.RobustGraph(family).fit(np.abs(normal(n)))
    with pytest.raises(ValueError, match="standard errors need at least 10"):
        model.edge_intervals()


REACHED = {
    "gaussian": (1e-100, 1e100),
    "truncated-gaussian": (1e-100, 1e100),
    "sqrt": (1e-160, 1e-100, 1e100, 1e200),
    "gamma": (1e-160, 1e-100, 1e100, 1e200),
}


@pytest.mark.parametrize(
    ("family", "unit"),
    swept(
        ["gaussian", "sqrt", "gamma", "truncated-gaussian", "log-log"],
        [1e-310, 1e-300, 1e-160, 1e-100, 1e100, 1e200, 1e300],
        times=2,
    ),
)
def test_units_never_matter_or_columns_are_refused_by_name(family, unit):
    X = np.random.default_rng(0).gamma(2.0, size=(120, 3))
    X[:, 1] += X[:, 0]
    plain = rs.RobustGraph(family, n_edges=2, alphas=10).fit(X)
    Y = X.copy()
    Y[:, 1] *= unit
    model = rs.RobustGraph(family, n_edges=2, alphas=10)
    if family != "log-log" and unit not in REACHED[family]:
        with pytest.raises(UsageError, match=r"columns 'x1' are so large, or so small"):
            model.fit(Y)
        return
    model.fit(Y)
    for name in ("interaction_", "location_", "association_"):
        assert np.isfinite(getattr(model, name)).all()
    np.testing.assert_array_equal(model.graph_.adjacency, plain.graph_.adjacency)
    np.testing.assert_allclose(model.association_, plain.association_, rtol=1e-3, atol=1e-6)
