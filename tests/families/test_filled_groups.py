"""Cells that are drawn where groups change the graph: missing ones, and those that a copula knows to an interval."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import robscore as rs

CLASSIC = {"n_blocks": 1, "alphas": 20}


def two_groups(n: int, seed: int = 0, shift: float = 0.7) -> tuple[np.ndarray, np.ndarray]:
    """Latent rows that are linked in a chain, but for the first two in group b, which lies elsewhere too."""
    rng, rows = np.random.default_rng(seed), []
    for first, moved in ((-0.45, 0.0), (0.0, shift)):
        K = np.eye(5) - 0.45 * (np.eye(5, k=1) + np.eye(5, k=-1))
        K[0, 1] = K[1, 0] = first
        covariance = np.linalg.inv(K)
        size = np.sqrt(covariance.diagonal())
        covariance /= np.multiply.outer(size, size)
        rows.append(rng.multivariate_normal(moved * np.array([1, -1, 0.5, 0, 1]), covariance, size=n))
    return np.concatenate(rows), np.repeat(["a", "b"], n)


def of_every_kind(z: np.ndarray) -> np.ndarray:
    """Two values, answers, counts with zeros, a skewed column and a plain one."""
    X = [
        z[:, 0] > 0.3,
        np.digitize(z[:, 1], [-0.8, 0.5]),
        np.maximum(np.round(2 * z[:, 2]), 0),
        np.exp(z[:, 3]),
        z[:, 4],
    ]
    return np.column_stack(X).astype(float)


def with_holes(X: np.ndarray, share: float = 0.1) -> np.ndarray:
    return np.where(np.random.default_rng(9).random(X.shape) < share, np.nan, X)


def test_without_a_penalty_each_group_is_filled_in_by_its_own_rows() -> None:
    z, group = two_groups(150)
    X = with_holes(z)
    model = rs.RobustScoreMatching("gaussian", n_blocks=1, missing="impute").fit(X, moderators={"group": group})
    for name in "ab":
        alone = rs.RobustScoreMatching("gaussian", n_blocks=1, missing="impute").fit(X[group == name])
        np.testing.assert_allclose(model.interaction_for(name), alone.interaction_, rtol=1e-5, atol=1e-6)


def test_groups_with_missing_cells_differ_where_they_do() -> None:
    z, group = two_groups(250)
    model = rs.RobustGraph("gaussian", missing="impute", **CLASSIC).fit(with_holes(z), moderators={"group": group})
    assert model.graph_for("a").association[0, 1] > 0.2
    assert abs(model.graph_for("b").association[0, 1]) < 0.05
    table, complete = (
        fit.differences().set_index(["source", "target"])
        for fit in (model, rs.RobustGraph("gaussian", **CLASSIC).fit(z, moderators={"group": group}))
    )
    assert table["significant"].sum() == 1
    first = ("x0", "x1")
    assert table.loc[first, "significant"]
    error = complete.loc[first, "difference_error"]
    assert abs(table.loc[first, "difference"] - complete.loc[first, "difference"]) < error
    assert error < table.loc[first, "difference_error"] < 1.6 * error
    (filled,) = model.imputations(1)
    assert np.isfinite(filled).all()


def test_groups_of_columns_of_every_kind() -> None:
    z, group = two_groups(300, 1)
    X = with_holes(of_every_kind(z), 0.03)
    model = rs.RobustGraph("copula", missing="impute", **CLASSIC).fit(X, moderators={"group": group})
    a, b = (model.graph_for(name) for name in "ab")
    assert a.association[0, 1] > 0.15
    assert abs(b.association[0, 1]) < 0.1
    for graph in (a, b):
        assert (graph.association[[1, 2, 3], [2, 3, 4]] > 0.2).all()
    assert set(model.predict(X[:50], covariates={"group": group[:50]})) <= {1, -1}
    assert set(model.imputations(1)[0][:, 0]) == {0.0, 1.0}


def test_differences_of_latent_numbers_are_those_of_associations() -> None:
    z, group = two_groups(400, 2)
    X = of_every_kind(z)[:, :3]
    model = rs.RobustScoreMatching("copula", n_blocks=1).fit(X, moderators={"group": group})
    table = model.differences(against="b").set_index(["source", "target"])
    assert table.loc[("x0", "x1"), "p_value"] < 0.05
    assert (table.loc[[("x0", "x2"), ("x1", "x2")], "p_value"] > 0.01).all()
    found = {name: model.interaction_for(name) for name in "ab"}
    relative = {name: K / np.sqrt(np.multiply.outer(K.diagonal(), K.diagonal())) for name, K in found.items()}
    for (source, target), row in table.iterrows():
        i, j = int(source[1]), int(target[1])
        assert abs(row["difference"] - (relative["a"] - relative["b"])[i, j]) < 0.5 * row["difference_error"]


def test_other_units_and_shapes_in_one_group_change_nothing() -> None:
    z, group = two_groups(150)
    X, b = z[:, :4].copy(), group == "b"
    X[b] = np.column_stack([np.exp(z[b, 0]), z[b, 1] ** 3, 10 * z[b, 2], -np.exp(-z[b, 3])])
    one, other = (
        rs.RobustGraph("copula", n_edges=3, **CLASSIC).fit(rows, moderators={"group": group}) for rows in (z[:, :4], X)
    )
    for name in "ab":
        np.testing.assert_allclose(other.interaction_for(name), one.interaction_for(name), atol=1e-8)


def test_a_column_without_a_value_in_one_group_has_the_margin_of_all_rows_there() -> None:
    z, group = two_groups(60)
    X = of_every_kind(z)
    X[group == "b", 2] = np.nan
    model = rs.RobustScoreMatching("copula", n_blocks=1, missing="impute").fit(X[:, 1:], moderators={"group": group})
    (filled,) = model.imputations(1)
    assert set(filled[group == "b", 1]) <= set(X[group == "a", 2])


def test_the_order_of_rows_and_columns_does_not_matter_in_groups() -> None:
    z, group = two_groups(100)
    frame = pd.DataFrame(of_every_kind(z), columns=list("vwxyz")).assign(group=group)
    columns = ["x", "v", "z", "w", "y", "group"]
    one = rs.RobustScoreMatching("copula", n_blocks=1).fit(frame, moderators=["group"])
    moved = frame.sample(frac=1, random_state=0)[columns]
    other = rs.RobustScoreMatching("copula", n_blocks=1).fit(moved, moderators=["group"])
    order = np.ix_([2, 0, 4, 1, 3], [2, 0, 4, 1, 3])
    for name in "ab":
        np.testing.assert_allclose(other.interaction_for(name), one.interaction_for(name)[order], atol=1e-4)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"missing": "impute", "number": True},
            "cut it into groups.* or leave out incomplete rows with missing='drop'",
        ),
        ({"family": "copula", "number": True}, "cut it into groups.* or give it as a covariate"),
        ({"missing": "impute", "select": "cv"}, "select='cv' does not go with moderators"),
        ({"cells": True}, "cells=True does not go with moderators such as 'm'"),
    ],
)
def test_what_groups_cannot_have_filled_in_is_refused(options: dict, words: str) -> None:
    z, group = two_groups(40)
    moderator = z[:, 4] if options.pop("number", False) else group
    X = with_holes(z[:, :4]) if "missing" in options else z[:, :4]
    with pytest.raises(ValueError, match=words):
        rs.RobustGraph(**{"family": "gaussian"} | options).fit(X, moderators={"m": moderator})


def test_what_is_not_known_of_latent_groups_is_refused() -> None:
    z, group = two_groups(60)
    X, sex = of_every_kind(z), np.tile(["f", "m"], 60)
    one = rs.RobustScoreMatching("copula", n_blocks=1).fit(X, moderators={"group": group})
    with pytest.raises(ValueError, match="pass 'group' as a covariate"):
        one.effects()
    two = rs.RobustScoreMatching("copula", n_blocks=1).fit(X, moderators={"group": group, "sex": sex})
    with pytest.raises(ValueError, match="join these columns into one"):
        two.differences()
