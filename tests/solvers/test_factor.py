"""Eliminating node by node gives the same refit as factoring the whole Hessian."""

import numpy as np
import pytest

import robscore as rs
from robscore.solvers import refit, unpenalised


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("locations", [True, False])
@pytest.mark.parametrize("density", [0.0, 0.2, 1.0])
def test_the_refit_is_the_same(monkeypatch, symmetric, locations, density):
    rng = np.random.default_rng(3)
    X = rng.gamma(2.0, size=(200, 9))
    loss = rs.score_elements("sqrt", X).average()
    edges = np.triu(rng.random((9, 9)) < density, k=1)
    edges = edges | edges.T
    chosen = (edges, np.full(9, locations))
    whole = refit(loss, *chosen, symmetric=symmetric)
    monkeypatch.setattr(unpenalised, "MANY_COLUMNS", 2)
    by_nodes = refit(loss, *chosen, symmetric=symmetric)
    assert isinstance(by_nodes.factor, unpenalised.NodeFactor)
    np.testing.assert_allclose(by_nodes.interaction, whole.interaction, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(by_nodes.location, whole.location, rtol=1e-8, atol=1e-10)
    assert by_nodes.loss == pytest.approx(whole.loss)
    gradients = rng.normal(size=(7, whole.rows.size))
    first, second = (solution.factor.whiten(gradients) for solution in (whole, by_nodes))
    np.testing.assert_allclose((first**2).sum(axis=0), (second**2).sum(axis=0))
    np.testing.assert_allclose(whole.factor.unwhiten(first), by_nodes.factor.unwhiten(second), rtol=1e-7, atol=1e-9)


def test_singular_losses_are_recognised_either_way(monkeypatch):
    X = np.random.default_rng(0).gamma(2.0, size=(50, 4))
    X[:, 3] = X[:, 2]
    loss = rs.score_elements("sqrt", X).average()
    chosen = (np.ones((4, 4), dtype=bool), np.ones(4, dtype=bool))
    for many in (150, 2):
        monkeypatch.setattr(unpenalised, "MANY_COLUMNS", many)
        with pytest.raises(unpenalised.SingularLossError):
            refit(loss, *chosen, symmetric=True)
