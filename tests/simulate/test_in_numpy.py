"""Gibbs sweeps in NumPy, which stand in for numba, against densities and the compiled chains."""

import numpy as np
import pytest
from scipy.special import erf
from scipy.stats import kstest

from robscore.families.samplers import in_numpy, kernels

pytest.importorskip("numba")
K = np.array([[1.0, -0.4, 0.0, 0.2], [-0.4, 1.2, 0.3, 0.0], [0.0, 0.3, 0.8, -0.2], [0.2, 0.0, -0.2, 1.5]])
ETA = np.array([0.5, -0.5, 1.0, 0.0])


@pytest.mark.parametrize("c", [-20.0, -3.0, 0.0, 0.2, 0.21, 1.0, 8.0])
def test_conditional_draws_are_exact(c):
    """The density t exp(-(t - c)^2) integrates in closed form."""

    def below(t):
        # exp(-c^2) is taken out where it would underflow beside the rest.
        if c < -5:
            grid = np.linspace(0, 1.5, 60_001)
            density = grid * np.exp(2 * c * grid - grid**2)
            return np.interp(t, grid, np.cumsum(density) / density.sum())
        whole = 0.5 * np.exp(-c * c) + 0.5 * np.sqrt(np.pi) * c * (1 + erf(c))
        part = 0.5 * (np.exp(-c * c) - np.exp(-((t - c) ** 2))) + 0.5 * np.sqrt(np.pi) * c * (erf(t - c) + erf(c))
        return part / whole

    draws = in_numpy.draw_conditionals(np.full(20_000, c), np.random.default_rng(0))
    assert kstest(draws, below).pvalue > 1e-3


def moments(Y):
    """Means of all columns and products, and their standard errors if rows were independent."""
    values = np.column_stack([Y, *(Y[:, j : j + 1] * Y[:, j:] for j in range(Y.shape[1]))])
    return values.mean(axis=0), values.std(axis=0) / np.sqrt(len(values))


@pytest.mark.parametrize(("n_rows", "burn_in", "thin"), [(20_000, 50, 2), (20_000, 50, 1), (20_000, 0, 3)])
def test_chains_have_the_moments_of_the_compiled_one(n_rows, burn_in, thin):
    rows = in_numpy.gibbs_square_root(K, ETA, n_rows, burn_in, thin, np.random.default_rng(1))
    compiled = kernels.gibbs_square_root(K, ETA, n_rows, 50, 5, np.random.default_rng(2))
    assert rows.shape == compiled.shape
    assert (rows > 0).all()
    (mean, error), (expected, other) = moments(rows), moments(compiled)
    assert (np.abs(mean - expected) < 8 * np.hypot(error, other)).all()  # neighbours in a chain are alike
    again = in_numpy.gibbs_square_root(K, ETA, n_rows, burn_in, thin, np.random.default_rng(1))
    np.testing.assert_array_equal(again, rows)


@pytest.mark.parametrize("n_rows", [1, 2, 7, 100])
def test_any_number_of_rows(n_rows):
    assert in_numpy.gibbs_square_root(K, ETA, n_rows, 5, 2, np.random.default_rng(0)).shape == (n_rows, 4)


def test_rows_with_a_location_each_have_the_moments_of_the_compiled_ones():
    n = 4_000
    eta = np.where(np.arange(n)[:, None] % 2 == 0, ETA, ETA[::-1])
    start = np.ones((n, 4))
    rows = in_numpy.gibbs_square_root_rows(K, eta, start, 10, np.random.default_rng(3))
    compiled = kernels.gibbs_square_root_rows(K, eta, start, 10, np.random.default_rng(4))
    assert (start == 1).all()
    for half in (0, 1):
        (mean, error), (expected, other) = moments(rows[half::2]), moments(compiled[half::2])
        assert (np.abs(mean - expected) < 5 * np.hypot(error, other)).all()
    assert np.abs(moments(rows[::2])[0] - moments(rows[1::2])[0]).max() > 0.2
