"""Frequencies of rows: a row of weight 2 is two rows, one of weight 0 is none."""

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import robscore as rs
from robscore.elements import streamed
from robscore.rows import ArrayRows, Partition, column_quantiles


def data(n=150, m=6, seed=0):
    truth = rs.simulate.random_model(m, m, min_eigenvalue=0.5, random_state=seed)
    return rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=n, random_state=seed)


def mixed(n=150, seed=1):
    return np.random.default_rng(seed).integers(0, 4, size=n)


@pytest.mark.parametrize("scale", ["median", None])
@pytest.mark.parametrize("options", [{"select": "f1"}, {"select": "ebic"}, {"n_edges": 5}, {"rule": "or"}])
def test_a_weight_is_so_many_rows_for_the_whole_fit(options, scale):
    X, often = data(), mixed()
    model = rs.RobustGraph("sqrt", n_blocks=1, scale=scale, alphas=25, **options)
    one, other = sklearn.clone(model).fit(X, sample_weight=often), sklearn.clone(model).fit(np.repeat(X, often, axis=0))
    np.testing.assert_allclose(one.interaction_, other.interaction_, atol=1e-10)
    np.testing.assert_allclose(one.location_, other.location_, atol=1e-10)
    assert one.position_ == other.position_
    assert one.graph_.n_edges > 0
    if options.get("rule") is None:
        tables = [fitted.edge_intervals(block_size=1).sort_values(["source", "target"]) for fitted in (one, other)]
        for column in ("interaction_error", "association_low", "p_value"):
            np.testing.assert_allclose(tables[0][column], tables[1][column], atol=1e-10)


def test_copies_side_by_side_are_not_a_series():
    X = np.repeat(data(), 2, axis=0)
    assert rs.RobustGraph("sqrt", n_blocks=1).fit(X).fitted_.chosen.tau == 1.0


def test_cross_validation_folds_whole_rows_with_equal_weights():
    X = data()
    model = rs.RobustGraph("sqrt", n_blocks=1, select="cv", alphas=15)
    one = sklearn.clone(model).fit(X, sample_weight=np.full(len(X), 2))
    other = sklearn.clone(model).fit(np.repeat(X, 2, axis=0))
    looked_at = np.isfinite(other.criterion_)
    np.testing.assert_allclose(one.criterion_[looked_at], other.criterion_[looked_at], rtol=1e-9)


@pytest.mark.parametrize("family", ["gaussian", "gamma", "truncated-gaussian", "log-log", "simplex"])
def test_without_a_penalty_for_every_family(family):
    X, often = data(m=4) + 0.1, mixed()
    X = X / X.sum(axis=1, keepdims=True) if family == "simplex" else X
    one = rs.RobustScoreMatching(family, n_blocks=1).fit(X, sample_weight=often)
    other = rs.RobustScoreMatching(family, n_blocks=1).fit(np.repeat(X, often, axis=0))
    np.testing.assert_allclose(one.theta_, other.theta_, rtol=1e-6, atol=1e-7)


def test_the_gaussian_is_the_weighted_inverse_covariance():
    rng = np.random.default_rng(0)
    X, often = rng.normal(size=(100, 4)) @ np.tri(4), rng.uniform(0.2, 3, size=100)
    model = rs.RobustScoreMatching("gaussian", n_blocks=1).fit(X, sample_weight=often)
    expected = np.linalg.inv(np.cov(X.T, aweights=often, bias=True))
    np.testing.assert_allclose(model.interaction_, expected, rtol=1e-8)


@pytest.mark.parametrize("options", [{}, {"n_blocks": 30}, {"n_blocks": 30, "shuffle": True}, {"n_blocks": "auto"}])
def test_rows_of_weight_zero_are_as_if_they_were_not_there(options):
    X, often = data(), mixed()
    dirty = np.where(often[:, None] == 0, -1.0, X)  # not even looked at
    model = rs.RobustGraph("sqrt", n_edges=5, random_state=0, **options)
    one = sklearn.clone(model).fit(dirty, sample_weight=often)
    other = sklearn.clone(model).fit(X[often > 0], sample_weight=often[often > 0])
    np.testing.assert_array_equal(one.interaction_, other.interaction_)
    np.testing.assert_array_equal(one.row_weights_[often > 0], other.row_weights_)
    assert not one.row_weights_[often == 0].any()


