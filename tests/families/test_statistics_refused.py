"""Statistics that cannot be used, and derivatives that are wrong: refused with the reason and a remedy."""

import jax.numpy as jnp
import numpy as np
import pytest

import robscore as rs

F, B, D = rs.families, rs.boundary, rs.domains
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


def half(first, second):
    return {"pair": (first, second), "single": (np.ones_like, np.zeros_like), "self": (lambda x: x, np.ones_like)}


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
            "are wrong: first in column 0, statistic 0",
        ),
        (lambda: F.ExponentialFamily(lambda x: x, base=lambda x: x), "base must give one number per row"),
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
    with pytest.raises(ValueError, match=f"are wrong: {match}"):
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


def test_families_without_a_graph_have_no_location_to_leave_out():
    with pytest.raises(ValueError, match="no location to leave out"):
        rs.RobustScoreMatching(F.univariate.Normal(), fit_location=False).fit(X2[:, :1])
    X = np.random.default_rng(0).dirichlet([2, 2, 2], size=50)
    with pytest.raises(ValueError, match="penalize_diagonal=True"):
        rs.RobustGraph(F.Simplex(zero_sums=True), penalize_diagonal=True).fit(X)


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
        (lambda: F.univariate.UnivariateGamma(domain=D.Real()), "above zero"),
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
    monkeypatch.setattr("robscore.families.custom_statistics.have_jax", lambda: False)
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
