"""Medians, elements and paths, called by themselves, with hostile points and weights."""

import numpy as np
from fuzzing import examples
from hostile import Dice, contained, finite, frozen, only_ours, seeds
from hypothesis import example, given, settings
from registry import CASES, STATISTICS

import robscore as rs

SHARE = 0.02


@settings(max_examples=examples(SHARE, 40))
@given(seed=seeds)
@example(seed=1393613)  # points so far away that all weights are zero
def test_medians(seed):
    dice = Dice(seed)
    X = dice.matrix(dice.pick(CASES), most_rows=30)
    points = contained(X, dice.container())
    before = frozen(points)
    weights = dice.pick([None, None, np.ones(len(X)), -np.ones(len(X)), "x", np.zeros(len(X)), [1j]])
    with only_ours("medians"):
        found = rs.geometric_median(points, weights)
        finite(found.median, found.weights)
        np.testing.assert_allclose(found.weights.sum(), 1.0)
    n_blocks = dice.pick([1, 2, 5, 0, 99, "x"])
    with only_ours("medians", ["n_blocks"]):
        means = rs.median_of_means(points, n_blocks, random_state=dice.pick([None, 0]))
        finite(means.median, means.weights)
    assert frozen(points) == before


@settings(max_examples=examples(SHARE, 40))
@given(seed=seeds)
def test_elements_and_paths(seed):
    dice = Dice(seed)
    case = dice.pick([*CASES, *STATISTICS])
    X = contained(dice.matrix(case, most_rows=30), dice.container())
    before = frozen(X)
    chosen = {
        "alphas": dice.pick([4, [0.0], [1e-3, 2.0], [-1.0]]),
        "fit_location": dice.pick([True, False]),
        "rule": dice.pick(["symmetric", "and", "or"]),
        "diagonal_multiplier": dice.pick([0.0, 0.5]),
    }
    with only_ours("paths", chosen):
        path = rs.solve_path(rs.score_elements(case.family, X).average(), **chosen)
        finite(path.alphas, path.alpha_max, path.kkt)
        finite(*([np.asarray(path.interactions), path.locations] if hasattr(path, "locations") else [path.thetas]))
    assert frozen(X) == before
