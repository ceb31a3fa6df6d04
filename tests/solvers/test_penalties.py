"""A penalty is one class: two that the library does not have, written here, and the laws that all three obey."""

import subprocess
import sys

import cvxpy as cp
import numpy as np
import pytest
from registry import CASES
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

import robscore as rs
from robscore.losses import StatisticLoss
from robscore.solvers import L1, Penalty


class ElasticNet(Penalty):
    """rho = strength (ratio |theta| + (1 - ratio) / 2 theta^2)."""

    def __init__(self, ratio):
        self.ratio = ratio

    @property
    def parameters(self):
        return (self.ratio,)

    def value(self, theta, weights, alpha):
        return float(alpha * weights @ (self.ratio * np.abs(theta) + (1 - self.ratio) / 2 * theta**2))

    def slope(self, theta, weights, alpha):
        return alpha * weights * (self.ratio * np.sign(theta) + (1 - self.ratio) * theta)

    def bend(self, theta, weights, alpha):
        return alpha * weights * (1 - self.ratio)

    def kink(self, weights, alpha):
        return self.ratio * alpha * weights

    def growth(self, direction, weights, alpha):
        return np.inf if alpha > 0 and (weights * direction).any() else 0.0

    @staticmethod
    def prox(target, curvature, strength, parameters):
        threshold, total = parameters[0] * strength, curvature + (1.0 - parameters[0]) * strength
        if target > threshold:
            return (target - threshold) / total
        if target < -threshold:
            return (target + threshold) / total
        return 0.0

    @staticmethod
    def violation(theta, gradient, strength, parameters):
        threshold, slope = parameters[0] * strength, gradient + (1.0 - parameters[0]) * strength * theta
        if theta > 0.0:
            return abs(slope + threshold)
        if theta < 0.0:
            return abs(slope - threshold)
        return abs(gradient) - threshold


class MCP(Penalty):
    """rho = strength |theta| - theta^2 / 2 gamma up to gamma * strength, then constant; curvature exceeds 1 / gamma."""

    def __init__(self, gamma):
        self.gamma = gamma

    @property
    def parameters(self):
        return (self.gamma,)

    def value(self, theta, weights, alpha):
        size = np.minimum(np.abs(theta), self.gamma * alpha * weights)
        return float(np.sum(alpha * weights * size - size**2 / (2 * self.gamma)))

    def slope(self, theta, weights, alpha):
        return np.sign(theta) * np.maximum(alpha * weights - np.abs(theta) / self.gamma, 0.0)

    def bend(self, theta, weights, alpha):
        return np.where(np.abs(theta) < self.gamma * alpha * weights, -1.0 / self.gamma, 0.0)

    def kink(self, weights, alpha):
        return alpha * weights

    def growth(self, direction, weights, alpha):
        return 0.0

    @staticmethod
    def prox(target, curvature, strength, parameters):
        gamma = parameters[0]
        if abs(target) <= strength:
            return 0.0
        if abs(target) >= gamma * strength * curvature:
            return target / curvature
        if target > 0.0:
            return (target - strength) / (curvature - 1.0 / gamma)
        return (target + strength) / (curvature - 1.0 / gamma)

    @staticmethod
    def violation(theta, gradient, strength, parameters):
        if theta == 0.0:
            return abs(gradient) - strength
        slope = max(strength - abs(theta) / parameters[0], 0.0)
        return abs(gradient + slope) if theta > 0.0 else abs(gradient - slope)


PENALTIES = [L1(), ElasticNet(0.6), MCP(3.0)]


@pytest.fixture(params=PENALTIES, ids=lambda penalty: type(penalty).__name__)
def penalty(request):
    return request.param


ALPHA = 0.7


@pytest.fixture
def coordinates():
    rng = np.random.default_rng(0)
    theta = rng.normal(size=40) * rng.integers(0, 2, size=40)
    weights = rng.uniform(0.2, 2.0, size=40)
    weights[:4] = 0.0
    return theta, weights