def test_reweighting_judges_rows_as_often_as_they_are_there_and_a_row_counts_so_often():
    X, often = data(n=300), mixed(300) + 1
    X, bad = rs.simulate.contaminate_pareto(X, 0.05, random_state=2)
    one = rs.RobustGraph("sqrt", n_edges=6).fit(X, sample_weight=often)
    other = rs.RobustGraph("sqrt", n_edges=6).fit(np.repeat(X, often, axis=0))
    np.testing.assert_allclose(one.interaction_, other.interaction_, atol=1e-8)
    assert one.share_dropped_ == pytest.approx(other.share_dropped_)
    assert one.share_dropped_ > 0.02
    assert not one.row_weights_[bad].all()
    weights = one.row_weights_[:, 0]
    full = np.flatnonzero(one.fitted_.weights.phi == 1)
    assert weights[full] / often[full] == pytest.approx(weights[full[0]] / often[full[0]])


def test_many_copies_of_a_row_are_no_cluster():
    X, often = data(n=200), np.ones(200)
    often[::5] = 8
    assert rs.RobustGraph("sqrt", n_edges=6).fit(X, sample_weight=often).share_dropped_ < 0.02


def test_blocks_are_of_whole_rows_and_nearly_equal_weight():
    often = np.random.default_rng(0).uniform(0.5, 3, size=200)
    totals = Partition.even(200, 20, frequency=often).totals
    assert np.abs(totals - often.sum() / 20).max() < 3
    bad = data(n=200)
    bad[:10] = 1e5
    model = rs.RobustScoreMatching("sqrt", n_blocks=80).fit(bad, sample_weight=often)
    weights = model.row_weights_
    assert weights[:10].max() < 1e-3
    np.testing.assert_allclose(weights.sum(axis=0), 1.0)


@pytest.mark.parametrize("way", ["rows", "nodes", "streamed"])
def test_block_weights_are_the_same_on_every_way(way):
    from robscore.weighting import weigh_rows

    elements, often = rs.score_elements("sqrt", data()), np.random.default_rng(0).uniform(0.5, 3, size=150)
    options = {"n_partitions": 1, "shuffle": False, "random_state": None, "frequency": often}
    found, _ = weigh_rows(elements, 25, way=way, **options)
    expected, _ = weigh_rows(elements, 25, way="rows", **options)
    np.testing.assert_allclose(found.gamma_weights, expected.gamma_weights, atol=1e-6)


@pytest.mark.parametrize("options", [{"n_blocks": 40}, {"n_blocks": 1000}, {}])
def test_streamed_rows_have_frequencies_too(tmp_path, monkeypatch, options):
    monkeypatch.setattr(streamed, "_SMALL", 2e5)
    X, often = np.tile(data(n=500), (8, 1)) * np.random.default_rng(0).uniform(0.9, 1.1, size=(4000, 1)), mixed(4000)
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    held = rs.RobustScoreMatching("sqrt", **options).fit(X, sample_weight=often)
    found = rs.RobustScoreMatching("sqrt", max_memory="1 MB", **options).fit(mapped, sample_weight=often)
    assert found.fitted_.elements().streams
    np.testing.assert_allclose(held.interaction_, found.interaction_, atol=1e-6)


@pytest.mark.parametrize("q", [0.5, 0.1, 0.99])
@pytest.mark.parametrize("whole", [True, False])
def test_quantiles_are_those_of_copies(q, whole):
    rng = np.random.default_rng(0)
    X, often = rng.normal(size=(40, 3)).round(1), rng.integers(1, 5, size=40)
    found = column_quantiles(ArrayRows(X, whole=whole).counted(often.astype(float)), q)
    np.testing.assert_allclose(found, np.quantile(np.repeat(X, often, axis=0), q, axis=0))


def test_the_score_is_of_copies():
    X, often = data(), mixed()
    model = rs.RobustScoreMatching("sqrt", n_blocks=1).fit(X, sample_weight=often)
    assert model.score(X, sample_weight=often) == pytest.approx(model.score(np.repeat(X, often, axis=0)))


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.zeros(150), "All entries of sample_weight are zero"),
        (np.full(150, -1.0), r"sample_weight\[0\]=-1 must be a finite number of at least 0"),
        (np.full(150, np.nan), "must be a finite number"),
        (np.ones(149), "has 149 entries and X has 150 rows"),
        (np.ones((150, 2)), "must be 1D"),
        (np.full(150, 1 / 150), "sums to 1: weights count rows"),
        (["a"] * 150, "sample_weight must be numeric"),
    ],
)
def test_what_is_no_weight_is_refused_in_words(weights, words):
    with pytest.raises(ValueError, match=words):
        rs.RobustGraph("sqrt").fit(data(), sample_weight=weights)


