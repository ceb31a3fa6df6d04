"""The kernels of coordinate descent against literal versions."""

import numpy as np
import pytest
from reference import dense_quadratic, furthest_from_optimal, sweep

import robscore as rs
from robscore.solvers import L1, PenalisedLoss, build_problem
from robscore.solvers.descent_kernels import descend_with, furthest_with, refresh
from robscore.solvers.screening import WorkingSet

OPTIONS = {
    "diagonal_multiplier": 0.1,
    "penalize_diagonal": False,
    "fit_location": True,
    "location_ratio": np.inf,
    "penalty_weights": None,
    "location_weights": None,
}
LAYOUTS = ["one block for all", "a block for each", "blocks of many sizes", "coupled"]


def problem_of(layout, rule):
    """A penalised problem whose blocks lie as said."""
    X = np.exp(0.4 * np.random.default_rng(0).normal(size=(80, 6)))
    family, Y = {"coupled": ("simplex", X / X.sum(axis=1, keepdims=True)), "one block for all": ("gaussian", X)}.get(
        layout, ("sqrt", X)
    )
    storage = "matrix-free" if layout == "blocks of many sizes" else "dense"
    loss = rs.score_elements(family, Y).average(storage=storage)
    penalised = PenalisedLoss.of(loss, rule=rule, **OPTIONS)
    if layout != "blocks of many sizes":
        return build_problem(penalised)
    chosen = WorkingSet(penalised)
    chosen.add(np.array([0, 1, 3, 2]), np.array([1, 4, 5, 5]))
    return chosen.problem()


def start_of(problem, rng, zeros=0.0):
    """A point at which nothing is optimal, but for coordinates that are zero, and its image."""
    theta = rng.normal(size=problem.own.size) * (rng.random(problem.own.size) >= zeros)
    z = problem.entries(np.arange(theta.size), theta)
    return z, problem.image(z)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("zeros", [0.0, 0.7, 1.0])
def test_images_are_products(layout, zeros):
    problem = problem_of(layout, "or" if layout != "coupled" else "symmetric")
    assert (problem.last.size > 0) == (layout == "coupled")
    assert np.unique(problem.blocks.sizes).size == (1 if layout != "blocks of many sizes" else 3)
    z, R = start_of(problem, np.random.default_rng(1), zeros)
    found, product = np.full_like(R, np.nan), dense_quadratic(*problem.quadratic) @ z
    refresh(*problem.quadratic, z, found)
    np.testing.assert_allclose(found, product, rtol=1e-12, atol=1e-12 * max(np.abs(product).max(), 1e-300))
    np.testing.assert_allclose(R, product, rtol=1e-12, atol=1e-12 * max(np.abs(product).max(), 1e-300))
    assert (found != 0).any() == (zeros < 1)


def descended(problem, zeros, *, tol, max_sweeps):
    """Where the compiled descent starts and ends, what it returns, and the strengths that it was given."""
    alpha = 0.3 * problem.alpha_max(problem.image(problem.null_solution()))
    z, R = start_of(problem, np.random.default_rng(2), zeros)
    start, strengths = z.copy(), alpha * problem.finite_weights
    returned = descend_with(L1)(
        *problem.quadratic,
        problem.linear_by_coordinate,
        z,
        R,
        problem.own,
        problem.mirror,
        strengths,
        np.zeros(0),
        problem.curvature,
        np.flatnonzero(~problem.forbidden),
        0.0,
        tol * alpha,
        max_sweeps,
    )
    return start, z, R, returned, strengths


@pytest.mark.parametrize(
    ("layout", "rule"), [*((layout, "symmetric") for layout in LAYOUTS), *((layout, "and") for layout in LAYOUTS[:3])]
)
def test_a_sweep_is_that_of_the_literal_one(layout, rule):
    problem = problem_of(layout, rule)
    expected, z, R, (n_sweeps, worst, changed), strengths = descended(problem, 0.0, tol=1e-9, max_sweeps=1)
    Q = dense_quadratic(*problem.quadratic)
    furthest = sweep(
        Q,
        problem.linear_by_coordinate,
        expected,
        problem.own,
        problem.mirror,
        strengths,
        problem.curvature,
        np.flatnonzero(~problem.forbidden),
        L1,
    )
    np.testing.assert_allclose(z, expected, rtol=1e-9, atol=1e-9 * np.abs(z).max())
    np.testing.assert_allclose(R, Q @ expected, rtol=1e-9, atol=1e-9 * np.abs(R).max())
    assert (n_sweeps, worst, changed) == (1, pytest.approx(furthest, rel=1e-9), True)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_descents_end_at_a_minimum(layout):
    problem = problem_of(layout, "symmetric")
    alpha = 0.3 * problem.alpha_max(problem.image(problem.null_solution()))
    _, z, R, (n_sweeps, worst, _), _ = descended(problem, 0.5, tol=1e-9, max_sweeps=100_000)
    image = dense_quadratic(*problem.quadratic) @ z
    np.testing.assert_allclose(R, image, atol=1e-9 * np.abs(R).max())
    assert problem.violations(z, image, alpha).max() <= 1e-7 * alpha
    assert 1 < n_sweeps < 100_000
    assert worst <= 1e-9 * alpha
    assert 0 < np.count_nonzero(problem.values(z)) < problem.own.size


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("one_weight", [True, False])
def test_the_entries_furthest_from_optimal_are_found(symmetric, one_weight):
    rng = np.random.default_rng(3)
    m = 9
    gradient, known = 4 * rng.normal(size=(m, m)), rng.integers(-3, 2, size=(m, m + 1)).astype(np.int32)
    weights = rng.choice([0.3, 1.0, np.inf], size=(m, m))
    weights = np.ones((1, 1)) if one_weight else weights + weights.T
    for tol, most in ((0.0, 100), (0.5, 3), (np.inf, 100)):
        given = (gradient, weights, known, 0.7, np.zeros(0), tol, most, symmetric)
        worst, count, rows, nodes = furthest_with(L1)(*given)
        expected = furthest_from_optimal(gradient, weights, known, 0.7, tol, symmetric=symmetric)
        assert (worst, count) == (pytest.approx(expected[0]), len(expected[1]))
        assert list(zip(rows, nodes, strict=True)) == expected[1][:most]
        assert (count > 3) == (tol < 1)
