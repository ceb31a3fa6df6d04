"""Missing cells: filled in by draws from the fit, until fit and draws agree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import robscore as rs
from robscore.cells import DrawingOrder, normal_points, redrawn


def _gaussian_table(share: float, n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    covariance = np.linalg.inv(rs.simulate.random_model(5, 4, random_state=0).interaction)
    X = rng.multivariate_normal(np.arange(5), covariance, size=n)
    return X, np.where(rng.random(X.shape) < share, np.nan, X)


def _em(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance by maximum likelihood of what is there (FIML), by EM, one row after the other."""
    n, m = X.shape
    mean, covariance = np.nanmean(X, axis=0), np.diag(np.nanvar(X, axis=0))
    for _ in range(500):
        first, second = np.zeros(m), np.zeros((m, m))
        for x in X:
            there, row, left = ~np.isnan(x), x.copy(), np.zeros((m, m))
            if not there.all():
                slope = covariance[np.ix_(~there, there)] @ np.linalg.inv(covariance[np.ix_(there, there)])
                row[~there] = mean[~there] + slope @ (x[there] - mean[there])
                rest = covariance[np.ix_(~there, ~there)] - slope @ covariance[np.ix_(there, ~there)]
                left[np.ix_(~there, ~there)] = rest
            first += row
            second += np.outer(row, row) + left
        last, mean = covariance, first / n
        covariance = second / n - np.outer(mean, mean)
        if np.abs(covariance - last).max() < 1e-11:
            break
    return mean, covariance


def test_gaussian_without_a_penalty_is_fiml() -> None:
    _, X = _gaussian_table(0.2, n=150)
    mean, covariance = _em(X)
    K = np.linalg.inv(covariance)
    model = rs.RobustScoreMatching("gaussian", n_blocks=1, missing="impute").fit(X)
    np.testing.assert_allclose(model.interaction_, K, atol=1e-6)
    np.testing.assert_allclose(model.location_, K @ mean, atol=1e-5)
    assert model.fitted_.prepared.filling.converged


def test_normal_points_have_the_conditional_moments() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 6))
    K, eta = A @ A.T + np.eye(6), rng.normal(size=6)
    X, holes = rng.normal(size=(20, 6)), rng.random((20, 6)) < 0.4
    points = normal_points(X, holes, K, eta)
    covariance, mean = np.linalg.inv(K), np.linalg.solve(K, eta)
    for row in range(20):
        missing, there = np.flatnonzero(holes[row]), np.flatnonzero(~holes[row])
        slope = covariance[np.ix_(missing, there)] @ np.linalg.inv(covariance[np.ix_(there, there)])
        expected = mean[missing] + slope @ (X[row, there] - mean[there])
        rest = covariance[np.ix_(missing, missing)] - slope @ covariance[np.ix_(there, missing)]
        drawn = points[:, row, missing]
        np.testing.assert_allclose(drawn.mean(axis=0), expected, atol=1e-9)
        np.testing.assert_allclose(np.atleast_2d(np.cov(drawn.T, bias=True)), rest, atol=1e-9)
        np.testing.assert_array_equal(points[:, row, there], np.broadcast_to(X[row, there], (len(points), there.size)))


@pytest.mark.parametrize("family", ["sqrt", "gamma", "truncated-gaussian", "log-log", "simplex"])
def test_draws_leave_the_distribution_as_it_is(family: str) -> None:
    """Cells drawn given the rest of rows of the model are again cells of the model, and others do not move."""
    m, n = 4, 4000
    K = np.eye(m) * 2 + 0.6 * (np.eye(m, k=1) + np.eye(m, k=-1))
    if family == "simplex":
        K = K - np.diag(K.sum(axis=0))
        K = K @ K.T
    eta = np.full(m, 0.5)
    X = rs.simulate.sample(family, K, eta, n_rows=n, random_state=0, burn_in=60)
    rng = np.random.default_rng(1)
    holes = rng.random(X.shape) < 0.4
    order = DrawingOrder.of(np.where(holes, np.nan, X))
    drawn = redrawn(rs.families.get_family(family), X, holes, (K, eta), order=order, sweeps=6, rng=rng)
    np.testing.assert_array_equal(drawn[~holes], X[~holes])
    if family == "simplex":
        alone = np.count_nonzero(holes, axis=1) == 1
        np.testing.assert_array_equal(drawn[alone], X[alone])
        np.testing.assert_allclose(drawn.sum(axis=1), 1.0)
    u, v = np.log(X), np.log(drawn)
    assert np.abs(u.mean(axis=0) - v.mean(axis=0)).max() < 4 * u.std() / np.sqrt(n)
    np.testing.assert_allclose(np.corrcoef(u.T), np.corrcoef(v.T), atol=0.06)