def test_metadata_routing_hands_weights_through_pipelines_and_searches():
    X, often = data(), mixed()
    with sklearn.config_context(enable_metadata_routing=True):
        model = rs.RobustGraph("sqrt", n_blocks=1).set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=True)
        pipeline = make_pipeline(FunctionTransformer(), model)
        fitted = pipeline.fit(X, sample_weight=often)[-1]
        search = GridSearchCV(model, {"n_edges": [3, 6]}, cv=3).fit(X, sample_weight=often)
    expected = rs.RobustGraph("sqrt", n_blocks=1).fit(X, sample_weight=often)
    np.testing.assert_array_equal(fitted.interaction_, expected.interaction_)
    assert search.best_estimator_.graph_.n_edges in (3, 6)


def test_blocks_of_one_row_are_repetitions_in_the_median_too():
    rng = np.random.default_rng(0)
    X, weight = rng.gamma(2, 1, (60, 3)), rng.integers(1, 4, 60)
    blocks = {"scale": None, "alpha": 0.05}
    weighted = rs.RobustGraph("sqrt", n_blocks=60, **blocks).fit(X, sample_weight=weight)
    repeated = rs.RobustGraph("sqrt", n_blocks=int(weight.sum()), **blocks).fit(np.repeat(X, weight, axis=0))
    plain = rs.RobustGraph("sqrt", n_blocks=60, **blocks).fit(X)
    np.testing.assert_allclose(weighted.interaction_, repeated.interaction_, rtol=1e-6)
    assert not np.allclose(weighted.interaction_, plain.interaction_, rtol=1e-2)


def test_bad_rows_are_looked_for_among_repetitions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15, 2))
    X[3] = 50.0
    weight = np.where(np.arange(15) == 3, 1, 4)
    weighted = rs.RobustGraph("gaussian", alphas=10).fit(X, sample_weight=weight)
    assert weighted.share_dropped_ is not None
    assert weighted.row_weights_[3, 0] == 0


def with_bad_rows():
    """185 rows of one kind and 15 of another, with small weights, since many copies of a row may be a cluster."""
    good, bad = (np.random.default_rng(seed).normal(size=(n, 3)) for seed, n in ((0, 185), (5, 15)))
    X = np.vstack([good @ np.tri(3), 20 + bad @ np.tri(3)])
    return X, np.random.default_rng(3).integers(1, 3, size=200)


@pytest.fixture(scope="module", params=["all rows", "bad rows"])
def weighted_and_repeated(request):
    """One fit to rows with weights and one to repeated rows, with the weights and the rows."""
    if request.param == "all rows":
        model, X, weight = rs.RobustGraph("sqrt", n_blocks=1, alphas=10), data(m=4), mixed()
    else:
        model, (X, weight) = rs.RobustGraph("gaussian", alphas=10), with_bad_rows()
    repeated = np.repeat(X, weight, axis=0)
    return sklearn.clone(model).fit(X, sample_weight=weight), model.fit(repeated), X, weight


def test_the_summary_counts_repetitions(weighted_and_repeated):
    def lines(model):
        return [line for line in str(model.graph_).splitlines() if "alpha" not in line]  # rounding may move its number

    one, other, *_ = weighted_and_repeated
    assert lines(one) == lines(other)
    assert one.family_ == other.family_
    assert one.share_dropped_ == other.share_dropped_


def test_rows_left_out_are_counted_by_repetitions(weighted_and_repeated):
    left = [
        [str(caution) for caution in model.cautions_ if "rows left out" in str(caution)]
        for model in weighted_and_repeated[:2]
    ]
    assert left[0] == left[1]
    assert len(left[0]) == weighted_and_repeated[0].fitted_.weights.is_tapered


def test_the_family_is_checked_by_repetitions(weighted_and_repeated):
    one, other, *_ = weighted_and_repeated
    found, expected = one.check_fit(), other.check_fit()
    assert found.p_value == pytest.approx(expected.p_value, rel=1e-6)
    np.testing.assert_allclose(found.pairs["z"], expected.pairs["z"], atol=1e-6)
    np.testing.assert_allclose(one.predictability()["predictability"], other.predictability()["predictability"])


def test_suspicious_rows_are_those_among_repetitions(weighted_and_repeated):
    one, other, _, weight = weighted_and_repeated
    found, expected = (model.suspicious_rows().sort_values("row") for model in (one, other))
    used = weight[weight > 0]
    np.testing.assert_allclose(np.repeat(found["score"], used), expected["score"], atol=1e-9)
    for column in ("p_value", "flagged", "together"):
        np.testing.assert_array_equal(np.repeat(found[column], used), expected[column])


