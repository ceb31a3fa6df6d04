"""Families given by their statistics: against the built-in families, integrals, and distributions of scipy."""

import cvxpy as cp
import jax.numpy as jnp
import numpy as np
import pytest
from reference import duplication, full_gamma
from registry import CASES, STATISTICS
from scipy import stats
from scipy.integrate import quad

import robscore as rs
from robscore.families.power import PowerFamily

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


BUILT_IN = [case for case in CASES if isinstance(case.family, PowerFamily | F.Simplex)]


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


@pytest.mark.parametrize("case", [c for c in BUILT_IN if isinstance(c.family, PowerFamily)], ids=str)
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

    def gradient(x, k):
        loss = family.elements(np.array([[x]])).average()
        return density(x) * (loss.gamma @ theta - loss.g)[k]

    total = quad(density, low, high, limit=200)[0]
    for k in range(theta.size):
        value = quad(gradient, low, high, args=(k,), limit=200, points=[1.0])[0] / total
        size = quad(lambda x, k=k: abs(gradient(x, k)), low, high, limit=200, points=[1.0])[0] / total
        assert abs(value) < 1e-5 * size


@pytest.mark.parametrize(
    ("family", "distribution", "expected"),
    [
        (F.univariate.Normal(), stats.norm(3, 2), {"mean": 3, "variance": 4}),
        (F.univariate.TruncatedNormal(), stats.truncnorm(-1, np.inf, 1, 1), {"mean": 1, "variance": 1}),
        (F.univariate.Gamma(), stats.gamma(2.5, scale=1 / 3), {"shape": 2.5, "rate": 3}),
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
    family = F.univariate.Gamma()
    classic, robust = (family.parameters(rs.RobustScoreMatching(family, n_blocks=k).fit(X).theta_) for k in (1, 20))
    assert abs(classic["shape"] - 2) > 0.9
    assert abs(robust["shape"] - 2) < 0.6


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


def test_statistics_without_interactions_have_no_graph_and_their_own_options():
    family = F.univariate.Normal()
    X = np.random.default_rng(0).normal(size=(50, 1))
    with pytest.raises(ValueError, match="no graph to learn; use RobustScoreMatching"):
        rs.RobustGraph(family).fit(X)
    loss = rs.score_elements(family, X).average()
    with pytest.raises(ValueError, match="rule='and' is for pairwise families"):
        rs.solve_path(loss, rule="and")
    with pytest.raises(ValueError, match="penalty_weights must be 2 numbers"):
        rs.solve_path(loss, penalty_weights=[1.0])
    model = rs.RobustScoreMatching(family, n_blocks=10).fit(X)
    assert not hasattr(model, "interaction_")
    assert np.isfinite(model.score(X))


# Bad input ------------------------------------------------------------------------------------------------------

X2 = np.random.default_rng(0).normal(size=(30, 2))


def hand(first, second):
    return {"derivatives": (first, second)}


def square(x):
    return np.array([x[0] ** 2, x[1]])


def square_first(X):
    first = np.zeros((*X.shape, 2))
    first[:, 0, 0], first[:, 1, 1] = 2 * X[:, 0], 1
    return first


def square_second(X):
    second = np.zeros((*X.shape, 2))
    second[:, 0, 0] = 2
    return second


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: F.ExponentialFamily(lambda x: jnp.stack([x[0], 0 * x[1] + 3])), "Statistic 1 of t is constant"),
        (lambda: F.ExponentialFamily(lambda x: x[0]), r"one-dimensional array of real statistics.*got shape \(\)"),
        (lambda: F.ExponentialFamily(lambda x: jnp.outer(x, x)), r"got shape \(2, 2\)"),
        (
            lambda: F.ExponentialFamily(lambda x: jnp.sqrt(x)),
            r"Statistic \d has no finite first derivative in column 0",
        ),
        (lambda: F.ExponentialFamily(lambda x: np.tanh(x)), "Write it with jax.numpy instead of numpy"),
        (lambda: F.ExponentialFamily(lambda x: jnp.floor(x)), "constant on these data"),
        (lambda: F.ExponentialFamily(square, **hand(lambda X: X, square_second)), "must have shape"),
        (
            lambda: F.ExponentialFamily(square, **hand(square_second, square_second)),
            "not right: first in column 0, statistic 0",
        ),
        (lambda: F.ExponentialFamily(lambda x: x, base=lambda x: x), "base must give one number a row"),
        (lambda: F.Pairwise(lambda x, y: x - y, lambda x: x), "t_pair must be symmetric"),
        (lambda: F.Pairwise(lambda x, y: jnp.sqrt(x) * jnp.sqrt(y), lambda x: x), "no finite first derivative"),
        (lambda: F.Pairwise(lambda x, y: x * y, lambda x: 3.0 + 0 * x), "t_single is constant"),
        (
            lambda: F.Pairwise(lambda x, y: (x + y) * jnp.ones(2), lambda x: x),
            "one number for two values",
        ),
        (lambda: F.univariate.Normal(), "one column; the data have 2"),
        (lambda: F.Simplex(), "do not sum to one"),
    ],
)
def test_statistics_that_cannot_be_used(make, match):
    with pytest.raises((ValueError, TypeError), match=match):
        rs.score_elements(make(), np.abs(X2) if "sum to one" in match else X2)


