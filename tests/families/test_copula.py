"""Columns of any kind: latent normal numbers known to an interval."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import ndtri
from scipy.stats import multivariate_normal, norm, poisson, rankdata
from scipy.stats import t as student

import robscore as rs
from robscore.cells.draw_cells import DrawingOrder, completions_within
from robscore.cells.interval_draws import drawn_within, normal_quantile, within
from robscore.families.copula import Margins

CLASSIC = {"n_blocks": 1, "alphas": 20}


def mixed(n: int, seed: int = 0, m: int = 6, n_edges: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Latent rows, the same as columns of six kinds, and the latent associations."""
    precision = rs.simulate.random_model(m, n_edges, random_state=seed).interaction
    covariance = np.linalg.inv(precision)
    deviation = np.sqrt(covariance.diagonal())
    covariance = covariance / np.multiply.outer(deviation, deviation)
    z = np.random.default_rng(seed + 100).multivariate_normal(np.zeros(m), covariance, size=n)
    make = (
        np.exp,
        lambda z: z > 0.2,
        lambda z: np.digitize(z, [-1.2, -0.4, 0.3, 1.1]),
        lambda z: np.maximum(z + 0.25, 0.0),
        lambda z: poisson.ppf(norm.cdf(z), 3),
        lambda z: student.ppf(norm.cdf(z), 2),
    )
    X = np.column_stack([make[j % 6](z[:, j]) for j in range(m)]).astype(float)
    root = np.sqrt(precision.diagonal())
    return z, X, -precision / np.multiply.outer(root, root)


def upper(matrix: np.ndarray) -> np.ndarray:
    return matrix[np.triu_indices(len(matrix), k=1)]


