"""Fits, scores and tables of hostile data: a finite answer that is what it says, or a refusal that names something."""

import numpy as np
import pytest
from fuzzing import examples, simulating
from hostile import NAMES, Dice, contained, finite, frozen, only_ours, seeds
from hypothesis import example, given, settings
from reference import full_gamma, kkt_residual
from registry import CASES, STATISTICS

import robscore as rs
from robscore.rows import columns_of, readable

SHARE = 1.0 / (len(CASES) * 2 + len(STATISTICS) + 2)  # of all fits
NAMED = ["gaussian", "sqrt", "gamma", "truncated-gaussian", "log-log", "simplex"]

BLOCKS = {
    "contamination": [None, 0.0, 0.05, 0.3, 0.5, -1, "x", np.nan],
    "n_blocks": [None, None, "auto", 1, 2, 5, 20, 0, 61, 2.5, "x", True],
    "shuffle": [False, True, "x", 1, None],
    "n_partitions": [1, 3, 0, 1.5, "x"],
    "reweight": [None, True, False, "x"],
    "fit_location": [True, True, False, "x", None],
    "scale": ["median", "median", None, "mean", 1],
    "missing": ["raise", "drop", "impute"],
    "max_memory": ["1 GB", 2e6, "1 MB", 10, "much", np.inf],
    "random_state": [None, 0, 7, "generator", "legacy", -1, "x", 1.5],
}
PENALTY = {
    "alpha": [None, None, 0.0, 0.1, 1e-8, 1e8, -1.0, np.nan, "x"],
    "select": ["f1", "ebic", "cv", "stars", ["ebic", "cv"], ["f1", "stars"], "fdr", ["f1", "fdr"], "aic", [], None, 3],
    "ebic_gamma": [0.5, 0.0, 1.0, 1e6, -1.0, np.nan, "x", None],
    "fdr": [0.1, 0.0, 0.9, 1.0, np.nan, "x", None],
    "n_edges": [None, None, 0, 1, 2, 100, -1, 1.5],
    "alphas": [8, 8, 3, 1, [0.0], [0.5, 0.1], [1e-300], [], 0, [np.nan], [1j], "x", None],
    "alpha_min_ratio": [1e-3, 0.5, 1e-12, 0.0, 1.0, np.nan],
    "max_edges": [None, 0, 1, 5, -1, 1.5],
    "diagonal_multiplier": [0.0, 0.1, 1e6, -1.0, np.inf],
    "rule": ["symmetric", "and", "or", "xor", None],
    "penalty_weights": [None, None, "ones", "free", "forbidden", "wrong", "complex"],
    "location_weights": [None, None, "ones", "wrong"],
    "penalize_diagonal": [False, True, "x"],
    "location_ratio": [np.inf, 1.0, 1e-6, 0.0, -1.0, np.nan],
    "storage": ["auto", "dense", "matrix-free", "float32", "sparse"],
    "tol": [1e-6, 1e-3, 1e-14, 0.0, 2.0],
    "max_iter": [10_000, 1, 20, 0, 1.5],
    "n_jobs": [None, 1, 0, 2.5],
    "verbose": [0, False, "x", -1],
}


def made(chosen, m):
    """Options with arrays and generators in place of their names."""
    generators = {"generator": np.random.default_rng(0), "legacy": np.random.RandomState(0)}
    if isinstance(chosen.get("random_state"), str):
        chosen["random_state"] = generators.get(chosen["random_state"], chosen["random_state"])
    arrays = {
        "ones": np.ones((m, m)),
        "free": np.where(np.arange(m)[:, None] + np.arange(m) == 1, 0.0, 1.0),
        "forbidden": np.where(np.arange(m)[:, None] + np.arange(m) == 1, np.inf, 1.0),
        "wrong": -np.ones((m, m + 1)),
        "complex": np.ones((m, m)) * 1j,
    }
    for name in ("penalty_weights", "location_weights"):
        if isinstance(chosen.get(name), str):
            array = arrays[chosen[name]]
            chosen[name] = array if name == "penalty_weights" else array[0]
    return chosen


