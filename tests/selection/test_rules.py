"""The rules that choose a penalty: what they must do on clean and on contaminated data."""

import numpy as np
import pytest

import robscore as rs


def data(contamination=0.0, seed=0, m=12, n=400, n_edges=12):
    truth = rs.simulate.random_model(m, n_edges, random_state=seed)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=n, random_state=seed + 1)
    return truth, rs.simulate.contaminate_pareto(X, contamination, random_state=seed + 2).X


@pytest.mark.parametrize("select", ["ebic", "cv", "stars"])
@pytest.mark.parametrize("contamination", [0.0, 0.05])
def test_every_rule_finds_most_of_the_graph(select, contamination):
    truth, X = data(contamination, n=1500)
    model = rs.RobustGraph("sqrt", select=select, n_blocks=300 if contamination else 1, alphas=30, random_state=0).fit(
        X
    )
    best = max(rs.metrics.f1_score(K, truth.interaction) for K in model.path_.interactions)
    found = rs.metrics.f1_score(model.interaction_, truth.interaction)
    assert found > 0.45
    assert found > best - 0.2
    assert model.criterion_.shape == (30,)


def test_of_several_rules_the_first_decides_and_all_are_kept():
    _, X = data()
    together = rs.RobustGraph("sqrt", select=("stars", "ebic", "cv"), alphas=20, random_state=0).fit(X)
    alone = rs.RobustGraph("sqrt", select="stars", alphas=20, random_state=0).fit(X)
    assert list(together.criteria_) == ["stars", "ebic", "cv"]
    assert together.alpha_ == alone.alpha_
    np.testing.assert_array_equal(together.criteria_["stars"], alone.criterion_)


@pytest.mark.long
@pytest.mark.parametrize("select", ["cv", "stars"])
def test_the_number_of_threads_changes_no_bit(select):
    _, X = data(0.05, n=200)
    one, two = (
        rs.RobustGraph("sqrt", select=select, alphas=12, n_jobs=jobs, n_partitions=2, random_state=3).fit(X)
        for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.criterion_, two.criterion_)
    assert one.alpha_ == two.alpha_


def test_bad_rows_in_a_fold_do_not_steer_cross_validation():
    _, X = data()
    dirty = X.copy()
    dirty[:8] *= 1e6  # all in one fold
    clean, spoilt = (rs.RobustGraph("sqrt", select="cv", n_blocks=60, alphas=20).fit(Y) for Y in (X, dirty))
    assert abs(int(clean.graph_.n_edges) - int(spoilt.graph_.n_edges)) <= 12
    assert np.isfinite(spoilt.criterion_).all()


def test_instability_grows_along_the_path_and_stays_below_its_limit_at_the_choice():
    _, X = data()
    model = rs.RobustGraph("sqrt", select="stars", alphas=25, random_state=0).fit(X)
    assert (np.diff(model.criterion_) >= 0).all()
    assert model.criterion_[model.path_.alphas == model.alpha_] <= 0.1


def test_an_optimum_at_the_end_of_the_path_is_remarked_on():
    _, X = data(n=2000)
    short = rs.RobustGraph("sqrt", alpha_min_ratio=0.5, alphas=5, n_blocks=1).fit(X)
    assert "chose the smallest penalty of the path" in short.cautions_[0]
    assert rs.RobustGraph("sqrt", n_blocks=1).fit(X).cautions_ == []


def test_the_summary_says_that_no_edge_was_chosen():
    X = np.random.default_rng(0).exponential(size=(300, 5))
    assert "the empty graph" in rs.RobustGraph("sqrt", n_blocks=1).fit(X).summary()


@pytest.mark.parametrize(
    ("options", "n", "match"),
    [
        ({"select": "aic"}, 50, "select='aic' is not known; use 'f1', 'ebic', 'cv', 'stars'"),
        ({"select": ()}, 50, r"select=\(\)"),
        ({"select": "cv"}, 9, "needs at least 10 rows"),
        ({"select": "stars"}, 4, "needs at least 5 rows"),
    ],
)
def test_what_cannot_be_chosen(options, n, match):
    X = np.random.default_rng(0).exponential(size=(n, 2))
    with pytest.raises(ValueError, match=match):
        rs.RobustGraph("sqrt", n_blocks=1, **options).fit(X)
