"""A fit that hardly describes the data says which columns it misses, in which way, and what was not tried yet."""

import numpy as np
import pandas as pd
import pytest

import robscore as rs
from robscore._tools.messages import About
from robscore.certainty.what_is_missed import MisfitRule, curves, has_two_humps, skewness


def table(n=600):
    z = np.random.default_rng(0).normal(size=(n, 4))
    z[:, 1] += z[:, 0]
    return pd.DataFrame(z, columns=list("abcd"))


def caution(X, family):
    with np.errstate(all="ignore"):
        cautions = rs.RobustGraph(family).fit(X).cautions_
    (words,) = [words for words in cautions if words.kind is About.MISFIT]
    return str(words)


RNG = np.random.default_rng(1)
WAYS = {
    "c (skewed to the right)": lambda X: X.assign(c=np.exp(X["c"])),
    "c (skewed to the left)": lambda X: X.assign(c=-np.exp(X["c"])),
    "c (two humps)": lambda X: X.assign(c=X["c"] + 5 * (RNG.random(len(X)) < 0.5)),
    "c (long tails)": lambda X: X.assign(c=RNG.standard_t(1.5, len(X))),
    "% are 0)": lambda X: X.assign(c=np.where(RNG.random(len(X)) < 0.4, 0, X["c"] + 3)),
    "d (a curve along c)": lambda X: X.assign(d=X["c"] ** 2 + 0.3 * X["d"]),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_way_is_named_with_one_thing_to_do(way):
    words = caution(WAYS[way](table()), "gaussian")
    assert way in words
    assert words.startswith("The model hardly fits the data (p < 0.001), least of all ")
    advice = words.split("Some links may only reflect what it misses. ")[1]
    if "curve" in way:
        assert advice == "Fit the rows before and after the bend separately, or transform one of the columns."
    else:
        assert advice == "Take family='copula', which is for columns of any shape."


def test_what_the_family_says_itself_is_no_fault():
    """A gamma variable is skewed, and the family that has such variables is not blamed for that."""
    model = rs.simulate.random_model(4, 3, random_state=0)
    X = rs.simulate.sample("gamma", model.interaction, model.location, n_rows=500, random_state=0)
    assert skewness(X[:, 0]) > MisfitRule().skewness
    assert not [words for words in rs.RobustGraph("gamma").fit(X).cautions_ if words.kind is About.MISFIT]


def test_the_measures_know_their_shapes():
    rng, rule = np.random.default_rng(0), MisfitRule()
    normal = rng.normal(size=2000)
    for one_hump in (normal, np.exp(normal), rng.random(2000), rng.gamma(0.5, size=2000), rng.standard_t(2, 2000)):
        assert not has_two_humps(one_hump, rule)
    assert has_two_humps(normal + 4 * (rng.random(2000) < 0.3), rule)
    X = np.column_stack([normal, normal**2, rng.random(2000) < 0.2, rng.random(2000) < 0.0])
    assert curves(X, 1)[0] > 0.9
    assert abs(curves(X, 0)[1]) < 0.1
    np.testing.assert_allclose(curves(X, 0)[2:], 0.0, atol=1e-12)  # two values have no bend, one has none either


def test_no_caution_says_what_another_said_and_numbers_come_last():
    """Columns of two values that the test refutes are told of once; where sizes are beyond 1, the diagonal is why."""
    X = table().assign(c=lambda frame: (frame["a"] > 0).astype(float))
    kinds = [words.kind for words in rs.RobustGraph("gaussian").fit(X).cautions_]
    assert kinds.count(About.MISFIT) == 1
    assert About.COLUMNS not in kinds
    assert sorted(kinds) == kinds
    assert max(About) == About.OTHER
    assert About.DIAGONAL > About.STRENGTH > About.MISFIT > About.FEW_ROWS


def test_a_table_in_a_caution_is_shown_line_by_line(tmp_path):
    X = table(24).assign(c=lambda frame: (frame["a"] > 0).astype(float), d=[1.0, 2.0, 3.0, 4.0] * 6)
    summary = rs.RobustGraph("gaussian").fit(X).summary().splitlines()
    start = next(k for k, line in enumerate(summary) if "This family is for measurements" in line)
    assert summary[start + 1].split() == ["only", "two", "values", "'c'"]
    assert summary[start + 2].strip() == "a few whole numbers only, as on a scale of answers  'd'"