def test_the_quantile_is_scipys() -> None:
    p = np.concatenate(
        [np.random.default_rng(0).random(500), 10.0 ** -np.arange(1, 300, 7), 1 - 10.0 ** -np.arange(1, 15)]
    )
    np.testing.assert_allclose([normal_quantile(value) for value in p], ndtri(p), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize(("low", "high"), [(-1.0, 2.0), (3.0, 4.0), (-9.0, -8.9), (8.0, np.inf), (-np.inf, -30.0)])
def test_draws_within_an_interval_follow_the_normal_law(low: float, high: float) -> None:
    u = np.linspace(0.01, 0.99, 25)
    z = np.array([within(low, high, value) for value in u])
    assert ((z >= low) & (z <= high)).all()
    assert (np.diff(z) >= 0).all()
    logs = norm.logsf if low > 0 else norm.logcdf
    ends = np.exp(logs(z) - logs(low if low > 0 else high))
    whole = 1 - np.exp(logs(high) - logs(low)) if low > 0 else 1 - np.exp(logs(low) - logs(high))
    np.testing.assert_allclose(1 - u if low > 0 else u, (ends - (1 - whole)) / whole, atol=1e-6)


def test_sweeps_have_the_law_of_the_other_cells() -> None:
    """Given z_0, the other cell is normal about its regression, cut to its interval."""
    n, r = 20_000, 0.7
    Z = np.array([np.full(n, 1.5), np.zeros(n)])
    drawn, bounds = np.array([np.zeros(n, bool), np.ones(n, bool)]), (np.full((2, n), 0.5), np.full((2, n), np.inf))
    K = np.linalg.inv([[1.0, r], [r, 1.0]])
    found = drawn_within(Z, drawn, bounds, K, np.zeros((2, n)), np.random.default_rng(0).random((1, 2, n)))
    mean, deviation = r * 1.5, np.sqrt(1 - r**2)
    a = (0.5 - mean) / deviation
    np.testing.assert_array_equal(found[0], 1.5)
    assert abs(found[1].mean() - (mean + deviation * norm.pdf(a) / norm.sf(a))) < 0.02


def test_a_draw_depends_on_its_own_row_alone() -> None:
    """Rows that are drawn together are drawn like each by itself, cell after cell."""
    n, m, rng = 150, 5, np.random.default_rng(0)
    K = rs.simulate.random_model(m, 6, random_state=1).interaction
    Z, drawn, u, eta = rng.normal(size=(m, n)), rng.random((m, n)) < 0.6, rng.random((2, m, n)), rng.normal(size=(m, n))
    lower, upper = Z - rng.exponential(size=Z.shape), np.where(rng.random(Z.shape) < 0.3, np.inf, Z + 0.5)
    found = drawn_within(Z, drawn, (lower, upper), K, eta, u)
    for i in (0, 63, 64, n - 1):
        z = Z[:, i].copy()
        for own in u[:, :, i]:
            for j in np.flatnonzero(drawn[:, i]):
                size = np.sqrt(K[j, j])
                mean = z[j] + (eta[j, i] - K[j] @ z) / K[j, j]
                z[j] = mean + within((lower[j, i] - mean) * size, (upper[j, i] - mean) * size, own[j]) / size
        np.testing.assert_allclose(found[:, i], z, atol=1e-12)


def test_completions_of_a_round_are_spread_evenly() -> None:
    """Of a free cell E completions hold one draw in each E-th part of its law, in an order of its own."""
    n, E = 40, 6
    cells, bounds = np.tile([True, False], (n, 1)), (np.full((n, 2), -np.inf), np.full((n, 2), np.inf))
    order, K = DrawingOrder(np.arange(n)[::-1], np.array([1, 0])), np.linalg.inv([[1.0, 0.5], [0.5, 1.0]])
    tables = np.random.default_rng(0).normal(size=(E, n, 2))
    found = completions_within(
        rs.families.Gaussian(), tables, cells, bounds, (K, np.zeros(2)), order=order, sweeps=2,
        rng=np.random.default_rng(1),
    )  # fmt: skip
    np.testing.assert_array_equal(found[:, :, 1], tables[:, :, 1])
    part = np.floor(E * norm.cdf((found[:, :, 0] - tables[:, :, 1] / 2) / np.sqrt(0.75)))
    np.testing.assert_array_equal(np.sort(part, axis=0), np.tile(np.arange(E)[:, None], n))
    assert len(np.unique(part, axis=1).T) > n / 2


def test_margins_are_monotone_and_weights_are_repetitions() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 4, 60), rng.gamma(2, size=60).round(1)]).astype(float)
    X[4, 0] = np.nan
    weight = rng.integers(0, 4, 60)
    weighted, repeated = Margins.of(X, weight.astype(float)), Margins.of(np.repeat(X, weight, axis=0))
    grid = np.column_stack([np.linspace(-1, 5, 50), np.linspace(-1, 12, 50)])
    for one, other in zip(
        (*weighted.bounds(grid), weighted.apply(grid)), (*repeated.bounds(grid), repeated.apply(grid)), strict=True
    ):
        assert (np.diff(one, axis=0) >= 0).all()
        np.testing.assert_allclose(one, other, atol=1e-12)
    np.testing.assert_allclose(weighted.upper[0], repeated.upper[0])
    lower, high = weighted.bounds(X)
    assert np.isneginf(lower[4, 0])
    assert np.isposinf(high[4, 0])
    seen = weight > 0
    np.testing.assert_allclose(weighted.undo(weighted.apply(X[seen]))[:, 1], X[seen, 1], atol=0.3)


def test_without_ties_it_is_the_gaussian_on_normal_scores() -> None:
    z, _, _ = mixed(300)
    scores = ndtri((rankdata(np.exp(z), axis=0) - 0.5) / len(z))
    found = rs.RobustGraph("copula", n_blocks=1).fit(np.exp(z))
    np.testing.assert_allclose(
        found.association_, rs.RobustGraph("gaussian", n_blocks=1).fit(scores).association_, atol=1e-10
    )