def test_intervals_are_those_of_repetitions(weighted_and_repeated):
    one, other, *_ = weighted_and_repeated
    found, expected = (model.edge_intervals(block_size=1).sort_values(["source", "target"]) for model in (one, other))
    for column in ("interaction_error", "association_low", "p_value"):
        np.testing.assert_allclose(found[column], expected[column], atol=1e-9)


def test_the_family_is_chosen_by_repetitions():
    rng = np.random.default_rng(0)
    X = np.vstack([np.exp(rng.normal(size=(100, 3))), rng.normal(size=(100, 3)) ** 2])
    model, chosen = rs.RobustGraph("auto", n_blocks=1, alphas=10), []
    for weight in (np.repeat([5, 1], 100), np.repeat([1, 5], 100), np.repeat([5, 0], 100)):
        one = sklearn.clone(model).fit(X, sample_weight=weight)
        other = sklearn.clone(model).fit(np.repeat(X, weight, axis=0))
        assert one._family_choice.reason == other._family_choice.reason
        chosen.append(one._family_choice.reason)
    assert len(set(chosen)) > 1


def test_rows_of_weight_zero_have_no_say_in_the_family_nor_in_cautions():
    X, weight = data(), np.ones(150)
    X[:3], weight[:3] = -999.0, 0.0
    model = rs.RobustGraph("auto", n_blocks=1, alphas=10).fit(X, sample_weight=weight)
    without = rs.RobustGraph("auto", n_blocks=1, alphas=10).fit(X[3:])
    assert model._family_choice.reason == without._family_choice.reason
    assert not any("-999" in str(caution) for caution in model.cautions_)


def test_values_below_zero_are_counted_by_repetitions():
    X, weight = data(n=400), np.ones(400)
    X[0, 0], weight[0] = -1.0, 3
    model = rs.RobustGraph("auto", n_blocks=1, alphas=10).fit(X, sample_weight=weight)
    assert any("Only 3 of 2412 values are below zero" in str(caution) for caution in model.cautions_)


def test_few_rows_of_large_weight_are_enough_for_intervals():
    X = np.random.default_rng(0).normal(size=(9, 2))
    model = rs.RobustGraph("gaussian", n_blocks=1, alphas=10)
    found = sklearn.clone(model).fit(X, sample_weight=np.full(9, 3)).edge_intervals(block_size=1)
    expected = sklearn.clone(model).fit(np.repeat(X, 3, axis=0)).edge_intervals(block_size=1)
    np.testing.assert_allclose(found["interaction_error"], expected["interaction_error"])
    with pytest.raises(ValueError, match="There are 9 rows to estimate from"):
        model.fit(X).edge_intervals(block_size=1)


def test_the_common_score_is_learnt_from_repetitions(weighted_and_repeated):
    one, other, X, weight = weighted_and_repeated
    assert one.score(X, sample_weight=weight) == pytest.approx(other.score(np.repeat(X, weight, axis=0)), rel=1e-9)


def test_rows_that_are_too_few_are_counted_by_repetitions():
    X, weight = np.random.default_rng(0).normal(size=(8, 2)), np.full(8, 2)
    model = rs.RobustGraph("gaussian", n_blocks=1, alphas=10).fit(X, sample_weight=weight)
    assert any("There are only 16 rows, " in str(caution) for caution in model.cautions_)


def with_missing_cells():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3)) @ np.tri(3)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


def test_errors_after_filling_in_are_of_repetitions():
    X, model = with_missing_cells(), rs.RobustGraph("gaussian", n_blocks=1, alphas=10, missing="impute")
    plain = sklearn.clone(model).fit(X).edge_intervals(block_size=1)
    often = sklearn.clone(model).fit(X, sample_weight=np.full(150, 9)).edge_intervals(block_size=1)
    np.testing.assert_allclose(often["interaction_error"] * 3, plain["interaction_error"], rtol=0.05)


def test_pairs_of_cells_are_counted_by_repetitions():
    X = with_missing_cells()
    weight = np.where(np.isnan(X[:, 0]), 3, 1)
    model = rs.RobustGraph("gaussian", n_blocks=1, alphas=10, missing="impute")
    one = sklearn.clone(model).fit(X, sample_weight=weight).fitted_.prepared
    other = model.fit(np.repeat(X, weight, axis=0)).fitted_.prepared
    np.testing.assert_allclose(one.filling.pairs_observed, other.filling.pairs_observed)
    assert one.describe_missing == other.describe_missing


def test_stability_selection_draws_the_same_share_of_the_rows():
    X = data()
    model = rs.RobustGraph("sqrt", n_blocks=1, select="stars", alphas=10, random_state=0)
    assert model.fit(X, sample_weight=np.full(150, 100)).graph_.n_edges >= 0
