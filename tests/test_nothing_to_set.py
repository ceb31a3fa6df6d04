"""Tables as people have them, with nothing said: an answer, of the right family, and few wrong links."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.mixed_marginals import LINKS, lake

import robscore as rs


def fitted(X, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rs.RobustGraph(**options).fit(X)


def links(model, pairs):
    """How many links are among the pairs, and how many are not."""
    found = {tuple(sorted(pair)) for pair in np.argwhere(np.triu(model.graph_.adjacency)).tolist()}
    return len(found & set(pairs)), len(found - set(pairs))


def test_a_lake_of_normal_and_log_normal_columns():
    X, _ = lake(600, 0)
    model = fitted(X)
    assert model.family_ == "copula"
    assert "gaussian does not describe the rows" in model.summary()
    true, false = links(model, LINKS)
    assert true >= 5
    assert false <= 1


def test_a_chain_with_many_zeros():
    m = 8
    chain = [(j, j + 1) for j in range(m - 1)]
    K = np.eye(m) + np.diag([-0.4] * (m - 1), 1) + np.diag([-0.4] * (m - 1), -1)
    Z = np.random.default_rng(1).multivariate_normal(np.zeros(m), np.linalg.inv(K), size=1000)
    X = np.maximum(Z - np.quantile(Z, 0.4, axis=0), 0.0)
    model = fitted(X)
    assert model.family_ == "copula"
    true, false = links(model, chain)
    assert true >= 6
    assert false <= 1


def test_counts_of_species_that_are_mostly_absent():
    rng = np.random.default_rng(0)
    counts = pd.DataFrame(rng.poisson(np.exp(rng.normal(-2.6, 1.0, size=(300, 10)))), columns=list("abcdefghij"))
    assert (counts == 0).to_numpy().mean() > 0.8
    model = fitted(counts)
    assert model.family_ == "copula"
    assert model.graph_.n_edges <= 5


def test_yes_and_no_beside_measurements():
    rng = np.random.default_rng(0)
    size = rng.normal(size=400)
    X = pd.DataFrame({
        "size": size, "weight": size + 0.7 * rng.normal(size=400), "adult": size + rng.normal(size=400) > 0,
        "ring": rng.normal(size=400),
    })  # fmt: skip
    model = fitted(X)
    assert model.family_ == "copula"
    assert "chosen because 'adult' holds two values" in model.summary()
    assert model.graph_.adjacency[0, 1:3].all()


def test_few_rows_of_answers_and_marks():
    """32 rows, as of many a course: no error, and a word on how little they say."""
    statsmodels = pytest.importorskip("statsmodels.api")
    frame = statsmodels.datasets.spector.load_pandas().data
    model = fitted(frame)
    assert model.family_ == "copula"
    assert model.cautions_ or "clear" in model.summary()


def test_a_table_of_cars():
    rng = np.random.default_rng(0)
    weight = rng.normal(3.2, 1.0, size=32).round(2)
    cars = pd.DataFrame({
        "mpg": (37 - 5 * weight + 2 * rng.normal(size=32)).round(1), "cyl": rng.choice([4, 6, 8], size=32),
        "disp": (100 * weight - 90 + 40 * rng.normal(size=32)).round(0), "wt": weight,
        "am": rng.integers(0, 2, size=32),
    })  # fmt: skip
    assert fitted(cars).family_ == "copula"


def test_families_are_taken_where_they_describe_the_data():
    truth = rs.simulate.random_model(6, 5, min_eigenvalue=0.5, random_state=0)
    for family in ("log-log", "gaussian"):
        X = rs.simulate.sample(family, truth.interaction, truth.location, n_rows=800, random_state=1)
        assert fitted(X).family_ == family


def test_where_families_are_not_told_apart_their_graphs_are_compared():
    truth = rs.simulate.random_model(6, 5, min_eigenvalue=0.5, random_state=0)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=200, random_state=1)
    model = fitted(X)
    assert model.family_ == "copula"
    assert "the data cannot tell" in model.summary()
    assert "links are in the graphs of" in model.family_agreement
    assert model.family_agreement in model.summary()
    assert fitted(X, family="sqrt").family_agreement == ""


def test_what_else_was_asked_for_may_exclude_the_copula():
    X, _ = lake(200, 1)
    assert fitted(X, storage="float32").family_ == "gaussian"
    assert fitted(np.abs(X), kinds={"x0": "continuous"}).family_ == "copula"


def test_the_family_that_is_named_is_the_one_that_was_fitted():
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=(300, 3)))
    model = fitted(X)
    assert rs.families.get_family(model.family_).has_margins == model.fitted_.settings.family.has_margins
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        changing = rs.RobustGraph(alphas=10).fit(X, moderators={"age": rng.normal(size=300)})  # not for the copula
    assert changing.family_ != "copula"
    assert not changing.fitted_.settings.family.has_margins


def test_halves_and_groups_are_compared_with_nothing_said():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(240, 4)) @ (np.eye(4) + np.eye(4, k=1)), columns=list("abcd"))
    X["mood"] = np.where(X["a"] > 0.5, "often", np.where(X["a"] > -0.5, "sometimes", "never"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        halves = rs.edge_stability(rs.RobustGraph(alphas=15), X, n_pairs=2, progress=False)
        model = rs.RobustGraph(alphas=15).fit(X)
        again = model.edge_stability(X, n_pairs=2, progress=False)
        parts = rng.dirichlet([3.0, 4.0, 5.0, 6.0], size=200)
        compositions = rs.edge_stability(rs.RobustGraph(alphas=15), 100 * parts, n_pairs=2, progress=False)
        equal = rs.equality_test(rs.RobustGraph(alphas=10), X[:120], X[120:], n_permutations=19)
    assert model.family_ == "copula"
    assert (halves.n_done, again.n_done, compositions.n_done) == (4, 4, 4)
    assert not halves.failures + again.failures + compositions.failures
    np.testing.assert_array_equal(halves.frequency, again.frequency)
    assert 0 < equal.p_value <= 1
