"""The numbers that decide which cells are wrong: what they may be, and that a fit goes by them."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from sklearn.base import clone

import robscore as rs


def _with_a_wrong_cell() -> np.ndarray:
    X = np.random.default_rng(0).normal(size=(300, 4))
    X[0, 0] = 15.0
    return X


def test_true_is_the_default_rule() -> None:
    X = _with_a_wrong_cell()
    ours, theirs = (rs.RobustGraph("gaussian", cells=cells).fit(X) for cells in (True, rs.CellRule()))
    np.testing.assert_array_equal(ours.interaction_, theirs.interaction_)
    assert ours.suspicious_cells()["flagged"].sum() == 1


@pytest.mark.parametrize("estimator", [rs.RobustGraph, rs.RobustScoreMatching])
def test_a_fit_goes_by_the_rule(estimator: type) -> None:
    model = clone(estimator("gaussian", cells=rs.CellRule(wider=8.0))).fit(_with_a_wrong_cell())
    assert not model.suspicious_cells()["flagged"].any()
    assert model.fitted_.prepared.filling.suspects.rule == rs.CellRule(wider=8.0)


def test_a_rule_has_at_most_twenty_numbers_and_each_is_explained() -> None:
    names = [field.name for field in fields(rs.CellRule)]
    assert len(names) <= 20
    assert all(f"    {name} : " in rs.CellRule.__doc__ for name in names)


@pytest.mark.parametrize("wrong", [{"wider": -1.0}, {"level": 1.5}, {"evidence": "much"}, {"far": np.nan}])
def test_numbers_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    (name,) = wrong
    with pytest.raises(ValueError, match=rf"CellRule\({name}=\)"):
        rs.CellRule(**wrong)


def test_other_kinds_of_rules_are_refused() -> None:
    with pytest.raises(ValueError, match="a CellRule"):
        rs.RobustGraph("gaussian", cells="yes").fit(_with_a_wrong_cell())