def test_exact_zeros_in_compositions_are_refused_with_a_remedy():
    X = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])
    with pytest.raises(ValueError, match=r"are zero.*add a small count.*'x2' has 1 \(first in row 0\)"):
        rs.score_elements("simplex", X)


def half(first, second):
    return {"pair": (first, second), "single": (np.ones_like, np.zeros_like), "self": (lambda x: x, np.ones_like)}


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: F.ExponentialFamily(square, **hand(square_first, square_first)), "second in column 0"),
        (
            lambda: F.ExponentialFamily(
                square, **hand(square_first, square_second), base=lambda x: x[0], base_derivative=lambda X: 0 * X
            ),
            "base_derivative in column 0",
        ),
        (
            lambda: F.Pairwise(
                lambda x, y: x * y,
                lambda x: x,
                t_self=lambda x: x**2 / 2,
                derivatives=half(lambda x, y: y, lambda x, y: 0 * y),
            ),
            "first of t_pair",
        ),
        (
            lambda: F.Pairwise(
                lambda x, y: x * y,
                lambda x: x,
                t_self=lambda x: x**2 / 2,
                derivatives=half(lambda x, y: x, lambda x, y: x),
            ),
            "second of t_pair",
        ),
    ],
)
def test_wrong_derivatives_by_hand_are_found_out(make, match):
    with pytest.raises(ValueError, match=f"not right: {match}"):
        rs.score_elements(make(), X2)


@pytest.mark.parametrize(
    ("t", "first", "second", "X", "domain"),
    [
        (
            lambda x: np.array([(x[0] + x[1]) ** 2]),
            lambda s: 2 * s,
            lambda s: 2 + 0 * s,
            [[0.0, 1e5], [1.0, 2e5]],
            None,
        ),
        (lambda x: np.array([np.sin(x[0])]), np.cos, lambda s: -np.sin(s), [[1e5], [2e5]], None),
        (
            lambda x: np.array([np.log(1 - x[0])]),
            lambda s: -1 / (1 - s),
            lambda s: -1 / (1 - s) ** 2,
            [[1 - 3e-5], [0.5]],
            D.Box(0.0, 1.0),
        ),
    ],
)
def test_right_derivatives_by_hand_are_taken_in_awkward_places(t, first, second, X, domain):
    def of_all(f):
        return lambda X: np.repeat(f(X.sum(axis=1, keepdims=True))[:, :, None], X.shape[1], axis=1)

    family = F.ExponentialFamily(t, derivatives=(of_all(first), of_all(second)), domain=domain)
    assert rs.score_elements(family, X).n_rows == 2


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


