"""Averaged elements against genscore's, and row elements against numerical derivatives."""

import genscore
import numpy as np
import pytest
import reference
from registry import CASES
from test_boundary import WEIGHTS

import robscore as rs


@pytest.mark.parametrize("name", genscore.NAMES)
def test_averages_agree_with_genscore(name):
    loss = rs.score_elements(genscore.family(name), genscore.data(name)).average()
    gamma, g = genscore.averaged_elements(name)
    np.testing.assert_allclose(loss.gamma, gamma, rtol=1e-10, atol=1e-12 * np.abs(gamma).max())
    np.testing.assert_allclose(loss.g, g, rtol=1e-10, atol=1e-12 * np.abs(g).max())


@pytest.mark.parametrize("name", ["simplex_log_log", "simplex_sum0"])
def test_the_coupling_on_the_simplex_agrees_with_genscore(name):
    loss = rs.score_elements(genscore.family(name), genscore.data(name)).average()
    expected = genscore.coupling(name)
    np.testing.assert_allclose(loss.gamma_last, expected, rtol=1e-10, atol=1e-12 * np.abs(expected).max())


EXPONENTS = [(0.5, 0.5), (0.5, 0), (1, 1), (0, 0), (1.5, 0.5), (0, 1), (2, 0)]


@pytest.mark.parametrize(
    "family",
    [case.family for case in CASES if hasattr(case.family, "a") and "quantile" not in case.name]
    + [rs.families.TruncatedGaussian(boundary=weight) for weight in WEIGHTS]
    + [rs.families.Power(a, b) for a, b in EXPONENTS],
    ids=lambda family: repr(family),
)
def test_row_elements_are_the_derivatives_of_the_log_density(family):
    rng = np.random.default_rng(0)
    drawn = {"Real()": rng.normal(size=(4, 3)), "Box(-1.0, 2.0)": rng.uniform(-0.9, 1.9, size=(4, 3))}
    X = drawn.get(repr(family.domain), rng.uniform(0.05, 0.95, size=(4, 3)))
    elements = rs.score_elements(family, X)
    for i, x in enumerate(X):
        gamma, g = reference.row_elements(family, x)
        ours_gamma, ours_g = reference.exact_row_elements(elements, i)
        blocks = np.einsum("jkjl->jkl", ours_gamma.reshape(3, 4, 3, 4))
        np.testing.assert_allclose(blocks, gamma, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(ours_g, g.ravel(), rtol=1e-6, atol=1e-6)


def test_exact_zeros_are_exact_in_the_square_root_family():
    at_zero, near_zero = (
        rs.score_elements("sqrt", np.array([[0.0 + shift, 1.0], [2.0, 3.0]])).average() for shift in (0.0, 1e-30)
    )
    np.testing.assert_allclose(at_zero.gamma, near_zero.gamma, atol=1e-14)
    np.testing.assert_allclose(at_zero.g, near_zero.g, atol=1e-14)
    assert np.isfinite(at_zero.gamma).all()


@pytest.mark.parametrize(
    "family",
    [rs.families.Gamma(), rs.families.LogLog(), rs.families.SquareRoot(boundary=rs.boundary.Power(0.5))],
    ids=repr,
)
def test_exact_zeros_are_refused_by_name_and_count_where_the_model_excludes_them(family):
    import pandas as pd

    frame = pd.DataFrame({"basel": [0.0, 1.0, 0.0], "bern": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match=r"exact zeros.*'basel' has 2 \(first in row 0\)"):
        rs.score_elements(family, frame)


def test_the_gaussian_keeps_one_shared_block():
    loss = rs.score_elements("gaussian", np.random.default_rng(0).normal(size=(20, 4))).average()
    assert loss.shared
    assert loss.blocks.shape == (1, 5, 5)
    assert loss.gamma.shape == (4, 5, 5)