def test_filling_in_beats_leaving_out() -> None:
    """Squared errors of all parameters at 20 % missing: within about twice those of full data."""
    errors = np.zeros(3)
    for seed in range(1):
        truth = rs.simulate.random_model(8, 10, min_eigenvalue=0.3, random_state=seed)
        X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=2000, random_state=seed + 100)
        holed = np.where(np.random.default_rng(seed).random(X.shape) < 0.2, np.nan, X)
        for k, (data, missing) in enumerate(((X, "raise"), (holed, "impute"), (holed, "drop"))):
            model = rs.RobustScoreMatching("sqrt", n_blocks=1, missing=missing).fit(data)
            errors[k] += np.sum((model.interaction_ - truth.interaction) ** 2)
    assert errors[1] < 2.5 * errors[0] < errors[2]


def test_missing_at_random_is_unbiased_where_dropping_is_not() -> None:
    """Large values of one column hide its neighbour."""
    rng = np.random.default_rng(0)
    first = rng.normal(size=1500)
    X = np.column_stack([first, first + rng.normal(size=1500), rng.normal(size=1500)])
    X[X[:, 0] > 0.3, 1] = np.nan
    means = []
    for missing in ("impute", "drop"):
        model = rs.RobustScoreMatching("gaussian", n_blocks=1, missing=missing).fit(X)
        means.append(np.linalg.solve(model.interaction_, model.location_)[1])
    assert abs(means[0]) < 0.12 < 0.4 < abs(means[1])


def test_same_answer_whatever_the_order() -> None:
    truth = rs.simulate.random_model(6, 6, random_state=0)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=250, random_state=1)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    rows, columns = np.random.default_rng(1).permutation(250), np.random.default_rng(2).permutation(6)
    one = rs.RobustGraph("sqrt", missing="impute", alphas=20).fit(X)
    other = rs.RobustGraph("sqrt", missing="impute", alphas=20).fit(X[np.ix_(rows, columns)])
    np.testing.assert_allclose(other.interaction_, one.interaction_[np.ix_(columns, columns)], atol=1e-6)
    np.testing.assert_array_equal(other.row_weights_[:, 0] > 0, one.row_weights_[rows, 0] > 0)


def test_intervals_count_what_is_missing() -> None:
    X, holed = _gaussian_table(0.2)
    classic = {"n_blocks": 1, "alphas": 10}
    full = rs.RobustGraph("gaussian", **classic).fit(X).edge_intervals().set_index(["source", "target"]).sort_index()
    table = rs.RobustGraph("gaussian", missing="impute", **classic).fit(holed).edge_intervals()
    filled = table.set_index(["source", "target"]).sort_index()
    ratio = (filled["interaction_error"] / full["interaction_error"]).to_numpy()
    assert (ratio > 1.0).mean() > 0.8
    assert 1.1 < ratio.mean() < 1.8


def test_pairs_stand_out_by_the_rows_in_which_both_cells_are_observed() -> None:
    """Completed rows make them look more certain than that, since drawn cells repeat what the others say."""
    _, holed = _gaussian_table(0.2)
    filling = rs.RobustGraph("gaussian", missing="impute", n_blocks=1, alphas=10).fit(holed).fitted_.prepared.filling
    observed = ~np.isnan(holed[~np.isnan(holed).all(axis=1)])
    both = (observed[:, :, None] & observed[:, None]).mean(axis=0)
    assert filling.linked.all()
    np.testing.assert_allclose(filling.certainty, np.sqrt(both))


