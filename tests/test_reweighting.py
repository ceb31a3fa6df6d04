"""Reweighting: what goes, what stays, and what it costs."""

import dataclasses
import warnings
from functools import cache

import numpy as np
import pytest
from designs import first
from tests.registry import CASES, STATISTICS

import robscore as rs
from robscore.weighting import agreeing, compare, count_below, quantile
from robscore.weighting.row_limits import inside


def rows(m=8, n_edges=8, n=800, seed=0):
    truth = rs.simulate.random_model(m, n_edges, random_state=seed)
    return truth, rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=n, random_state=seed + 1)


def dropped_by(model):
    return np.flatnonzero(~model.row_weights_.any(axis=1))


@pytest.mark.parametrize("seed", first(2, range(4)))
def test_on_clean_data_nothing_is_lost(seed):
    _, X = rows(seed=seed)
    model = rs.RobustGraph("sqrt", reweight=True).fit(X)
    assert dropped_by(model).size <= 0.01 * len(X)
    if not dropped_by(model).size:
        classic = rs.RobustGraph("sqrt", n_blocks=1, reweight=False).fit(X)
        np.testing.assert_array_equal(model.interaction_, classic.interaction_)


@pytest.mark.parametrize("share", [0.02, pytest.param(0.1, marks=pytest.mark.long), 0.2])
def test_bad_rows_are_dropped_and_the_graph_is_found(share):
    truth, X = rows(m=20, n_edges=20)
    dirty, bad = rs.simulate.contaminate_pareto(X, share, random_state=3)
    model = rs.RobustGraph("sqrt", n_blocks="auto", reweight=True).fit(dirty)
    dropped = dropped_by(model)
    assert np.isin(bad, dropped).mean() > 0.9
    assert np.isin(dropped, bad).mean() > 0.9
    oracle = rs.RobustGraph("sqrt", n_blocks=1, alphas=20).fit(np.delete(X, bad, axis=0))
    found = rs.metrics.f1_score(model.interaction_, truth.interaction)
    assert found > rs.metrics.f1_score(oracle.interaction_, truth.interaction) - 0.1
    np.testing.assert_allclose(model.row_weights_.sum(axis=0), 1.0)
    assert f"{dropped.size} of 800 rows" in model.summary()
    assert model.share_dropped_ == dropped.size / 800
    assert rs.RobustGraph("sqrt", n_blocks=80).fit(X).share_dropped_ is None


def test_rows_of_ordinary_size_with_the_wrong_dependence_are_found():
    truth = rs.simulate.random_model(60, 150, random_state=0)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=800, random_state=1)
    dirty, bad = rs.simulate.contaminate_other_graph(X, 0.1, n_edges=150, random_state=3)
    assert X.max() > dirty[bad].max() / 3
    model = rs.RobustGraph("sqrt", n_blocks="auto", reweight=True, n_edges=150).fit(dirty)
    few = model.row_weights_[:, 0] < 0.5 / len(X)
    assert np.isin(bad, np.flatnonzero(few)).mean() > 0.8


@pytest.mark.long
def test_without_a_penalty_it_beats_what_it_starts_from():
    truth = rs.simulate.random_model(5, 5, min_eigenvalue=0.5, random_state=0)
    errors = {"start": [], "reweighted": []}
    for seed in range(8):
        X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=1000, random_state=seed)
        dirty = rs.simulate.contaminate_pareto(X, 0.05, random_state=seed).X
        for name, reweight in (("start", False), ("reweighted", True)):
            model = rs.RobustScoreMatching("sqrt", n_blocks=400, reweight=reweight, scale=None).fit(dirty)
            K, eta = model.interaction_ - truth.interaction, model.location_ - truth.location
            errors[name].append((K**2).sum() + (eta**2).sum())
    assert np.mean(errors["reweighted"]) < 0.8 * np.mean(errors["start"])


