"""Columns of any kind given covariates, and given the rows before them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri
from scipy.stats import rankdata

import robscore as rs
from robscore.families.given_covariates import GivenCovariates
from robscore.fitting.latent_scale import of_unit_variances

CLASSIC = {"n_blocks": 1, "alphas": 20}
EFFECTS = np.array([[1.2, 0.0], [0.9, 0.5], [0.0, 0.0], [0.0, 0.0]])  # of two covariates on the latent means


def confounded(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two values, answers, counts and a skewed column, of which the first two follow the first of two covariates."""
    rng = np.random.default_rng(seed)
    given = rng.normal(size=(n, 2))
    z = rng.normal(size=(n, 4)) + given @ EFFECTS.T
    z[:, 3] += 0.7 * z[:, 2]
    X = [z[:, 0] > 0, np.digitize(z[:, 1], [-0.8, 0.5]), np.maximum(np.round(2 * z[:, 2]), 0), np.exp(z[:, 3])]
    return np.column_stack(X).astype(float), given


def test_variances_that_are_one_include_what_covariates_add() -> None:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 3))
    K, eta = root @ root.T + np.eye(3), rng.normal(size=(3, 3))
    given, weights = rng.normal(size=(4000, 2)) @ [[2.0, 0.0], [1.0, 0.5]] + 3.0, rng.random(4000)
    X = np.concatenate([np.zeros((4000, 3)), given], axis=1)
    K_unit, eta_unit = of_unit_variances(GivenCovariates(rs.families.Gaussian(), 2), (K, eta), X, weights)
    means = np.linalg.solve(K_unit, eta_unit @ np.vstack([np.ones(4000), given.T])).T
    np.testing.assert_allclose(np.average(means, axis=0, weights=weights), 0, atol=1e-10)
    variances = np.linalg.inv(K_unit).diagonal() + np.average(means**2, axis=0, weights=weights)
    np.testing.assert_allclose(variances, 1, atol=1e-10)
    for part, unit in ((K, K_unit), (eta[:, 1:], eta_unit[:, 1:])):  # associations and zero effects stay
        scale = np.sqrt(K_unit.diagonal() / K.diagonal())
        np.testing.assert_allclose(unit, part * (np.multiply.outer(scale, scale) if part is K else scale[:, None]))


def test_without_ties_it_is_the_gaussian_on_normal_scores_given_the_same() -> None:
    rng = np.random.default_rng(0)
    c = rng.normal(size=300)
    X = np.exp(rng.normal(size=(300, 4)) @ np.tri(4) + np.outer(c, [1, 1, 0, 0]))
    scores = ndtri((rankdata(X, axis=0) - 0.5) / len(X))
    found, expected = (
        rs.RobustGraph(family, n_blocks=1, alphas=20).fit(rows, covariates=c)
        for family, rows in (("copula", X), ("gaussian", scores))
    )
    np.testing.assert_allclose(found.association_, expected.association_, atol=1e-10)
    size = scores.std(axis=0)
    np.testing.assert_allclose(found.effects_, expected.effects_ * size[:, None], rtol=1e-6)


def test_a_confounder_makes_an_edge_that_is_gone_when_it_is_given() -> None:
    X, given = confounded(700)
    without = rs.RobustGraph("copula", **CLASSIC).fit(X)
    model = rs.RobustGraph("copula", **CLASSIC).fit(X, covariates=given)
    assert without.association_[0, 1] > 0.3
    assert model.association_[0, 1] == 0
    assert model.graph_.n_edges == 1
    assert model.association_[2, 3] > 0.3
    table = model.edge_intervals()
    significant = {
        (a, b) for a, b, p in zip(table["source"], table["target"], table["p_value"], strict=True) if p < 0.01
    }
    assert significant == {("x2", "x3")}


def test_effects_are_those_on_latent_numbers_of_variance_one() -> None:
    X, given = confounded(1500, 1)
    model = rs.RobustScoreMatching("copula", n_blocks=1).fit(X, covariates={"a": given[:, 0], "b": given[:, 1]})
    table = model.effects().set_index(["column", "covariate"])
    deviation = np.sqrt(1 + (EFFECTS[:2] ** 2).sum(axis=1))
    for j in range(2):  # the first two columns are independent given the covariates, so K_jj = 1 / their variance
        for name, effect in zip("ab", EFFECTS[j], strict=True):
            row = table.loc[(f"x{j}", name)]
            assert abs(row["effect"] - effect * deviation[j]) < 3 * row["effect_error"]
    assert table.loc[("x2", "a"), "p_value"] > 0.01
    assert table.loc[("x0", "a"), "p_value"] < 1e-3
    scaled = rs.RobustScoreMatching("copula", n_blocks=1).fit(X, covariates={"a": 10 * given[:, 0], "b": given[:, 1]})
    np.testing.assert_allclose(scaled.effects_ * [10, 1], model.effects_, rtol=1e-6)