def test_bad_rows_are_found_though_cells_are_missing() -> None:
    truth = rs.simulate.random_model(8, 8, random_state=0)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=400, random_state=1)
    X, bad = rs.simulate.contaminate_pareto(X, 0.05, random_state=2)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    model = rs.RobustGraph("sqrt", missing="impute", alphas=20).fit(X)
    left_out = np.flatnonzero(model.row_weights_[:, 0] == 0)
    assert np.isin(bad, left_out).mean() > 0.5
    assert model.row_weights_[bad, 0].mean() < 0.3 * model.row_weights_[:, 0].max()
    assert np.isin(left_out, bad).mean() > 0.8
    assert "missing" in model.graph_.summary()


def test_tables_are_completed_for_others() -> None:
    X, holed = _gaussian_table(0.1)
    frame = pd.DataFrame(holed, columns=list("abcde"))
    model = rs.RobustGraph("gaussian", missing="impute", n_blocks=1, alphas=10).fit(frame)
    tables = model.imputations(3)
    assert len(tables) == 3
    for table in tables:
        assert list(table.columns) == list("abcde")
        there = ~np.isnan(holed)
        np.testing.assert_allclose(table.to_numpy()[there], holed[there], rtol=1e-12)
        assert np.isfinite(table.to_numpy()).all()
    others = model.imputations(1, frame.iloc[:5])[0].to_numpy()
    assert others.shape == (5, 5)
    assert np.isfinite(others).all()
    assert np.abs(tables[0].to_numpy() - X)[np.isnan(holed)].mean() < 1.5 * X.std()


def test_rows_with_holes_are_judged_too() -> None:
    _, holed = _gaussian_table(0.1)
    model = rs.RobustGraph("gaussian", missing="impute").fit(holed)
    table = model.suspicious_rows(np.vstack([holed[:20], [np.nan, 60.0, np.nan, -60.0, 0.0]]))
    assert len(table) == 21
    assert table["row"][0] == 20


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda X: X[:, 0].fill(np.nan), "fewer than 5 values"),
        (lambda X: X[4:, 0].fill(np.nan), "fewer than 5 values"),
        (lambda X: X[3].fill(np.inf), "infinity"),
    ],
)
def test_what_cannot_be_filled_in_is_named(spoil: object, said: str) -> None:
    X, _ = _gaussian_table(0.0, n=50)
    spoil(X)  # type: ignore[operator]
    with pytest.raises(ValueError, match=said):
        rs.RobustGraph("gaussian", missing="impute").fit(X)


def test_empty_rows_are_left_out() -> None:
    _, holed = _gaussian_table(0.1, n=100)
    holed[7] = np.nan
    model = rs.RobustGraph("gaussian", missing="impute", n_blocks=1, alphas=10).fit(holed)
    assert model.row_weights_[7].sum() == 0
    assert model.n_rows_used_ == 99


@pytest.mark.parametrize("container", ["object", "masked", "pandas", "polars", "parquet"])
def test_every_kind_of_nothing(container: str, tmp_path: Path) -> None:
    X, holed = _gaussian_table(0.1, n=80)
    absent = np.isnan(holed)
    given: object
    if container == "object":
        given = np.where(absent, None, X.astype(object))
    elif container == "masked":
        given = np.ma.array(X, mask=absent)
    elif container == "pandas":
        given = pd.DataFrame(holed).astype("Float64").mask(absent)
        given.columns = list("abcde")
    elif container == "parquet":
        given = tmp_path / "rows.parquet"
        pd.DataFrame(holed, columns=list("abcde")).astype("Float64").mask(absent).to_parquet(given)
    else:
        polars = pytest.importorskip("polars")
        given = polars.DataFrame(holed, schema=list("abcde"), nan_to_null=True)
    settings = {"n_blocks": 1, "missing": "impute"}
    model = rs.RobustScoreMatching("gaussian", **settings).fit(given)
    plain = rs.RobustScoreMatching("gaussian", **settings).fit(holed)
    np.testing.assert_allclose(model.interaction_, plain.interaction_, rtol=1e-9, atol=1e-12)


