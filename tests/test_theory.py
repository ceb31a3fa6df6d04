"""The paper's constants and guarantees, against numbers by hand, simulation, and the solver itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy

import robscore as rs
from robscore.losses import QuadraticLoss

T = rs.theory


@pytest.mark.parametrize(("alpha", "p"), [(0.25, 0.125), (0.4, 0.1), (0.1, 0.3)])
def test_psi_is_the_divergence_of_two_coins(alpha, p):
    assert T.psi(alpha, p) == pytest.approx(entropy([alpha, 1 - alpha], [p, 1 - p]))


def test_constants_at_no_contamination():
    # p = 1/8, alpha = 1/4: k = 1 / psi(1/4, 1/8), c = 2 * 3/4 / (1/2 sqrt(1/2) sqrt(psi)).
    psi = T.psi(0.25, 0.125)
    assert T.k_of_tau(0.0) == pytest.approx(1 / psi)
    assert T.c_of_tau(0.0) == pytest.approx(1.5 / (0.5 * np.sqrt(0.5) * np.sqrt(psi)))


def test_constants_grow_at_the_stated_rates_towards_one_half():
    taus = 0.5 - np.array([1e-2, 1e-3])
    k, c = (np.array([f(tau) for tau in taus]) for f in (T.k_of_tau, T.c_of_tau))
    assert np.log10(k[1] / k[0]) == pytest.approx(2, abs=0.05)
    assert np.log10(c[1] / c[0]) == pytest.approx(2.5, abs=0.05)


@pytest.mark.parametrize("n_bad", [1, 2, 5, 7, 29, 31, 100])
@pytest.mark.parametrize("tau", [0.1, 0.15, 0.2, 0.25, 0.29, 0.3, 0.4])
def test_the_corollarys_delta_allows_the_bad_rows(n_bad, tau):
    assert T.bad_rows_allowed(T.delta_for(n_bad, tau), tau) >= n_bad


def test_blocks_for_many_bad_rows_do_not_underflow():
    assert T.blocks_for_bad_rows(31, 0.2) == T.blocks_for(T.delta_for(31, 0.2), 0.2)
    assert T.blocks_for_bad_rows(100_000, 0.2) > 900_000
    assert T.bad_rows_allowed(1e-310, 0.1) > 1000


def test_constants_against_the_formulas_of_the_proof_at_another_tau():
    # tau = 0.3: p = 0.02, alpha = tau^2 + 1/4 = 0.34, (alpha - tau) / (1 - tau) = 4/70, C = 0.66 / sqrt(0.32).
    rate = 0.7 * T.psi(0.04 / 0.7, 0.02)
    assert T.k_of_tau(0.3) == pytest.approx(1 / rate)
    assert T.c_of_tau(0.3) == pytest.approx(0.66 / np.sqrt(0.32) * np.sqrt(2 / 0.02) / np.sqrt(rate))


def test_breakdown_points_are_those_of_the_estimator():
    X = np.random.default_rng(0).normal(size=(60, 2))
    n_bad = round(60 * T.breakdown_point(60, 11))
    for count, breaks in ((n_bad - 1, False), (n_bad, True)):
        dirty = X.copy()
        dirty[[int(block[0]) for block in rs.medians.make_blocks(60, 11)[:count]]] = 1e9
        assert (np.linalg.norm(rs.median_of_means(dirty, 11).median) > 1e5) == breaks


@pytest.mark.parametrize("tau", [0.0, 0.2])
def test_the_radius_holds_with_all_the_bad_rows_it_allows(tau):
    n, delta = 2000, 0.2
    K, n_bad = T.blocks_for(delta, tau), T.bad_rows_allowed(delta, tau)
    assert (n_bad > 0) == (tau > 0)
    radius = T.radius(delta, tau, trace=3 * 3.0, n=n)
    exceeded = 0
    for seed in range(40):
        X = np.random.default_rng(seed).standard_t(3, size=(n, 3))
        X[rs.simulate.choose_rows(n, n_bad / n, where="one-to-a-block", n_blocks=K, random_state=seed)] = 1e8
        exceeded += np.linalg.norm(rs.median_of_means(X, K).median) > radius
    assert exceeded <= 8


def test_the_lemma_with_a_vector_multiplier():
    n, delta, tau = 2000, 0.2, 0.1
    K = T.blocks_for(delta, tau)
    mean = np.array([1.0, -2.0, 3.0])
    bound = T.multiplier_bound(float(np.linalg.norm(mean)), 3.0, n, K)
    assert 0 < bound < 1
    radius = T.radius_with_multiplier(delta, tau, 3.0, n)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        median = rs.median_of_means(mean + rng.normal(size=(n, 3)), K).median
        assert np.abs((1 + bound * rng.uniform(-1, 1, 3)) * median - mean).max() <= radius


def test_moments_are_those_of_explicit_elements():
    from reference import exact_row_elements

    elements = rs.score_elements("gaussian", np.random.default_rng(0).normal(size=(30, 2)))
    found = T.moments(elements)
    for part, trace in ((0, found.gamma_trace), (1, found.g_trace)):
        rows = np.array([exact_row_elements(elements, i)[part] for i in range(30)])
        assert trace == pytest.approx(rows.var(axis=0).sum())
    assert found.gamma_norm == pytest.approx(np.linalg.norm(found.loss.gamma))


def random_truth(rng, m):
    """A model that satisfies the irrepresentability condition: blocks near the identity, a sparse symmetric K."""
    K = np.diag(rng.uniform(1.0, 2.0, m))
    i, j = rng.choice(m, size=2, replace=False)
    K[i, j] = K[j, i] = rng.choice([-1, 1]) * rng.uniform(0.3, 1.0)
    eta = np.where(rng.random(m) < 0.5, 0.0, rng.normal(size=m))
    noise = rng.normal(size=(m, m + 1, m + 1)) * 0.04
    gamma = np.eye(m + 1) + (noise + noise.transpose(0, 2, 1)) / 2
    z = np.concatenate([K, eta[None]]).T
    return K, eta, gamma, np.einsum("jkl,jl->jk", gamma, z)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_the_deterministic_core_of_theorem_4_3(seed):
    """Errors within eps_1 and eps_2 imply a support inside S_0 and the error bound."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(3, 7))
    K, eta, gamma, g = random_truth(rng, m)
    constants = T.guarantee(QuadraticLoss(gamma, g), K, eta)
    assert constants.irrepresentable
    error = constants.largest_gamma_error() * rng.uniform(0.1, 1.0)
    g_error = rng.uniform(0.0, 0.1)
    shake = rng.uniform(-1, 1, size=gamma.shape) * error * 0.999
    noisy = QuadraticLoss(
        gamma + (shake + shake.transpose(0, 2, 1)) / 2, g + rng.uniform(-1, 1, size=g.shape) * g_error * 0.999
    )
    alpha = 1.001 * constants.penalty_for_errors(error, g_error)
    path = rs.solve_path(
        noisy, [alpha], rule="and", penalize_diagonal=True, location_ratio=1.0, tol=1e-10, max_iter=100_000
    )
    found, location = path.interactions[0], path.locations[0]
    assert not found[K == 0].any()
    assert not location[eta == 0].any()
    largest = max(np.abs(found - K).max(), np.abs(location - eta).max())
    assert largest <= constants.error_bound(alpha) * (1 + 1e-6)


