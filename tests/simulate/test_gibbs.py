"""Draws from conditionals and Gibbs sweeps, against densities and literal chains."""

import numpy as np
import pytest
from scipy.stats import kstest

from robscore.families.samplers import gibbs, gibbs_kernels

K = np.array([[1.0, -0.4, 0.0, 0.2], [-0.4, 1.2, 0.3, 0.0], [0.0, 0.3, 0.8, -0.2], [0.2, 0.0, -0.2, 1.5]])
ETA = np.array([0.5, -0.5, 1.0, 0.0])
P = np.array([1.0, -0.4, 0.0, 2.5])


def shares_below(draws, c, p):
    """The share of the density t^p exp(-(t - c)^2) below each draw; for p < 0 in u = t^(p + 1), without a spike."""
    bent = min(p, 0.0) + 1
    u = np.linspace(0, 1.2 * draws.max() ** bent, 200_001)[1:]
    t = u ** (1 / bent)
    log_density = max(p, 0.0) * np.log(t) - t * t + 2 * c * t  # up to a constant that may be enormous
    below = np.cumsum(np.exp(log_density - log_density.max()))
    return np.interp(draws**bent, u, below / below[-1])


@pytest.mark.parametrize("p", [-0.9, -0.5, 0.0, 0.5, 1.0, 3.0, 40.0])
@pytest.mark.parametrize("c", [-1e9, -20.0, -3.0, 0.0, 0.2, 0.21, 0.79, 0.81, 2.0, 8.0])
def test_conditional_draws_are_exact(c, p):
    many = gibbs.draw_conditionals(np.full(5_000, c), np.full(5_000, p), np.random.default_rng(0))
    rng = np.random.default_rng(1)
    one_by_one = np.array([gibbs_kernels.draw_conditional(c, p, rng) for _ in range(5_000)])
    for draws in (many, one_by_one):
        assert (draws > 0).all()
        assert kstest(shares_below(draws, c, p), "uniform").pvalue > 1e-4


def test_conditional_draws_of_many_kinds_at_once():
    """Each entry has its own c and p, and so its own envelope."""
    c, p = (values.ravel() for values in np.meshgrid([-3.0, 0.1, 1.0, 5.0], [-0.7, 0.0, 1.0, 6.0]))
    draws = gibbs.draw_conditionals(np.repeat(c, 2_000), np.repeat(p, 2_000), np.random.default_rng(2))
    for k, part in enumerate(draws.reshape(-1, 2_000)):
        assert kstest(shares_below(part, c[k], p[k]), "uniform").pvalue > 1e-4


def moments(Y):
    """Means of all columns and products, and their standard errors if rows were independent."""
    values = np.column_stack([Y, *(Y[:, j : j + 1] * Y[:, j:] for j in range(Y.shape[1]))])
    return values.mean(axis=0), values.std(axis=0) / np.sqrt(len(values))


def literal_rows(eta, sweeps, rng):
    """Ends of many chains that take each step together, one for every row of eta."""
    y, root = np.ones(eta.shape), np.sqrt(np.diag(K))
    for _ in range(sweeps):
        for j, scale in enumerate(root):
            rest = y @ K[j] - y[:, j] * K[j, j]
            y[:, j] = gibbs.draw_conditionals((eta[:, j] - rest) / scale, np.full(len(y), P[j]), rng) / scale
    return y


@pytest.mark.parametrize(("n_rows", "burn_in", "thin"), [(20_000, 50, 2), (20_000, 50, 1), (20_000, 0, 3)])
def test_a_chain_has_the_moments_of_literal_ones(n_rows, burn_in, thin):
    rows = gibbs_kernels.gibbs_chain(K, ETA, P, n_rows, burn_in, thin, np.random.default_rng(1))
    expected = literal_rows(np.tile(ETA, (n_rows, 1)), 30, np.random.default_rng(2))
    assert rows.shape == expected.shape
    assert (rows > 0).all()
    (mean, error), (literal, other) = moments(rows), moments(expected)
    assert (np.abs(mean - literal) < 8 * np.hypot(error, other)).all()  # neighbours in a chain are alike
    again = gibbs_kernels.gibbs_chain(K, ETA, P, n_rows, burn_in, thin, np.random.default_rng(1))
    np.testing.assert_array_equal(again, rows)


@pytest.mark.parametrize("n_rows", [1, 2, 7, 100])
def test_any_number_of_rows(n_rows):
    assert gibbs_kernels.gibbs_chain(K, ETA, P, n_rows, 5, 2, np.random.default_rng(0)).shape == (n_rows, 4)


def test_rows_with_a_location_each_have_the_moments_of_literal_ones():
    n = 4_000
    eta = np.where(np.arange(n)[:, None] % 2 == 0, ETA, ETA[::-1])
    start, power = np.ones((n, 4)), np.broadcast_to(P, (n, 4)).copy()
    rows = gibbs_kernels.gibbs_rows(K, eta, power, start, 10, np.random.default_rng(4))
    expected = literal_rows(eta, 10, np.random.default_rng(3))
    assert (start == 1).all()
    for half in (0, 1):
        (mean, error), (literal, other) = moments(rows[half::2]), moments(expected[half::2])
        assert (np.abs(mean - literal) < 5 * np.hypot(error, other)).all()
    assert np.abs(moments(rows[::2])[0] - moments(rows[1::2])[0]).max() > 0.2