@pytest.mark.parametrize("case", CASES + STATISTICS, ids=repr)
def test_every_family_can_be_reweighted(case):
    X = case.draw(np.random.default_rng(2), 150, 3)
    estimator = rs.RobustGraph if case.family.is_pairwise else rs.RobustScoreMatching
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = estimator(
            case.family, n_blocks=30, reweight=True, **({"alphas": 10} if case.family.is_pairwise else {})
        ).fit(X)
    np.testing.assert_allclose(model.row_weights_.sum(axis=0), 1.0)
    table = model.suspicious_rows()
    assert len(table["row"]) == 150
    assert np.isfinite(np.asarray(table["score"])).all()


def test_a_family_that_does_not_fit_is_said_so():
    X = np.random.default_rng(0).lognormal(sigma=1.5, size=(400, 4))
    model = rs.RobustGraph("gaussian", n_blocks=50, reweight=rs.RowRule(heaviest=1.0)).fit(X)
    assert model.cautions_[0].startswith("Nearly half of the rows do not look like Gaussian()")
    blocks = rs.RobustGraph("gaussian", n_blocks=50, reweight=False).fit(X)
    np.testing.assert_array_equal(model.row_weights_, blocks.row_weights_)
    assert "does not describe enough" in model.summary()


@pytest.mark.long
@pytest.mark.parametrize("family", ["sqrt", "gaussian", "gamma", "truncated-gaussian", "log-log"])
@pytest.mark.parametrize(("count", "value"), [(5, 1e3), (1, 1e6), (1, 1e100)])
def test_a_few_huge_rows_change_next_to_nothing(family, count, value):
    clean = few_columns(family)
    dirty, bad = clean.copy(), [7, 90, 150, 222, 333][:count]
    dirty[bad] = value * np.random.default_rng(2).uniform(1, 2, size=(count, 5))
    least = 0.3 if family == "truncated-gaussian" else 0.15  # its standard errors are .3 of the largest entry
    for n_blocks, n_edges, tolerance in ((None, None, least), ("auto", 4, 0.6)):  # blocks add noise to any choice
        model = rs.RobustGraph(family, n_blocks=n_blocks, n_edges=n_edges).fit(dirty)
        plain = interactions_without(family, tuple(bad), n_blocks, n_edges)
        np.testing.assert_allclose(model.interaction_, plain, atol=tolerance * np.abs(plain).max())
        if n_blocks is None:
            assert not model.row_weights_[bad].any()
            assert set(model.suspicious_rows()["row"][:count]) == set(bad)


@cache
def few_columns(family):
    truth = rs.simulate.random_model(5, 4, min_eigenvalue=0.5, random_state=0)
    return rs.simulate.sample(family, truth.interaction, truth.location, n_rows=400, burn_in=60, random_state=1)


@cache
def interactions_without(family, rows, n_blocks, n_edges):
    """Of the fit without some rows, which several tests compare theirs with."""
    model = rs.RobustGraph(family, n_blocks=n_blocks, n_edges=n_edges)
    return model.fit(np.delete(few_columns(family), rows, axis=0)).interaction_


@pytest.mark.parametrize("share", first(1, [0.15, 0.1, 0.2]))
def test_a_far_cluster_is_dropped(share):
    K = np.eye(4) + np.diag([0.4] * 3, 1) + np.diag([0.4] * 3, -1)
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal(np.zeros(4), np.linalg.inv(K), size=500)
    bad = rng.choice(500, size=round(500 * share), replace=False)
    X[bad] = 100 + 0.1 * rng.normal(size=(bad.size, 4))
    model = rs.RobustGraph("gaussian").fit(X)
    assert set(bad) <= set(dropped_by(model))
    assert dropped_by(model).size <= bad.size + 5


