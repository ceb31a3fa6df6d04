"""Appendix A: what check_identifiable says is what happens."""

import numpy as np
import pytest
from registry import CASES

import robscore as rs
from robscore.solvers import SingularLossError, solve_unpenalised


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("fit_location", [True, False])
@pytest.mark.parametrize("m", [1, 3])
def test_it_says_from_how_many_rows_on_the_estimate_exists(case, fit_location, m):
    if case.last_is_special and m == 1:
        pytest.skip("a composition of one part is no composition")
    needed = case.rows_needed(m, fit_location)
    for n in (needed - 1, needed):
        if n < 1:
            continue
        said = rs.check_identifiable(case.family, n, m, fit_location=fit_location)
        loss = rs.score_elements(case.family, case.draw(np.random.default_rng(0), n, m)).average()
        try:
            solve_unpenalised(loss, fit_location=fit_location)
            exists = True
        except SingularLossError:
            exists = False
        # Symmetry leaves fewer free parameters than the sufficient condition counts on.
        assert exists >= said.exists
        if m == 1:
            assert exists == said.exists


def test_small_blocks_are_enough_unless_the_median_falls_on_one():
    assert rs.check_identifiable("sqrt", 1000, 30, 10)[:2] == (True, True)
    said = rs.check_identifiable("sqrt", 1000, 30, 200)
    assert said.exists
    assert not said.certain
    assert "at most 32 blocks" in said.words


def test_a_location_that_repeats_the_diagonal_is_refused():
    family = rs.families.Power(0.5, 1)
    said = rs.check_identifiable(family, 1000, 3)
    assert not said.exists
    X = np.random.default_rng(0).gamma(2.0, size=(100, 3))
    for estimator in (rs.RobustScoreMatching(family), rs.RobustGraph(family)):
        with pytest.raises(ValueError, match="same statistic"):
            estimator.fit(X)
        estimator.set_params(fit_location=False).fit(X)
