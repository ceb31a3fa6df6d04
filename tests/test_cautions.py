"""What a fit says of itself: cautions, worst first, on every surface; none where all is well."""

import pickle
import re

import numpy as np
import pytest
from scipy.stats import norm

import robscore as rs
from robscore._tools.messages import About, Caution, Message, Remark, Setting, worst_first
from robscore.report import record
from robscore.report.page import html_page
from robscore.report.sentences import findings, headline


def normal(n=600, m=8, seed=0):
    return np.random.default_rng(seed).normal(size=(n, m)) @ (np.eye(m) + np.diag(np.full(m - 1, 0.5), 1))


def two_groups(share, seed=0):
    X = normal(seed=seed)
    X[: int(share * len(X)), :4] += 6 * X.std(axis=0)[:4]
    return np.random.default_rng(seed).permutation(X)


def test_cautions_are_sentences_worst_first_and_each_once():
    remarks = [
        Remark("b", UserWarning),
        Remark(Message("a ", Setting("n_edges"), "."), UserWarning, About.GROUP),
        Remark("b", UserWarning),
    ]
    found = worst_first(remarks)
    assert found == ["a n_edges.", "b"]
    assert pickle.loads(pickle.dumps(found)) == found
    assert found[0].message.worded(lambda part: f"--{part.name}") == "a --n_edges."
    assert pickle.loads(pickle.dumps(found[0])).kind is About.GROUP


def test_a_clean_fit_has_no_caution():
    model = rs.RobustGraph("gaussian").fit(normal())
    assert model.cautions_ == []
    assert "caution" not in model.summary()


def test_a_group_is_called_one_and_bad_rows_are_not():
    model = rs.RobustGraph("gaussian").fit(two_groups(0.15))
    assert "group of their own" in model.cautions_[0]
    assert model.summary().startswith("caution    The 90 rows left out (15%)")
    assert model.graph_at(0).summary().startswith("caution")
    table = model.suspicious_rows()
    assert (table["together"] == "group of 90").sum() == 90
    X = normal()
    scattered = rs.simulate.contaminate_pareto(X - X.min(axis=0), 0.1, random_state=0).X + X.min(axis=0)
    other = rs.RobustGraph("gaussian").fit(scattered)
    assert other.cautions_ == []
    assert (other.suspicious_rows()["together"] == "scattered").sum() == round(other.share_dropped_ * 600)


def test_one_variable_in_other_units_is_told_from_a_group():
    X = normal()
    X[:60, 2] += 40
    table = rs.RobustGraph("gaussian").fit(X).suspicious_rows()
    assert (table["together"] == "one column").sum() >= 60
    assert table["variables"][table["together"] == "one column"].str.contains(r"^x2 [34]\d\.\d, usually").mean() > 0.9


def test_copies_in_one_place_are_told_from_a_group():
    X = normal()
    X[:60] = 5 + 1e-3 * X[:60]
    table = rs.RobustGraph("gaussian").fit(X).suspicious_rows()
    assert (table["together"] == "in one place").sum() >= 60


def test_a_series_and_sorted_rows_are_told_apart():
    rng = np.random.default_rng(0)
    X, noise = np.zeros((800, 4)), rng.normal(size=(800, 4))
    for i in range(1, 800):
        X[i] = 0.7 * X[i - 1] + noise[i]
    model = rs.RobustGraph("gaussian").fit(X)
    assert [caution.kind for caution in model.cautions_] == [About.SERIES]
    correlation, covered = re.search(r"correlation (0\.6\d).* in about (\d+)%", model.cautions_[0]).groups()
    square = float(correlation) ** 2  # of ranks
    assert int(covered) == pytest.approx(100 * (2 * norm.cdf(1.96 * np.sqrt((1 - square) / (1 + square))) - 1), abs=1)
    mixed = np.concatenate([noise[:400], noise[400:] + 1.5])
    assert About.SORTED in [caution.kind for caution in rs.RobustGraph("gaussian").fit(mixed).cautions_]
    assert rs.RobustGraph("gaussian").fit(noise).cautions_ == []


def test_copies_and_few_rows_are_said():
    X = normal(n=200)
    X[100:140] = X[:40]
    assert "40 rows are equal to others" in rs.RobustGraph("gaussian").fit(X).cautions_[-1]
    few = np.random.default_rng(0).gamma(2.0, size=(16, 20))
    model = rs.RobustGraph("sqrt", diagonal_multiplier=0.1).fit(few)
    assert About.FEW_ROWS in [caution.kind for caution in model.cautions_]


