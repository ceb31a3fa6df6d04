"""Groups that are better off by themselves: without a common penalty, each on its own scale."""

import pickle

import numpy as np
import pytest
from designs import first

import robscore as rs
from robscore.losses import Parts, matrices

GROUPS = ("a", "b", "c")


def test_groups_without_anything_in_common_are_not_made_to_share_edges():
    edges = {"a": [(0, 1), (2, 3), (4, 5)], "b": [(0, 2), (1, 4), (6, 7)], "c": [(0, 3), (5, 8), (2, 7)]}
    draws = []
    for k, pairs in enumerate(edges.values()):
        K = np.eye(9)
        for i, j in pairs:
            K[i, j] = K[j, i] = 0.4
        draws.append(np.random.default_rng(k).multivariate_normal(np.zeros(9), np.linalg.inv(K), size=300))
    model = rs.RobustGraph("gaussian").fit(np.concatenate(draws), moderators={"group": np.repeat(GROUPS, 300)})
    assert model.graph_.n_edges == 0
    assert "without a common penalty" in model.summary()
    for name, pairs in edges.items():
        found = model.graph_for(name).adjacency
        assert all(found[pair] for pair in pairs)
        assert np.count_nonzero(found) // 2 <= 4


UNRELATED = {"a": [(0, 1), (2, 3), (4, 5)], "b": [(0, 2), (1, 4), (6, 7)], "c": [(0, 3), (5, 8), (2, 7)]}


def unrelated(family: str, n: int = 250) -> tuple[np.ndarray, np.ndarray]:
    """Groups whose edges, scales and locations have nothing to do with each other."""
    draws = []
    for k, pairs in enumerate(UNRELATED.values()):
        K = np.diag(np.random.default_rng(k).uniform(1, 4, size=9))
        for i, j in pairs:
            K[i, j] = K[j, i] = -0.6 * np.sqrt(K[i, i] * K[j, j])
        X = rs.simulate.sample(family, K, np.full(9, 0.5), n_rows=n, burn_in=100, thin=5, random_state=k)
        draws.append(X * np.random.default_rng(10 + k).uniform(0.2, 5, size=9))
    return np.concatenate(draws), np.repeat(GROUPS, n)


CAPPED = rs.families.SquareRoot(boundary=rs.boundary.CappedPower(1.5, 1.2))


@pytest.mark.parametrize(
    "family", first(2, ["sqrt", "gaussian", "gamma", "log-log", "truncated-gaussian", CAPPED]), ids=str
)
def test_groups_by_themselves_have_the_graphs_of_their_rows_alone(family, monkeypatch):
    monkeypatch.setattr("robscore.fitting.by_groups.LEAST_GAIN", 1.0)  # whatever is expected of a common graph
    X, group = unrelated(family) if family in ("gaussian", "sqrt") else unrelated("sqrt")
    model = rs.RobustGraph(family, n_blocks=1).fit(X, moderators={"group": group})
    assert "for each group alone" in model.graph_.facts.selection
    for name in GROUPS:
        alone = rs.RobustGraph(family, n_blocks=1).fit(X[group == name])
        np.testing.assert_array_equal(model.graph_for(name).adjacency, alone.graph_.adjacency)
        shrunk = alone.interaction_
        np.testing.assert_allclose(model.interaction_for(name), shrunk, atol=1e-2 * np.abs(shrunk).max())


def test_penalties_of_groups_by_themselves_are_told_and_keep_their_ratios():
    X, group = unrelated("gaussian")
    model = rs.RobustGraph("gaussian", alphas=40).fit(X, moderators={"group": group})
    assert model.path_.alphas[model.position_] == model.alpha_
    assert f"{model.alpha_:.3g}" in model.summary().split("(a ")[1]
    assert model.path_.converged.all()
    assert model.criterion_.shape == model.path_.alphas.shape
    assert model.criterion_[model.position_] < model.criterion_[0]
    assert np.isfinite(model.graph_at(model.position_).interaction).all()
    np.testing.assert_array_equal(model.graph_at(model.position_).adjacency, model.graph_.adjacency)
    for name in GROUPS:
        np.testing.assert_allclose(model.interaction_ + model.moderations_[f"group={name}"],
                                   model.interaction_for(name), atol=1e-12)  # fmt: skip
    table = model.differences(against="a")
    assert table["significant"].sum() >= 6
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.interaction_for("b"), model.interaction_for("b"))


def test_groups_by_themselves_may_have_covariates_weights_and_be_streamed():
    X, group = unrelated("sqrt")
    other = np.random.default_rng(0).normal(size=len(X))
    given = {"covariates": {"c": other}, "moderators": {"group": group}}
    whole = rs.RobustGraph("sqrt", alphas=20).fit(X, **given)
    assert "for each group alone" in whole.summary()
    streamed = rs.RobustGraph("sqrt", alphas=20, max_memory="3 MB").fit(X, **given)
    assert streamed.fitted_.elements().streams
    np.testing.assert_allclose(whole.interaction_for("b"), streamed.interaction_for("b"), atol=1e-7)
    twice = rs.RobustGraph("sqrt", alphas=20, n_blocks=1).fit(X, sample_weight=np.full(len(X), 2.0), **given)
    once = rs.RobustGraph("sqrt", alphas=20, n_blocks=1).fit(X, **given)
    assert twice.graph_for("b").n_edges >= once.graph_for("b").n_edges >= 2


def test_columns_that_are_not_scaled_are_not_scaled_by_group():
    X, group = unrelated("gaussian")
    model = rs.RobustGraph("gaussian", scale=None, alphas=20).fit(X, moderators={"group": group})
    alone = rs.RobustGraph("gaussian", scale=None, alphas=20).fit(X[group == "b"])
    np.testing.assert_array_equal(model.graph_for("b").adjacency, alone.graph_.adjacency)


def test_penalties_of_parts():
    W = np.array([[0.0, 2.0, 0.0], [2.0, 0.0, np.inf], [0.0, np.inf, 0.0]])
    parts = Parts(3, ((1, 2),))
    assert parts.weights(W).tolist() == np.tile(W, (3, 1)).tolist()
    found = matrices(parts.penalised(np.array([np.inf, 3.0, 0.0])).weights(W))
    assert found[:, 0, 1].tolist() == [np.inf, 6.0, 0.0]
    assert found[:, 0, 2].tolist() == [np.inf, 0.0, 0.0]  # free in the groups, and not common
    assert found[:, 1, 2].tolist() == [np.inf] * 3