def test_slope_bend_kink_and_growth_are_those_of_the_value(penalty, coordinates):
    theta, weights = coordinates
    one, step = np.ones(1), 1e-6

    def rho(x, weight):
        return penalty.value(np.array([x]), weight * one, ALPHA)

    away = theta != 0
    for x, weight in zip(theta[away], weights[away], strict=True):
        at = np.array([x]), weight * one, ALPHA
        assert penalty.slope(*at)[0] == pytest.approx((rho(x + step, weight) - rho(x - step, weight)) / (2 * step))
        slopes = [penalty.slope(np.array([y]), weight * one, ALPHA)[0] for y in (x + step, x - step)]
        assert penalty.bend(*at)[0] == pytest.approx((slopes[0] - slopes[1]) / (2 * step), abs=1e-8)
        assert penalty.kink(weight * one, ALPHA)[0] == pytest.approx(rho(step, weight) / step, rel=1e-4)
    far = penalty.value(1e9 * theta, weights, ALPHA) / 1e9
    growth = penalty.growth(theta, weights, ALPHA)
    assert far > 1e6 if np.isinf(growth) else far == pytest.approx(growth, abs=1e-6)
    assert penalty.value(np.zeros(40), weights, ALPHA) == 0
    assert penalty.value(theta[:4], weights[:4], ALPHA) == 0


def test_a_step_is_the_minimum_of_its_coordinate(penalty):
    parameters, grid = np.array(penalty.parameters), np.linspace(-7, 7, 2001)
    rng = np.random.default_rng(1)
    steps = []
    for target, curvature, strength in zip(*rng.uniform([[-3], [0.5], [0]], [[3], [2], [1]], (3, 30)), strict=True):
        steps.append(penalty.prox(target, curvature, strength, parameters))
        values = [penalty.value(np.array([x]), np.ones(1), strength) for x in (*grid, steps[-1])]
        objective = curvature / 2 * np.append(grid, steps[-1]) ** 2
        objective += np.array(values) - target * np.append(grid, steps[-1])
        assert objective[-1] <= objective.min() + 1e-12
    assert 5 < np.count_nonzero(steps) < 30
    assert penalty.prox(1.0, 2.0, 0.0, parameters) == 0.5  # free


def test_the_compiled_and_the_vectorised_distance_agree(penalty, coordinates):
    theta, weights = coordinates
    gradient = np.random.default_rng(2).normal(size=40)
    one_by_one = [
        penalty.violation(x, slope, ALPHA * weight, np.array(penalty.parameters))
        for x, slope, weight in zip(theta, gradient, weights, strict=True)
    ]
    distances = penalty.distances(theta, gradient, weights, ALPHA)
    np.testing.assert_allclose(distances, np.maximum(one_by_one, 0), atol=1e-15)
    assert (distances == 0).any()
    assert (distances > 0).any()


def test_alpha_max_is_the_smallest_that_keeps_everything_at_zero(penalty):
    gradient, weights = np.array([0.3, -2.0, 1.0, 50.0, 70.0]), np.array([1.0, 2.0, 0.5, 0.0, np.inf])
    alpha = penalty.alpha_max(gradient, weights, 1.0)
    assert not penalty.distances(np.zeros(3), gradient[:3], weights[:3], alpha * (1 + 1e-12)).any()
    assert penalty.distances(np.zeros(3), gradient[:3], weights[:3], alpha * (1 - 1e-6)).any()
    assert penalty.alpha_max(1e-16 * gradient, weights, 1.0) == 0
    assert penalty.alpha_max(gradient[:0], weights[:0], 1.0) == 0
    assert penalty.outside(gradient[:3], weights[:3], 0.9 * alpha, alpha).any()
    assert not penalty.outside(gradient[:3], weights[:3], 1.2 * alpha, 1.2 * alpha).any()


def robust_loss(m=5, storage="dense"):
    elements = rs.score_elements("sqrt", CASES[0].draw(np.random.default_rng(3), 60, m))
    return elements.average(*rs.robust_weights(elements, 12), storage=storage)


