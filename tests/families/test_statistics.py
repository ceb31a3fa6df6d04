"""Families given by their statistics: against the built-in families, integrals, and distributions of scipy."""

from itertools import pairwise

import cvxpy as cp
import jax.numpy as jnp
import numpy as np
import pytest
from reference import duplication, full_gamma
from registry import CASES, STATISTICS
from scipy import stats
from scipy.special import expit

import robscore as rs

F, B, D = rs.families, rs.boundary, rs.domains


def power(x, exponent):
    return x**exponent / exponent if exponent else jnp.log(x)


def power_statistics(a, b):
    """t of a power family: K's upper triangle row by row, then eta."""

    def t(x):
        m = x.shape[0]
        pairs = [
            -(a or 1.0) * power(x[i], a) * power(x[j], a) / (2 if i == j else 1) for i in range(m) for j in range(i, m)
        ]
        return jnp.stack(pairs + [power(x[j], b) for j in range(m)])

    return t


def simplex_statistics(zero_sums):
    """The same on the simplex, as a function of all but the last part; with zero sums the diagonal is not free."""

    def t(y):
        u = jnp.log(jnp.append(y, 1 - y.sum()))
        m = u.shape[0]
        if zero_sums:
            pairs = [0.5 * (u[i] - u[j]) ** 2 for i in range(m) for j in range(i + 1, m)]
        else:
            pairs = [-u[i] * u[j] / (2 if i == j else 1) for i in range(m) for j in range(i, m)]
        return jnp.stack(pairs + [u[j] for j in range(m)])

    return t


def by_autodiff(case, X):
    """The same family from its statistics alone, and its rows."""
    family = case.family.resolved(X)
    if isinstance(family, F.Simplex):
        domain = D.NonNegative() & D.Inequality(1.0, "<=", 1.0)
        t = simplex_statistics(family.zero_sums)
        return F.ExponentialFamily(t, domain=domain, boundary=family.boundary), X[:, :-1]
    t = power_statistics(family.a, family.b)
    return F.ExponentialFamily(t, domain=family.domain, boundary=family.boundary), X


BUILT_IN = [case for case in CASES if hasattr(case.family, "a")]


