"""Suspicious rows: found, flagged at the level that is stated, and explained."""

import importlib.util

import numpy as np
import pandas as pd
import polars as pl
import pytest
from designs import first
from sklearn.metrics import roc_auc_score

import robscore as rs


def rows(m=12, n_edges=14, n=1000, seed=0):
    truth = rs.simulate.random_model(m, n_edges, random_state=seed)
    return rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=n, random_state=seed + 1)


@pytest.mark.parametrize("family", first(2, ["sqrt", "gaussian", "gamma", "truncated-gaussian", "log-log"]))
def test_clean_rows_are_flagged_no_more_often_than_stated(family):
    truth = rs.simulate.random_model(5, 4, min_eigenvalue=0.5, random_state=0)
    shares = {0.01: [], 0.05: []}
    for seed in range(3):
        X = rs.simulate.sample(family, truth.interaction, truth.location, n_rows=500, burn_in=60, random_state=seed)
        model = rs.RobustGraph(family, n_edges=4, alphas=5).fit(X)
        for level, flagged in shares.items():
            flagged.append(np.mean(model.suspicious_rows(level=level)["flagged"]))
    for level, flagged in shares.items():
        assert np.mean(flagged) < level + 3 * np.sqrt(level / 1500)


def test_bad_rows_come_first_and_are_flagged():
    dirty, bad = rs.simulate.contaminate_pareto(rows(), 0.05, random_state=3)
    table = rs.RobustGraph("sqrt", alphas=10).fit(dirty).suspicious_rows()
    assert list(table.columns) == ["row", "flagged", "variables", "why", "together", "p_value", "rank", "score"]
    is_bad = np.isin(table["row"], bad)
    assert roc_auc_score(is_bad, table["score"]) > 0.99
    assert table["flagged"][is_bad].mean() > 0.95
    assert table["rank"].tolist() == list(range(1, 1001))
    assert (np.diff(table["score"]) <= 0).all()
    assert sorted(table["row"]) == list(range(1000))


def test_the_variable_that_is_wrong_is_named():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 4)), columns=["a", "b", "c", "d"])
    X["b"] = 0.9 * X["a"] + 0.3 * X["b"]
    X.loc[7, "d"] = -8.0
    X.loc[11, ["a", "b"]] = [2.0, -2.0]  # each usual, but not together
    table = rs.RobustGraph("gaussian").fit(X).suspicious_rows().set_index("row")
    assert table.loc[7, "variables"].startswith("d -8.0, usually -")
    assert table.loc[11, "flagged"]
    assert "b -2.0, " in table.loc[11, "variables"]


def test_other_data_can_be_looked_at():
    X = rows()
    model = rs.RobustGraph("sqrt", alphas=10).fit(X)
    new = X[:3].copy()
    new[1, 4] *= 1e4
    table = model.suspicious_rows(new)
    assert table["row"][0] == 1
    assert table["variables"][0].startswith("x4 ")
    assert ", usually 0." in table["variables"][0]
    old, others = (found.set_index("row")["score"] for found in (model.suspicious_rows(), table))
    np.testing.assert_allclose(others[[0, 2]], old[[0, 2]], rtol=1e-9)  # sums of 3 rows and of 1000 round differently


def test_tables_come_in_the_library_of_the_input_and_leave_out_incomplete_rows():
    X = rows(m=5, n_edges=4, n=200)
    frame = pl.DataFrame(X, schema=[f"g{k}" for k in range(5)])
    assert isinstance(rs.RobustGraph("sqrt").fit(frame).suspicious_rows(), pl.DataFrame)
    X[4, 2] = np.nan
    table = rs.RobustGraph("sqrt", missing="drop").fit(X).suspicious_rows()
    assert 4 not in set(table["row"])
    assert len(table) == 199


def test_families_that_cannot_be_sampled_flag_what_stands_out():
    X = np.random.default_rng(0).normal(size=(300, 1))
    X[5] = 50.0
    table = rs.RobustScoreMatching(rs.families.univariate.Normal()).fit(X).suspicious_rows()
    assert table["row"][0] == 5
    assert table["flagged"].sum() <= 3
    assert np.isnan(table["p_value"]).all()
    assert set(table["variables"]) == {""}


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, "much"])
def test_impossible_levels_are_errors(level):
    model = rs.RobustGraph("sqrt").fit(rows(m=5, n_edges=4, n=100))
    with pytest.raises((ValueError, TypeError), match="level"):
        model.suspicious_rows(level=level)


def test_figures_and_reports_need_no_data_frames(monkeypatch, tmp_path):
    """Where pandas is not installed tables are structured arrays."""
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pandas" else found(name))
    X = np.random.default_rng(0).normal(size=(100, 3))
    model = rs.RobustGraph("gaussian").fit(X)
    assert isinstance(model.suspicious_rows(), np.ndarray)
    rs.report.write_html(model, tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 100_000


def test_rows_are_called_by_the_index_and_values_are_shown_with_what_is_usual():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal([7.4, 10.0], [0.3, 2.0], size=(200, 2)), columns=["pH", "O2"]).round(1)
    X.index = pd.date_range("2020-01-01", periods=200).strftime("%d %b %Y")
    X.loc["08 Jan 2020", "pH"] = 72.1
    model = rs.RobustGraph("gaussian").fit(X)
    first = model.suspicious_rows().iloc[0]
    assert (first["row"], first["label"]) == (7, "08 Jan 2020")
    assert first["variables"] == "pH 72.1, usually 6.8 to 7.9"
    assert model.suspicious_rows(X[5:9]).iloc[0]["label"] == "08 Jan 2020"
    listed = rs.report.record(model).rows["listed"][0]
    assert (listed["label"], listed["variables"]) == (first["label"], first["variables"])
    numbered = rs.RobustGraph("gaussian").fit(X.set_axis(np.arange(1000, 1200))).suspicious_rows()
    assert numbered["label"][0] == 1007
    assert "label" not in rs.RobustGraph("gaussian").fit(X.reset_index(drop=True)).suspicious_rows()


def test_what_is_unusual_given_the_others_only_is_said_so_and_words_stay_words():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(300, 2))
    X = pd.DataFrame({"a": z[:, 0], "b": 0.95 * z[:, 0] + 0.2 * z[:, 1]})
    X.loc[11] = [1.5, -1.5]
    table = rs.RobustGraph("gaussian").fit(X).suspicious_rows().set_index("row")
    assert "a 1.5, high given the others" in table.loc[11, "variables"]
    X["mood"] = pd.Categorical.from_codes(
        (X["b"] > -0.5).astype(int) + (X["b"] > 0.5), ["low", "fair", "good"], ordered=True
    )
    X.loc[20, "mood"] = "good" if X["b"][20] < 0 else "low"
    table = rs.RobustGraph("copula").fit(X).suspicious_rows()
    told = table[table["variables"].str.contains("mood")]["variables"]
    assert told.str.contains("mood (?:low|fair|good), (?:high|low) given").any()
    missing = X[["a", "b"]].copy()
    missing.loc[11, "a"] = np.nan
    table = rs.RobustGraph("gaussian", missing="impute").fit(missing).suspicious_rows().set_index("row")
    assert "a " not in table.loc[11, "variables"]


def test_values_have_no_more_decimals_than_their_column():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"grade": rng.integers(1, 6, 200).astype(float), "weight": rng.normal(70, 9, 200)})
    X.loc[4] = [90.0, 70.0]
    assert rs.RobustGraph("gaussian").fit(X).suspicious_rows()["variables"][0] == "grade 90, usually 1 to 5"