def test_families_that_cannot_be_judged_keep_their_blocks():
    class Mine(rs.families.Family):
        domain = rs.domains.NonNegative()

        def elements(self, X):
            return rs.families.SquareRoot().elements(X)

    _, X = rows(m=4, n_edges=3, n=200)
    model = rs.RobustGraph(Mine()).fit(X)
    assert "has no log_density" in model.cautions_[0]
    assert "n_blocks=200" in model.cautions_[0]
    np.testing.assert_array_equal(
        model.row_weights_, rs.RobustGraph("sqrt", n_blocks=200, scale=None).fit(X).row_weights_
    )
    order = np.random.default_rng(1).permutation(200)
    other = rs.RobustGraph(Mine()).fit(X[order])
    np.testing.assert_allclose(other.row_weights_, model.row_weights_[order], rtol=1e-6, atol=1e-9)
    with pytest.raises(ValueError, match="has no log_density"):
        model.suspicious_rows()
    custom = rs.domains.Custom(lambda X: 2 - np.abs(X), lambda X: -np.sign(X))
    inside = np.clip(np.random.default_rng(0).normal(size=(300, 3)), -1.9, 1.9)
    assert rs.RobustGraph(rs.families.Gaussian(domain=custom)).fit(inside).row_weights_.min() > 0


def test_zero_inflated_rows_are_fitted():
    _, X = rows(m=5, n_edges=5, n=300)
    X[np.random.default_rng(5).random(300) < 0.5] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = rs.RobustGraph("sqrt", n_blocks=30, reweight=True).fit(X)
    assert np.isfinite(model.interaction_).all()


def test_much_left_out_is_said():
    _, X = rows(m=10, n_edges=10)
    dirty = rs.simulate.contaminate_pareto(X, 0.3, random_state=3).X
    assert "of the rows were left out" in rs.RobustGraph("sqrt").fit(dirty).cautions_[0]


def test_a_rule_of_ones_own_decides():
    _, X = rows(m=6, n_edges=5, n=400)
    dirty = rs.simulate.contaminate_pareto(X, 0.05, random_state=3).X
    default = rs.RobustGraph("sqrt", n_edges=5).fit(dirty)
    same = rs.RobustGraph("sqrt", n_edges=5, reweight=rs.RowRule()).fit(dirty)
    np.testing.assert_array_equal(default.row_weights_, same.row_weights_)
    patient = rs.RobustGraph("sqrt", n_edges=5, reweight=rs.RowRule(doubt=50.0, certainty=60.0, alone=1e-12)).fit(dirty)
    assert 0.02 < default.share_dropped_ <= 0.06
    assert patient.share_dropped_ < default.share_dropped_
    assert patient.get_params()["reweight"].doubt == 50.0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"central": 1.5}, "central"),
        ({"shoulder": 0.5}, "ascending order"),
        ({"certainty": 3.0}, "must be above doubt=3.5"),
        ({"width": -1.0}, "zero or more"),
        ({"fits": 0}, "at least 1"),
    ],
)
def test_numbers_of_a_rule_are_checked(wrong, words):
    with pytest.raises(ValueError, match=words):
        rs.RowRule(**wrong)


def test_a_rule_has_few_numbers_and_says_what_they_mean():
    names = [field.name for field in dataclasses.fields(rs.RowRule)]
    assert len(names) <= 25
    assert all(name in rs.RowRule.__doc__ for name in names)


def test_arguments_are_checked():
    _, X = rows(m=4, n_edges=3, n=100)
    with pytest.raises(ValueError, match="reweight='no'"):
        rs.RobustGraph("sqrt", reweight="no").fit(X)
    with pytest.raises(TypeError, match="select=None"):
        rs.RobustGraph("sqrt", select=None).fit(X)
    with pytest.raises(ValueError, match="no complete row"):
        rs.RobustGraph("sqrt", missing="drop").fit(X).suspicious_rows(np.full((2, 4), np.nan))


def test_rows_that_overflow_get_no_weight():
    _, X = rows()
    X[3] = 1e250
    model = rs.RobustGraph("sqrt", reweight=True).fit(X)
    assert model.row_weights_[3].tolist() == [0.0, 0.0]
    assert model.suspicious_rows()["row"][0] == 3
    X[:240] = 1e300
    code, left_out, *_ = rs.RobustGraph("sqrt").fit(X).cautions_
    assert "a code for missing values?" in code
    assert "left out" in left_out


