"""Intervals and tests: right where something else says so, right on average, and clear where they cannot be had."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from tests.registry import CASES

import robscore as rs
from robscore.certainty import gradients_at, solve
from robscore.solvers import refit
from robscore.weighting import RowWeights, WeightedRows

CLASSIC = {"n_blocks": 1, "alphas": 10}  # where bad rows do not matter


def rows(m=6, n_edges=5, n=600, seed=0, family="sqrt"):
    truth = rs.simulate.random_model(m, n_edges, min_eigenvalue=0.5, random_state=seed)
    return truth, rs.simulate.sample(family, truth.interaction, truth.location, n_rows=n, random_state=seed + 1)


def tapered(case, n=80, m=3):
    """Elements and tapered weights, of any family."""
    rng = np.random.default_rng(3)
    X = case.draw(rng, n, m)
    family = case.family.resolved(X)
    elements = family.elements(X)
    loss = elements.average()
    first = refit(loss, ~np.eye(m, dtype=bool), np.ones(m, dtype=bool), symmetric=True)
    parameters = loss.completed(first.interaction), first.location
    surprise = -family.log_density(X, *parameters)
    return elements, RowWeights.between(surprise, *np.quantile(surprise, [0.5, 0.9]), parameters)


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_gradients_of_rows_add_up_to_zero_and_influences_are_derivatives(case):
    elements, weights = tapered(case)
    loss, m = weights.loss(elements), elements.n_columns
    allowed = ~np.eye(m, dtype=bool)
    solution = refit(loss, allowed, np.ones(m, dtype=bool), symmetric=True)
    gradients = gradients_at(solution, WeightedRows.of(elements, weights))
    np.testing.assert_allclose(gradients.sum(axis=0), 0, atol=1e-9 * np.abs(gradients).max())
    # Counting row 5 a little more moves the estimate by its influence.
    more = 1e-6
    scale = np.ones(elements.n_rows)
    scale[5] += more
    gamma, g = (part * scale for part in weights)
    changed = elements.average(gamma, g)
    changed.g += elements.gamma_times(weights.pulls * scale, *weights.parameters)
    found = solve(elements, weights, allowed, fit_location=True).influence(WeightedRows.of(elements, weights))
    moved = refit(changed, allowed, np.ones(m, dtype=bool), symmetric=True)
    i, j = found.pairs
    n = elements.n_rows
    expected = (moved.interaction - found.interaction)[i, j] / more * np.sqrt(n / (n - m - 1))  # m + 1 free a column
    np.testing.assert_allclose(found.on_pairs[5], expected, rtol=1e-3, atol=1e-4 * np.abs(found.on_pairs).max())


def test_gaussian_errors_are_those_of_the_information_matrix():
    truth, X = rows(family="gaussian", n=20_000, m=4, n_edges=3)
    table = rs.RobustGraph("gaussian", n_blocks=1, scale=None).fit(X).edge_intervals()
    K = truth.interaction
    for _, row in table.iterrows():
        i, j = int(row["source"][1:]), int(row["target"][1:])
        expected = np.sqrt((K[i, i] * K[j, j] + K[i, j] ** 2) / len(X))  # of the inverse covariance
        assert row["interaction_error"] == pytest.approx(expected, rel=0.06)
        partial = -K[i, j] / np.sqrt(K[i, i] * K[j, j])
        assert (row["association_high"] - row["association"]) / norm.ppf(0.975) == pytest.approx(
            (1 - partial**2) / np.sqrt(len(X)), rel=0.06
        )


@pytest.mark.parametrize("share", [0.0, 0.05])
def test_intervals_cover_the_truth_as_often_as_they_say(share):
    inside = []
    for seed in range(10):
        truth, X = rows(m=8, n_edges=8, n=500, seed=seed)
        X = rs.simulate.contaminate_pareto(X, share, random_state=seed).X
        # Without bad rows as classic score matching has them; which edges there are does not matter.
        table = rs.RobustGraph("sqrt", alpha=0.1, n_blocks=None if share else 1).fit(X).edge_intervals()
        i, j = (np.array([int(name[1:]) for name in table[end]]) for end in ("source", "target"))
        true = truth.interaction[i, j]
        inside.append((table["interaction_low"] <= true) & (true <= table["interaction_high"]))
    assert 0.91 < np.mean(inside) < 0.985


def test_halves_say_what_the_sandwich_says():
    _, X = rows()
    model = rs.RobustGraph("sqrt", **CLASSIC).fit(X)
    by_rows, by_halves = (model.edge_intervals(method=method) for method in ("sandwich", "subsampling"))
    both = by_rows.merge(by_halves, on=["source", "target"])
    ratio = both["interaction_error_y"] / both["interaction_error_x"]
    assert 0.85 < ratio.median() < 1.2
    again = rs.RobustGraph("sqrt", **CLASSIC, n_jobs=2).fit(X).edge_intervals(method="subsampling")
    pd.testing.assert_frame_equal(again, by_halves)


def test_the_table_has_units_and_names():
    truth, X = rows()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    plain = rs.RobustGraph("sqrt", **CLASSIC).fit(frame).edge_intervals()
    scaled = rs.RobustGraph("sqrt", **CLASSIC).fit(frame * 25.4).edge_intervals()
    np.testing.assert_allclose(scaled["interaction"], plain["interaction"] / 25.4, rtol=1e-6)
    np.testing.assert_allclose(scaled["interaction_error"], plain["interaction_error"] / 25.4, rtol=1e-6)
    np.testing.assert_allclose(scaled["p_value"], plain["p_value"], rtol=1e-5)
    assert set(plain["source"]) | set(plain["target"]) == set("abcdef")
    assert len(plain) == 15
    assert plain["p_value"].is_monotonic_increasing
    assert truth.adjacency.sum() // 2 == 5


def test_rows_that_depend_on_their_neighbours_are_counted_in_blocks():
    _, X = rows(n=300)
    repeated = np.repeat(X, 4, axis=0)
    once = rs.RobustGraph("sqrt", **CLASSIC).fit(X).edge_intervals().set_index(["source", "target"])
    naive, blocks = (
        rs.RobustGraph("sqrt", **CLASSIC).fit(repeated).edge_intervals(block_size=size).set_index(["source", "target"])
        for size in (1, 4)
    )
    ratio = (naive["interaction_error"] / once["interaction_error"]).mean()
    assert ratio == pytest.approx(0.5, abs=0.03)
    assert (blocks["interaction_error"] / once["interaction_error"]).mean() == pytest.approx(1.0, abs=0.03)


def test_with_few_rows_one_half_chooses_and_the_other_estimates():
    _, X = rows(m=30, n_edges=25, n=80)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = rs.RobustGraph("sqrt", n_blocks=1).fit(X)
    table = model.edge_intervals()
    assert 0 < len(table) < 100
    assert np.isfinite(table["interaction_error"]).all()
    with pytest.raises(ValueError, match="estimate='split'"):
        rs.RobustGraph("sqrt", n_blocks=1, alpha=1.0).fit(X[:25]).edge_intervals(estimate="full")


def test_forbidden_pairs_are_left_out_and_zero_sums_kept():
    _, X = rows()
    W = rs.penalty_weights([f"x{k}" for k in range(6)], forbidden=[("x0", "x1")])
    table = rs.RobustGraph("sqrt", penalty_weights=W, **CLASSIC).fit(X).edge_intervals()
    assert len(table) == 14
    P = X / X.sum(axis=1, keepdims=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = rs.RobustGraph(rs.families.Simplex(zero_sums=True), n_blocks=1).fit(P).edge_intervals()
    assert np.isfinite(table["association_low"]).all()


def test_split_tests_have_power_and_their_level():
    """On chains, of which the half that chooses finds some edges that are not there."""
    rng = np.random.default_rng(0)
    true, false = [], []
    for _ in range(8):
        Z = rng.normal(size=(120, 25))
        for j in range(1, 25):
            Z[:, j] += 0.4 * Z[:, j - 1]
        table = rs.RobustGraph("gaussian", **CLASSIC).fit(Z).edge_intervals(estimate="split")
        for source, target, p_value in zip(table["source"], table["target"], table["p_value"], strict=True):
            (true if int(target[1:]) - int(source[1:]) == 1 else false).append(p_value)
    assert len(false) > 20
    assert np.mean(np.array(false) < 0.1) < 0.25
    assert np.mean(np.array(true) < 0.1) > 0.8


def test_block_weights_on_skewed_data_are_warned_about():
    _, X = rows(n=300)
    with pytest.warns(UserWarning, match="bias the estimate on skewed data"):
        rs.RobustGraph("sqrt", n_blocks=60).fit(X).edge_intervals()


@pytest.mark.parametrize("block_size", [1, 4, 7])
def test_errors_are_sums_of_squares_over_blocks_whatever_the_pieces(block_size, monkeypatch):
    elements, weights = tapered(CASES[0])
    n, m = elements.n_rows, elements.n_columns
    solved = solve(elements, weights, ~np.eye(m, dtype=bool), fit_location=True)
    weighted = WeightedRows.of(elements, weights)
    monkeypatch.setattr("robscore.certainty.influence._PIECE_BYTES", 8 * 10 * solved.solution.rows.size)  # ten rows
    found = solved.influence(weighted)
    count = -(-n // block_size)
    kinds = found.on_pairs, found.on_association(), found.on_locations
    for influences, errors in zip(kinds, solved.standard_errors(weighted, block_size), strict=True):
        blocks = np.array([influences[low : low + block_size].sum(axis=0) for low in range(0, n, block_size)])
        np.testing.assert_allclose(errors, np.sqrt((blocks**2).sum(axis=0) * count / (count - 1)), rtol=1e-9)


def test_the_summary_is_the_same_whatever_was_asked_before():
    _, X = rows()
    model = rs.RobustGraph("sqrt", **CLASSIC).fit(X)
    before = model.summary()
    model.edge_intervals(fdr=0.05)
    model.edge_stability(X, n_pairs=2)
    assert model.summary() == before


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"level": 1.5}, "level=1.5"),
        ({"fdr": 0.0}, "fdr=0.0"),
        ({"method": "bootstrap"}, "method='bootstrap'"),
        ({"estimate": "lasso"}, "estimate='lasso'"),
        ({"block_size": 0}, "block_size=0"),
        ({"block_size": 100}, "leaves 1 blocks of 100 rows"),
    ],
)
def test_impossible_arguments_are_errors(options, match):
    _, X = rows(n=100)
    model = rs.RobustGraph("sqrt", **CLASSIC).fit(X)
    with pytest.raises(ValueError, match=match):
        model.edge_intervals(**options)


def test_intervals_of_associations_stay_between_the_limits():
    """However strong or uncertain they are, and nearly symmetric where they are neither."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    X[:, 1] += 6 * X[:, 0]
    table = rs.RobustGraph("gaussian", **CLASSIC).fit(X).edge_intervals(level=0.9999)
    assert table["association"].abs().max() > 0.97
    assert ((table["association_low"] > -1) & (table["association_low"] < table["association"])).all()
    assert ((table["association"] < table["association_high"]) & (table["association_high"] < 1)).all()
    strong = table.loc[table["association"].abs().idxmax()]
    assert (1 - strong["association_high"]) < (strong["association"] - strong["association_low"]) / 3
    mirrored = rs.RobustGraph("gaussian", **CLASSIC).fit(X * [1, -1, 1]).edge_intervals(level=0.9999)
    both = table.merge(mirrored, on=["source", "target"])
    with_x1 = both[(both["source"] == "x1") | (both["target"] == "x1")]
    np.testing.assert_allclose(with_x1["association_low_y"], -with_x1["association_high_x"], rtol=1e-6)
