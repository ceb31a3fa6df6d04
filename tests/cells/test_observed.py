"""Fits are judged by observed cells, never by cells that they filled in themselves."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

import robscore as rs
from robscore.family_choice.common_loss import CommonWeight
from robscore.family_choice.common_score import Scoring, losses_of
from robscore.family_choice.observed import available_loss, completed
from robscore.rows.arrays import ArrayRows


def _rows(family: str, n: int, seed: int = 1) -> np.ndarray:
    truth = rs.simulate.random_model(5, 5, min_eigenvalue=0.4, random_state=0)
    return rs.simulate.sample(family, truth.interaction, truth.location, n_rows=n, random_state=seed)


def _holed(X: np.ndarray, seed: int, share: float = 0.1) -> np.ndarray:
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


@pytest.mark.parametrize("family", ["sqrt", "gamma", "log-log", "gaussian"])
def test_without_holes_the_loss_by_entries_is_the_mean_of_those_of_rows(family: str) -> None:
    X, chosen, is_real = _rows(family, 300), rs.families.get_family(family), family == "gaussian"
    scoring = Scoring.of(ArrayRows(X), is_real=is_real)
    t = scoring.coordinates(X)
    phi, slope = scoring.weight(t)
    counted = phi > 0
    weight = CommonWeight.weighted(t[counted], phi[counted], slope[counted], is_real=is_real)
    parameters = np.eye(5) + 0.1, np.full(5, 0.3)
    loss = available_loss(chosen, weight, np.ones(weight.t.shape, dtype=bool), np.ones(len(weight.t)))
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
    model = rs.RobustGraph(family, missing="available", n_edges=5).fit(_holed(_rows(family, 400), 0))
    X = _rows(family, 600, seed=2)
    masks = range(12)
    scores = np.array([model.score(_holed(X, seed)) for seed in masks])
    assert abs(scores.mean() - model.score(X)) < 4 * scores.std(ddof=1) / np.sqrt(len(masks)) + 0.02
    losses = np.array([np.mean(model.row_losses(_holed(X, seed))) for seed in masks])
    assert abs(losses.mean() - model.row_losses(X).mean()) < 4 * losses.std(ddof=1) / np.sqrt(len(masks)) + 0.01


def test_rows_in_which_nothing_is_there_are_not_judged() -> None:
    X = _holed(_rows("sqrt", 300), 0)
    X[4] = np.nan
    model = rs.RobustGraph("sqrt", missing="available", n_edges=4).fit(X)
    losses = model.row_losses(X)
    assert np.isnan(losses[4])
    assert np.isfinite(np.delete(losses, 4)).all()
    assert np.isfinite(model.score(X))
    with pytest.raises(ValueError, match="Negative"):
        model.score(np.where(np.arange(300)[:, None] == 7, -1.0, X))


def test_the_true_family_scores_best_where_cells_are_missing() -> None:
    X = _holed(np.exp(np.random.default_rng(0).normal(size=(500, 3)) @ np.tri(3) / 2), 1)
    scores = {
        family: cross_val_score(rs.RobustGraph(family, missing="available", n_blocks=1), X, cv=2).mean()
        for family in ("log-log", "truncated-gaussian")
    }
    assert scores["log-log"] > scores["truncated-gaussian"]


@pytest.mark.parametrize("missing", ["impute", "available"])
def test_cross_validation_takes_holes(missing: str) -> None:
    model = rs.RobustGraph("gaussian", missing=missing, select="cv").fit(_holed(_rows("gaussian", 400), 0))
    truth = rs.simulate.random_model(5, 5, min_eigenvalue=0.4, random_state=0).interaction != 0
    missed = np.count_nonzero(np.triu(truth & ~model.graph_.adjacency, k=1))
    assert missed <= 1
    assert "cv" in model.graph_.summary()


def test_cross_validation_is_refused_where_entries_need_all_cells() -> None:
    X = np.random.default_rng(0).dirichlet(np.ones(4), size=60)
    X[3, 0] = np.nan
    with pytest.raises(ValueError, match="filled in itself"):
        rs.RobustGraph("simplex", missing="impute", select="cv").fit(X)
