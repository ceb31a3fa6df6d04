"""Graphs given covariates: season, batch, group."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from registry import TANH, half_square, minus, tanh_pair

import robscore as rs
from robscore.elements import block_gram, streamed
from robscore.rows import Partition
from robscore.solvers import solve_unpenalised

POSITIVE = ["sqrt", "gamma", "truncated-gaussian", "log-log"]
TANH_FAMILY = rs.families.Pairwise(tanh_pair, minus, t_self=half_square, derivatives=TANH)
FAMILIES = ["gaussian", *POSITIVE, "simplex", TANH_FAMILY]


def rows(family, n=80, m=4, seed=0):
    X = np.random.default_rng(seed).gamma(2.0, size=(n, m)) + 0.1
    return X / X.sum(axis=1, keepdims=True) if family == "simplex" else X


def confounded(n=600, m=8, seed=0, family="sqrt", strength=1.0):
    """Rows whose columns all follow two covariates, one a category; with the truth."""
    rng = np.random.default_rng(seed)
    truth = rs.simulate.random_model(m, m - 2, min_eigenvalue=0.5, random_state=seed)
    c = np.column_stack([rng.normal(size=n), rng.integers(0, 2, size=n)])
    effects = strength * np.column_stack([np.linspace(0.5, 1, m), np.full(m, 0.8)])
    X = rs.simulate.sample(
        family, truth.interaction, np.ones(m), covariates=c, effects=effects, burn_in=60, random_state=seed
    )
    return truth, X, c, effects


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_elements_with_covariates_are_those_of_a_longer_location(family):
    X, rng = rows(family), np.random.default_rng(1)
    c = rng.normal(size=(80, 2))
    plain = rs.score_elements(family, X)
    elements = plain.given(c)
    K, B = rng.normal(size=(4, 4)), rng.normal(size=(4, 3))
    K = K + K.T
    each = elements.row_losses(K, B)
    for i in (0, 7):  # a row alone, with the location that its covariates give it
        own = B[:, 0] + B[:, 1:] @ c[i]
        assert plain.row_losses(K, own)[i] == pytest.approx(each[i])
    loss = elements.average()
    assert loss.value(K, B) == pytest.approx(each.mean())
    np.testing.assert_allclose(elements.gamma_times(np.full(80, 1 / 80), K, B), loss.gamma_times(K, B))
    partition = Partition.even(80, 9)
    for part in ("gamma", "g"):
        by_rows, by_nodes = (block_gram(elements, part, partition, way) for way in ("rows", "nodes"))
        np.testing.assert_allclose(by_rows, by_nodes, rtol=1e-8)
        mean = elements.mean(part, np.full(80, 1 / 80))
        assert elements.inner(part, mean).mean() == pytest.approx(elements.mean_squared_norm(part, mean))
        squares = elements.products(part, elements.take(slice(0, 5)), elements.take(slice(0, 5))).diagonal()
        np.testing.assert_allclose(squares, elements.squared_norms(part)[:5])


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_profiled_effects_are_those_of_the_whole_minimum(family):
    c = np.random.default_rng(1).normal(size=(80, 2))
    loss = rs.score_elements(family, rows(family)).given(c).average()
    K, B = solve_unpenalised(loss)
    gradient = loss.gamma_times(K, B) - loss.g
    np.testing.assert_allclose(gradient[:, 4:], 0, atol=1e-7 * np.abs(loss.g).max())
    path = rs.solve_path(loss, [1e-12], tol=1e-9, max_iter=100_000)
    np.testing.assert_allclose(np.asarray(path.interactions[0]), K, atol=1e-4 * np.abs(K).max())
    np.testing.assert_allclose(path.locations[0], B, atol=1e-4 * np.abs(B).max())


@pytest.mark.parametrize("family", ["sqrt", "gamma", "simplex"])
def test_row_gradients_are_derivatives(family):
    rng = np.random.default_rng(1)
    elements = rs.score_elements(family, rows(family)).given(rng.normal(size=(80, 2)))
    K, B = np.eye(4) + 0.1, rng.normal(size=(4, 3))
    which, nodes = np.array([4, 5, 6, 0, 2]), np.array([0, 1, 3, 0, 1])
    found = elements.row_gradients(K, B, which, nodes, symmetric=True)
    for k in range(3):
        moved = B.copy()
        moved[nodes[k], which[k] - 4] += 1e-6
        slope = (elements.row_losses(K, moved) - elements.row_losses(K, B)) / 1e-6
        np.testing.assert_allclose(found[:, k], slope, rtol=1e-3, atol=1e-3 * np.abs(slope).max())


def test_the_gaussian_given_covariates_is_that_of_least_squares_residuals():
    rng = np.random.default_rng(0)
    c = rng.normal(size=(200, 3))
    X = rng.normal(size=(200, 5)) @ np.tri(5) + c @ rng.normal(size=(3, 5)) + 7
    design = np.column_stack([np.ones(200), c])
    coefficients, *_ = np.linalg.lstsq(design, X, rcond=None)
    residuals = X - design @ coefficients
    model = rs.RobustScoreMatching("gaussian", n_blocks=1).fit(X, covariates=c)
    precision = np.linalg.inv(residuals.T @ residuals / 200)
    np.testing.assert_allclose(model.interaction_, precision, rtol=1e-8)
    np.testing.assert_allclose(model.effects_, precision @ coefficients[1:].T, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.location_, precision @ coefficients[0], rtol=1e-7, atol=1e-9)


def test_a_confounder_that_is_given_no_longer_makes_edges():
    truth, X, c, _ = confounded(strength=2.0)
    adjacency = truth.interaction[np.triu_indices(8, k=1)] != 0
    areas = []
    for covariates in (None, c):
        path = rs.RobustGraph("sqrt").fit(X, covariates=covariates).path_
        areas.append(rs.metrics.auc(rs.metrics.roc_curve(path, truth.interaction)))
    assert adjacency.any()
    assert areas[1] > 0.93
    assert areas[1] > areas[0] + 0.05


@pytest.mark.parametrize("family", ["gaussian", "sqrt", "gamma", "truncated-gaussian", "log-log"])
def test_effects_are_found_and_units_do_not_matter(family):
    _, X, c, effects = confounded(n=2000, m=4, family=family, strength=0.5)
    model = rs.RobustScoreMatching(family).fit(X, covariates=c)
    np.testing.assert_allclose(model.effects_, effects, atol=0.45)
    other = rs.RobustScoreMatching(family).fit(X, covariates=c * [100.0, -0.1] + [3.0, 5.0])
    np.testing.assert_allclose(other.effects_ * [100.0, -0.1], model.effects_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(other.interaction_, model.interaction_, rtol=1e-6, atol=1e-8)
    table = model.effects()
    low, high = np.asarray(table["effect_low"]), np.asarray(table["effect_high"])
    true = [effects[int(name[1]), int(term[1])] for name, term in zip(table["column"], table["covariate"], strict=True)]
    assert np.mean((low < true) & (true < high)) >= 0.75


def test_covariates_that_do_nothing_change_little():
    truth, X, _, _ = confounded(strength=0.0)
    plain = rs.RobustScoreMatching("sqrt").fit(X)
    model = rs.RobustScoreMatching("sqrt").fit(X, covariates=np.random.default_rng(5).normal(size=600))
    np.testing.assert_allclose(model.interaction_, plain.interaction_, atol=0.15)
    assert np.abs(model.effects_).max() < 0.3
    assert truth.interaction.shape == (8, 8)


@pytest.mark.parametrize("family", ["gaussian", "sqrt"])
def test_bad_rows_are_found_given_covariates_and_good_ones_are_kept(family):
    truth, X, c, effects = confounded(n=800, m=6, family=family, strength=2.0)
    clean = rs.RobustGraph(family).fit(X, covariates=c)
    assert clean.share_dropped_ < 0.01
    dirty = X.copy()
    bad = np.arange(0, 800, 20)
    dirty[bad] = X[bad] + 8 * X.std(axis=0) * np.random.default_rng(0).choice([0, 1], size=(40, 6))
    bad = bad[(dirty[bad] != X[bad]).sum(axis=1) > 1]
    model = rs.RobustGraph(family).fit(dirty, covariates=c)
    flagged = model.suspicious_rows()
    flagged = set(flagged["row"][flagged["flagged"]])
    assert len(flagged & set(bad)) > 0.9 * bad.size
    assert len(flagged - set(bad)) < 20
    again = model.suspicious_rows(dirty, covariates=c)
    assert set(again["row"][again["flagged"]]) == flagged
    assert effects.shape == (6, 2)
    assert truth.interaction.shape == (6, 6)


def test_a_row_is_judged_by_its_own_covariates():
    rng = np.random.default_rng(0)
    group = np.repeat([0.0, 1.0], 300)
    X = rng.normal(size=(600, 4)) + 10 * group[:, None]
    X[5] = 10.0  # ordinary among the rows of the other group
    model = rs.RobustGraph("gaussian").fit(X, covariates=group)
    assert model.row_weights_[5, 0] == 0
    assert model.share_dropped_ < 0.01


def test_covariates_of_every_kind_and_from_every_library():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    season = np.array(["autumn", "spring", "summer", "winter"])[np.arange(200) % 4]
    days = pd.date_range("2001-01-01", periods=200, freq="D")
    frame = pd.DataFrame({"season": season, "day": days, "height": rng.normal(size=200)})
    model = rs.RobustGraph("gaussian", n_edges=1).fit(X, covariates=frame)
    terms = ["season=spring", "season=summer", "season=winter", "day", "height"]
    assert model.covariates_.terms == terms
    assert model.effects_.shape == (3, 5)
    other = rs.RobustGraph("gaussian", n_edges=1).fit(X, covariates=pl.from_pandas(frame))
    np.testing.assert_allclose(model.effects_, other.effects_)
    whole = pd.concat([pd.DataFrame(X, columns=list("abc")), frame], axis=1)
    named = rs.RobustGraph("gaussian", n_edges=1).fit(whole, covariates=["season", "day", "height"])
    np.testing.assert_array_equal(model.effects_, named.effects_)
    assert list(named.feature_names_in_) == ["a", "b", "c"]
    assert named.score(whole) == model.score(X, covariates=frame)  # found in X by themselves
    assert sorted(set(named.effects()["covariate"])) == sorted(terms)
    one = rs.RobustGraph("gaussian", n_edges=1).fit(X, covariates=season)
    assert one.covariates_.terms == ["c0=spring", "c0=summer", "c0=winter"]


def test_dummies_give_every_group_its_own_location():
    rng = np.random.default_rng(0)
    group = rng.choice(["a", "b", "c"], size=900)
    means = {"a": 0.0, "b": 1.0, "c": -2.0}
    X = rng.normal(size=(900, 2)) + np.array([means[g] for g in group])[:, None]
    effects = rs.RobustScoreMatching("gaussian", n_blocks=1).fit(X, covariates=group).effects_
    np.testing.assert_allclose(effects, [[1, -2], [1, -2]], atol=0.3)


@pytest.mark.parametrize("options", [{"n_blocks": 40}, {}])
def test_streamed_rows_have_covariates_too(tmp_path, monkeypatch, options):
    monkeypatch.setattr(streamed, "_SMALL", 2e5)
    _, X, c, _ = confounded(n=3000, m=6)
    np.save(tmp_path / "rows.npy", X)
    held = rs.RobustGraph("sqrt", n_edges=5, **options).fit(X, covariates=c)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    found = rs.RobustGraph("sqrt", n_edges=5, max_memory="1 MB", **options).fit(mapped, covariates=c)
    assert found.fitted_.elements().streams
    np.testing.assert_allclose(found.interaction_, held.interaction_, atol=1e-5)
    np.testing.assert_allclose(found.effects_, held.effects_, atol=1e-5)
    frame = pd.DataFrame(np.column_stack([c[:, 0], X, c[:, 1]]), columns=["t", *"abcdef", "group"])
    frame.to_parquet(tmp_path / "rows.parquet")
    named = rs.RobustGraph("sqrt", n_edges=5, max_memory="1 MB", **options)
    named.fit(str(tmp_path / "rows.parquet"), covariates=["t", "group"])
    np.testing.assert_allclose(named.effects_, held.effects_, atol=1e-5)
    assert list(named.feature_names_in_) == list("abcdef")


def test_rows_on_a_cluster_have_covariates_too():
    da = pytest.importorskip("dask.array")
    _, X, c, _ = confounded(n=400, m=4)
    held = rs.RobustScoreMatching("sqrt", n_blocks=20).fit(X, covariates=c)
    remote = rs.RobustScoreMatching("sqrt", n_blocks=20).fit(da.from_array(X, chunks=(150, 4)), covariates=c)
    np.testing.assert_allclose(remote.effects_, held.effects_, atol=1e-6)


def test_weights_and_covariates_go_together():
    _, X, c, _ = confounded(n=200, m=4)
    often = np.random.default_rng(0).integers(0, 4, size=200)
    one = rs.RobustGraph("sqrt", n_blocks=1).fit(X, covariates=c, sample_weight=often)
    whole = np.repeat(np.arange(200), often)
    other = rs.RobustGraph("sqrt", n_blocks=1).fit(X[whole], covariates=c[whole])
    np.testing.assert_allclose(one.interaction_, other.interaction_, atol=1e-9)
    np.testing.assert_allclose(one.effects_, other.effects_, atol=1e-9)
    for column in ("effect_error", "p_value"):
        np.testing.assert_allclose(*(fit.effects(block_size=1)[column] for fit in (one, other)), atol=1e-9)


def test_rows_without_a_covariate_are_refused_or_left_out():
    _, X, c, _ = confounded(n=200, m=4)
    c[3, 0] = np.nan
    with pytest.raises(ValueError, match="column 'c0' has 1"):
        rs.RobustGraph("sqrt").fit(X, covariates=c)
    model = rs.RobustGraph("sqrt", missing="drop").fit(X, covariates=c)
    assert model.n_rows_used_ == 199
    assert np.isnan(model.row_losses(X, covariates=c)[3])


@pytest.mark.parametrize(
    ("covariates", "words"),
    [
        (np.ones(200), "Constant covariates say nothing: 'c0'"),
        (np.full(200, "a"), "is constant"),
        (np.column_stack([np.arange(200.0)] * 2), "'c0', 'c1' determine each other"),
        (np.arange(199.0), r"covariate 'c0' has shape \(199,\) and X has 200 rows"),
        ("season", "names of columns, so X must be a data frame"),
        (np.array([str(k) for k in range(200)]), "looks like labels of rows"),
    ],
)
def test_what_is_no_covariate_is_refused_in_words(covariates, words):
    with pytest.raises(ValueError, match=words):
        rs.RobustGraph("sqrt").fit(rows("sqrt", n=200), covariates=covariates)


def test_covariates_after_the_fit_must_be_those_of_the_fit():
    X, group = rows("sqrt", n=200), np.array(["a", "b"])[np.arange(200) % 2]
    model = rs.RobustGraph("sqrt", n_edges=2).fit(X, covariates={"group": group})
    with pytest.raises(ValueError, match="was given the covariates 'group'; give them here too"):
        model.score(X)
    with pytest.raises(ValueError, match="holds 'z', which the fit has not seen"):
        model.row_losses(X, covariates={"group": np.full(200, "z")})
    with pytest.raises(ValueError, match="covariates must be 'group'"):
        model.row_losses(X, covariates={"batch": group})
    plain = rs.RobustGraph("sqrt", n_edges=2).fit(X)
    assert plain.effects_ is None
    with pytest.raises(ValueError, match="had no covariates"):
        plain.effects()
    with pytest.raises(ValueError, match="had no covariates"):
        plain.score(X, covariates=group)
    with pytest.raises(ValueError, match="fit it"):
        rs.RobustGraph("sqrt", fit_location=False).fit(X, covariates=group)


@pytest.mark.parametrize("family", ["sqrt", "gaussian", "log-log", "truncated-gaussian"])
def test_a_loss_without_gamma_is_the_same_given_covariates(family):
    X, c = rows(family, n=80), np.random.default_rng(1).normal(size=(80, 2))
    elements = rs.score_elements(family, X).given(c)
    dense, free, single = (elements.average(storage=how) for how in ("dense", "matrix-free", "float32"))
    m = X.shape[1]
    rng = np.random.default_rng(0)
    z = rng.normal(size=(m, m)), rng.normal(size=(m, 3))
    np.testing.assert_allclose(free.gamma, dense.gamma, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(free.gamma_times(*z), dense.gamma_times(*z), rtol=1e-10)
    np.testing.assert_allclose(single.gamma_times(*z), dense.gamma_times(*z), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(free.diagonal(), dense.diagonal(), rtol=1e-10)
    np.testing.assert_allclose(free.pulls_of(z[0]), dense.pulls_of(z[0]), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(free.best_location(z[1]), dense.best_location(z[1]), rtol=1e-9)
    np.testing.assert_array_equal(free.g, dense.g)


@pytest.mark.parametrize(
    "options", [{}, {"effect_ratio": 1.0}, {"rule": "and"}, {"select": "ebic", "n_blocks": 10, "reweight": False}]
)
@pytest.mark.parametrize("storage", ["matrix-free", "float32"])
def test_fits_without_gamma_are_the_same_given_covariates(storage, options):
    X, c = rows("sqrt", n=300), np.random.default_rng(1).normal(size=(300, 2))
    X = X + 0.3 * np.abs(c[:, :1])
    held, free = (rs.RobustGraph("sqrt", storage=how, **options).fit(X, covariates=c) for how in ("dense", storage))
    close = {"rtol": 1e-3, "atol": 1e-4} if storage == "float32" else {"rtol": 1e-5, "atol": 1e-7}
    np.testing.assert_allclose(free.interaction_, held.interaction_, **close)
    np.testing.assert_allclose(free.effects_, held.effects_, **close)


def test_many_columns_given_covariates_need_no_gamma():
    """As many columns as make the path look at a growing set of coordinates, with Gamma and without."""
    rng = np.random.default_rng(0)
    c = rng.normal(size=(400, 1))
    X = np.abs(rng.normal(size=(400, 152)) + c + 2)
    X[:, 1] += X[:, 0]
    alphas = [0.3, 0.2]
    held, free = (
        rs.RobustGraph("sqrt", storage=how, alphas=alphas, n_blocks=1, select="ebic").fit(X, covariates=c)
        for how in ("dense", "auto")
    )
    np.testing.assert_allclose(free.interaction_, held.interaction_, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(free.effects_, held.effects_, rtol=1e-5, atol=1e-7)
    assert type(free.fitted_.loss).__name__ == "FactoredLoss"


def test_simulated_rows_have_the_location_of_their_covariates():
    c = np.repeat([[-1.0], [1.0]], 2000, axis=0)
    X = rs.simulate.sample("gaussian", 2 * np.eye(2), [1, 0], covariates=c, effects=[[1], [4]], random_state=0)
    np.testing.assert_allclose(X[:2000].mean(axis=0), [0, -2], atol=0.1)
    np.testing.assert_allclose(X[2000:].mean(axis=0), [1, 2], atol=0.1)
    with pytest.raises(ValueError, match="go together"):
        rs.simulate.sample("gaussian", np.eye(2), covariates=c)


def test_halves_of_the_rows_keep_their_covariates():
    _, X, c, _ = confounded(n=300, m=5)
    model = rs.RobustGraph("sqrt", n_edges=4, alphas=20)
    stability = rs.edge_stability(model, X, covariates=c, n_pairs=2, progress=False)
    assert stability.n_done == 4


def test_the_command_line_takes_covariates(tmp_path):
    from typer.testing import CliRunner

    from robscore.cli import app

    _, X, c, _ = confounded(n=150, m=4)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(season=np.where(c[:, 1] > 0, "wet", "dry"), trend=c[:, 0])
    frame.to_csv(tmp_path / "rain.csv", index=False)
    out = tmp_path / "out"
    options = ["--given", "season", "--given", "trend", "--out", str(out), "--edges", "2"]
    result = CliRunner().invoke(app, ["fit", str(tmp_path / "rain.csv"), *options])
    assert result.exit_code == 0, result.output
    table = pd.read_csv(out / "effects.csv")
    assert set(table["covariate"]) == {"season=wet", "trend"}
    assert set(table["column"]) == set("abcd")
    assert CliRunner().invoke(app, ["fit", "--from", str(out / "model.json")]).exit_code == 0
    wrong = CliRunner().invoke(app, ["fit", str(tmp_path / "rain.csv"), "--given", "month"])
    assert wrong.exit_code != 0
    assert "--given month: no such column" in wrong.output


def test_penalised_effects_are_shrunk_to_zero_and_free_ones_are_not():
    _, X, c, _ = confounded(n=400, m=5, strength=0.3)
    c = np.column_stack([c, np.random.default_rng(3).normal(size=400)])
    free = rs.RobustGraph("sqrt", n_edges=2).fit(X, covariates=c)
    bound = rs.RobustGraph("sqrt", n_edges=2, effect_ratio=5.0).fit(X, covariates=c)
    assert (free.effects_ != 0).all()
    assert 0 < np.count_nonzero(bound.effects_) < 15
    assert np.abs(bound.effects_[:, 2]).sum() < np.abs(free.effects_[:, 2]).sum()
    nearly = rs.RobustGraph("sqrt", alpha=0.1, effect_ratio=200.0, tol=1e-9).fit(X, covariates=c)
    exact = rs.RobustGraph("sqrt", alpha=0.1, tol=1e-9).fit(X, covariates=c)
    np.testing.assert_allclose(nearly.effects_, exact.effects_, atol=0.02)
    with pytest.raises(ValueError, match="effect_ratio=0 must be positive"):
        rs.RobustGraph("sqrt", effect_ratio=0).fit(X, covariates=c)


def test_the_family_is_checked_and_columns_are_predicted_given_covariates():
    rng = np.random.default_rng(0)
    c = rng.normal(size=500)
    Z = rng.normal(size=(500, 4))
    Z[:, 1] += Z[:, 0]
    moved = Z + np.outer(c, [1.0, 1.0, 1.0, 0.0])
    model = rs.RobustGraph("gaussian", alphas=20).fit(moved, covariates={"c": c})
    assert model.check_fit().verdict == "fits"
    alone = rs.RobustGraph("gaussian", alphas=20).fit(Z).predictability()["predictability"]
    np.testing.assert_allclose(model.predictability()["predictability"], alone, atol=0.02)
    skewed = rs.RobustGraph("gaussian", alphas=20).fit(np.exp(Z / 2) + np.outer(c, [1, 1, 1, 0]), covariates={"c": c})
    assert skewed.check_fit().verdict == "does not fit"
    assert any("hardly fits" in str(caution) for caution in skewed.cautions_)