def test_the_headline_is_no_surer_than_the_cautions():
    made = record(rs.RobustGraph("gaussian", n_edges=0).fit(normal()))
    assert headline(made) == "No direct link was found between the 8 variables"
    doubtful = record(
        rs.RobustGraph("gaussian", n_edges=0).fit(normal()), cautions=[Caution("Too few.", About.FEW_ROWS)]
    )
    assert headline(doubtful).endswith("between the 8 variables, which does not mean that there is none")
    assert doubtful.cautions == [["FEW_ROWS", "Too few."]]
    page = html_page(doubtful)
    assert page.index('<ul id="cautions"') < page.index('id="findings"') < page.index('id="graph"')
    assert "<li>Too few.</li>" in page
    assert '<ul id="cautions"' not in html_page(made)
    group = record(rs.RobustGraph("gaussian", n_edges=3).fit(two_groups(0.15)))
    assert headline(group) == "3 links that seem clear among 28 pairs of variables"


def test_columns_that_determine_each_other_may_be_why_no_link_was_found():
    X = np.column_stack([normal(), 24 - normal()[:, 0]])
    for n_edges, said in ((0, True), (4, False)):
        cautions = rs.RobustGraph("gaussian", n_edges=n_edges, diagonal_multiplier=0.01).fit(X).cautions_
        words = next(caution for caution in cautions if caution.kind is About.DEPENDENT_COLUMNS)
        assert ("This may be why no link was found." in words) == said


def test_symptoms_come_with_their_cause():
    X = np.random.default_rng(1).gamma(1.0, size=(25, 12))
    X[:3] *= 1e3
    model = rs.RobustGraph("sqrt", n_blocks=1, n_edges=30, diagonal_multiplier=0.01).fit(X)
    symptom = [caution for caution in model.cautions_ if caution.kind is About.DIAGONAL]
    assert symptom
    assert "cause this" in symptom[0] or "This happens where" in symptom[0]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rows_of_which_most_are_equal_have_no_distances_to_divide_by():
    different = np.array([[0.33, 0.61, 0.18], [1.78, 1.62, 1.02], [2.35, 1.01, 0.48], [4.92, 0.41, 3.08]])
    X = np.repeat(different, [30, 20, 5, 4], axis=0)
    model = rs.RobustGraph("truncated-gaussian", alphas=8).fit(X)
    assert (model.row_weights_[:, 0] == 0).sum() == 9
    assert len(model.suspicious_rows()) == 59


def test_that_bad_rows_were_not_looked_for_is_said():
    """A column that is zero but for a few rows has no variation in their middle."""
    X = normal(n=200, m=4)
    X[:, 3] = 0.0
    X[::20, 3] = np.arange(1.0, 11.0)
    model = rs.RobustGraph("gaussian").fit(X)
    if model.share_dropped_ is None:
        assert any("Bad rows were not looked for" in caution and "'x3'" in caution for caution in model.cautions_)
        assert "could not be judged by each other" in model.summary()


def test_more_than_a_quarter_of_the_rows_left_out_is_said():
    X = normal(n=400)
    X[:108] = 40 * np.random.default_rng(1).standard_t(1.0, size=(108, 8))
    model = rs.RobustGraph("gaussian").fit(X)
    assert 0.25 < model.share_dropped_ < 0.28
    assert any(caution.kind in (About.LEFT_OUT, About.GROUP) for caution in model.cautions_)


def test_associations_beyond_one_are_not_passed_off_as_strong():
    """Of two columns one is large and the other small: a strong link, and wide columns."""
    rng = np.random.default_rng(0)
    X, side = rng.gamma(3.0, size=(400, 3)), rng.random(400) < 0.5
    X[side, 0] /= 30
    X[~side, 1] /= 30
    model = rs.RobustGraph("sqrt", n_blocks=1, alpha=1e-4).fit(X)
    assert abs(model.association_[0, 1]) > 1
    assert any("more than a correlation can be" in caution for caution in model.cautions_)
    strongest = next(line for line in model.summary().splitlines() if line.startswith("strongest"))
    assert "x0 – x1" not in strongest
    assert not any("Strongest: x0 and x1" in words for words in findings(record(model)))


def test_as_many_rows_as_it_takes_are_not_called_too_few():
    X = rs.simulate.sample("sqrt", np.eye(3), np.ones(3), n_rows=20, random_state=0)
    model = rs.RobustGraph("sqrt").fit(X)
    assert 19.95 < min(model.fitted_.weights.effective_rows) <= 20
    assert not any("to judge rows by each other" in caution for caution in model.cautions_)
