"""Missing cells, entry by entry: every average over the rows in which its cells are there."""

from __future__ import annotations

import numpy as np
import pytest

import robscore as rs
from robscore.elements.available import AvailableView, Shares, counts_of
from robscore.losses.quadratic import QuadraticLoss
from robscore.losses.semidefinite import indefinite, nearest_semidefinite

_FAMILIES = ["gaussian", "sqrt", "gamma", "truncated-gaussian", "log-log"]


def _table(family: str, n: int = 60, m: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, the same with holes, and weights."""
    rng = np.random.default_rng(0)
    X = rng.gamma(2, 1, size=(n, m))
    X = np.log(X) if family == "gaussian" else X
    weights = rng.random(n)
    return X, np.where(rng.random(X.shape) < 0.2, np.nan, X), weights / weights.sum()


def _elements(family: str, X: np.ndarray, weights: np.ndarray, centre: QuadraticLoss | None = None):
    counts = counts_of((~np.isnan(X)).astype(float), weights, 0, shared=family == "gaussian")
    view = AvailableView(rs.families.get_family(family), np.ones(X.shape[1]), Shares(counts.blocks, counts.g, centre))
    return view.elements(X)


@pytest.mark.parametrize("family", _FAMILIES)
def test_every_entry_is_the_mean_over_rows_that_have_its_cells(family: str) -> None:
    X, holed, weights = _table(family)
    m, found = X.shape[1], _elements(family, holed, weights).average(weights, weights)
    full = rs.score_elements(family, X)

    def over_rows_with(*cells: int) -> QuadraticLoss:
        there = ~np.isnan(holed[:, [k for k in cells if k < m]]).any(axis=1)
        own = np.where(there, weights, 0.0) / weights[there].sum()
        return full.average(own, own, storage="dense")

    for j in range(m):
        for k in range(m + 1):
            np.testing.assert_allclose(found.g[j, k], over_rows_with(j, k).g[j, k], rtol=1e-10, atol=1e-12)
            for other in range(k + 1):
                cells = (k, other) if family == "gaussian" else (j, k, other)
                expected = over_rows_with(*cells).gamma[j][k, other]
                np.testing.assert_allclose(found.gamma[j][k, other], expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("family", _FAMILIES)
def test_what_rows_add_sums_to_the_whole(family: str) -> None:
    _, holed, weights = _table(family)
    loss = _elements(family, holed, weights).average(weights, weights)
    K, eta = np.eye(4) + 0.1, np.arange(4.0)
    rows, nodes = np.array([0, 1, 4, 2]), np.array([0, 3, 2, 1])
    expected = (loss.gamma_times(K, eta) - loss.g)[nodes, rows]
    for centre in (None, loss):
        elements = _elements(family, holed, weights, centre)
        gradients = elements.row_gradients(K, eta, rows, nodes, symmetric=False)
        np.testing.assert_allclose(weights @ gradients, expected, rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(weights @ elements.row_losses(K, eta), loss.value(K, eta), rtol=1e-9)


@pytest.mark.parametrize("family", _FAMILIES)
def test_without_holes_elements_are_those_of_the_family(family: str) -> None:
    X, _, weights = _table(family)
    full = rs.score_elements(family, X)
    own = _elements(family, X, weights, full.average(weights, weights, storage="dense"))
    K, eta = np.eye(4) + 0.1, np.arange(4.0)
    rows, nodes = np.array([0, 1, 4, 2]), np.array([0, 3, 2, 1])
    np.testing.assert_allclose(
        own.row_gradients(K, eta, rows, nodes, symmetric=True),
        full.row_gradients(K, eta, rows, nodes, symmetric=True),
        atol=1e-9,
    )
    np.testing.assert_allclose(own.row_losses(K, eta), full.row_losses(K, eta), rtol=1e-9)
    np.testing.assert_allclose(own.squared_norms("gamma"), full.squared_norms("gamma") + full.constant, rtol=1e-9)
    np.testing.assert_allclose(own.products("g", own.rows, own.rows), full.products("g", full.rows, full.rows))


@pytest.mark.parametrize("family", ["gaussian", "sqrt"])
def test_without_holes_a_fit_is_the_plain_one(family: str) -> None:
    X = np.abs(np.random.default_rng(0).normal(size=(200, 4)) @ np.tri(4))
    plain = rs.RobustGraph(family).fit(X)
    np.testing.assert_array_equal(rs.RobustGraph(family, missing="available").fit(X).interaction_, plain.interaction_)


def test_gaussian_is_the_inverse_of_the_pairwise_complete_covariance() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 4)) @ np.tri(4)
    X[rng.random(X.shape) < 0.1] = np.nan
    model = rs.RobustScoreMatching("gaussian", n_blocks=1, missing="available").fit(X)
    there = (~np.isnan(X)).astype(float)
    mean, filled = np.nanmean(X, axis=0), np.nan_to_num(X)
    covariance = filled.T @ filled / (there.T @ there) - np.multiply.outer(mean, mean)
    np.testing.assert_allclose(model.interaction_, np.linalg.inv(covariance), rtol=1e-3, atol=2e-3)


def test_unbiased_where_cells_are_missing_completely_at_random() -> None:
    truth = rs.simulate.random_model(5, 4, min_eigenvalue=0.5, random_state=0)
    found = []
    for seed in range(12):
        X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=1500, random_state=seed)
        X[np.random.default_rng(seed).random(X.shape) < 0.15] = np.nan
        model = rs.RobustScoreMatching("sqrt", n_blocks=1, missing="available").fit(X)
        found.append(model.interaction_[np.triu_indices(5)])
    away = np.mean(found, axis=0) - truth.interaction[np.triu_indices(5)]
    assert (np.abs(away) < 4 * np.std(found, axis=0, ddof=1) / np.sqrt(12)).all()


def test_bad_rows_are_told_and_intervals_cover() -> None:
    truth = rs.simulate.random_model(6, 5, min_eigenvalue=0.5, random_state=0)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=800, random_state=1)
    X, bad = rs.simulate.contaminate_pareto(X, 0.05, random_state=2)
    X[np.random.default_rng(3).random(X.shape) < 0.1] = np.nan
    model = rs.RobustGraph("sqrt", missing="available").fit(X)
    out = np.flatnonzero(model.row_weights_[:, 0] == 0)
    assert out.size > 10
    assert np.isin(out, bad).all()
    table = model.edge_intervals()
    ends = [[int(name[1:]) for name in table[side]] for side in ("source", "target")]
    values = truth.interaction[ends[0], ends[1]]
    assert np.mean((table["interaction_low"] <= values) & (values <= table["interaction_high"])) > 0.7
    assert "averages are over the rows in which cells are there" in model.graph_.summary()


def test_rows_that_do_not_fit_in_memory_are_read_in_pieces() -> None:
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=(6000, 6)) @ np.tri(6) / 3)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[7] = np.nan
    streamed = rs.RobustGraph("log-log", missing="available", max_memory="1 MB", n_edges=6).fit(X)
    held = rs.RobustGraph("log-log", missing="available", n_blocks=1, n_edges=6).fit(np.delete(X, 7, axis=0))
    np.testing.assert_array_equal(streamed.graph_.adjacency, held.graph_.adjacency)
    np.testing.assert_allclose(streamed.interaction_, held.interaction_, rtol=0.02, atol=0.02)
    assert any("not looked for" in str(one) for one in streamed.cautions_)
    with pytest.raises(ValueError, match="n_blocks"):
        rs.RobustGraph("log-log", missing="available", max_memory="1 MB", n_blocks=5).fit(X)


def test_covariates_go_with_it() -> None:
    rng = np.random.default_rng(0)
    season = rng.normal(size=600)
    X = rng.normal(size=(600, 3)) + np.outer(season, [1, 1, 0])
    X[rng.random(X.shape) < 0.1] = np.nan
    model = rs.RobustGraph("gaussian", missing="available").fit(X, covariates={"season": season})
    np.testing.assert_allclose(model.effects_[:, 0], [1, 1, 0], atol=0.25)
    table = model.effects()
    assert sorted(table["column"][table["significant"]]) == ["x0", "x1"]


def test_nearest_semidefinite_is_the_projection() -> None:
    rng = np.random.default_rng(0)
    block = rng.normal(size=(3, 5, 5))
    block = block + np.swapaxes(block, 1, 2) + 5 * np.eye(5)
    block[2] -= 4 * np.eye(5)
    loss = QuadraticLoss(block, np.zeros((3, 5)))
    mended = nearest_semidefinite(loss)
    assert indefinite(loss)[2]
    assert not indefinite(mended).any()
    values = np.linalg.eigvalsh(block)
    unchanged = values[:, 0] >= 0
    np.testing.assert_array_equal(mended.blocks[unchanged], block[unchanged])
    assert np.linalg.eigvalsh(mended.blocks).min() > 0


def test_averages_that_do_not_fit_together_are_said() -> None:
    X = np.random.default_rng(0).normal(size=(30, 6)) @ np.tri(6)
    X[np.random.default_rng(1).random(X.shape) < 0.45] = np.nan
    model = rs.RobustGraph("gaussian", missing="available", n_edges=3, n_blocks=1).fit(X)
    assert model.graph_.facts.converged
    assert any("positive semidefinite" in str(one) for one in model.cautions_)


@pytest.mark.parametrize(
    ("family", "options", "words"),
    [
        ("simplex", {}, "depends on the other cells|not known by column"),
        (
            rs.families.TruncatedGaussian(domain=rs.domains.NonNegative() & rs.domains.Inequality(1.0, "<=", 9.0)),
            {},
            "depends on the other cells",
        ),
        ("gaussian", {"cells": True}, "fills none in"),
    ],
)
def test_refusals_are_in_words(family: object, options: dict, words: str) -> None:
    X = np.random.default_rng(0).dirichlet(np.ones(3), size=50)
    X[3, 0] = np.nan
    with pytest.raises(ValueError, match=words):
        rs.RobustGraph(family, missing="available", **options).fit(X)


def test_columns_that_are_never_there_together_are_named() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[:30, 0] = np.nan
    X[30:, 1] = np.nan
    with pytest.raises(ValueError, match=r"'x0'.*'x1' together"):
        rs.RobustGraph("gaussian", missing="available").fit(X)
