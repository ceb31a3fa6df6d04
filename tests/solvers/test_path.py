"""The penalised path: optimality by an independent check, a general solver, and laws."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
import reference
from registry import CASES
from sklearn.exceptions import ConvergenceWarning

import robscore as rs
from robscore.solvers import joined_interaction

FREE, FORBIDDEN = 0.0, np.inf


def some_weights(m):
    W = np.random.default_rng(1).uniform(0.5, 2.0, size=(m, m))
    W = (W + W.T) / 2
    W[0, 1] = W[1, 0] = FREE
    W[0, 2] = W[2, 0] = FORBIDDEN
    return W


def options(rule, location, diagonal, beta, weighted, m=5):
    fit_location, ratio = {"free": (True, np.inf), "absent": (False, np.inf), "penalised": (True, 2.0)}[location]
    chosen = {
        "rule": rule,
        "fit_location": fit_location,
        "location_ratio": ratio,
        "penalize_diagonal": diagonal,
        "diagonal_multiplier": beta,
    }
    if weighted:
        chosen["penalty_weights"] = some_weights(m)
        if location == "penalised":
            chosen["location_weights"] = np.linspace(0.5, 1.5, m)
    return chosen


ALL_OPTIONS = [
    options(*choice)
    for choice in itertools.product(
        ["symmetric", "and", "or"], ["free", "absent", "penalised"], [False, True], [0.0, 0.2], [False, True]
    )
]


def residual(loss, path, k, chosen, m):
    return reference.kkt_residual(
        loss,
        path.interactions[k],
        path.locations[k],
        path.alphas[k],
        rule=chosen.get("rule", "symmetric"),
        beta=chosen.get("diagonal_multiplier", 0.0),
        penalize_diagonal=chosen.get("penalize_diagonal", False),
        fit_location=chosen.get("fit_location", True),
        ratio=chosen.get("location_ratio", np.inf),
        W=chosen.get("penalty_weights", np.ones((m, m))),
        w=chosen.get("location_weights", np.ones(m)),
    )


def robust_loss(case, n=60, m=5, n_blocks=12, seed=3):
    elements = rs.score_elements(case.family, case.draw(np.random.default_rng(seed), n, m))
    return elements.average(*rs.robust_weights(elements, n_blocks))


@pytest.mark.parametrize("chosen", ALL_OPTIONS, ids=lambda chosen: "-".join(str(v)[:9] for v in chosen.values()))
def test_every_solution_is_optimal_and_alpha_max_is_exact(chosen):
    loss = robust_loss(CASES[0])
    path = rs.solve_path(loss, 12, alpha_min_ratio=0.01, tol=1e-7, **chosen)
    assert path.converged.all()
    for k in range(12):
        assert residual(loss, path, k, chosen, 5) <= 1.001e-7 * path.alpha_max
    penalised = np.array(path.interactions)
    W = chosen.get("penalty_weights", np.ones((5, 5)))
    assert (penalised[:, W == FORBIDDEN] == 0).all()
    if not chosen["penalize_diagonal"]:
        penalised[:, np.arange(5), np.arange(5)] = 0
    penalised[:, (W == FREE) & ~np.eye(5, dtype=bool)] = 0
    locations = path.locations if np.isfinite(chosen["location_ratio"]) else np.zeros((12, 5))
    assert not penalised[0].any()
    assert not locations[0].any()
    below = rs.solve_path(loss, [path.alpha_max * (1 - 1e-4)], tol=1e-9, **chosen)
    if np.isfinite(chosen["location_ratio"]) or chosen["penalize_diagonal"]:
        changed = (below.interactions[0] != path.interactions[0]) | (below.locations[0] != path.locations[0])
        assert changed.any()
    else:
        assert np.count_nonzero(below.interactions[0]) > np.count_nonzero(path.interactions[0])


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("rule", ["symmetric", "and"])
def test_every_family_is_solved_to_optimality(case, rule):
    loss = robust_loss(case)
    path = rs.solve_path(loss, 10, alpha_min_ratio=0.02, rule=rule)
    assert path.converged.all()
    assert path.n_edges[0] == 0
    assert path.n_edges[-1] > 0
    for k in range(10):
        assert residual(loss, path, k, {"rule": rule}, 5) <= 1.001e-6 * path.alpha_max


GENERAL = {
    "plain": options("symmetric", "free", diagonal=False, beta=0.0, weighted=False),
    "all penalised": options("symmetric", "penalised", diagonal=True, beta=0.1, weighted=False),
    "no location, weights": options("symmetric", "absent", diagonal=False, beta=0.0, weighted=True),
    "weights": options("symmetric", "penalised", diagonal=False, beta=0.0, weighted=True),
}


def by_cvxpy(loss, alpha, chosen, m=5):
    """K and eta by an interior-point solver, from the definition of the problem."""
    W = chosen.get("penalty_weights", np.ones((m, m)))
    w = chosen.get("location_weights", np.ones(m))
    gamma = np.array(loss.gamma)
    gamma[:, np.arange(m), np.arange(m)] *= 1 + chosen["diagonal_multiplier"]
    K, eta = cp.Variable((m, m), symmetric=True), cp.Variable(m)
    objective, constraints = 0, []
    for j in range(m):
        z = cp.hstack([K[:, j], eta[j]])
        root = np.linalg.cholesky(gamma[j] + 1e-14 * np.eye(m + 1))
        objective += 0.5 * cp.sum_squares(root.T @ z) - loss.g[j] @ z
    for i, j in itertools.product(range(m), range(m)):
        if i == j:
            objective += alpha * W[i, i] * cp.abs(K[i, i]) * chosen["penalize_diagonal"]
        elif np.isinf(W[i, j]):
            constraints.append(K[i, j] == 0)
        else:
            objective += alpha * W[i, j] * cp.abs(K[i, j])
    if not chosen["fit_location"]:
        constraints.append(eta == 0)
    elif np.isfinite(chosen["location_ratio"]):
        objective += alpha / chosen["location_ratio"] * cp.sum(cp.multiply(w, cp.abs(eta)))
    tolerances = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-12)
    cp.Problem(cp.Minimize(objective), constraints).solve(solver=cp.CLARABEL, **tolerances)
    return K.value, eta.value


@pytest.mark.parametrize("case", [CASES[0], CASES[2], CASES[6]], ids=str)
@pytest.mark.parametrize("chosen", GENERAL.values(), ids=GENERAL)
def test_symmetric_solutions_agree_with_a_general_solver(case, chosen):
    loss = robust_loss(case)
    path = rs.solve_path(loss, 6, alpha_min_ratio=0.005, tol=1e-9, max_iter=100_000, **chosen)
    for k in (3, 5):
        K, eta = by_cvxpy(loss, path.alphas[k], chosen)
        scale = np.abs(K).max()
        np.testing.assert_allclose(path.interactions[k], K, atol=1e-5 * scale)
        np.testing.assert_allclose(path.locations[k], eta, atol=1e-5 * max(scale, np.abs(eta).max()))
    assert path.n_edges[-1] > 1


def test_at_penalty_zero_it_is_the_unpenalised_estimate():
    loss = robust_loss(CASES[0])
    path = rs.solve_path(loss, [0.0], tol=1e-10, max_iter=100_000)
    from robscore.solvers import solve_unpenalised

    K, eta = solve_unpenalised(loss)
    np.testing.assert_allclose(path.interactions[0], K, atol=1e-6)
    np.testing.assert_allclose(path.locations[0], eta, atol=1e-6)


def test_free_edges_are_not_shrunk():
    loss = robust_loss(CASES[0])
    W = np.full((5, 5), np.inf)
    W[0, 1] = W[1, 0] = 0.0
    path = rs.solve_path(loss, [0.0, 1.0, 100.0], penalty_weights=W, tol=1e-10)
    np.testing.assert_allclose(path.interactions[0], path.interactions[-1], atol=1e-9)
    assert path.n_edges.tolist() == [1, 1, 1]


def test_permuting_columns_permutes_the_path():
    X = CASES[0].draw(np.random.default_rng(0), 80, 6)
    order = np.random.default_rng(1).permutation(6)
    losses = [rs.score_elements("sqrt", Y).average() for Y in (X, X[:, order])]
    paths = [rs.solve_path(loss, 15, tol=1e-9) for loss in losses]
    np.testing.assert_allclose(paths[1].interactions, paths[0].interactions[:, order][:, :, order], atol=1e-6)
    np.testing.assert_array_equal(paths[1].n_edges, paths[0].n_edges)


def test_a_shared_block_gives_the_same_path_as_one_block_a_node():
    from robscore.losses import QuadraticLoss

    shared = rs.score_elements("gaussian", CASES[6].draw(np.random.default_rng(0), 50, 4)).average()
    separate = QuadraticLoss(np.array(shared.gamma), shared.g)
    for chosen in ({}, {"location_ratio": 1.0}, {"rule": "or", "fit_location": False}):
        paths = [rs.solve_path(loss, 10, **chosen) for loss in (shared, separate)]
        np.testing.assert_allclose(paths[0].interactions, paths[1].interactions, atol=1e-9)


@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize("rule", ["symmetric", "and", "or"])
def test_few_columns(m, rule):
    loss = rs.score_elements("sqrt", np.random.default_rng(0).gamma(1.0, size=(50, m))).average()
    path = rs.solve_path(loss, 5, rule=rule)
    assert path.converged.all()
    assert path.interactions.shape == ((5, 2, 2) if m == 2 else (1, 1, 1))
    assert path.n_edges.max() <= m - 1


def test_fewer_rows_than_columns_needs_a_multiplier_and_says_so():
    X = np.random.default_rng(0).gamma(1.0, size=(12, 25))
    loss = rs.score_elements("sqrt", X).average()
    with pytest.warns(ConvergenceWarning, match="did not converge; worst is alpha"):
        path = rs.solve_path(loss, 30)
    assert path.converged[0]
    assert not path.converged[-1]
    assert np.isfinite(path.interactions).all()
    for k in np.flatnonzero(path.converged):
        assert residual(loss, path, k, {}, 25) <= 1.001e-6 * path.alpha_max
    assert rs.solve_path(loss, 30, diagonal_multiplier=0.1).converged.all()


def falls_along_a_line(loss, alpha):
    """How far the objective can fall in a direction without curvature, of parts up to 1: a linear program."""
    m = loss.n_columns
    values, vectors = np.linalg.eigh(reference.full_gamma(loss))
    D, e = cp.Variable((m, m), symmetric=True), cp.Variable(m)
    d = cp.vec(cp.hstack([D, cp.reshape(e, (m, 1), order="C")]), order="C")
    gain = loss.g.ravel() @ d - alpha * cp.sum(cp.multiply(1 - np.eye(m), cp.abs(D)))
    found = cp.Problem(cp.Maximize(gain), [vectors[:, values > 1e-10 * values.max()].T @ d == 0, cp.norm_inf(d) <= 1])
    return found.solve()


@pytest.mark.parametrize(
    ("seed", "n", "m", "family"),
    [(0, 3, 5, "gaussian"), (3, 2, 4, "gamma"), (5, 2, 10, "sqrt"), (9, 4, 6, "gamma"), (27, 4, 6, "gamma")],
)
def test_a_path_without_a_minimum_ends_soon(seed, n, m, family):
    X = np.random.default_rng(seed).normal(size=(n, m))
    loss = rs.score_elements(family, X if family == "gaussian" else np.abs(X)).average()
    with pytest.warns(ConvergenceWarning, match="there may be no minimum"):
        path = rs.solve_path(loss)
    assert path.n_iter.sum() < 40_000  # of a million
    last = int(np.flatnonzero(path.n_iter)[-1])
    assert last < path.alphas.size - 1
    assert falls_along_a_line(loss, path.alphas[last]) > 1e-6
    assert not path.converged[last:].any()
    assert path.converged[: min(last, 3)].all()


def test_running_out_of_sweeps_is_one_warning_and_not_hidden():
    loss = robust_loss(CASES[0])
    with pytest.warns(ConvergenceWarning) as record:
        path = rs.solve_path(loss, 10, max_iter=1, tol=1e-12)
    assert len(record) == 1
    assert not path.converged.all()
    assert (path.kkt[~path.converged] > 1e-12).all()


def test_joining_raw_matrices():
    raw = np.array([[2.0, 0.4, 0.0], [0.2, 3.0, 0.5], [0.0, 0.0, 4.0]])
    np.testing.assert_allclose(joined_interaction(raw, "and"), [[2, 0.3, 0], [0.3, 3, 0], [0, 0, 4]])
    np.testing.assert_allclose(joined_interaction(raw, "or"), [[2, 0.3, 0], [0.3, 3, 0.25], [0, 0.25, 4]])


@pytest.mark.parametrize(
    ("chosen", "match"),
    [
        ({"rule": "xor"}, "rule='xor'"),
        ({"diagonal_multiplier": -0.1}, "diagonal_multiplier=-0.1"),
        ({"location_ratio": 0.0}, "location_ratio=0.0"),
        ({"penalty_weights": np.triu(np.ones((5, 5)))}, r"symmetric, but \[0, 1\] is 1.0 and \[1, 0\] is 0.0"),
        ({"penalty_weights": -np.ones((5, 5))}, "negative"),
        ({"penalty_weights": np.ones((4, 4))}, r"shape \(5, 5\)"),
        ({"location_weights": np.ones(5)}, "finite location_ratio"),
        ({"location_weights": -np.ones(5), "location_ratio": 1.0}, "at least 0"),
        ({"alphas": 0}, "alphas=0"),
        ({"alphas": [-1.0]}, "at least 0"),
        ({"alphas": [np.nan]}, "finite"),
        ({"alpha_min_ratio": 1.5}, "alpha_min_ratio=1.5"),
        ({"tol": 0.0}, "tol=0.0"),
        ({"max_iter": 0}, "max_iter=0"),
    ],
)
def test_bad_options(chosen, match):
    with pytest.raises(ValueError, match=match):
        rs.solve_path(robust_loss(CASES[0]), **chosen)
