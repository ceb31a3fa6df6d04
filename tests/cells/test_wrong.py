"""Wrong cells: found by what the rest of their row says, and redrawn."""

from __future__ import annotations

from functools import cache

import matplotlib as mpl
import numpy as np
import pytest
from designs import first
from scipy.stats import gamma, norm

import robscore as rs
from robscore.cells import conditionals
from robscore.certainty import describe_cells

mpl.use("Agg")


@cache
def _star() -> tuple[np.ndarray, np.ndarray]:
    """Rows of a Gaussian star, and its adjacency."""
    truth = rs.simulate.shaped_model("hub", 10, min_eigenvalue=0.2, random_state=0)
    return rs.simulate.sample(
        "gaussian", truth.interaction, truth.location, n_rows=400, random_state=1
    ), truth.adjacency


def _spoilt(share: float) -> tuple[np.ndarray, np.ndarray]:
    X, _ = _star()
    rng = np.random.default_rng(2)
    bad = rng.random(X.shape) < share
    return np.where(bad, X + 12 * X.std(axis=0), X), bad


@pytest.mark.parametrize("family", ["gaussian", "gamma"])
def test_conditional_densities_of_independent_columns_are_known(family: str) -> None:
    rng = np.random.default_rng(0)
    if family == "gaussian":
        X = rng.normal(1.0, 0.5, size=(300, 2))
        parameters, law = (4 * np.eye(2), np.full(2, 4.0)), norm(1.0, 0.5)
    else:  # a = 1/2, b = 0: with K = 0 off the diagonal x^(1/2) has the density of a gamma law's root
        X = rng.gamma(3.0, 0.25, size=(300, 2)) ** 1.0
        parameters, law = (np.diag([4.0, 4.0]), np.full(2, 2.0)), gamma(3.0, scale=0.25)
    found = conditionals(rs.families.get_family(family), X, parameters, X, np.arange(2), np.ones(300, dtype=bool), 800)
    np.testing.assert_allclose(found.log_density, law.logpdf(X), atol=1e-3)
    np.testing.assert_allclose(found.share, law.cdf(X), atol=1e-3)


def test_gross_cells_are_found_and_do_no_harm() -> None:
    X, adjacency = _star()
    spoilt, bad = _spoilt(0.05)
    model = rs.RobustGraph("gaussian", cells=True).fit(spoilt)
    table = model.suspicious_cells()
    flagged = table[table["flagged"]]
    found = np.zeros(bad.shape, dtype=bool)
    found[flagged["row"], [int(name[1:]) for name in flagged["column"]]] = True
    assert (found & bad).sum() / bad.sum() > 0.8  # others are in rows that are bad as a whole
    assert (found & ~bad).mean() < 0.005
    assert model.share_dropped_ < 0.05  # rows are repaired, not left out
    clean = rs.RobustGraph("gaussian").fit(X)
    assert (model.graph_.adjacency != adjacency).sum() <= (clean.graph_.adjacency != adjacency).sum() + 4
    inside = (flagged["expected_low"] < flagged["expected"]) & (flagged["expected"] < flagged["expected_high"])
    assert inside.all()
    original = X[flagged["row"], [int(name[1:]) for name in flagged["column"]]]
    covered = (flagged["expected_low"] <= original) & (original <= flagged["expected_high"])
    assert 0.85 < covered.mean() <= 1.0


@pytest.mark.parametrize("family", first(1, ["gaussian", "sqrt"]))
def test_clean_tables_are_left_alone(family: str) -> None:
    truth = rs.simulate.random_model(8, 8, random_state=0)
    X = rs.simulate.sample(family, truth.interaction, truth.location, n_rows=400, random_state=1)
    plain, model = rs.RobustGraph(family).fit(X), rs.RobustGraph(family, cells=True).fit(X)
    assert not model.fitted_.prepared.filling.drawn.any()
    np.testing.assert_allclose(model.interaction_, plain.interaction_, atol=1e-8)


def test_bad_rows_stay_bad_rows() -> None:
    truth = rs.simulate.random_model(10, 10, random_state=0)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=300, random_state=1)
    X, bad = rs.simulate.contaminate_pareto(X, 0.1, random_state=2)
    plain, model = (rs.RobustGraph("sqrt", alphas=10, cells=cells).fit(X) for cells in (False, True))
    assert np.isin(np.flatnonzero(model.row_weights_[:, 0] == 0), bad).mean() > 0.9
    assert abs(model.share_dropped_ - plain.share_dropped_) < 0.05


def test_missing_and_wrong_cells_and_bad_rows_at_once() -> None:
    spoilt, bad = _spoilt(0.02)
    spoilt = spoilt.copy()
    spoilt[:8] *= 30
    holes = (np.random.default_rng(5).random(spoilt.shape) < 0.05) & ~bad
    spoilt[holes] = np.nan
    model = rs.RobustGraph("auto", cells=True, missing="impute").fit(spoilt)
    assert model.family_ == "gaussian"
    table = model.suspicious_cells()
    assert table["flagged"].sum() > 0.8 * bad[8:].sum()
    assert not np.isnan(table["value"]).any()
    assert (model.row_weights_[:8, 0] == 0).mean() >= 0.75
    table = model.edge_intervals()
    truth = np.linalg.inv(np.cov(_star()[0].T))
    ends = [[int(name[1:]) for name in table[side]] for side in ("source", "target")]
    values = truth[ends[0], ends[1]]
    assert np.mean((table["interaction_low"] <= values) & (values <= table["interaction_high"])) > 0.85
    assert model.check_fit().verdict == "fits"
    assert not any("hardly fits" in str(caution) for caution in model.cautions_)
    assert np.isfinite(model.score(spoilt))
    assert not np.isnan(model.imputations(1)[0]).any()
    made = rs.report.record(model)
    assert made.cells["n_wrong"] == len(made.cells["listed"])
    assert made.cells["n_missing"] == np.isnan(spoilt).sum()
    summary = model.summary() if hasattr(model, "summary") else model.graph_.summary()
    assert "missing" in summary
    assert "wrong" in summary


def test_faults_are_said_in_words() -> None:
    X, _ = _star()
    X = np.exp(0.3 * X + 2)
    X[10:22, 3] *= 25.4
    X[100:130, 5] = X[100, 5]
    model = rs.RobustGraph("log-log", cells=True).fit(X)
    said = " ".join(describe_cells(model.fitted_))
    assert "'x3' look 25.4 times too large" in said
    assert "'x5' has the same value" in said


def test_the_map_of_cells_shows_what_is_flagged() -> None:
    spoilt, _ = _spoilt(0.02)
    model = rs.RobustGraph("gaussian", cells=True).fit(spoilt)
    ax = rs.plot.plot_cells(model)
    count = int(model.suspicious_cells()["flagged"].sum())
    assert ax.get_title() == f"{count} of 4000 cells look wrong"
    assert "too high" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_without_looking_there_are_no_suspicious_cells() -> None:
    X, _ = _star()
    with pytest.raises(ValueError, match="cells=True"):
        rs.RobustGraph("gaussian").fit(X).suspicious_cells()


def test_families_without_conditionals_refuse() -> None:
    X = np.random.default_rng(0).dirichlet(np.ones(4), size=100)
    with pytest.raises(ValueError, match="cannot be looked for"):
        rs.RobustGraph("simplex", cells=True).fit(X)
