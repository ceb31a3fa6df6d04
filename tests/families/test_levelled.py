"""Boundary weights that are levelled off, so that large values have little more say than usual ones."""

from __future__ import annotations

import numpy as np
import pytest

import robscore as rs
from robscore import boundary as B
from robscore.families import Gamma, Gaussian, SquareRoot, get_family
from robscore.families.given_covariates import GivenCovariates


@pytest.mark.parametrize("name", ["sqrt", "log-log", "truncated-gaussian"])
def test_the_weight_is_the_familys_own_at_the_boundary_and_grows_slowly_far_from_it(name: str) -> None:
    family, X = get_family(name), np.random.default_rng(0).exponential(size=(500, 4)) * [0.5, 1.0, 1.0, 5.0]
    level = family.levelled(X, 0.7)
    scale = np.median(np.quantile(X, 0.7, axis=0))
    assert isinstance(level.boundary, B.LogPower)
    assert (level.boundary.p, level.boundary.scale) == (family.boundary.p, pytest.approx(scale))
    d = scale * np.array([1e-9, 1e-6, 1.0, 100.0])
    ratio = level.boundary.value(d) / family.boundary.value(d)
    np.testing.assert_allclose(ratio[:2], 1.0, atol=1e-5)
    np.testing.assert_allclose(ratio[2:], [np.log(2) ** level.boundary.p, (np.log(101) / 100) ** level.boundary.p])
    assert level.columns_alike  # so the order of the columns does not matter
    assert family.levelled(X[:, ::-1], 0.7).boundary == level.boundary


def test_other_weights_and_the_real_line_stay_as_they_are() -> None:
    X = np.random.default_rng(0).exponential(size=(100, 3))
    assert Gaussian().levelled(X, 0.7) == Gaussian()
    own = SquareRoot(boundary=B.MCP(1.0, 2.0))
    assert own.levelled(X, 0.7) == own
    assert Gamma().levelled(X, 0.7) == Gamma()  # grows slowly as it is
    assert SquareRoot().levelled(np.zeros((100, 3)), 0.7) == SquareRoot()  # no scale


def test_covariates_have_no_part_in_where_it_begins() -> None:
    X = np.random.default_rng(0).exponential(size=(100, 3))
    given = GivenCovariates(SquareRoot(), 1).levelled(np.column_stack([X, np.full(100, 1e6)]), 0.7)
    assert given.base == SquareRoot().levelled(X, 0.7)


def test_gamma_rows_are_ranked_better_than_with_a_power_that_grows() -> None:
    areas = []
    for seed, shape in enumerate(("random", "chain", "hub")):
        truth = rs.simulate.shaped_model(shape, 20, random_state=seed)
        X = rs.simulate.sample("gamma", truth.interaction, truth.location, n_rows=300, random_state=seed)
        families = Gamma(), Gamma(boundary=B.Power(2.0))
        paths = [rs.RobustGraph(one, n_blocks=1, n_edges=20, alphas=30).fit(X).path_ for one in families]
        areas.append([rs.metrics.auc(rs.metrics.roc_curve(path, truth.interaction)) for path in paths])
    levelled, growing = np.mean(areas, axis=0)
    assert levelled > growing + 0.02


def test_the_levelled_loss_finds_the_truth_as_well() -> None:
    truth = rs.simulate.random_model(4, 3, min_eigenvalue=0.5, random_state=0)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=4000, random_state=1)
    plain, level = (
        np.linalg.norm(rs.RobustScoreMatching(family, n_blocks=1, scale=None).fit(X).interaction_ - truth.interaction)
        for family in (SquareRoot(), SquareRoot().levelled(X, 0.7))
    )
    assert plain < 0.5 * np.linalg.norm(truth.interaction)
    assert level < 1.5 * plain
