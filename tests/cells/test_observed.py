"""Fits are judged by observed cells, never by cells that they filled in themselves."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

import robscore as rs
from robscore.elements import ObservedEntries, Shares, counts_of
from robscore.family_choice import CommonScore, CommonWeight, completed, losses_of, observed_loss
from robscore.losses import QuadraticLoss
from robscore.rows import ArrayRows


def _rows(family: str, n: int, seed: int = 1) -> np.ndarray:
    truth = rs.simulate.random_model(5, 5, min_eigenvalue=0.4, random_state=0)
    return rs.simulate.sample(family, truth.interaction, truth.location, n_rows=n, random_state=seed)


def _holed(X: np.ndarray, seed: int, share: float = 0.1) -> np.ndarray:
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


@pytest.mark.parametrize("family", ["sqrt", "gamma", "log-log", "gaussian"])
def test_without_holes_the_loss_by_entries_is_the_mean_of_those_of_rows(family: str) -> None:
    X, chosen, is_real = _rows(family, 300), rs.families.get_family(family), family == "gaussian"
    score = CommonScore.of(ArrayRows(X), is_real=is_real)
    t = score.coordinates(X)
    phi, slope = score.weight(t)
    counted = phi > 0
    weight = CommonWeight.weighted(t[counted], phi[counted], slope[counted], is_real=is_real)
    parameters = np.eye(5) + 0.1, np.full(5, 0.3)
    loss = observed_loss(chosen, weight, np.ones(weight.t.shape, dtype=bool), np.ones(len(weight.t)))
    assert loss is not None
    expected = losses_of(chosen, parameters, weight).sum() / phi.sum()
    np.testing.assert_allclose(loss.value(*parameters), expected, rtol=1e-10)


def test_rows_are_completed_as_the_others_suggest() -> None:
    first = np.random.default_rng(0).normal(size=2000)
    t = np.column_stack([first, first + 0.3 * np.random.default_rng(1).normal(size=2000), first[::-1]])
    holed = _holed(t, 2, 0.2)
    whole = completed(holed, is_real=True)
    np.testing.assert_array_equal(whole[~np.isnan(holed)], holed[~np.isnan(holed)])
    np.testing.assert_allclose(np.corrcoef(whole.T), np.corrcoef(t.T), atol=0.08)


@pytest.mark.parametrize("family", ["sqrt", "gaussian"])
def test_holes_do_not_shift_scores_and_losses(family: str) -> None:
    model = rs.RobustGraph(family, missing="impute", n_edges=5).fit(_holed(_rows(family, 400), 0))
    X = _rows(family, 600, seed=2)
    masks = range(12)
    scores = np.array([model.score(_holed(X, seed)) for seed in masks])
    assert abs(scores.mean() - model.score(X)) < 4 * scores.std(ddof=1) / np.sqrt(len(masks)) + 0.02
    losses = np.array([np.mean(model.row_losses(_holed(X, seed))) for seed in masks])
    assert abs(losses.mean() - model.row_losses(X).mean()) < 4 * losses.std(ddof=1) / np.sqrt(len(masks)) + 0.01


def test_rows_in_which_nothing_is_there_are_not_judged() -> None:
    X = _holed(_rows("sqrt", 300), 0)
    X[4] = np.nan
    model = rs.RobustGraph("sqrt", missing="impute", n_edges=4).fit(X)
    losses = model.row_losses(X)
    assert np.isnan(losses[4])
    assert np.isfinite(np.delete(losses, 4)).all()
    assert np.isfinite(model.score(X))
    with pytest.raises(ValueError, match="Negative"):
        model.score(np.where(np.arange(300)[:, None] == 7, -1.0, X))


def test_the_true_family_scores_best_where_cells_are_missing() -> None:
    X = _holed(np.exp(np.random.default_rng(0).normal(size=(500, 3)) @ np.tri(3) / 2), 1)
    scores = {
        family: cross_val_score(rs.RobustGraph(family, missing="impute", n_blocks=1), X, cv=2).mean()
        for family in ("log-log", "truncated-gaussian")
    }
    assert scores["log-log"] > scores["truncated-gaussian"]


def test_cross_validation_takes_missing_cells() -> None:
    model = rs.RobustGraph("gaussian", missing="impute", select="cv").fit(_holed(_rows("gaussian", 400), 0))
    truth = rs.simulate.random_model(5, 5, min_eigenvalue=0.4, random_state=0).interaction != 0
    missed = np.count_nonzero(np.triu(truth & ~model.graph_.adjacency, k=1))
    assert missed <= 1
    assert "cv" in model.graph_.summary()


def test_cross_validation_is_refused_where_entries_need_all_cells() -> None:
    X = np.random.default_rng(0).dirichlet(np.ones(4), size=60)
    X[3, 0] = np.nan
    with pytest.raises(ValueError, match="filled in itself"):
        rs.RobustGraph("simplex", missing="impute", select="cv").fit(X)


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
    view = ObservedEntries(rs.families.get_family(family), np.ones(X.shape[1]), Shares(counts.blocks, counts.g, centre))
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
def test_losses_of_rows_sum_to_that_of_the_average(family: str) -> None:
    _, holed, weights = _table(family)
    loss = _elements(family, holed, weights).average(weights, weights)
    K, eta = np.eye(4) + 0.1, np.arange(4.0)
    for centre in (None, loss):
        elements = _elements(family, holed, weights, centre)
        np.testing.assert_allclose(weights @ elements.row_losses(K, eta), loss.value(K, eta), rtol=1e-9)


@pytest.mark.parametrize("family", _FAMILIES)
def test_without_missing_cells_losses_are_those_of_the_family(family: str) -> None:
    X, _, weights = _table(family)
    full = rs.score_elements(family, X)
    own = _elements(family, X, weights, full.average(weights, weights, storage="dense"))
    K, eta = np.eye(4) + 0.1, np.arange(4.0)
    np.testing.assert_allclose(own.row_losses(K, eta), full.row_losses(K, eta), rtol=1e-9)


def test_columns_that_are_never_observed_together_are_named() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = rs.RobustGraph("gaussian", missing="impute", n_blocks=1, alphas=10).fit(np.where(X > 3, np.nan, X))
    X[:30, 0] = np.nan
    X[30:, 1] = np.nan
    with pytest.raises(ValueError, match=r"'x0'.*'x1' together"):
        model.row_losses(X)
