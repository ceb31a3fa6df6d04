"""Averages on a support, compiled and by products of matrices."""

import numpy as np
import pytest
import reference

import robscore as rs
from robscore.elements import LossWeights, averages_on_support
from robscore.losses import entries_of


@pytest.mark.parametrize("family", ["sqrt", "gamma", "truncated-gaussian"])
@pytest.mark.parametrize("n_given", [0, 2])
def test_compiled_sums_are_the_literal_ones(family, n_given, monkeypatch):
    rng = np.random.default_rng(0)
    elements = rs.score_elements(family, rng.gamma(1.0, size=(4500, 6)))  # more than are added up at a time
    if n_given:
        elements = elements.given(rng.normal(size=(4500, n_given)))
    edges = np.triu(rng.uniform(size=(6, 6)) < 0.4, 1)
    weights = rng.uniform(size=4500)
    location = rng.normal(size=(6, 1 + n_given))
    z0 = np.eye(6) + 0.1 * (edges | edges.T), location if n_given else location[:, 0]
    arguments = LossWeights(weights, weights, -weights), z0, entries_of(edges | edges.T, 1 + n_given)
    fast = elements.restricted(*arguments)
    for name in ("add_gamma", "add_g"):
        monkeypatch.setattr(averages_on_support, f"{name}_on_support", getattr(reference, name))
    slow = elements.restricted(*arguments)
    np.testing.assert_allclose(fast.g, slow.g, rtol=1e-10, atol=1e-9)
    for one, other in zip(fast.corners, slow.corners, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-9)
        assert np.abs(one).min() > 0