def test_the_error_says_what_dropping_costs() -> None:
    _, holed = _gaussian_table(0.2, n=50)
    count = int(np.isnan(holed).any(axis=1).sum())
    with pytest.raises(ValueError, match=f"missing='impute'.*{count} of 50"):
        rs.RobustGraph("gaussian").fit(holed)


def test_checks_take_several_completions() -> None:
    """Right families are not rejected, wrong ones are."""
    _, holed = _gaussian_table(0.2, n=400)
    model = rs.RobustScoreMatching("gaussian", n_blocks=1, missing="impute").fit(holed)
    first, *others = model.imputations(3)
    kept = holed[model.fitted_.used]
    for other in others:
        np.testing.assert_array_equal(np.asarray(first) == np.asarray(other), ~np.isnan(kept))
    assert model.check_fit().verdict == "fits"
    wrong = rs.RobustScoreMatching("truncated-gaussian", n_blocks=1, missing="impute").fit(np.exp(holed / 2))
    assert wrong.check_fit().verdict == "does not fit"


def test_effects_count_what_is_missing() -> None:
    """Errors are larger than those of full rows, by about as much as cells are missing, and cover the truth."""
    rng = np.random.default_rng(0)
    season = rng.normal(size=400)
    X = rng.normal(size=(400, 3)) + np.outer(season, [1, 1, 0])
    holed = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    tables = [
        rs.RobustScoreMatching("gaussian", n_blocks=1, missing=missing)
        .fit(data, covariates={"season": season})
        .effects()
        for data, missing in ((X, "raise"), (holed, "impute"))
    ]
    full, filled = (dict(zip(table["column"], table["effect_error"], strict=True)) for table in tables)
    for name in full:
        assert 1.02 < filled[name] / full[name] < 1.8
    assert sorted(tables[1]["column"][tables[1]["significant"]]) == ["x0", "x1"]


def test_chance_moves_the_answer_less_than_what_is_missing() -> None:
    """Fits by other draws differ by much less than they do from that of full rows."""
    truth = rs.simulate.random_model(6, 6, min_eigenvalue=0.3, random_state=0)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=400, random_state=1)
    holed = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    full = rs.RobustScoreMatching("sqrt", n_blocks=1).fit(X).interaction_
    one, other, third = (
        rs.RobustScoreMatching("sqrt", n_blocks=1, missing="impute", random_state=seed).fit(holed).interaction_
        for seed in range(3)
    )
    for another in (other, third):
        assert np.linalg.norm(one - another) < 0.19 * np.linalg.norm(one - full)


def test_square_root_cells_are_drawn_exactly() -> None:
    """From the conditional density ~ exp(-K_jj x + 2 b sqrt(x)), wherever the chain was; and rows of any size end."""
    family = rs.families.get_family("sqrt")
    K, eta = np.array([[1.5, 0.7], [0.7, 1.0]]), np.array([0.4, -0.2])
    X = np.column_stack([np.full(40_000, 1e-9), np.full(40_000, 2.0)])
    ends = np.zeros((len(X), 1)), np.full((len(X), 1), np.inf)
    drawn = family.draw_conditional(X, 0, K, eta, *ends, np.random.default_rng(0))
    grid = np.linspace(0, 12, 200_001)[1:]
    density = np.exp(-1.5 * grid + 2 * (0.4 - 0.7 * np.sqrt(2.0)) * np.sqrt(grid))
    expected = [np.sum(grid**power * density) / density.sum() for power in (0.5, 1.0)]
    for power, mean in zip((0.5, 1.0), expected, strict=True):
        assert abs(np.mean(drawn**power) - mean) < 5 * np.std(drawn**power) / 200
    far = np.array([[1.0, 1e300], [1.0, np.inf], [1.0, np.nan]])
    assert np.isnan(family.draw_conditional(far, 0, K, eta, *(part[:3] for part in ends), np.random.default_rng(0))[2])
