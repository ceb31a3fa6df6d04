"""Score matching under a taper: the same answer from fewer rows, for every family."""

import numpy as np
import pytest
from tests.registry import CASES, STATISTICS

import robscore as rs
from robscore.families.custom_statistics import weights_and_slopes
from robscore.losses import QuadraticLoss
from robscore.solvers import minimise
from robscore.weighting import RowWeights

NATURAL = [case for case in CASES + STATISTICS if case.family.is_natural]


def parameters_of(case, elements, rng):
    """Some parameters, symmetric and with the sums that the family asks for."""
    m = elements.n_columns
    K = rng.normal(size=(m, m))
    loss = elements.average()
    if not isinstance(loss, QuadraticLoss):
        return (rng.normal(size=loss.g.shape),)
    return loss.completed((K + K.T) / 2 + m * np.eye(m)), rng.normal(size=m)


def scaled_rows(case, n=40, m=3):
    rng = np.random.default_rng(5)
    X = case.draw(rng, n, m)
    family = case.family.resolved(X)
    return rng, X, family, family.elements(X)


@pytest.mark.parametrize("case", NATURAL, ids=repr)
def test_the_log_density_is_the_one_that_the_elements_come_from(case):
    """z' Gamma(x) z = sum_j h_j (d_j log p)^2, the derivatives by differences."""
    rng, X, family, elements = scaled_rows(case)
    z = parameters_of(case, elements, rng)
    double = tuple(2 * part for part in z)
    quadratic = elements.row_losses(*double) - 2 * elements.row_losses(*z)
    h, _ = weights_and_slopes(family.domain, family.boundary, X)
    total = np.zeros(len(X))
    for j in family.domain.free_columns(X.shape[1]):
        step = 1e-5 * np.minimum(1.0, np.abs(X[:, j]))
        up, down = (family.domain.replaced(X, j, X[:, j] + sign * step) for sign in (1, -1))
        slope = (family.log_density(up, *z) - family.log_density(down, *z)) / (up[:, j] - down[:, j])
        total += h[:, j] * slope**2
    np.testing.assert_allclose(quadratic, total, rtol=2e-4, atol=1e-6 * np.abs(total).max())


@pytest.mark.parametrize("case", NATURAL, ids=repr)
def test_row_losses_add_up_to_the_loss(case):
    rng, X, family, elements = scaled_rows(case)
    first, other = (parameters_of(case, elements, rng) for _ in range(2))
    surprise = -family.log_density(X, *first)
    taper = RowWeights.between(surprise, *np.quantile(surprise, [0.4, 0.8]), first)
    rows = np.arange(3, 33)
    losses = taper.some(rows).row_losses(elements.subset(rows), other)
    whole = taper.some(rows).loss(elements.subset(rows))
    np.testing.assert_allclose(losses.sum() / taper.phi[rows].sum(), whole.value(*other), rtol=1e-9)


def test_weights_fall_smoothly_from_one_to_zero():
    surprise = np.append(np.linspace(0, 10, 1001), np.inf)
    taper = RowWeights.between(surprise, 3.0, 7.0, ())
    assert (taper.phi[surprise <= 3] == 1).all()
    assert (taper.phi[surprise >= 7] == 0).all()
    np.testing.assert_allclose(np.gradient(taper.phi[:-1], surprise[:-1])[1:-1], taper.slopes[1:-2], atol=2e-3)
    np.testing.assert_array_equal(RowWeights.between(surprise, 3.0, np.inf, ()).phi, surprise <= 3)


@pytest.mark.parametrize("family", ["sqrt", "gaussian", "log-log"])
def test_a_taper_does_not_bias_the_fit_and_a_jump_does(family):
    truth = rs.simulate.random_model(3, 2, min_eigenvalue=0.5, random_state=0)
    X = rs.simulate.sample(family, truth.interaction, truth.location, n_rows=40_000, random_state=1)
    elements = rs.score_elements(family, X)
    first = (truth.interaction * 1.2, truth.location + 0.1)  # need not be the truth
    surprise = -rs.families.get_family(family).log_density(X, *first)
    start, end = np.quantile(surprise, [0.3, 0.8])

    def error(loss):
        K, eta = minimise(loss)
        return np.abs(K - truth.interaction).max() + np.abs(eta - truth.location).max()

    tapered = error(RowWeights.between(surprise, start, end, first).loss(elements))
    kept = (surprise < end) / np.count_nonzero(surprise < end)
    assert tapered < 0.25
    assert error(elements.average(kept, kept)) > 3 * tapered


def test_without_a_taper_everything_counts():
    X = np.random.default_rng(0).gamma(2.0, size=(50, 3))
    elements = rs.score_elements("sqrt", X)
    plain, loss = elements.average(), RowWeights.hard(np.ones(50), (np.eye(3), np.zeros(3))).loss(elements)
    np.testing.assert_array_equal(loss.gamma, plain.gamma)
    np.testing.assert_array_equal(loss.g, plain.g)
    assert RowWeights.hard(np.ones(50), ()).describe() == "0 of 50 rows (0.0%) dropped"
