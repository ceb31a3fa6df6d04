"""Whether there is any edge at all, by putting columns in other orders."""

import numpy as np
import pytest

import robscore as rs
from robscore.selection.edge_odds import AnyEdge, Odds, _spread, _sums
from robscore.weighting import RowWeights, WeightedRows

IN_DOUBT = Odds(np.zeros(0), 1.0, 1.0)
FAMILIES = ["gaussian", "sqrt", "gamma", "truncated-gaussian", "log-log"]


def asked(family, X, weights=None, seed=0, exchangeable=True, **options):
    elements = rs.score_elements(family, X)
    equal = np.full(len(X), 1 / len(X))
    weights = RowWeights(equal, equal) if weights is None else weights
    loss = weights.loss(elements)
    path = rs.solve_path(loss, 3, **options)
    pairs = np.triu_indices(X.shape[1], k=1)
    return AnyEdge(loss, path, WeightedRows.of(elements, weights), pairs, exchangeable=exchangeable, seed=seed)


def independent(family, seed, n=150, m=12):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, m)) if family == "gaussian" else rng.gamma(0.8, size=(n, m)) + 0.05


@pytest.mark.parametrize("family", FAMILIES)
def test_independent_columns_with_any_tails_pass_as_often_as_stated(family):
    """At a level of 5 %: of 40 tables more than 7 would be a chance of one in 500."""
    found = [asked(family, independent(family, seed), seed=seed).according_to(IN_DOUBT) for seed in range(40)]
    assert np.sum(found) <= 7


@pytest.mark.parametrize("family", ["gaussian", "sqrt"])
def test_many_weak_edges_are_seen(family):
    """A chain so weak that hardly a pair stands out alone."""
    truth = rs.simulate.shaped_model("chain", 20, random_state=1)
    weak = np.where(np.eye(20, dtype=bool), truth.interaction, 0.45 * truth.interaction)
    X = rs.simulate.sample(family, weak, truth.location, n_rows=250, random_state=2)
    assert asked(family, X).according_to(IN_DOUBT)


def test_no_order_is_asked_where_there_is_no_doubt():
    question = asked("sqrt", independent("sqrt", 0))
    assert question.according_to(Odds(np.zeros(0), 5.0, 30.0))
    assert not question.according_to(Odds(np.zeros(0), 0.0, 0.0))
    assert "_in_any_order" not in vars(question)


def test_a_series_and_compositions_go_by_the_gain_alone():
    X = independent("gamma", 0)
    parts = X / X.sum(axis=1, keepdims=True)
    for question in (asked("gamma", X, exchangeable=False), asked("simplex", parts)):
        assert not question.according_to(IN_DOUBT)
        assert question.according_to(Odds(np.zeros(0), 1.0, 2.0))


def test_domains_that_join_columns_have_no_other_orders():
    region = rs.domains.Inequality(np.ones(3), "<=", 20.0) & rs.domains.NonNegative()
    X = independent("gamma", 1, m=3)
    elements = rs.score_elements(rs.families.TruncatedGaussian(domain=region), X)
    assert elements.gradient_factors(np.eye(3), np.zeros(3)) is None
    assert rs.score_elements("truncated-gaussian", X).gradient_factors(np.eye(3), np.zeros(3)) is not None


@pytest.mark.parametrize("family", FAMILIES)
def test_factors_multiply_to_the_gradients_of_rows(family):
    X = independent(family, 3, n=20, m=4)
    elements, K = rs.score_elements(family, X), np.diag([1.0, 2.0, 0.5, 1.5])
    eta = np.array([0.1, -0.2, 0.3, 0.0])
    u, T = elements.gradient_factors(K, eta)
    rows, nodes = np.nonzero(~np.eye(4, dtype=bool))
    gradients = elements.row_gradients(K, eta, rows, nodes, symmetric=False)
    np.testing.assert_allclose(u[:, rows] * T[:, nodes], gradients, rtol=1e-12)


def test_the_spread_is_that_over_all_orders():
    rng = np.random.default_rng(0)
    u, T = rng.gamma(1.0, size=(30, 2)), rng.normal(size=(30, 2))
    T += u
    u, T = u - u.mean(axis=0), T - T.mean(axis=0)
    orders = [rng.permutation(30) for _ in range(20_000)]
    S = [_sums(*(np.column_stack([part[:, 0], part[order, 1]]) for part in (u, T)))[0, 1] for order in orders]
    assert np.std(S) == pytest.approx(_spread(u, T)[0, 1], rel=0.02)


def test_orders_of_rows_and_columns_and_whole_frequencies_do_not_matter():
    """The same orders are tried, so that not even a doubtful answer changes."""
    rng = np.random.default_rng(4)
    for seed in range(6):
        X = independent("sqrt", seed, n=60, m=6)
        X[:, 1] += 0.25 * X[:, 0]
        answer = asked("sqrt", X).according_to(IN_DOUBT)
        moved = X[rng.permutation(60)][:, rng.permutation(6)]
        assert asked("sqrt", moved).according_to(IN_DOUBT) == answer
        twice = np.concatenate([X, X[:20]])
        frequency = np.where(np.arange(60) < 20, 2.0, 1.0)
        weighted = RowWeights(frequency / 80, frequency / 80, frequency=frequency)
        assert asked("sqrt", X, weighted).according_to(IN_DOUBT) == asked("sqrt", twice).according_to(IN_DOUBT)
