"""Kinds of columns: found once from all rows, shown, changed by the user; rare answers merged."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from running import run

import robscore as rs

FAST = {"n_blocks": 1, "alphas": 10}


def table(n: int = 400, seed: int = 0) -> pd.DataFrame:
    """One column of each kind."""
    z = np.random.default_rng(seed).multivariate_normal(np.zeros(6), np.eye(6) * 0.5 + 0.5, size=n)
    return pd.DataFrame(
        {
            "income": np.exp(z[:, 0]),
            "height": z[:, 1].round(1),
            "smokes": (z[:, 2] > 0.3).astype(int),
            "mood": np.digitize(z[:, 3], [-1, 0, 1]) + 1,
            "visits": np.floor(np.exp(z[:, 4])),
            "rain": np.maximum(z[:, 5], 0),
        }
    )


KINDS = dict(zip(table(5).columns, ["continuous", "rounded", "two values", "answers", "counts", "zeros"], strict=True))


def association(X: object, **options: object) -> np.ndarray:
    return rs.RobustGraph("copula", **FAST, **options).fit(X).association_


def test_kinds_are_found_whatever_the_order_of_rows_and_the_family() -> None:
    X = table()
    model = rs.RobustGraph("copula", **FAST).fit(X)
    assert model.kinds_ == KINDS
    assert "columns    6: 1 continuous, 1 rounded, 1 with two values, 1 of answers, 1 of counts" in model.summary()
    assert rs.RobustGraph("gaussian", **FAST).fit(X.sample(frac=1, random_state=0)).kinds_ == KINDS
    assert (
        "columns    4\n" in rs.RobustGraph("gaussian", **FAST).fit(np.random.default_rng(0).random((50, 4))).summary()
    )


def test_kinds_are_those_of_rows_repeated_by_their_weights() -> None:
    X, weight = table(150), np.random.default_rng(0).integers(0, 4, 150)
    repeated = X.loc[np.repeat(X.index, weight)].reset_index(drop=True)
    weighted = rs.RobustScoreMatching("copula", n_blocks=1).fit(X, sample_weight=weight)
    assert weighted.kinds_ == rs.RobustScoreMatching("copula", n_blocks=1).fit(repeated).kinds_


def test_the_user_says_what_a_column_is() -> None:
    X, kinds = table(), {"visits": "continuous", "height": "ordered"}
    model = rs.RobustGraph("copula", kinds=kinds, **FAST).fit(X)
    drawn = model.fitted_.prepared.filling.drawn.mean(axis=0)
    assert drawn[4] == 0
    assert drawn[1] > 0.9
    assert model.kinds_ == {**KINDS, "visits": "continuous", "height": "answers"}
    family = rs.families.GaussianCopula(kinds=kinds)
    np.testing.assert_array_equal(model.association_, rs.RobustGraph(family, **FAST).fit(X).association_)
    exact = rs.RobustScoreMatching("copula", kinds=dict.fromkeys(X, "continuous"), n_blocks=1).fit(X)
    assert not exact.fitted_.prepared.filling.drawn.any()


@pytest.mark.parametrize(
    ("family", "kinds", "words"),
    [
        ("copula", {"z": "ordered"}, "kinds='z' is not the name of a column; the data have 'income', 'height'"),
        ("copula", {"income": "nominal"}, "kinds='nominal' of column 'income' is not known; use 'continuous' or 'ord"),
        ("copula", ["income"], r"kinds=\['income'\] must be a dict such as"),
        ("gaussian", {"income": "ordered"}, "other families take all of them for measurements. Pass family='copula'"),
        (rs.families.GaussianCopula(kinds={"income": "ordered"}), {"mood": "ordered"}, "is given twice"),
    ],
)
def test_kinds_that_make_no_sense_are_refused(family: object, kinds: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        rs.RobustGraph(family, kinds=kinds).fit(table(50))


def test_rare_answers_count_as_the_one_beside_also_in_halves() -> None:
    X = table(300)
    X.loc[:1, "mood"] = 6
    X["rare"] = np.isin(np.arange(300), [3, 50]).astype(int)  # hardly ever both in one half
    model = rs.RobustGraph("copula", **FAST).fit(X)
    (caution,) = [words for words in model.cautions_ if "Rare answers" in words]
    assert "'mood': '6' (2 rows) as '4'" in caution
    assert set(model.imputations(1)[0]["mood"]) == {1, 2, 3, 4, 6}  # what was observed stays
    merged = association(X.replace({"mood": {6: 4}}))
    np.testing.assert_allclose(merged, model.association_, atol=0.06)  # but for the order of the draws
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        halves = model.edge_stability(X, n_pairs=2, progress=False)
    assert (halves.n_done, halves.failures) == (4, ())


def test_of_two_neighbours_a_rare_answer_counts_as_that_of_fewer_rows() -> None:
    rng = np.random.default_rng(0)
    answers = np.repeat([1, 2, 3, 4], [120, 40, 3, 137])
    X = np.column_stack([answers, rng.normal(size=300) + answers, rng.normal(size=300)]).astype(float)
    up, down = (rs.RobustGraph("copula", **FAST).fit(rows) for rows in (X, X * [-1, 1, 1]))
    assert "'x0': '3' (3 rows) as '2'" in " ".join(up.cautions_)
    assert "'x0': '-3' (3 rows) as '-2'" in " ".join(down.cautions_)
    kept = rs.families.copula.MarginRule(rarest=1)
    assert not any(
        "beside" in words for words in rs.RobustGraph(rs.families.GaussianCopula(rule=kept)).fit(X).cautions_
    )


def test_halves_keep_the_kinds_of_the_whole_table() -> None:
    """Answers of which so few rows have each that halves would look continuous, and one that only three rows have."""
    X = table(60)
    X["seldom"] = np.repeat(np.arange(15.0), 4)
    model = rs.RobustGraph("copula", kinds={"seldom": "ordered"}, alphas=5, n_blocks=1)
    assert model.fit(X).edge_stability(X, n_pairs=2, progress=False).n_done == 4
    with pytest.raises(ValueError, match="not the name of a column"):
        model.set_params(kinds={"other": "ordered"}).edge_stability(X, n_pairs=1, progress=False)


def test_a_column_is_changed_on_the_command_line(tmp_path) -> None:
    table().to_csv(tmp_path / "t.csv", index=False)
    options = "--no-compare", "--column-kind", "visits=continuous", "--column-kind", "height=ordered"
    first = run("fit", tmp_path / "t.csv", "--family", "copula", *options, "--out", tmp_path / "one")
    assert first.exit_code == 0, first.output
    model = json.loads((tmp_path / "one/model.json").read_text())
    assert model["settings"]["kinds"] == {"visits": "continuous", "height": "ordered"}
    again = run("fit", "--from", tmp_path / "one/model.json", "--out", tmp_path / "two")
    assert again.exit_code == 0, again.output
    assert (tmp_path / "one/edges.csv").read_bytes() == (tmp_path / "two/edges.csv").read_bytes()
    for wrong, words in (("height", "must be NAME=KIND"), ("age=ordered", "--column-kind age is not the name")):
        bad = run("fit", tmp_path / "t.csv", "-f", "copula", "--column-kind", wrong, "--out", tmp_path / "bad")
        assert bad.exit_code != 0
        assert words in " ".join(bad.output.split())
