"""What a fit of columns of any kind says of itself and of rows: whether it fits, losses, predictions, simulations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri
from scipy.stats import norm, poisson, rankdata

import robscore as rs
from robscore.families.copula import Margins

CLASSIC = {"n_blocks": 1, "alphas": 10}


def kinds(n: int, seed: int = 0) -> np.ndarray:
    """Rows of a chain, as a continuous column, two values, answers, many zeros, and counts."""
    K = np.eye(5) + 0.4 * (np.eye(5, k=1) + np.eye(5, k=-1)) * -1
    covariance = np.linalg.inv(K)
    size = np.sqrt(covariance.diagonal())
    correlation = covariance / np.multiply.outer(size, size)
    z = np.random.default_rng(seed).multivariate_normal(np.zeros(5), correlation, size=n)
    make = (
        np.exp,
        lambda z: z > 0.3,
        lambda z: np.digitize(z, [-1.2, -0.4, 0.3, 1.1]),
        lambda z: np.maximum(z, 0.0),
        lambda z: poisson.ppf(norm.cdf(z), 3),
    )
    return np.column_stack([make[j](z[:, j]) for j in range(5)]).astype(float)


def test_a_dependence_that_bends_is_refuted() -> None:
    """Up to categories, and the pair is named."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    X = np.column_stack([x, np.abs(x) + 0.3 * rng.normal(size=500), rng.normal(size=500)])
    X[:, 0] = np.digitize(X[:, 0], [-1, -0.3, 0.3, 1])
    found = rs.RobustGraph("copula", **CLASSIC).fit(X).check_fit()
    assert found.verdict == "does not fit"
    assert "x0 and x1 (a dependence that bends)" in found.words
    assert (found.pairs["source"][0], found.pairs["target"][0]) == ("x0", "x1")
    assert found.columns["misses"].tolist() == ["a dependence that bends"] * 2 + [""]


def test_joint_extremes_beyond_normal_ones_are_refuted() -> None:
    rng = np.random.default_rng(0)
    z = rng.multivariate_normal(np.zeros(4), np.eye(4) * 0.6 + 0.4, size=2000)
    t = z / np.sqrt(rng.chisquare(5, size=(2000, 1)) / 5)
    found = rs.RobustGraph("copula", **CLASSIC).fit(t).check_fit()
    assert found.p_value < 1e-6
    assert "come together more often" in found.words
    assert rs.RobustGraph("copula", **CLASSIC).fit(z).check_fit().verdict == "fits"


@pytest.mark.long
def test_a_true_copula_is_refuted_as_often_as_the_level_says() -> None:
    p_values = [rs.RobustGraph("copula", **CLASSIC).fit(kinds(400, s)).check_fit().p_value for s in range(30)]
    assert np.mean(np.array(p_values) < 0.05) < 0.18
    assert np.mean(np.array(p_values) < 0.5) > 0.2


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_imputed_values_are_values_of_the_column_in_its_type(library: str) -> None:
    X, levels = kinds(250), ["never", "seldom", "at times", "often", "always"]
    holes = np.random.default_rng(1).random(X.shape) < 0.1
    yes = [None if hole else bool(value) for value, hole in zip(X[:, 1], holes[:, 1], strict=True)]
    words = [None if hole else levels[int(value)] for value, hole in zip(X[:, 2], holes[:, 2], strict=True)]
    counts, numbers = np.where(holes[:, 4], np.nan, X[:, 4]), np.where(holes[:, 0], np.nan, X[:, 0])
    if library == "pandas":
        answers = pd.Categorical(words, levels, ordered=True)
        frame = pd.DataFrame({"x": numbers, "yes": pd.array(yes, dtype="boolean"), "answer": answers, "count": counts})
        frame["age"] = np.arange(250)
    else:
        polars = pytest.importorskip("polars")
        columns = {"x": numbers, "yes": yes, "answer": polars.Series(words, dtype=polars.Enum(levels))}
        frame = polars.DataFrame(columns | {"count": counts, "age": np.arange(250)}).fill_nan(None)
    model = rs.RobustGraph("copula", missing="impute", **CLASSIC).fit(frame)
    for table in (model.imputations(1)[0], model.imputations(1, frame[:50])[0]):
        assert set(table["yes"].to_list()) == {True, False}
        assert set(table["answer"].to_list()) <= set(levels)
        assert set(table["count"].to_list()) <= set(X[:, 4])
        assert [type(value) for value in table["age"].to_list()[:3]] == [int] * 3
        assert all(a in (b, None) for a, b in zip(words, table["answer"].to_list(), strict=False))
        assert table["x"].dtype == frame["x"].dtype


