"""Boundary weights that are levelled off, so that large values have no more say than usual ones."""

from __future__ import annotations

import numpy as np
import pytest

import robscore as rs
from robscore import boundary as B
from robscore.families import Gamma, Gaussian, SquareRoot, get_family
from robscore.families.given import Given


@pytest.mark.parametrize("name", ["sqrt", "gamma", "log-log", "truncated-gaussian"])
def test_the_weight_is_the_familys_own_up_to_the_cap_and_level_beyond(name: str) -> None:
    family, X = get_family(name), np.random.default_rng(0).exponential(size=(500, 4)) * [0.5, 1.0, 1.0, 5.0]
    level = family.levelled(X, 0.7)
    cap = np.median(np.quantile(X, 0.7, axis=0))
    assert isinstance(level.boundary, B.CappedPower)
    assert (level.boundary.p, level.boundary.cap) == (family.boundary.p, pytest.approx(cap))
    d = np.array([0.0, cap / 3, cap, 2 * cap, 100 * cap])
    np.testing.assert_allclose(level.boundary.value(d), family.boundary.value(np.minimum(d, cap)))
    assert level.columns_alike  # so the order of the columns does not matter
    assert family.levelled(X[:, ::-1], 0.7).boundary == level.boundary


def test_other_weights_and_the_real_line_stay_as_they_are() -> None:
    X = np.random.default_rng(0).exponential(size=(100, 3))
    assert Gaussian().levelled(X, 0.7) == Gaussian()
    own = SquareRoot(boundary=B.MCP(1.0, 2.0))
    assert own.levelled(X, 0.7) == own
    assert Gamma().levelled(np.zeros((100, 3)), 0.7) == Gamma()  # no cap


def test_covariates_have_no_part_in_the_cap() -> None:
    X = np.random.default_rng(0).exponential(size=(100, 3))
    given = Given(Gamma(), 1).levelled(np.column_stack([X, np.full(100, 1e6)]), 0.7)
    assert given.base == Gamma().levelled(X, 0.7)


def test_the_levelled_loss_finds_the_truth_as_well() -> None:
    truth = rs.simulate.random_model(4, 3, min_eigenvalue=0.5, random_state=0)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=4000, random_state=1)
    plain, level = (
        np.linalg.norm(rs.RobustScoreMatching(family, n_blocks=1, scale=None).fit(X).interaction_ - truth.interaction)
        for family in (SquareRoot(), SquareRoot().levelled(X, 0.7))
    )
    assert plain < 0.5 * np.linalg.norm(truth.interaction)
    assert level < 1.5 * plain
