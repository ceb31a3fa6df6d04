"""Penalised fits and eBIC against genscore's."""

import genscore
import numpy as np
import pytest

import robscore as rs

FITS = [
    pytest.param(name, fit, id=f"{name}-{fit['rule']}-{fit['lambda_ratio']}-{fit['diagonal_multiplier']}")
    for name in genscore.NAMES
    for fit in genscore.case(name)["fits"]
]


def solve(loss, fit, name):
    return rs.solve_path(
        loss,
        np.array(fit["lambdas"], dtype=float),
        rule=fit["rule"],
        diagonal_multiplier=fit["diagonal_multiplier"] - 1,
        location_ratio=float(fit["lambda_ratio"]),
        tol=1e-10,
        max_iter=100_000,
        **genscore.penalty_options(name),
    )


@pytest.mark.parametrize(("name", "fit"), FITS)
def test_solutions_agree_with_genscore(name, fit):
    loss = rs.score_elements(genscore.family(name), genscore.data(name)).average()
    path = solve(loss, fit, name)
    assert path.converged.all()
    if "lambda_max" in fit:
        assert path.alpha_max == pytest.approx(fit["lambda_max"], abs=1e-10)
    np.testing.assert_allclose(path.interactions, np.array(fit["K"], dtype=float), atol=1e-6, rtol=0)
    np.testing.assert_allclose(path.locations, np.array(fit["eta"], dtype=float), atol=1e-6, rtol=0)
    assert path.n_edges[-1] > 0


@pytest.mark.parametrize(("name", "fit"), [fit for fit in FITS if fit.values[1].get("ebic")])
def test_refitted_plain_ebic_agrees_with_genscore_up_to_a_constant(name, fit):
    loss = rs.score_elements(genscore.family(name), genscore.data(name)).average()
    path = solve(loss, fit, name)
    for position, gamma in enumerate((0.0, 0.5, 1.0)):
        theirs = np.array([float(values[3 + position]) for values in fit["ebic"]])
        ours = rs.selection.ebic(loss, path, n_rows=40, gamma=gamma, calibrate=False, patience=None)
        finite = np.isfinite(theirs)
        if finite.any():
            difference = (ours - theirs)[finite]
            assert np.ptp(difference) <= 1e-6 * np.abs(theirs[finite]).max()
