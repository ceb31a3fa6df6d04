"""What a column is given the others, in closed form, beside SciPy's integrals of the density."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

import robscore as rs

FAMILIES = ["gaussian", "log-log", "sqrt", "truncated-gaussian"]


def by_quadrature(family, X, j, K, eta, x):
    """Log density and share of every row, by integrals of pieces around x."""
    log_p = family.conditional(X, j, K, eta)
    found = []
    for i, value in enumerate(x):
        top = float(log_p(np.full(len(X), value))[i])

        def density(y, i=i, top=top):
            return float(np.exp(log_p(np.full(len(X), y))[i] - top))

        low = -np.inf if family.domain.is_real_line else 0.0
        below = quad(density, low, value, limit=400, epsabs=0)[0]
        above = quad(density, value, np.inf, limit=400, epsabs=0)[0]
        found.append((-np.log(below + above), below / (below + above)))
    return np.array(found).T


@pytest.mark.parametrize("name", FAMILIES)
def test_as_integrals_have_it(name):
    family = rs.families.get_family(name)
    rng = np.random.default_rng(0)
    X = rng.gamma(2.0, size=(6, 3))
    K = np.array([[2.0, -0.8, 0.3], [-0.8, 1.5, 0.4], [0.3, 0.4, 1.0]])
    eta = np.array([0.5, -0.5, 0.2])
    for j in range(3):
        x = X[:, j]
        log_density, residual = family.conditional_law(X, j, x, K, eta)
        found = log_density, ndtr(residual)
        np.testing.assert_allclose(found, by_quadrature(family, X, j, K, eta, x), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["sqrt", "truncated-gaussian"])
@pytest.mark.parametrize("pull", [-2000.0, -120.0, -90.0, -5.0, 0.0, 5.0, 40.0])
def test_far_from_the_boundary_and_hard_against_it(name, pull):
    """Wherever the others pull a value to, shares rise from 0 to 1, as the integral of the density does."""
    family = rs.families.get_family(name)
    scale = 1 / abs(pull) if pull < -1 else max(pull, 1.0)
    ends = np.array([0.0, 12 * scale]) if name == "truncated-gaussian" else np.array([0.0, 80 * scale**2])
    x = np.linspace(*ends, 20_001)
    log_density, residual = family.conditional_law(np.ones((x.size, 1)), 0, x, np.eye(1), np.array([pull]))
    share = ndtr(residual)
    assert share[0] == 0.0
    assert (np.diff(share) >= -1e-12).all()
    assert share[-1] == pytest.approx(1.0, abs=1e-4)
    area = np.concatenate([[0.0], np.cumsum(np.diff(x) * (np.exp(log_density[1:]) + np.exp(log_density[:-1])) / 2)])
    np.testing.assert_allclose(share, area, atol=2e-3)


def test_other_families_have_none():
    X = np.ones((2, 2))
    assert rs.families.get_family("gamma").conditional_law(X, 0, X[:, 0], np.eye(2), np.zeros(2)) is None