def polychoric(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """The latent correlation of two ordered columns given their thresholds, by rectangle probabilities; its error."""
    cuts = [np.append(ndtri(np.cumsum(np.unique(v, return_counts=True)[1])[:-1] / v.size), 8.0) for v in (x, y)]
    counts = pd.crosstab(x, y).to_numpy()

    def minus_log(r: float) -> float:
        normal = multivariate_normal(cov=[[1.0, r], [r, 1.0]])
        below = np.array([[normal.cdf([a, b]) for b in cuts[1]] for a in cuts[0]])
        cells = np.diff(np.diff(np.pad(below, ((1, 0), (1, 0))), axis=0), axis=1)
        return -float((counts * np.log(np.maximum(cells, 1e-12))).sum())

    r = minimize_scalar(minus_log, bounds=(-0.95, 0.95), method="bounded").x
    curvature = (minus_log(r + 0.01) - 2 * minus_log(r) + minus_log(r - 0.01)) / 1e-4
    return float(r), float(1 / np.sqrt(curvature))


@pytest.mark.parametrize("cuts", [(0.3,), (-1.0, 0.0, 0.8)])
def test_two_ordered_columns_have_their_polychoric_correlation(cuts: tuple[float, ...]) -> None:
    z = np.random.default_rng(3).multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=2000)
    X = np.column_stack([np.digitize(z[:, 0], cuts), np.digitize(z[:, 1], [-0.5, 0.7])]).astype(float)
    K = rs.RobustScoreMatching("copula", n_blocks=1).fit(X).interaction_
    expected, error = polychoric(*X.T)
    found = -K[0, 1] / np.sqrt(K[0, 0] * K[1, 1])
    assert abs(found - expected) < error / 2
    scores = np.corrcoef(X.T)[0, 1]
    assert found > scores + 2 * error  # numbers of categories are correlated less than what they stand for


def test_associations_of_mixed_columns_are_those_of_the_latent_numbers() -> None:
    """Slopes of one, and no more false pairs than a test at 5 % may find."""
    slopes, false = [], []
    for seed in range(3):
        _, X, truth = mixed(1500, seed)
        table = rs.RobustGraph("copula", **CLASSIC).fit(X).edge_intervals()
        pairs = [[int(name[1:]) for name in table[side]] for side in ("source", "target")]
        true = truth[pairs[0], pairs[1]]
        slopes.append(np.asarray(table["association"]) @ true / (true @ true))
        false.append(np.mean(table["p_value"][np.abs(true) < 1e-9] < 0.05))
        inside = (table["association_low"] <= true) & (true <= table["association_high"])
        assert inside.mean() > 0.8
    assert 0.93 < np.mean(slopes) < 1.07
    assert np.mean(false) < 0.12


@pytest.mark.parametrize("damage", ["far", "copies"])
def test_bad_rows_are_found_and_good_ones_kept(damage: str) -> None:
    _, X, truth = mixed(600, 1, m=12, n_edges=12)
    bad = np.random.default_rng(0).choice(600, 30, replace=False)
    dirty, numeric = X.copy(), [j for j in range(12) if j % 6 in (0, 3, 4, 5)]
    if damage == "far":
        dirty[np.ix_(bad, numeric)] += 6 * X[:, numeric].std(axis=0)
    else:
        dirty[bad] = X[bad[0]]
    clean = rs.RobustGraph("copula", alphas=20).fit(X)
    model = rs.RobustGraph("copula", alphas=20).fit(dirty)
    assert clean.share_dropped_ < 0.01
    assert (model.row_weights_[bad, 0] == 0).mean() > (0.9 if damage == "far" else 0.6)  # draws move copies apart
    assert (np.delete(model.row_weights_[:, 0], bad) == 0).mean() < 0.01
    edges = np.abs(upper(truth)) > 1e-9
    found = upper(model.association_) != 0
    assert 2 * (found & edges).sum() / (found.sum() + edges.sum()) > 0.75


def test_many_zeros_do_not_turn_signs_nor_cut_a_chain() -> None:
    K = np.eye(5) + 0.45 * (np.eye(5, k=1) + np.eye(5, k=-1)) * -1
    z = np.random.default_rng(1).multivariate_normal(np.zeros(5), np.linalg.inv(K), size=1200)
    rain = np.maximum(np.exp(z) - 1.3, 0.0)
    assert (rain == 0).mean() > 0.5
    graph = rs.RobustGraph("copula", **CLASSIC).fit(rain).graph_
    assert graph.adjacency[np.arange(4), np.arange(1, 5)].all()
    assert (graph.association[graph.adjacency] > 0).all()
    assert graph.n_edges <= 5


def test_codes_of_categories_do_not_matter() -> None:
    _, X, _ = mixed(500)
    Y = X.copy()
    Y[:, 1], Y[:, 2], Y[:, 0] = 7 - 3 * X[:, 1], X[:, 2] ** 2, np.log(X[:, 0])
    one, other = (rs.RobustScoreMatching("copula", n_blocks=1).fit(rows).interaction_ for rows in (X, Y))
    signs = np.array([1, -1, 1, 1, 1, 1])
    np.testing.assert_allclose(other * np.multiply.outer(signs, signs), one, atol=0.06 * np.abs(one).max())