def test_half_of_the_error_bound_as_printed_does_not_hold():
    """Gamma is the identity and known exactly, g is off by just under a third of the penalty."""
    K, eta, gamma = np.eye(2), np.zeros(2), np.tile(np.eye(3), (2, 1, 1))
    g = np.concatenate([K, eta[None]]).T
    constants = T.guarantee(QuadraticLoss(gamma, g), K, eta)
    alpha = 1.001 * constants.penalty_for_errors(0.0, 0.1)
    off = g - 0.0999 * np.array([[1, 0, 0], [0, 1, 0]])
    found = rs.solve_path(
        QuadraticLoss(gamma, off), [alpha], rule="and", penalize_diagonal=True, location_ratio=1.0
    ).interactions[0]
    error = np.abs(found - K).max()
    assert constants.error_bound(alpha) / 2 < error <= constants.error_bound(alpha)


def test_where_the_condition_fails_there_is_no_guarantee():
    # For the first column the support is {1, 2}, uncorrelated, and the third is correlated .6 with both: I = 1.2.
    K, gamma = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]), np.tile(np.eye(4), (3, 1, 1))
    gamma[0, 2, :2] = gamma[0, :2, 2] = 0.6
    constants = T.guarantee(QuadraticLoss(gamma, np.zeros((3, 4))), K, np.zeros(3))
    assert constants.incoherence == pytest.approx(1.2)
    assert not constants.irrepresentable
    for call in (
        lambda: constants.rows_needed(0.1, 0.1, 1.0),
        lambda: constants.penalty_needed(0.1, 0.1, 1.0, 1.0, 100),
        lambda: constants.error_bound(1.0),
    ):
        with pytest.raises(ValueError, match="no guarantee"):
            call()


def test_bounds_grow_as_they_should():
    rng = np.random.default_rng(1)
    K, eta, gamma, g = random_truth(rng, 4)
    constants = T.guarantee(QuadraticLoss(gamma, g), K, eta)
    assert constants.d_theta == int(((np.concatenate([K, eta[None]]) != 0).sum(axis=0)).max())
    assert constants.rows_needed(0.1, 0.2, 1.0) > constants.rows_needed(0.1, 0.0, 1.0)
    assert constants.penalty_needed(0.1, 0.0, 1.0, 1.0, 4000) == pytest.approx(
        constants.penalty_needed(0.1, 0.0, 1.0, 1.0, 1000) / 2
    )


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: T.k_of_tau(0.5), "tau=0.5"),
        (lambda: T.blocks_for(0.0, 0.1), "delta=0.0"),
        (lambda: T.radius(0.01, 0.3, 1.0, 100), "too few"),
        (lambda: T.psi(0.0, 0.5), "alpha=0.0"),
        (lambda: T.delta_for(3, 0.0), "tau=0.0"),
        (lambda: T.multiplier_bound(1.0, 0.0, 10, 2), "trace=0.0"),
        (lambda: T.moments(rs.score_elements(rs.families.univariate.Normal(), np.eye(3)[:, :1])), "statistics only"),
    ],
)
def test_bad_arguments(call, match):
    with pytest.raises((ValueError, TypeError), match=match):
        call()