@pytest.mark.parametrize("select", ["ebic", "cv", "stars"])
def test_the_same_bits_for_any_number_of_threads_and_every_time(select):
    _, X = rows(m=6, n_edges=6, n=400)
    dirty = rs.simulate.contaminate_pareto(X, 0.1, random_state=3).X
    options = {"n_blocks": "auto", "reweight": True, "select": select, "alphas": 10}
    one, two = (rs.RobustGraph("sqrt", **options, random_state=0, n_jobs=n_jobs).fit(dirty) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.interaction_, two.interaction_)
    np.testing.assert_array_equal(one.criterion_, two.criterion_)
    if select == "ebic":
        again = rs.RobustGraph("sqrt", **options).fit(dirty)
        np.testing.assert_array_equal(one.interaction_, again.interaction_)


def chi_squared(n, seed=0, size=5.0):
    return np.sort(np.random.default_rng(seed).gamma(size, size=n))


def test_the_share_is_that_of_rows_beyond_the_expected_ones():
    expected, good, rule = chi_squared(8000), chi_squared(950, seed=1), rs.RowRule()
    clean = compare(good, expected, rule)
    assert clean.share * 950 < 1
    assert clean.cut > good.max()
    for far in (np.full(50, 100.0), np.full(50, np.inf)):
        tail = compare(np.append(good, far), expected, rule)
        assert tail.share == pytest.approx(0.05, abs=0.01)
        assert good.max() <= tail.cut < 100
    alone = compare(np.append(good, 100.0), expected, rule)  # one row is beyond the limit
    assert good.max() < alone.cut < 100


def test_a_tail_that_is_heavy_from_the_bulk_on_is_no_sign_of_bad_rows():
    """Squares of t with 4 degrees of freedom beside those expected of normal numbers."""
    rng = np.random.default_rng(0)
    expected = np.sort(rng.chisquare(10, size=8000))
    heavy = np.sort(rng.chisquare(10, size=1000) / (rng.chisquare(4, size=1000) / 4))
    assert compare(heavy, expected, rs.RowRule()).share < 0.01
    light = rs.RowRule(heaviest=1.0)  # the tail of the fit
    assert compare(heavy, expected, light).share > 0.05
    apart = np.sort(np.append(heavy[:950], 40 * heavy[950:]))
    assert 0.02 < compare(apart, expected, rs.RowRule()).share < 0.06


def test_expected_values_agree_with_the_bulk_in_any_unit():
    expected, values, rule = chi_squared(8000), 3 + 7 * chi_squared(2000, seed=1), rs.RowRule()
    found = agreeing(expected, expected, values, 0.0, rule)
    assert (np.diff(found) >= 0).all()
    for q in (0.1, 0.6):
        assert quantile(found, q) == pytest.approx(quantile(values, q), rel=1e-4)  # between two rows
    assert quantile(found, 0.75) >= quantile(values, 0.75) * (1 - 1e-9)
    other = agreeing(expected, expected, 3 + 2 * (values - 3), 0.0, rule)
    np.testing.assert_allclose(other, 3 + 2 * (found - 3), rtol=1e-9)


def test_weights_take_no_jump_as_rows_move_out():
    expected, good = chi_squared(8000), chi_squared(950, seed=1)
    weights = []
    for out in np.linspace(0, 30, 601):
        values = np.append(good, 8 + out + good[-50:] / 10)
        weights.append(inside(values, compare(np.sort(values), expected, rs.RowRule()).cut, rs.RowRule().band))
    assert weights[0].min() == 1
    assert weights[-1][950:].max() == 0
    assert np.abs(np.diff(weights, axis=0)).max() < 0.75  # of a row, as 50 rows move together in steps of .05


def test_counts_and_values_are_inverse():
    ordered = np.sort(np.random.default_rng(0).normal(size=200))
    for q in (0.0, 0.1, 0.5, 0.933, 1.0):
        assert quantile(ordered, q) == pytest.approx(np.quantile(ordered, q), abs=1e-12)
        assert count_below(ordered, quantile(ordered, q)) == pytest.approx(199 * q)
    with_infinity = np.append(ordered, np.inf)
    assert quantile(with_infinity, 0.5) == ordered[100]
    assert count_below(with_infinity, 1e9) == 199
    assert count_below(ordered, -1e9) == 0
