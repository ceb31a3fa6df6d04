"""Coordinate descent in NumPy, which stands in for numba, against the compiled functions and brute force."""

import numpy as np
import pytest

import robscore as rs
from robscore.solvers import L1, PenalisedLoss, build_problem, descent_in_numpy
from robscore.solvers.descent_kernels import descend_with, furthest_with, refresh
from robscore.solvers.screening import WorkingSet

pytest.importorskip("numba")
OPTIONS = {
    "diagonal_multiplier": 0.1,
    "penalize_diagonal": False,
    "fit_location": True,
    "location_ratio": np.inf,
    "penalty_weights": None,
    "location_weights": None,
}
LAYOUTS = ["one block for all", "a block for each", "blocks of many sizes", "coupled"]


class Branches(L1):
    """The same penalty, written so that it takes no arrays."""

    @staticmethod
    def violation(theta, gradient, strength, parameters):
        if theta == 0.0:
            return gradient - strength if gradient > 0.0 else -gradient - strength
        return abs(gradient + (strength if theta > 0.0 else -strength))


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
def test_images_are_the_same(layout, zeros):
    problem = problem_of(layout, "or" if layout != "coupled" else "symmetric")
    assert (problem.last.size > 0) == (layout == "coupled")
    assert np.unique(problem.blocks.sizes).size == (1 if layout != "blocks of many sizes" else 3)
    z, R = start_of(problem, np.random.default_rng(1), zeros)
    compiled, found = R.copy(), np.full_like(R, np.nan)
    refresh(*problem.quadratic, z, compiled)
    descent_in_numpy.refresh(*problem.quadratic, z, found)
    np.testing.assert_allclose(found, compiled, rtol=1e-12, atol=1e-12 * max(np.abs(compiled).max(), 1e-300))
    assert (found != 0).any() == (zeros < 1)


def descents(problem, kind, zeros, *, tol, max_sweeps):
    """What the compiled descent and that in NumPy come to from one start, and what they say of it."""
    alpha = 0.3 * problem.alpha_max(problem.image(problem.null_solution()))
    told = []
    for descend in (descend_with(kind), descent_in_numpy.descend):
        parts = {} if descend is not descent_in_numpy.descend else {"prox": kind.prox, "violation": kind.violation}
        z, R = start_of(problem, np.random.default_rng(2), zeros)
        said = descend(
            *problem.quadratic,
            problem.linear_by_coordinate,
            z,
            R,
            problem.own,
            problem.mirror,
            alpha * problem.finite_weights,
            np.zeros(0),
            problem.curvature,
            np.flatnonzero(~problem.forbidden),
            0.0,
            tol * alpha,
            max_sweeps,
            **parts,
        )
        told.append((z, R, said))
    return told, alpha


@pytest.mark.parametrize(
    ("layout", "rule"), [*((layout, "symmetric") for layout in LAYOUTS), *((layout, "and") for layout in LAYOUTS[:3])]
)
def test_a_sweep_from_where_nothing_is_optimal_is_the_same(layout, rule):
    problem = problem_of(layout, rule)
    ((z, R, said), (found_z, found_R, found)), _ = descents(problem, L1, 0.0, tol=1e-9, max_sweeps=1)
    np.testing.assert_allclose(found_z, z, rtol=1e-9, atol=1e-9 * np.abs(z).max())
    np.testing.assert_allclose(found_R, R, rtol=1e-9, atol=1e-9 * np.abs(R).max())
    assert found == pytest.approx(said, rel=1e-9)
    assert said[2]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", [L1, Branches])
def test_descents_end_at_the_same_minimum(layout, kind):
    problem = problem_of(layout, "symmetric")
    ((z, _, said), (found, R, told)), alpha = descents(problem, kind, 0.5, tol=1e-9, max_sweeps=100_000)
    np.testing.assert_allclose(found, z, atol=1e-6 * np.abs(z).max())
    np.testing.assert_allclose(R, problem.image(found), atol=1e-9 * np.abs(R).max())
    assert problem.violations(found, R, alpha).max() <= 1e-7 * alpha
    assert ((found == 0) == (z == 0)).all()
    assert 1 < told[0] < 3 * said[0] + 10
    assert 0 < np.count_nonzero(problem.values(found)) < problem.own.size


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("kind", [L1, Branches])
@pytest.mark.parametrize("one_weight", [True, False])
def test_the_same_entries_are_furthest_from_optimal(symmetric, kind, one_weight):
    rng = np.random.default_rng(3)
    m = 9
    gradient, known = 4 * rng.normal(size=(m, m)), rng.integers(-3, 2, size=(m, m + 1)).astype(np.int32)
    weights = rng.choice([0.3, 1.0, np.inf], size=(m, m))
    weights = np.ones((1, 1)) if one_weight else weights + weights.T
    for tol, most in ((0.0, 100), (0.5, 3), (np.inf, 100)):
        given = (gradient, weights, known, 0.7, np.zeros(0), tol, most, symmetric)
        worst, count, rows, nodes = furthest_with(kind)(*given)
        found = descent_in_numpy.furthest_from_optimal(*given, violation=kind.violation)
        assert found[:2] == (pytest.approx(worst), count)
        np.testing.assert_array_equal(found[2], rows)
        np.testing.assert_array_equal(found[3], nodes)
        assert (count > 3) == (tol < 1)