def test_the_elastic_net_agrees_with_a_general_solver():
    loss, ratio, m = robust_loss(), 0.5, 5
    path = rs.solve_path(loss, 6, alpha_min_ratio=0.01, tol=1e-9, max_iter=100_000, penalty=ElasticNet(ratio))
    assert path.converged.all()
    assert path.n_edges[0] == 0
    assert 1 < path.n_edges[3] <= path.n_edges[-1]
    for k in (3, 5):
        K, eta = cp.Variable((m, m), symmetric=True), cp.Variable(m)
        objective = 0
        for j in range(m):
            z = cp.hstack([K[:, j], eta[j]])
            root = np.linalg.cholesky(loss.gamma[j] + 1e-14 * np.eye(m + 1))
            objective += 0.5 * cp.sum_squares(root.T @ z) - loss.g[j] @ z
        off = K - cp.diag(cp.diag(K))
        objective += path.alphas[k] * (ratio * cp.sum(cp.abs(off)) + (1 - ratio) / 2 * cp.sum_squares(off))
        tolerances = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-12)
        cp.Problem(cp.Minimize(objective)).solve(solver=cp.CLARABEL, **tolerances)
        scale = np.abs(K.value).max()
        np.testing.assert_allclose(path.interactions[k], K.value, atol=1e-5 * scale)
        np.testing.assert_allclose(path.locations[k], eta.value, atol=1e-5 * max(scale, np.abs(eta.value).max()))


@pytest.mark.parametrize("rule", ["symmetric", "or"])
def test_many_columns_have_the_same_penalties(penalty, rule):
    penalty = MCP(1e3) if isinstance(penalty, MCP) else penalty  # one minimum only
    how = {"rule": rule, "tol": 1e-9, "alpha_min_ratio": 0.05, "max_iter": 100_000, "penalty": penalty}
    whole, screened = (rs.solve_path(robust_loss(8, storage), 10, **how) for storage in ("dense", "matrix-free"))
    assert screened.alpha_max == pytest.approx(whole.alpha_max)
    assert screened.converged.all()
    np.testing.assert_allclose(screened.interactions, whole.interactions, atol=1e-6)
    assert whole.n_edges[-1] > 5


def test_mcp_is_the_minimum_found_by_brute_force_and_shrinks_large_parameters_less():
    rng = np.random.default_rng(4)
    A = rng.normal(size=(60, 3))
    gram, gamma = A.T @ A / 60, 4.0
    loss = StatisticLoss(gram, gram @ [2.0, 0.7, 0.0])
    assert np.linalg.eigvalsh(loss.gamma)[0] > 1 / gamma  # then there is one minimum
    penalty = MCP(gamma)
    path = rs.solve_path(loss, [0.3], tol=1e-10, penalty=penalty)

    def objective(theta):
        return loss.value(theta) + penalty.value(theta, np.ones(3), 0.3)

    starts = rng.normal(size=(20, 3))
    options = {"xatol": 1e-9, "fatol": 1e-13, "maxiter": 5000}
    found = [minimize(objective, start, method="Nelder-Mead", options=options) for start in starts]
    brute = min(found, key=lambda result: result.fun)
    np.testing.assert_allclose(path.thetas[0], brute.x, atol=1e-5)
    assert 0 < np.count_nonzero(path.thetas[0]) < 3
    assert path.thetas[0, 0] > rs.solve_path(loss, [0.3]).thetas[0, 0] + 0.1


def test_slow_problems_are_solved_on_their_support(penalty):
    rng = np.random.default_rng(5)
    A = rng.normal(size=(400, 20))
    A[:, 10:] = A[:, :10] + 0.01 * A[:, 10:]
    truth = np.where(np.arange(20) % 4 == 0, 2.0, 0.0) + rng.normal(size=20)
    loss = StatisticLoss(A.T @ A / 400, A.T @ (A @ truth) / 400)
    penalty = {L1: penalty, ElasticNet: ElasticNet(0.9999), MCP: MCP(1e6)}[type(penalty)]  # with little curvature
    path = rs.solve_path(loss, 8, alpha_min_ratio=1e-4, max_iter=100_000, penalty=penalty)
    assert path.converged.all()
    assert path.n_iter.max() > 24  # so that sweeps alone were not enough
    gradient = path.thetas @ loss.gamma - loss.g
    for theta, slope, alpha in zip(path.thetas, gradient, path.alphas, strict=True):
        away = theta != 0
        pull = penalty.slope(theta, np.ones(20), alpha)
        np.testing.assert_allclose(slope[away], -pull[away], atol=1.01e-6 * path.alpha_max)
        assert np.abs(slope[~away]).max(initial=0) <= penalty.kink(np.ones(1), alpha)[0] + 1.01e-6 * path.alpha_max
    assert np.count_nonzero(path.thetas[-1]) >= 5


