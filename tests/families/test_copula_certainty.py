"""Standard errors, tests and numbers of effective rows of copula fits: what intervals and estimated margins cost."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import multivariate_normal, norm, poisson, rankdata
from scipy.stats import t as student

import robscore as rs
from robscore.families.copula import GaussianCopula, MarginRule

CLASSIC = {"n_blocks": 1, "alphas": 5}


def latent(n: int, correlation: np.ndarray, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).multivariate_normal(np.zeros(len(correlation)), correlation, size=n)


def intervals(X: np.ndarray, **options: object) -> dict[str, np.ndarray]:
    """Columns of the table of edges, sorted by pair."""
    table = rs.RobustGraph("copula", **CLASSIC, **options).fit(X).edge_intervals()
    order = np.lexsort((table["target"], table["source"]))
    return {name: np.asarray(table[name])[order] for name in table.columns}


def errors_of(table: dict[str, np.ndarray], n: int) -> np.ndarray:
    """Standard errors of the associations, which their intervals were made from."""
    side = (np.arctanh(table["association_high"]) - np.arctanh(table["association_low"])) / 2
    return side / student.ppf(0.975, n - 1) * (1 - table["association"] ** 2)


def test_errors_of_points_are_those_of_correlations_of_normal_scores() -> None:
    """The influence on r is z_j z_k - r (z_j^2 + z_k^2) / 2; that on K_jk = -r / (1 - r^2) follows from it."""
    n = 400
    X = np.exp(latent(n, np.array([[1.0, 0.6], [0.6, 1.0]]), 0))
    z = ndtri((rankdata(X, axis=0) - 0.5) / n)
    z /= z.std(axis=0)
    r = z[:, 0] @ z[:, 1] / n
    influence = z[:, 0] * z[:, 1] - r * (z**2).sum(axis=1) / 2
    expected = np.sqrt(np.sum(influence**2)) / n * np.sqrt(n / (n - 3) * n / (n - 1))
    table = intervals(X)
    np.testing.assert_allclose(table["association"], r, rtol=1e-9)
    np.testing.assert_allclose(errors_of(table, n), expected, rtol=0.02)
    np.testing.assert_allclose(table["interaction_error"], expected * (1 + r**2) / (1 - r**2) ** 2, rtol=0.03)
    np.testing.assert_allclose(table["effective"], n, rtol=0.02)


def two_step_error(X: np.ndarray, r: float) -> float:
    """Standard error of a polychoric correlation whose thresholds were estimated first, by their influences."""
    shares = [np.unique(x, return_counts=True)[1] / len(X) for x in X.T]
    cuts = [ndtri(np.cumsum(share)[:-1]) for share in shares]

    def log_probabilities(r: float, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        normal = multivariate_normal(cov=[[1.0, r], [r, 1.0]])
        below = np.array([[normal.cdf([s, t]) for t in np.append(b, 8.0)] for s in np.append(a, 8.0)])
        return np.log(np.maximum(np.diff(np.diff(np.pad(below, ((1, 0), (1, 0))), axis=0), axis=1), 1e-12))

    def score(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (log_probabilities(r + 1e-3, a, b) - log_probabilities(r - 1e-3, a, b)) / 2e-3

    x, y = X.astype(int).T
    own = score(*cuts)[x, y]
    information, whole = np.mean(own**2), own - own.mean()
    for column, (codes, at) in enumerate(zip((x, y), cuts, strict=True)):
        for k, cut in enumerate(at):
            step = 1e-2 * np.eye(at.size)[k]
            moved = [score(*[c + sign * step if j == column else c for j, c in enumerate(cuts)]) for sign in (1, -1)]
            slope = np.mean((moved[0] - moved[1])[x, y]) / 2e-2
            whole = whole + slope * ((codes <= k) - np.mean(codes <= k)) / norm.pdf(cut)
    return float(np.sqrt(np.mean(whole**2)) / information / np.sqrt(len(X)))


@pytest.mark.parametrize(("r", "cuts"), [(0.0, (0.0,)), (0.6, (0.7,)), (0.75, (-1.0, 0.0, 0.8))])
def test_errors_of_two_ordered_columns_are_those_of_polychoric_correlations(r: float, cuts: tuple[float, ...]) -> None:
    n = 1500
    z = latent(n, np.array([[1.0, r], [r, 1.0]]), 1)
    X = np.column_stack([np.digitize(z[:, 0], cuts), np.digitize(z[:, 1], [-0.4])]).astype(float)
    table = intervals(X)
    np.testing.assert_allclose(errors_of(table, n), two_step_error(X, float(table["association"][0])), rtol=0.1)


@pytest.mark.parametrize("kind", ["two values", "mixed"])
def test_tests_of_true_nulls_hold_their_level(kind: str) -> None:
    """Deviations of 1 of the z values of pairs without an edge; intervals that cover."""
    correlation = np.eye(6)
    correlation[0, 1] = correlation[1, 0] = correlation[2, 3] = correlation[3, 2] = 0.5
    truth = correlation[np.triu_indices(6, k=1)]
    z_values, covered = [], []
    for seed in range(6):
        z = latent(400, correlation, seed)
        X = (z > 0.2).astype(float)
        if kind == "mixed":
            X[:, 1], X[:, 3], X[:, 5] = np.maximum(z[:, 1], -0.2), np.exp(z[:, 3]), np.digitize(z[:, 5], [-1, 0, 1])
        table = intervals(X)
        z_values.append((np.arctanh(table["association"]) / errors_of(table, 400))[truth == 0])
        covered.append((table["association_low"] <= truth) & (truth <= table["association_high"]))
    assert 0.8 < np.std(z_values) < 1.2
    assert np.mean(covered) > 0.9


def test_rows_are_worth_what_their_cells_tell() -> None:
    """Near independence: .64 of two even values, .90 of five answers, .87 of 40 % zeros, .96 of counts of mean 3."""
    n, z = 2000, latent(2000, np.eye(5), 2)
    columns = [z[:, 0], z[:, 1] > 0, np.digitize(z[:, 2], [-1.2, -0.4, 0.3, 1.1]), np.maximum(z[:, 3], ndtri(0.4))]
    X = np.column_stack([*columns, poisson.ppf(norm.cdf(z[:, 4]), 3)]).astype(float)
    worth = np.array([1.0, 0.64, 0.90, 0.87, 0.96])
    expected = np.multiply.outer(worth, worth)[np.triu_indices(5, k=1)]
    np.testing.assert_allclose(intervals(X)["effective"] / n, expected, atol=0.08)


def test_missing_cells_lower_what_rows_are_worth() -> None:
    X = np.exp(latent(1500, np.eye(3), 3))
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    assert abs(np.mean(intervals(X, missing="impute")["effective"]) / 1500 - 0.64) < 0.04


def test_an_empty_corner_has_a_finite_association_and_others_hardly_change() -> None:
    """Half a row in the empty corner, as is common for polychoric correlations, makes it -.91."""
    corner = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [60, 60, 80], axis=0)
    table = intervals(corner)
    assert -0.95 < table["association"][0] < -0.8
    assert errors_of(table, 200)[0] < 0.1
    z = latent(400, np.array([[1.0, 0.6], [0.6, 1.0]]), 0)
    found = [
        rs.RobustScoreMatching(GaussianCopula(rule=MarginRule(independent_rows=rows)), n_blocks=1).fit(z > 0.3)
        for rows in (0.0, 1.0)
    ]
    without, usual = (-K[0, 1] / np.sqrt(K[0, 0] * K[1, 1]) for K in (model.interaction_ for model in found))
    assert 0 < without - usual < 0.02


def test_graphs_of_groups_are_compared_by_what_their_cells_tell() -> None:
    equal, other = np.eye(3) + 0.4 * (1 - np.eye(3)), np.eye(3)
    first, same, different = (latent(250, C, seed) > 0.1 for seed, C in enumerate((equal, equal, other)))
    model = rs.RobustGraph("copula", **CLASSIC)
    p_values = [
        rs.equality_test(model, first.astype(float), second.astype(float), n_permutations=99).p_value
        for second in (same, different)
    ]
    assert p_values[0] > 0.05
    assert p_values[1] < 0.05