def check_scores(model, X):
    before = frozen(X)
    losses = model.row_losses(X)
    count = (model.row_weights_ > 0).any(axis=1)
    power = hasattr(model.family, "a") and isinstance(model.family.domain, rs.domains.Intervals)
    if not power:  # weights depend on other columns, so rows with holes are not judged
        count &= ~np.isnan(np.asarray(readable(X).values, dtype=float)).any(axis=1)
    assert not (np.isnan(losses) & count).any()
    finite(losses[(model.row_weights_ > 0).all(axis=1) & count])
    assert model.score(X) < np.inf  # minus infinity where too many rows overflow
    table = columns_of(model.suspicious_rows())
    assert len(table["row"]) == model.n_rows_used_
    assert not np.isnan(table["score"]).any()
    assert frozen(X) == before


def check_fit(model, X):
    if hasattr(model, "interaction_"):
        finite(model.interaction_, model.location_)
        np.testing.assert_array_equal(model.interaction_, model.interaction_.T)
    finite(model.row_weights_)
    assert (model.row_weights_ >= 0).all()
    np.testing.assert_allclose(model.row_weights_.sum(axis=0), 1.0, atol=1e-9)
    names = getattr(model, "feature_names_in_", None)
    assert names is None or list(names) == NAMES[: model.n_features_in_] or names[0] == "a"


def check_graph(model):
    path, position = model.path_, model.position_
    finite(path.alphas, path.alpha_max, np.asarray(path.interactions), path.locations, path.kkt, model.association_)
    table = columns_of(model.edges())
    finite(table["interaction"], table["association"])
    assert "nan" not in model.summary().replace("Gaussian", "")
    fit = model.fitted_
    if not (model.converged_ and fit.settings.storage in ("auto", "dense")):
        return
    given = fit.settings.problem
    m = fit.loss.n_columns
    W = np.ones((m, m)) if given["penalty_weights"] is None else np.asarray(given["penalty_weights"])
    w = np.ones(m) if given["location_weights"] is None else np.asarray(given["location_weights"])
    with np.errstate(invalid="ignore"):  # infinite weights
        residual = kkt_residual(
            fit.loss, np.asarray(path.interactions[position]), path.locations[position], path.alphas[position],
            rule=given["rule"], beta=given["diagonal_multiplier"], penalize_diagonal=given["penalize_diagonal"],
            fit_location=given["fit_location"], ratio=given["location_ratio"], W=W, w=w,
        )  # fmt: skip
    size = np.abs(fit.loss.g).max()
    z = np.concatenate([np.asarray(path.interactions[position]), path.locations[position][None]]).T
    rounding = (np.abs(full_gamma(fit.loss)) @ np.abs(z).ravel()).max()  # of the terms that cancel
    assert residual <= 2 * fit.settings.tol * max(path.alpha_max, size) + 1e-9 * size + 1e-12 * rounding


def check_tables(model, dice):
    """Whatever comes after a fit: it may be refused too."""
    what = dice.pick(["nothing", "nothing", "nothing", "intervals", "suspicious", "influence", "path"])
    if what == "intervals":
        chosen = {
            "estimate": dice.pick(["auto", "full", "split", "x"]),
            "block_size": dice.pick([1, 1, 3, 60, 1000, 0]),
            "level": dice.pick([0.95, 0.5, 1.0]),
        }
        with only_ours("tables", chosen):
            table = columns_of(model.edge_intervals(**chosen))
            for name in ("interaction", "interaction_error", "association", "p_value", "q_value"):
                finite(table[name])
    elif what == "suspicious":
        with only_ours("tables", ["level"]):
            model.suspicious_rows(level=dice.pick([0.01, 0.5, 0.0, "x"]))
    elif what == "influence":
        with only_ours("tables"):
            model.influence_of_rows()
    elif what == "path":
        with only_ours("tables", ["position"]):
            finite(model.graph_at(dice.pick([0, -1, 99, "x"])).interaction)