def test_families_without_a_graph_have_no_location_to_leave_out():
    with pytest.raises(ValueError, match="no location to leave out"):
        rs.RobustScoreMatching(F.univariate.Normal(), fit_location=False).fit(X2[:, :1])
    X = np.random.default_rng(0).dirichlet([2, 2, 2], size=50)
    with pytest.raises(ValueError, match="penalize_diagonal=True"):
        rs.RobustGraph(F.Simplex(zero_sums=True), penalize_diagonal=True).fit(X)


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


@pytest.mark.parametrize(
    ("family", "m"),
    [
        (F.ExponentialFamily(lambda x: jnp.stack([x[0], x[1], x[0] + x[1]])), 2),
        (F.ExponentialFamily(lambda x: jnp.stack([x[0], 0 * x[1]])), 2),
        (F.Pairwise(lambda x, y: x * y, lambda x: x**2), 3),
    ],
)
def test_statistics_that_determine_each_other_are_never_identifiable(family, m):
    said = rs.check_identifiable(family, 1000, m)
    assert not said.exists
    assert "leave" in said.words


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: F.ExponentialFamily(square, derivatives=square_first), "two functions"),
        (lambda: F.ExponentialFamily(square, base_derivative=square_first), "without base"),
        (lambda: F.LogLog(domain=D.Simplex()), "rs.families.Simplex"),
        (lambda: F.univariate.Gamma(domain=D.Real()), "above zero"),
        (lambda: F.Simplex(zero_sums="no"), "True or False"),
        (lambda: rs.check_identifiable("sqrt", 10.5, 2), "n=10.5"),
        (lambda: rs.check_identifiable("simplex", 100, 1), "at least 2 columns"),
        (lambda: F.ExponentialFamily(3), "must be a function"),
        (lambda: F.ExponentialFamily(square, derivatives=(square_first,)), "two functions"),
        (lambda: F.ExponentialFamily(square, domain="R"), "object of rs.domains"),
        (lambda: F.ExponentialFamily(square, boundary=2), "object of rs.boundary"),
        (lambda: F.Pairwise(square, 1), "t_single=1 must be a function"),
        (lambda: F.Pairwise(square, square, derivatives={"pair": ()}), "the keys 'pair', 'single' and 'self'"),
        (lambda: F.univariate.Weibull(-1), "shape=-1 must be positive"),
        (lambda: D.Simplex() & D.Real(), "cannot be joined"),
    ],
)
def test_arguments_that_make_no_sense(make, match):
    with pytest.raises((ValueError, TypeError), match=match):
        make()


def test_without_jax_and_without_derivatives_the_error_names_both_ways_out(monkeypatch):
    for module in ("exponential", "pairwise"):
        monkeypatch.setattr(f"robscore.families.{module}.have_jax", lambda: False)
    with pytest.raises(ImportError, match=r"robscore\[autodiff\]'.*derivatives=\(first, second\)"):
        F.ExponentialFamily(square)
    with pytest.raises(ImportError, match=r"robscore\[autodiff\]'.*base_derivative="):
        F.ExponentialFamily(square, derivatives=(square_first, square_second), base=lambda x: x[0])
    with pytest.raises(ImportError, match=r"robscore\[autodiff\]'.*derivatives="):
        F.Pairwise(lambda x, y: x * y, lambda x: x)
    assert rs.score_elements(F.ExponentialFamily(square, derivatives=(square_first, square_second)), X2).n_rows == 30


def test_linearly_dependent_statistics_say_so():
    family = F.ExponentialFamily(lambda x: jnp.stack([x[0], x[1], x[0] + x[1]]))
    with pytest.raises(ValueError, match="statistics are linearly dependent"):
        rs.RobustScoreMatching(family, n_blocks=1).fit(X2)


def test_rows_needed_by_statistics_are_counted_from_their_derivatives():
    case = STATISTICS[-1]
    assert rs.check_identifiable(case.family, 3, 2).exists is False
    assert rs.check_identifiable(case.family, 4, 2).exists is True