def test_a_covariate_without_effect_hardly_changes_the_graph() -> None:
    X, _ = confounded(500)
    c = np.random.default_rng(5).normal(size=500)
    one, other = (rs.RobustGraph("copula", **CLASSIC).fit(X, covariates=given) for given in (None, c))
    np.testing.assert_allclose(other.association_, one.association_, atol=0.05)


def test_the_order_of_rows_and_columns_does_not_matter_given_covariates() -> None:
    X, given = confounded(300)
    X = X[:, :3]  # hardly two rows with different cells, so that covariates alone tell rows apart
    rows, columns = np.random.default_rng(0).permutation(300), np.array([2, 0, 1])
    one = rs.RobustGraph("copula", **CLASSIC).fit(X, covariates=given)
    other = rs.RobustGraph("copula", **CLASSIC).fit(X[np.ix_(rows, columns)], covariates=given[rows])
    np.testing.assert_allclose(other.association_, one.association_[np.ix_(columns, columns)], atol=1e-5)
    np.testing.assert_allclose(other.effects_, one.effects_[columns], atol=1e-4)


def rainy(n: int) -> np.ndarray:
    """Daily rain at four gauges, with many zeros: the second follows the first of the day before, the fourth itself."""
    rng, z = np.random.default_rng(1), np.zeros((n, 4))
    follows = np.zeros((4, 4))
    follows[1, 0], follows[3, 3] = 0.7, 0.5
    for t in range(1, n):
        z[t] = follows @ z[t - 1] + rng.multivariate_normal(np.zeros(4), np.full((4, 4), 0.4) + 0.6 * np.eye(4))
    return np.maximum(np.exp(z) - 1.3, 0.0)


def test_daily_rain_given_the_day_before() -> None:
    rain = rainy(700)
    assert (rain == 0).mean() > 0.5
    now, before = rs.lagged(rain)
    model = rs.RobustGraph("copula", **CLASSIC).fit(now, covariates=before)
    assert (model.association_ >= 0).all()
    assert model.graph_.n_edges >= 5
    Phi = rs.autoregression(rs.RobustScoreMatching("copula", n_blocks=1).fit(now, covariates=before))
    expected = np.zeros((4, 4))
    expected[1, 0], expected[3, 3] = 0.55, 0.5
    np.testing.assert_allclose(Phi, expected, atol=0.15)
    # The past is seen through the margins of its columns, as the present is.
    squared = rs.RobustGraph("copula", **CLASSIC).fit(now**2, covariates={name: x**2 for name, x in before.items()})
    np.testing.assert_allclose(squared.association_, model.association_, atol=1e-10)
    np.testing.assert_allclose(squared.effects_, model.effects_, atol=1e-10)


def test_everything_else_takes_covariates_too() -> None:
    X, given = confounded(300, 2)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(season=given[:, 0], group=np.where(given[:, 1] > 0, "x", "y"))
    frame.loc[np.random.default_rng(0).random(300) < 0.1, "b"] = np.nan
    options = {"covariates": ["season", "group"]}
    model = rs.RobustGraph("copula", missing="impute", alphas=20).fit(frame, **options)
    assert model.share_dropped_ < 0.02
    assert set(model.effects()["covariate"]) == {"season", "group=y"}
    assert set(model.predict(frame.head(20).dropna())) <= {1, -1}
    assert len(model.suspicious_rows(frame.head(20))) == 20
    assert model.check_fit().verdict == "fits"
    assert set(model.imputations(1)[0]["b"]) == {0.0, 1.0, 2.0}
    assert set(model.imputations(1, frame.head(20))[0]["b"]) <= {0.0, 1.0, 2.0}
    frame.loc[3, "season"] = np.nan
    with pytest.raises(ValueError, match="Covariates have 1 missing values"):
        rs.RobustGraph("copula", missing="impute").fit(frame, **options)
    complete = rs.RobustGraph("copula", missing="drop", **CLASSIC).fit(frame, **options)
    same = rs.RobustGraph("copula", **CLASSIC).fit(frame.dropna(), **options)
    np.testing.assert_allclose(complete.association_, same.association_, atol=1e-10)