@pytest.mark.parametrize("case", [*CASES, *STATISTICS], ids=str)
@settings(max_examples=examples(SHARE, 2))
@given(seed=seeds)
@example(seed=170439)  # these broke something once: infinite quantiles, columns that vary only in rows left out
@example(seed=38513784)
@example(seed=45057359)
@example(seed=9433)
@example(seed=283752149404455296)
@example(seed=1997715)  # a minimum beyond all numbers
def test_parameters(case, seed):
    dice = Dice(seed)
    X = dice.matrix(case)
    container, chosen = dice.container(), made({"n_blocks": dice.blocks(), **dice.options(BLOCKS)}, X.shape[1])
    given_X = contained(X, container)
    before = frozen(given_X)
    with simulating(many=dice.rarely()), only_ours("fits without a penalty", [*chosen, "fit_location"]):
        model = rs.RobustScoreMatching(case.family, **chosen).fit(given_X)
        check_fit(model, given_X)
        finite(model.theta_)
        check_scores(model, given_X)
    assert frozen(given_X) == before


@pytest.mark.parametrize("case", CASES, ids=str)
@settings(max_examples=examples(SHARE, 4))
@given(seed=seeds)
@example(seed=2753243629996871001)  # copies of rows, of which the first count for nothing
@example(seed=89549379974988160)  # parts of a composition that are missing, sums and powers that overflow
@example(seed=11639956)
@example(seed=16785)
@example(seed=862263)  # no graph of any fold can be refitted
@example(seed=4042)  # scores beyond all numbers
def test_graphs(case, seed):
    dice = Dice(seed)
    X = dice.matrix(case)
    container = dice.container()
    chosen = {"alphas": 8, "n_blocks": dice.blocks(), **dice.options(BLOCKS), **dice.options(PENALTY)}
    chosen = made(chosen, X.shape[1])
    given_X = contained(X, container)
    before, model = frozen(given_X), None
    many = dice.rarely()
    with simulating(many=many), only_ours("fits of graphs", chosen):
        fitted = rs.RobustGraph(case.family, **chosen).fit(given_X)
        check_fit(fitted, given_X)
        check_graph(fitted)
        check_scores(fitted, given_X)
        model = fitted
    if model is not None:
        with simulating(many=many):
            check_tables(model, dice)
    assert frozen(given_X) == before


@settings(max_examples=examples(2 * SHARE, 8))
@given(seed=seeds)
def test_names_of_families_on_data_of_any(seed):
    dice = Dice(seed)
    family, case = dice.pick([*NAMED, "poisson", None, 3]), dice.pick(CASES)
    given_X = contained(dice.matrix(case), dice.container())
    with simulating(many=dice.rarely()), only_ours("fits of graphs"):
        model = rs.RobustGraph(family, alphas=8, n_blocks=dice.blocks()).fit(given_X)
        check_fit(model, given_X)
        check_graph(model)


@settings(max_examples=examples(2 * SHARE, 8))
@given(seed=seeds)
def test_other_rows_are_scored(seed):
    dice = Dice(seed)
    case = dice.pick(CASES)
    model = rs.RobustScoreMatching(case.family, n_blocks=4, missing=dice.pick(["raise", "drop"]))
    model.fit(case.draw(dice.rng, 40, 3))
    other = contained(dice.matrix(case), dice.container())
    with simulating(many=dice.rarely()), only_ours("scores"):
        losses = model.row_losses(other)
        assert not np.isnan(losses).all()
        score = model.score(other)
        assert not np.isnan(score)
        assert len(columns_of(model.suspicious_rows(other))["row"]) <= len(losses)
