"""What elements are for: a row's loss is sum_j h_j s_j^2 / 2 + d_j (h_j s_j), s_j the slope of the log density."""

import numpy as np
import pytest
from registry import CASES, STATISTICS

import robscore as rs
from robscore.families import ExponentialFamily

STEP = 1e-4


def log_density(family, X, j, parameters):
    """As a function of column j alone, up to a constant, from the family's own words; t and base for statistics."""
    if not isinstance(family, ExponentialFamily):
        return family.conditional(X, j, *parameters)

    def value(values):
        rows = family.domain.replaced(X, j, values)
        return np.array([float(np.asarray(family.t(x)) @ parameters[0]) for x in rows])

    return value


def base_slope(family, X):
    if getattr(family, "base", None) is None:
        return np.zeros_like(X)
    up, down = (np.array([family.base(x) for x in X + shift]) for shift in (STEP, -STEP))
    return ((up - down) / (2 * STEP)).reshape(X.shape)


def weight(family, X):
    near = family.domain.nearest(X)
    finite = np.isfinite(near.distance)
    return np.where(finite, family.boundary.value(np.where(finite, near.distance, 1.0)), 1.0)


@pytest.mark.parametrize("case", CASES + STATISTICS, ids=str)
def test_row_losses_are_those_of_the_definition(case):
    import jax

    rng = np.random.default_rng(4)
    X = case.draw(rng, 12, 3)
    family = case.family.resolved(X)
    m = X.shape[1]
    elements = rs.score_elements(case.family, X)
    if case.family.is_pairwise:
        K = np.eye(m) + 0.2 * np.ones((m, m)) + 0.1 * np.diag(np.arange(m))
        if "zero" in case.name:
            K -= np.diag(K.sum(axis=0))
        parameters = (K, rng.normal(size=m))
    else:
        parameters = (rng.normal(size=elements.average().g.size),)
    expected = np.zeros(len(X))
    with jax.enable_x64(True):
        for j in family.domain.free_columns(m):
            f = log_density(family, X, j, parameters)
            at = {k: f(X[:, j] + k * STEP) for k in (-2, -1, 0, 1, 2)}
            # h times the slope at x + k STEP for k = -1, 0, 1, by differences about each.
            flows = {
                k: weight(family, family.domain.replaced(X, j, X[:, j] + k * STEP))[:, j]
                * (at[k + 1] - at[k - 1])
                / (2 * STEP)
                for k in (-1, 0, 1)
            }
            h = weight(family, X)[:, j]
            slope = (at[1] - at[-1]) / (2 * STEP)
            expected += 0.5 * h * slope**2 + (flows[1] - flows[-1]) / (2 * STEP)
            expected += h * base_slope(family, X)[:, j] * slope
    ours = elements.row_losses(*parameters)
    kink = kinks(family, X)
    assert (~kink).sum() > 5
    np.testing.assert_allclose(ours[~kink], expected[~kink], rtol=2e-4, atol=2e-4 * np.abs(expected).max())


def kinks(family, X):
    """Rows so near a kink of h (a cap, or as near to one boundary as to another) that differences see both sides."""
    near = family.domain.nearest(X)
    m = X.shape[1]
    changes = np.zeros(len(X), dtype=bool)
    for j in range(m):
        for k in (-3, 3):
            moved = family.domain.nearest(family.domain.replaced(X, j, X[:, j] + k * STEP))
            changes |= moved.slope[:, j] != near.slope[:, j]
    return changes