@pytest.mark.long
@pytest.mark.parametrize("case", BUILT_IN, ids=str)
def test_autodiff_gives_the_elements_and_the_estimate_of_the_built_in_families(case):
    X = case.draw(np.random.default_rng(0), 60, 3)
    loss = rs.score_elements(case.family, X).average()
    D = duplication(3, zero_sums=loss.zero_sums)
    family, rows = by_autodiff(case, X)
    other = rs.score_elements(family, rows).average()
    gamma, g = D.T @ full_gamma(loss) @ D, D.T @ loss.g.ravel()
    np.testing.assert_allclose(other.gamma, gamma, rtol=1e-9, atol=1e-9 * np.abs(gamma).max())
    np.testing.assert_allclose(other.g, g, rtol=1e-9, atol=1e-9 * np.abs(g).max())
    theirs = rs.RobustScoreMatching(case.family, n_blocks=1, scale=None).fit(X)
    ours = rs.RobustScoreMatching(family, n_blocks=1).fit(rows)
    expected = theirs.theta_
    if loss.zero_sums:
        expected = np.append(theirs.interaction_[np.triu_indices(3, k=1)], theirs.location_)
    np.testing.assert_allclose(ours.theta_, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def as_pairwise(case, X):
    family = case.family.resolved(X)
    a, b = family.a, family.b
    return F.Pairwise(
        lambda x, y: (a or 1.0) * power(x, a) * power(y, a),
        lambda x: -power(x, b),
        t_self=lambda x: (a or 1.0) * power(x, a) ** 2 / 2,
        domain=family.domain,
        boundary=family.boundary,
    )


@pytest.mark.parametrize("case", [c for c in BUILT_IN if hasattr(c.family, "a")], ids=str)
def test_pairwise_statistics_give_the_elements_and_weights_of_the_power_families(case):
    X = case.draw(np.random.default_rng(1), 40, 3)
    ours, theirs = (rs.score_elements(family, X) for family in (as_pairwise(case, X), case.family))
    for part in ("gamma", "g"):
        expected = getattr(theirs.average(), part)
        np.testing.assert_allclose(
            getattr(ours.average(), part), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max()
        )
    for n_blocks in (5, 13, 40):
        for mine, other in zip(rs.robust_weights(ours, n_blocks), rs.robust_weights(theirs, n_blocks), strict=True):
            np.testing.assert_allclose(mine, other, atol=1e-9)


@pytest.mark.long
def test_a_graph_of_user_given_statistics_is_found():
    """Rows from a density that no built-in family has, with one edge."""
    family = F.Pairwise(
        lambda x, y: -jnp.tanh(x) * jnp.tanh(y), lambda x: -x, t_self=lambda x: x**2 / 2, domain=D.Real()
    )
    K = np.diag([1.0, 1.2, 0.8, 1.0])
    K[0, 1] = K[1, 0] = 2.0
    X = rs.simulate.sample(family, K, np.zeros(4), n_rows=1500, burn_in=40, random_state=0)
    X[:30] = 30.0
    graph = rs.RobustGraph(family, n_edges=1, contamination=0.05).fit(X)
    assert np.argwhere(np.triu(graph.graph_.adjacency)).tolist() == [[0, 1]]
    model = rs.RobustScoreMatching(family).fit(X)
    assert model.interaction_[0, 1] == pytest.approx(2.0, abs=0.5)


DENSITIES = {
    "normal": (np.array([1.0, -0.5]), (-8, 10)),
    "truncated normal": (np.array([0.8, -0.6]), (0, 12)),
    "truncated normal in a box": (np.array([0.8, -0.6]), (-1, 2)),
    "univariate gamma": (np.array([0.3, -1.2]), (0, 60)),
    "exponential": (np.array([-0.7]), (0, 80)),
    "Weibull 0.7": (np.array([-1.3]), (0, 400)),
    "Weibull 2.5": (np.array([-0.9]), (0, 12)),
}


@pytest.mark.parametrize("case", [case for case in STATISTICS if case.name in DENSITIES], ids=str)
def test_at_the_true_parameter_the_expected_gradient_is_zero_in_one_dimension(case):
    theta, (low, high) = DENSITIES[case.name]
    family = case.family

    def density(x):
        base = float(family.base(np.array([x]))) if family.base else 0.0
        return np.exp(family.t(np.array([x])) @ theta + base)

    kinks = [low, *(kink for kink in (0.0, 0.5, 1.0) if low < kink < high), high]  # of the boundary's weight
    nodes, widths = np.hstack([tanh_sinh(*part) for part in pairwise(kinks)])
    mass = widths * [density(x) for x in nodes]
    loss = family.elements(nodes[:, None]).average(*2 * (mass / mass.sum(),))
    assert (np.abs(loss.gamma @ theta - loss.g) < 1e-5 * (np.abs(loss.gamma) @ np.abs(theta))).all()


def tanh_sinh(low, high):
    """Nodes and weights that integrate what is smooth between the ends, and singular at them."""
    t = np.linspace(-3.2, 3.2, 129)
    share = expit(np.pi * np.sinh(t))
    return low + (high - low) * share, (high - low) * np.pi * np.cosh(t) * share * expit(-np.pi * np.sinh(t))


@pytest.mark.parametrize(
    ("family", "distribution", "expected"),
    [
        (F.univariate.Normal(), stats.norm(3, 2), {"mean": 3, "variance": 4}),
        (F.univariate.TruncatedNormal(), stats.truncnorm(-1, np.inf, 1, 1), {"mean": 1, "variance": 1}),
        (F.univariate.UnivariateGamma(), stats.gamma(2.5, scale=1 / 3), {"shape": 2.5, "rate": 3}),
        (F.univariate.Exponential(), stats.expon(scale=0.25), {"rate": 4}),
        (F.univariate.Weibull(1.7), stats.weibull_min(1.7, scale=2.0), {"shape": 1.7, "scale": 2}),
    ],
    ids=lambda value: repr(value) if isinstance(value, rs.families.Family) else "",
)
@pytest.mark.parametrize(("bad", "n_blocks", "accuracy"), [(0, 1, 0.06), (200, 1000, 0.35)])
def test_parameters_of_known_distributions_are_found(family, distribution, expected, bad, n_blocks, accuracy):
    X = distribution.rvs(size=(10_000, 1), random_state=np.random.default_rng(0))
    X[:: 10_000 // bad if bad else 20_000][:bad] = 1e5
    found = family.parameters(rs.RobustScoreMatching(family, n_blocks=n_blocks).fit(X).theta_)
    assert found == pytest.approx(expected, rel=accuracy)


def test_one_bad_row_ruins_the_classic_estimate_only():
    X = np.random.default_rng(0).gamma(2.0, size=(500, 1))
    X[0] = 1e6
    family = F.univariate.UnivariateGamma(boundary=rs.boundary.Power(2.0))
    classic, robust = (family.parameters(rs.RobustScoreMatching(family, n_blocks=k).fit(X).theta_) for k in (1, 20))
    assert abs(classic["shape"] - 2) > 0.9
    assert abs(robust["shape"] - 2) < 0.6


def test_the_default_weight_of_gamma_is_more_accurate_than_a_square():
    errors = []
    for seed in range(40):
        X = np.random.default_rng(seed).gamma(0.7, size=(300, 1))
        families = F.univariate.UnivariateGamma(), F.univariate.UnivariateGamma(boundary=rs.boundary.Power(2.0))
        thetas = [rs.RobustScoreMatching(family, n_blocks=1).fit(X).theta_ for family in families]
        errors.append(
            [np.log(family.parameters(theta)["shape"] / 0.7) for family, theta in zip(families, thetas, strict=True)]
        )
    ours, square = np.sqrt(np.mean(np.square(errors), axis=0))
    assert ours < 0.8 * square


def test_the_l1_path_of_statistics_agrees_with_a_general_solver():
    case = STATISTICS[-1]
    elements = rs.score_elements(case.family, case.draw(np.random.default_rng(0), 200, 2))
    loss = elements.average(*rs.robust_weights(elements, 40))
    weights = np.array([1.0, 0.0, 2.0, 1.0, 0.5])
    path = rs.solve_path(loss, 6, penalty_weights=weights, tol=1e-10, diagonal_multiplier=0.1)
    assert path.converged.all()
    assert not path.thetas[0][weights > 0].any()
    gamma = loss.gamma + 0.1 * np.diag(loss.gamma.diagonal())
    for alpha, ours in zip(path.alphas, path.thetas, strict=True):
        theta = cp.Variable(5)
        root = np.linalg.cholesky(gamma)
        objective = 0.5 * cp.sum_squares(root.T @ theta) - loss.g @ theta + alpha * weights @ cp.abs(theta)
        cp.Problem(cp.Minimize(objective)).solve(solver=cp.CLARABEL)
        np.testing.assert_allclose(ours, theta.value, atol=1e-4)
        slope = gamma @ ours - loss.g
        excess = np.where(ours == 0, np.abs(slope) - alpha * weights, np.abs(slope + np.sign(ours) * alpha * weights))
        assert excess.max() < 1e-9 * path.alpha_max
    assert loss.value(path.thetas[-1]) < loss.value(path.thetas[0])


X2 = np.random.default_rng(0).normal(size=(30, 2))


def test_one_extreme_row_gets_weight_zero():
    X = np.random.default_rng(0).weibull(3.0, size=(100, 1))
    X[17] = 1e200
    model = rs.RobustScoreMatching(F.univariate.Weibull(3), n_blocks=25).fit(X)
    assert model.row_weights_[17].tolist() == [0, 0]
    family = F.ExponentialFamily(lambda x: jnp.stack([x[0], jnp.exp(x[0]), x[0] ** 2]))
    Y = np.random.default_rng(0).normal(size=(100, 1))
    Y[3] = 1e3
    model = rs.RobustScoreMatching(family, n_blocks=25).fit(Y)
    assert model.row_weights_[3].tolist() == [0, 0]
    with pytest.raises(ValueError, match="so near a boundary"):
        rs.RobustScoreMatching(family, n_blocks=1).fit(Y)


def test_rows_at_which_a_statistic_is_flat_can_be_scored():
    family = F.ExponentialFamily(lambda x: jnp.stack([x[0] ** 2, x[0] ** 4]))
    model = rs.RobustScoreMatching(family, n_blocks=1).fit(X2[:, :1])
    assert np.isfinite(model.row_losses([[0.0], [0.0]])).all()


@pytest.mark.parametrize(
    "options", [{"fit_location": False}, {"location_ratio": 2.0}, {"rule": "or"}, {"reweight": True}]
)
def test_graphs_of_compositions_with_every_option(options):
    X = rs.simulate.sample(
        F.Simplex(zero_sums=True), 3 * np.eye(4) - 0.75, np.ones(4), n_rows=200, burn_in=30, random_state=0
    )
    for zero_sums in (False, True):
        model = rs.RobustGraph(F.Simplex(zero_sums=zero_sums), n_blocks=10, alphas=20, **options).fit(X)
        assert np.isfinite(model.interaction_).all()
        if zero_sums:
            np.testing.assert_allclose(model.interaction_.sum(axis=0), 0, atol=1e-9)


def test_rows_needed_by_statistics_are_counted_from_their_derivatives():
    case = STATISTICS[-1]
    assert rs.check_identifiable(case.family, 3, 2).exists is False
    assert rs.check_identifiable(case.family, 4, 2).exists is True