def test_the_order_of_rows_and_columns_does_not_matter() -> None:
    _, X, _ = mixed(300)
    rows, columns = np.random.default_rng(0).permutation(300), np.array([5, 2, 0, 3, 1, 4])
    one = rs.RobustGraph("copula", **CLASSIC).fit(X)
    other = rs.RobustGraph("copula", **CLASSIC).fit(X[np.ix_(rows, columns)])
    np.testing.assert_allclose(other.association_, one.association_[np.ix_(columns, columns)], atol=1e-5)
    again = rs.RobustGraph("copula", **CLASSIC).fit(X)
    np.testing.assert_array_equal(again.association_, one.association_)


def test_missing_cells_and_new_rows() -> None:
    _, X, truth = mixed(800)
    holes = np.random.default_rng(0).random(X.shape) < 0.15
    frame = pd.DataFrame(np.where(holes, np.nan, X), columns=list("abcdef"))
    model = rs.RobustGraph("copula", missing="impute", **CLASSIC).fit(frame)
    table = model.edge_intervals()
    true = truth[[ord(name) - 97 for name in table["source"]], [ord(name) - 97 for name in table["target"]]]
    assert 0.85 < np.asarray(table["association"]) @ true / (true @ true) < 1.15
    (filled,) = model.imputations(1)
    np.testing.assert_array_equal(filled.to_numpy()[~holes][:50], X[~holes][:50])
    assert set(filled["b"]) == {0.0, 1.0}
    assert set(filled["c"]) <= set(range(5))
    assert "are ranges of latent numbers" in model.summary()
    assert "associations are those of latent normal numbers" in model.summary()
    assert set(model.predict(frame.dropna().head(20))) <= {1, -1}
    assert len(model.suspicious_rows(frame.head(30))) == 30


def test_kinds_are_found_and_changed() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"rounded": rng.normal(size=400).round(2), "answers": rng.integers(1, 6, 400), "x": rng.normal(size=400)}
    )
    cells = rs.RobustGraph("copula", **CLASSIC).fit(X).fitted_.prepared.filling.drawn
    assert cells[:, 0].mean() < 0.02  # but for ends of the column, where intervals are wide
    assert cells[:, 1].all()
    assert not cells[:, 2].any()
    family = rs.families.GaussianCopula(kinds={"answers": "continuous", "rounded": "ordered"})
    cells = rs.RobustGraph(family, **CLASSIC).fit(X).fitted_.prepared.filling.drawn
    assert cells[:, 0].any()
    assert not cells[:, 1:].any()
    with pytest.raises(ValueError, match="kinds='z' is not the name of a column"):
        rs.RobustGraph(rs.families.GaussianCopula(kinds={"z": "ordered"})).fit(X)
    with pytest.raises(ValueError, match="'continuous' or 'ordered'"):
        rs.families.GaussianCopula(kinds={"x": "nominal"})


def test_whether_it_fits_is_asked_of_what_margins_leave() -> None:
    _, X, _ = mixed(800)
    assert rs.RobustGraph("copula", **CLASSIC).fit(X).check_fit().verdict == "fits"
    rng = np.random.default_rng(0)
    x = rng.normal(size=800)
    curved = np.column_stack([x, x**2 + 0.3 * rng.normal(size=800), rng.normal(size=800)])
    bent = rs.RobustGraph("copula", alphas=10).fit(curved)
    assert bent.check_fit().verdict == "does not fit"
    (caution,) = [str(caution) for caution in bent.cautions_ if "hardly fits" in str(caution)]
    assert "least of all x0 and x1 (a dependence that bends)" in caution
    assert caution.endswith("Fit the rows before and after the bend separately, or leave out one of the two columns.")


