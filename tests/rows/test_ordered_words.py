"""Words with an order are read as ordered numbers, from files and from data frames."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from running import run

import robscore as rs
from robscore.reading import ReadOptions, read_data
from robscore.rows import order_of, scales

FAST = {"n_blocks": 1, "alphas": 10}


@pytest.mark.parametrize(
    "words",
    [
        "no, yes", "Nein, Ja", "FALSE, TRUE", "low, medium, high", "never, rarely, sometimes, often, always",
        "nie, selten, manchmal, oft, immer", "Strongly disagree, Disagree, Neutral, Agree, Strongly agree",
        "Strongly disagree, Disagree, Somewhat disagree, Neither agree nor disagree, Somewhat agree, Agree, Strongly "
        "agree",
        "disagree a lot, disagree a little, agree a little, agree a lot", "F, D, C, B, A", "B+, A-, A",
        "ungenügend, mangelhaft, ausreichend, befriedigend, gut, sehr gut", "poor, fair, good, very good, excellent",
        "trifft überhaupt nicht zu, trifft eher nicht zu, teils/teils, trifft eher zu, trifft voll und ganz zu",
        "very dissatisfied, dissatisfied, neutral, satisfied, very satisfied", "1 = never, 2 = often, 3 = always",
        "not at all useful, slightly useful, very useful, extremely useful", "not important, important, very important",
        "under 18, 18-29, 30-64, 65+", "< 20 000, 20 000 - 49 999, 50 000 and more", "none, mild, moderate, severe",
        "sehr unzufrieden, eher unzufrieden, eher zufrieden, sehr zufrieden", "S, M, L, XL", "I, II, III, IV",
        "never, less than once a month, once a month, once a week, daily",
        "nie, seltener als einmal im Monat, einmal im Monat, mehrmals pro Woche, täglich",
    ],
)  # fmt: skip
def test_words_have_their_order_however_they_come(words: str) -> None:
    right = tuple(words.split(", "))
    for k in range(3):
        assert order_of(np.random.default_rng(k).permutation(right)) == right
    assert order_of([word.upper() for word in right]) == tuple(word.upper() for word in right)
    if "".join(right).replace(" ", "").isalpha():
        assert order_of([f" {word.replace(' ', '-')}." for word in right])


@pytest.mark.parametrize(
    "words",
    [
        "red, green, blue", "A, B, C", "A, B, AB, 0", "north, south", "Monday, Tuesday", "1-0, 2-1, 0-3", "x",
        "never, always, Don't know", "often, frequently, never", "2020-01, 2020-02", "low, blue, high",
    ],
)  # fmt: skip
def test_other_words_have_none(words: str) -> None:
    assert order_of(words.split(", ")) == ()


def test_no_two_scales_contradict_each_other() -> None:
    for one, other in combinations(scales(), 2):
        shared = [word for word in one if word in other]
        for a, b in combinations(shared, 2):
            assert (one[a] - one[b]) * (other[a] - other[b]) >= 0, (a, b)


def latent(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    z = np.random.default_rng(0).multivariate_normal(np.zeros(4), np.eye(4) * 0.5 + 0.5, size=n)
    return z, np.digitize(z[:, 2], [-1, 0, 1])


MOODS = np.array(["never", "sometimes", "often", "always"])


def survey() -> pd.DataFrame:
    """Two numbers, an answer in yes and no, one in words, and two columns of text without an order."""
    z, code = latent()
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": np.exp(z[:, 0]), "b": z[:, 1], "yes": np.where(z[:, 3] > 0.3, "Yes", "no")})
    return frame.assign(mood=MOODS[code], town=rng.choice(["x", "y", "z"], len(z)), name=[f"p{k}" for k in range(300)])


def test_yes_and_no_are_a_boolean_and_zero_and_one() -> None:
    X = survey()[["a", "b", "yes", "mood"]]
    made = [rs.RobustGraph("copula", **FAST).fit(X)]
    for yes in (X["yes"] == "Yes", (X["yes"] == "Yes").astype(int), X["yes"].astype("category")):
        made.append(rs.RobustGraph("copula", **FAST).fit(X.assign(yes=yes)))
    for model in made:
        assert model.kinds_["yes"] == "two values"
        np.testing.assert_array_equal(model.association_, made[0].association_)


def test_another_order_turns_signs_only() -> None:
    X, codes = survey()[["a", "b", "yes", "mood"]], latent()[1]
    up, down = (
        rs.RobustScoreMatching("copula", n_blocks=1).fit(
            X.assign(mood=pd.Categorical(X["mood"], MOODS[::step], ordered=True))
        )
        for step in (1, -1)
    )
    signs = np.array([1, 1, 1, -1])
    np.testing.assert_allclose(down.interaction_ * np.multiply.outer(signs, signs), up.interaction_, atol=0.15)
    read = rs.RobustScoreMatching("copula", n_blocks=1).fit(X)
    coded = rs.RobustScoreMatching("copula", n_blocks=1).fit(X.assign(mood=codes, yes=X["yes"] == "Yes"))
    np.testing.assert_array_equal(read.interaction_, coded.interaction_)
    np.testing.assert_array_equal(read.interaction_, up.interaction_)


def test_text_without_an_order_is_left_out_with_the_reason() -> None:
    X = survey()
    model = rs.RobustGraph("copula", **FAST).fit(X)
    assert list(model.feature_names_in_) == ["a", "b", "yes", "mood"]
    (words,) = [caution for caution in model.cautions_ if "left out" in caution]
    assert "'town' (3 different texts without a known order); 'name' (a different text in every row)" in words
    assert "covariates=['town']" in words
    assert len(model.suspicious_rows(X.head(7))) == 7
    assert set(model.predict(X[["a", "b", "yes", "mood"]].tail(5))) <= {1, -1}
    np.testing.assert_array_equal(model.predict(X.head(9)), model.predict(X)[:9])  # by the codes of the fit
    with pytest.raises(ValueError, match="Column 'mood' holds 'seldom', which the fit has not seen; it has 'never'"):
        model.predict(X.assign(mood="seldom"))
    assert rs.RobustGraph("copula", **FAST).fit(X, covariates=["town"]).covariates_.names == ["town"]
    assert model.edge_stability(X, n_pairs=1, progress=False).names == ("a", "b", "yes", "mood")
    with pytest.raises(ValueError, match="Columns that are not numeric"):
        rs.RobustGraph("gaussian").fit(X)
    halves = X.head(150).drop(columns="town"), X.tail(150).drop(columns="town")
    assert 0 < rs.equality_test(rs.RobustGraph("copula", **FAST), *halves, n_permutations=5).p_value <= 1


def test_words_in_files_become_ordered_categories(tmp_path) -> None:
    X = survey()
    X.loc[:4, "mood"] = None
    X["maybe"] = np.where(np.arange(300) < 9, "don't know", X["mood"])
    X.to_csv(tmp_path / "t.csv", index=False)
    frame = rs.read_table(tmp_path / "t.csv")
    assert list(frame["mood"].cat.categories) == list(MOODS)
    assert frame["mood"].isna().sum() == 5
    notes = " ".join(frame.attrs["notes"])
    assert "Read as ordered, never < sometimes < often < always: 'mood'." in notes
    assert "Read as ordered, no < Yes: 'yes'." in notes
    assert "'maybe' would have an order but for \"don't know\": --na \"don't know\" takes it for missing." in notes
    assert "Dropped (not numeric): 'town', 'maybe'. 'town' names 3 groups: --by town" in notes
    found = rs.RobustGraph("copula", missing="impute", **FAST).fit(frame)
    same = rs.RobustGraph("copula", missing="impute", **FAST).fit(X[["a", "b", "yes", "mood"]])
    np.testing.assert_array_equal(found.association_, same.association_)
    filled = found.imputations(1)[0], same.imputations(1, X.head(50))[0]
    assert list(filled[0]["mood"].cat.categories) == list(MOODS)
    assert {*filled[1]["mood"]} <= {*MOODS}  # words, as they came
    for table in filled:
        assert table["mood"].notna().all()
        assert table["mood"].tolist()[5:50] == X["mood"].tolist()[5:50]


def test_ordered_categories_of_typed_files_keep_their_order(tmp_path) -> None:
    pytest.importorskip("pyarrow")
    X, sizes = survey()[["a", "b"]], np.array(["tall", "grande", "venti"])
    X["size"] = pd.Categorical(sizes[np.arange(300) % 3], sizes, ordered=True)
    X.to_parquet(tmp_path / "t.parquet")
    assert read_data(tmp_path / "t.parquet").levels == {"size": ("tall", "grande", "venti")}


def test_any_two_texts_are_two_values_where_they_are_asked_for(tmp_path) -> None:
    X = survey()[["a", "b"]].assign(arm=np.where(np.arange(300) % 2, "drug", "placebo"))
    X.to_csv(tmp_path / "t.csv", index=False)
    assert read_data(tmp_path / "t.csv").names == ("a", "b")
    assert read_data(tmp_path / "t.csv", ReadOptions(columns=("*",))).levels == {"arm": ("drug", "placebo")}
    made = run("fit", tmp_path / "t.csv", "-f", "copula", "--no-compare", "--out", tmp_path / "out")
    assert "Read as ordered, drug < placebo: 'arm'." in made.output
    assert "The variables: 2 continuous, 1 with two values. Associations are partial correlations of" in made.output
    page = (tmp_path / "out/report.html").read_text()
    assert '"kinds":{"words":"2 continuous, 1 with two values","columns":[["continuous",""]' in page
    assert "drug \\u003c placebo" in page