def test_imputed_values_have_the_decimals_of_their_column() -> None:
    X = kinds(200)
    X[:, 0] = np.round(X[:, 0], 1)
    holes = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    (table,) = rs.RobustGraph("copula", missing="impute", **CLASSIC).fit(holes).imputations(1)
    np.testing.assert_array_equal(table[:, 0], np.round(table[:, 0], 1))
    assert np.unique(table[np.isnan(holes[:, 0]), 0]).size > 5


def test_words_are_given_back_as_words() -> None:
    X = kinds(200)
    frame = pd.DataFrame({"x": X[:, 0], "smokes": np.where(X[:, 1] > 0, "yes", "no"), "count": X[:, 4]})
    frame.loc[:9, "smokes"] = None
    (table,) = rs.RobustGraph("copula", missing="impute", **CLASSIC).fit(frame).imputations(1)
    assert set(table["smokes"]) == {"yes", "no"}
    assert table["smokes"][10:].tolist() == frame["smokes"][10:].tolist()


def test_margins_give_back_what_they_were_given() -> None:
    X = kinds(200)
    X[0, 4] = 40.0  # a count that one row has
    margins = Margins.of(X)
    np.testing.assert_allclose(margins.undo(margins.apply(X)), X, rtol=1e-9)
    z = np.random.default_rng(0).normal(size=(2000, 5))
    simulated = margins.undo(z)
    for j in (1, 2, 4):
        assert (simulated[:, j] == np.round(simulated[:, j])).all()
    positive = simulated[simulated[:, 3] > 0, 3]
    assert positive.min() >= X[X[:, 3] > 0, 3].min()


def test_two_values_are_predicted_as_often_as_they_are_guessed_right() -> None:
    """Against the best guess by brute force, of one column of two values from another and a normal one."""
    rng = np.random.default_rng(0)
    S = np.array([[1.0, 0.6, 0.7, 0], [0.6, 1.0, 0.3, 0], [0.7, 0.3, 1.0, 0], [0, 0, 0, 1.0]])
    z = rng.multivariate_normal(np.zeros(4), S, size=1500)
    X = np.column_stack([z[:, 0] > 0.3, z[:, 1] > -0.2, z[:, 2], z[:, 3] > 0]).astype(float)
    many = rng.multivariate_normal(np.zeros(4), S, size=400_000)
    at = np.digitize(many[:, 2], np.linspace(-2.5, 2.5, 60)) + 100 * (many[:, 1] > -0.2)
    ones, all_ = np.bincount(at, many[:, 0] > 0.3), np.bincount(at)
    right, most = np.maximum(ones, all_ - ones).sum() / all_.sum(), (many[:, 0] <= 0.3).mean()
    table = rs.RobustGraph("copula", n_edges=3, **CLASSIC).fit(X).predictability()
    assert table["measure"].tolist() == ["guessed right", "guessed right", "explained", "guessed right"]
    assert abs(table["predictability"][0] - (right - most) / (1 - most)) < 0.06
    assert table["predictability"][3] < 0.05
    for codes in (X + 1, X * [-1, 1, 1, 1]):
        other = rs.RobustGraph("copula", n_edges=3, **CLASSIC).fit(codes).predictability()
        np.testing.assert_allclose(other["predictability"], table["predictability"], atol=0.03)


def test_held_out_rows_prefer_the_true_graph() -> None:
    """Of columns of two values, too: rows are completed by themselves, not by what the other rows say."""
    z = _chain_of_latent_numbers(1000, 8)
    X, truth = (z > 0.3).astype(float), np.eye(8, k=1)[np.triu_indices(8, k=1)] > 0
    scores = []
    for n_edges in (0, 3, 7, 20, 28):
        fit = rs.RobustGraph("copula", n_blocks=1, n_edges=n_edges).fit(X[:500])
        scores.append(fit.set_params(n_edges=n_edges).score(X[500:]))
    assert np.argmax(scores[:3]) == 2
    model = rs.RobustGraph("copula", n_blocks=1, alphas=20, select=["cv", "f1"]).fit(X[:500])
    edges = model.association_[np.triu_indices(8, k=1)] != 0
    assert 2 * (edges & truth).sum() / (edges.sum() + truth.sum()) > 0.85


def _chain_of_latent_numbers(n: int, m: int) -> np.ndarray:
    covariance = np.linalg.inv(np.eye(m) - 0.35 * (np.eye(m, k=1) + np.eye(m, k=-1)))
    size = np.sqrt(covariance.diagonal())
    rng = np.random.default_rng(1)
    return rng.multivariate_normal(np.zeros(m), covariance / np.multiply.outer(size, size), size=n)