@pytest.mark.parametrize(
    ("options", "given", "words"),
    [
        ({"scale": None}, {}, "scale=None"),
        ({"storage": "matrix-free"}, {}, "storage='matrix-free' is not for the copula"),
        ({"select": "cv"}, {"covariates": np.arange(60.0)}, "select='cv' does not go with covariates"),
        ({"fit_location": False}, {}, "fit_location=False"),
    ],
)
def test_what_it_cannot_do_is_refused(options: dict, given: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        rs.RobustGraph("copula", **options).fit(mixed(60)[1], **given)


def test_wrong_cells_are_found_and_the_others_left_alone() -> None:
    _, X, _ = mixed(600, seed=1)
    rng = np.random.default_rng(0)
    wrong = (rng.random(X.shape) < 0.02) & np.isin(np.arange(6), (0, 3, 5))
    damaged = np.where(wrong, np.max(X, axis=0) * 3 * (1 + rng.random(X.shape)), X)
    model = rs.RobustGraph("copula", cells=True).fit(damaged)
    table = pd.DataFrame(model.suspicious_cells())
    flagged = table[table["flagged"]]
    column = flagged["column"].str[1:].astype(int)
    assert wrong[flagged["row"], column].mean() > 0.85
    assert len(flagged) > 0.8 * wrong.sum()
    np.testing.assert_array_equal(flagged["value"], damaged[flagged["row"], column])
    assert (flagged["expected"] < flagged["value"]).mean() > 0.85
    assert not rs.RobustGraph("copula", cells=True).fit(X).suspicious_cells()["flagged"].any()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_ordered_categories_are_numbers_in_their_order(library: str) -> None:
    z = np.random.default_rng(0).multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]], size=400)
    levels, codes = ["never", "sometimes", "often"], np.digitize(z[:, 1], [-0.5, 0.5])
    words = [levels[code] for code in codes]
    if library == "pandas":
        answers = pd.Categorical(words, categories=levels, ordered=True)
        frame = pd.DataFrame({"x": z[:, 0], "yes": z[:, 0] + z[:, 1] > 0, "answer": answers})
    else:
        polars = pytest.importorskip("polars")
        answers = polars.Series(words, dtype=polars.Enum(levels))
        frame = polars.DataFrame({"x": z[:, 0], "yes": z[:, 0] + z[:, 1] > 0, "answer": answers})
    numbers = np.column_stack([z[:, 0], z[:, 0] + z[:, 1] > 0, codes]).astype(float)
    found = rs.RobustGraph("copula", **CLASSIC).fit(frame)
    np.testing.assert_array_equal(found.association_, rs.RobustGraph("copula", **CLASSIC).fit(numbers).association_)


def test_log_ratios_keep_zeros_lowest_and_forget_the_depth() -> None:
    rng = np.random.default_rng(0)
    counts = rng.negative_binomial(1, 0.05, (80, 6)).astype(float)
    counts[counts.sum(axis=1) == 0, 0] = 1
    ratios = rs.mclr(counts)
    np.testing.assert_array_equal(ratios == 0, counts == 0)
    assert ratios[counts > 0].min() == pytest.approx(1.0)
    np.testing.assert_allclose(rs.mclr(counts * rng.integers(1, 50, (80, 1))), ratios, atol=1e-9)
    for ratio, row in zip(ratios, counts, strict=True):
        shown = row > 0
        np.testing.assert_allclose(ratio[shown] - ratio[shown][0], np.log(row[shown] / row[shown][0]), atol=1e-9)
    assert list(rs.mclr(pd.DataFrame(counts, columns=list("abcdef"))).columns) == list("abcdef")
    for wrong, words in ((counts - 1, "negative"), (np.zeros((3, 2)), "without any part")):
        with pytest.raises(ValueError, match=words):
            rs.mclr(wrong)


def test_columns_of_hardly_anything_but_zeros_are_fitted() -> None:
    rng = np.random.default_rng(0)
    counts = rng.poisson(np.exp(rng.normal(size=(150, 1)) - [0.5, 1.0, 2.5, 3.5]))
    model = rs.RobustGraph("copula", alphas=20).fit(counts.astype(float))
    assert (counts == 0).mean(axis=0)[3] > 0.9
    assert np.isfinite(model.association_).all()
    assert model.share_dropped_ < 0.05


def test_a_pair_is_significant_where_its_interval_leaves_out_zero() -> None:
    z = np.random.default_rng(0).multivariate_normal(np.zeros(4), np.full((4, 4), 0.5) + 0.5 * np.eye(4), size=1600)
    table = rs.RobustGraph("copula", **CLASSIC).fit((z > 0.2).astype(float)).edge_intervals()
    beyond_zero = np.asarray((table["association_low"] > 0) | (table["association_high"] < 0))
    assert np.mean(beyond_zero == np.asarray(table["p_value"] < 0.05)) > 0.8
    assert (table["p_value"] < 0.05).mean() >= 0.5