def test_columns_that_nearly_determine_each_other_need_few_sweeps(penalty):
    """A table of one quantity, year after year: sweeps alone need thousands, and often end before the minimum."""
    rng = np.random.default_rng(0)
    walk = np.cumsum(0.005 * rng.normal(size=(120, 24)), axis=1)
    X = np.exp(0.3 * rng.normal(size=(120, 1)) + walk)
    loss = rs.score_elements("truncated-gaussian", X).average()
    penalty = {L1: penalty, ElasticNet: ElasticNet(0.9999), MCP: MCP(1e6)}[type(penalty)]
    path = rs.solve_path(loss, 30, penalty=penalty)
    assert path.converged.all()
    assert np.median(path.n_iter) < 40  # sweeps alone: about a hundred, and thousands at the slowest penalties
    assert path.n_edges.max() > 100


def test_a_penalty_that_grows_fast_enough_has_a_minimum_with_fewer_rows_than_columns():
    loss = rs.score_elements("sqrt", np.random.default_rng(0).gamma(1.0, size=(12, 25))).average()
    with pytest.warns(ConvergenceWarning):
        assert not rs.solve_path(loss, 15).converged.all()
    path = rs.solve_path(loss, 15, penalty=ElasticNet(0.5))
    assert path.converged.all()
    assert path.n_edges[-1] > 20


@pytest.mark.parametrize("given", ["l1", L1, 1.0])
def test_what_is_no_penalty_is_refused(given):
    with pytest.raises(ValueError, match=r"^penalty=.* is not an instance of robscore.solvers.penalties.Penalty"):
        rs.solve_path(robust_loss(), penalty=given)
    with pytest.raises(ValueError, match=r"^penalty=.* is not an instance"):
        rs.solve_path(StatisticLoss(np.eye(2), np.ones(2)), penalty=given)


CODE = """
import numpy as np, robscore as rs
from robscore.solvers.descent_kernels import descend_with
from robscore.solvers.penalties import L1
rs.solve_path(rs.score_elements("gaussian", np.random.default_rng(0).normal(size=(50, 4))).average(), 5)
print(*(sum(count.values()) for count in descend_with(L1).stats[1:]))
"""


def test_kernels_are_kept_on_disk():
    """What this process has compiled another finds there."""
    pytest.importorskip("numba")
    rs.solve_path(rs.score_elements("gaussian", np.random.default_rng(0).normal(size=(50, 4))).average(), 5)
    told = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True).stdout
    assert told.split() == ["1", "0"]


SHARE = 0.5


def test_kernels_that_depend_on_more_than_their_code_are_not_kept():
    pytest.importorskip("numba")
    from robscore.solvers.descent_kernels import descend_with

    class Half(L1):
        @staticmethod
        def prox(target, curvature, strength, parameters):
            threshold = SHARE * strength
            return max(target - threshold, 0.0) / curvature

    class Same(L1):
        pass

    names = {descend_with(kind).__name__ for kind in (L1, ElasticNet, MCP, Half)}
    assert len(names) == 4
    assert descend_with(Same).__name__ == descend_with(L1).__name__
    assert descend_with(Half).stats.cache_path is None
    assert descend_with(ElasticNet).stats.cache_path is not None


@pytest.mark.parametrize("m", [6, 160])
def test_a_tiny_weight_does_not_stretch_the_path(m):
    """A pair that is all but free is in every graph; the path starts where the others do."""
    X = np.random.default_rng(0).normal(size=(300, m)) @ (np.eye(m) + 0.5 * np.eye(m, k=1))
    loss = rs.score_elements("gaussian", X).average()
    weights = np.ones((m, m))
    plain = rs.solve_path(loss, 10, alpha_min_ratio=0.5, penalty_weights=weights)
    weights[0, 2] = weights[2, 0] = 1e-7
    light = rs.solve_path(loss, 10, alpha_min_ratio=0.5, penalty_weights=weights)
    weights[0, 2] = weights[2, 0] = 0.0
    free = rs.solve_path(loss, light.alphas, penalty_weights=weights)
    assert 0.5 * plain.alpha_max < light.alpha_max < 2 * plain.alpha_max
    assert light.converged.all()
    assert (light.n_edges == free.n_edges).all()
    np.testing.assert_allclose(light.interactions[-1], free.interactions[-1], atol=1e-4)