def test_losses_do_not_depend_on_units_of_the_columns() -> None:
    X = kinds(300)
    Y = X.copy()
    Y[:, 0], Y[:, 1], Y[:, 2], Y[:, 3] = np.log(X[:, 0]), 1 + X[:, 1], X[:, 2] ** 3, np.sqrt(X[:, 3])
    one, other = (rs.RobustGraph("copula", **CLASSIC).fit(rows) for rows in (X, Y))
    np.testing.assert_allclose(other.row_losses(Y), one.row_losses(X), rtol=1e-6, atol=1e-8)
    assert other.score(Y) == pytest.approx(one.score(X), rel=1e-6)
    assert one.score(X) == one.score(X)
    turned = X * [1, 1, 1, -1, 1]
    one, other = (rs.RobustScoreMatching("copula", n_blocks=1).fit(rows) for rows in (X, turned))
    assert other.score(turned) == pytest.approx(one.score(X), rel=0.1)


def test_losses_of_points_are_those_of_their_scores() -> None:
    X = np.random.default_rng(0).lognormal(size=(200, 3)) @ np.tri(3)
    model = rs.RobustGraph("copula", **CLASSIC).fit(X)
    scores, K = ndtri((rankdata(X, axis=0) - 0.5) / 200), model.interaction_
    expected = ((scores @ K - model.location_) ** 2).sum(axis=1) / 2 - np.trace(K)
    np.testing.assert_allclose(model.row_losses(X), expected, rtol=1e-8)


def test_losses_of_rows_that_are_not_complete() -> None:
    X = kinds(200)
    X[0] = np.nan
    X[1, 2] = np.nan
    rows = rs.RobustGraph("copula", missing="impute", **CLASSIC).fit(X).row_losses(X)
    assert np.isnan(rows).tolist() == [True] + [False] * 199
    dropped = rs.RobustGraph("copula", missing="drop", **CLASSIC).fit(X)
    assert np.isnan(dropped.row_losses(X)).tolist() == [True] * 2 + [False] * 198
    assert np.isfinite(dropped.row_losses(X[5:6])).all()


def test_simulated_rows_have_the_margins_and_associations_of_the_fit() -> None:
    X = kinds(800)
    model = rs.RobustGraph("copula", **CLASSIC).fit(X)
    rows = rs.simulate.sample(model, n_rows=4000, random_state=0)
    for j in (1, 2, 4):
        assert set(rows[:, j]) <= set(X[:, j])
        assert abs(rows[:, j].mean() - X[:, j].mean()) < 0.1
    assert abs((rows[:, 3] == 0).mean() - (X[:, 3] == 0).mean()) < 0.03
    assert (rows[:, 0] > 0).all()
    again = rs.RobustScoreMatching("copula", n_blocks=1).fit(rows).interaction_
    size = np.sqrt(again.diagonal())
    fitted = model.fitted_.unshrunk[0]
    expected = fitted / np.sqrt(np.multiply.outer(fitted.diagonal(), fitted.diagonal()))
    np.testing.assert_allclose(again / np.multiply.outer(size, size), expected, atol=0.1)
    gaussian = rs.RobustGraph("gaussian", **CLASSIC).fit(np.log(X[:, :1] + X[:, 3:5]))
    assert (
        abs(rs.simulate.sample(gaussian, n_rows=4000, random_state=0).mean() - np.log(X[:, :1] + X[:, 3:5]).mean())
        < 0.1
    )


def test_margins_to_simulate_are_shares_or_a_fit() -> None:
    K = np.eye(3) - 0.3 * (np.eye(3, k=1) + np.eye(3, k=-1))
    rows = rs.simulate.sample("copula", K, margins=[[0.7, 0.3], None, [0.1, 0.2, 0.7]], n_rows=5000, random_state=0)
    assert abs((rows[:, 0] == 1).mean() - 0.3) < 0.03
    assert abs(rows[:, 1].std() - 1) < 0.03
    assert np.abs(np.bincount(rows[:, 2].astype(int)) / 5000 - [0.1, 0.2, 0.7]).max() < 0.03
    for wrong, words in (
        ([0.5, 0.4], "sum to 1"),
        ([[0.5, 0.5]], "margins are of 1 columns"),
        ([1.0], "two categories"),
    ):
        with pytest.raises(ValueError, match=words):
            rs.simulate.sample("copula", K, margins=wrong, n_rows=5)
    with pytest.raises(ValueError, match="margins are for family='copula'"):
        rs.simulate.sample("gaussian", K, margins=[0.5, 0.5], n_rows=5)
    with pytest.raises(ValueError, match="no location"):
        rs.simulate.sample("copula", K, np.ones(3), n_rows=5)


def test_more_people_find_more_edges_of_answers() -> None:
    truth = rs.simulate.random_model(5, 4, min_eigenvalue=0.5, random_state=0)
    table = rs.simulate.power(
        truth,
        [80, 800],
        family="copula",
        margins=[0.5, 0.3, 0.2],
        n_repeats=2,
        model=rs.RobustGraph("copula", **CLASSIC),
    )
    assert table["f1"][1] > table["f1"][0]
    assert table["tpr"][1] > 0.6


def test_rows_are_judged_by_themselves() -> None:
    """Beyond the range of the fit, with missing cells, alone or with others: scores are finite and stay the same."""
    X = kinds(300)
    model = rs.RobustGraph("copula", missing="impute", alphas=10).fit(X)
    new = X[:30].copy()
    new[0, 0], new[1, 2], new[2, 1], new[3, 4] = 1e9, 99, -7, 500
    new[4], new[5, 1:3] = np.nan, np.nan
    table = model.suspicious_rows(new)
    assert set(table["row"]) == set(range(30)) - {4}
    assert np.isfinite(table["score"]).all()
    complete = np.delete(new, [4, 5], axis=0)
    scores = model.score_samples(complete)
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(model.score_samples(complete[7:8]), scores[7:8])
    np.testing.assert_allclose(model.score_samples(complete[::-1]), scores[::-1])
    assert model.predict(complete)[[0, 1, 3]].tolist() == [-1] * 3  # a value is as far out as it is, not last in rank
    assert model.predict(complete[4:]).mean() > 0.8
    dropping = rs.RobustGraph("copula", missing="drop", alphas=10).fit(X)
    assert set(dropping.suspicious_rows(new)["row"]) == set(range(30)) - {4, 5}


def test_new_rows_of_groups_are_judged_by_the_graph_of_their_group() -> None:
    X, group = kinds(300), np.repeat(["a", "b"], 150)
    model = rs.RobustGraph("copula", alphas=5).fit(X, moderators={"group": group})
    new, own = X[140:160].copy(), {"group": group[140:160]}
    new[3, 0] = 1e9
    found = model.predict(new, covariates=own)
    assert found[3] == -1
    assert (found == 1).sum() >= 17


def test_what_only_latent_numbers_have_is_refused_in_words() -> None:
    X = kinds(80)
    with pytest.raises(ValueError, match="their latent numbers have"):
        rs.score_elements("copula", X)
    alone = rs.RobustGraph("copula", n_blocks=1, alphas=3).fit(X)
    with pytest.raises(ValueError, match="method='subsampling' is not for fits whose cells are drawn"):
        alone.edge_intervals(method="subsampling")
    with pytest.raises(ValueError, match="all pairs are estimated from the same rows"):
        alone.edge_intervals(estimate="split")
    model = rs.RobustGraph("copula", n_blocks=1, alphas=3).fit(X[:, 1:], covariates=X[:, 0])
    for ask in (model.score, model.row_losses):
        with pytest.raises(ValueError, match="not known for the copula with covariates"):
            ask(X[:, 1:], covariates=X[:, 0])
    with pytest.raises(ValueError, match="fit without them"):
        rs.simulate.sample(model, n_rows=3)


def test_the_same_answer_to_every_question_is_counted() -> None:
    rng = np.random.default_rng(0)
    z = rng.multivariate_normal(np.zeros(8), np.eye(8) * 0.7 + 0.3, size=600)
    cuts = np.sort(rng.normal(size=(8, 4)), axis=1)
    X = np.column_stack([np.digitize(z[:, j], cuts[j]) for j in range(8)]) + 1.0
    lines = [5, 40, *range(100, 128)]
    straight = X.copy()
    straight[lines] = rng.integers(1, 6, (len(lines), 1))
    clean, model = (rs.RobustGraph("copula", **CLASSIC).fit(rows) for rows in (X, straight))
    words = [str(caution) for caution in model.cautions_ if "same answer to all 8" in str(caution)]
    assert len(words) == 1
    assert words[0].startswith(tuple(f"{count} rows" for count in range(30, 34)))
    assert "rows 5, 40, 100" in words[0]
    assert not [caution for caution in clean.cautions_ if "same answer" in str(caution)]
