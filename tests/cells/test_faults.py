"""What wrong cells have in common."""

import numpy as np
import pytest

from robscore.cells.faults import common_factors


def named(values, expected):
    return [found.factor for found in common_factors(values, expected, np.zeros(len(values), dtype=int))]


@pytest.mark.parametrize("factor", [10.0, 25.4, 0.01])
def test_a_factor_is_named_whatever_the_unit(factor):
    rng = np.random.default_rng(0)
    expected = np.exp(rng.normal(size=20))
    values = factor * expected * np.exp(0.1 * rng.normal(size=20))
    for unit in (1.0, 1000.0, 0.01):
        assert named(unit * values, unit * expected) == [max(factor, 1 / factor)]
    assert named(-values, -expected) == [max(factor, 1 / factor)]


@pytest.mark.parametrize("n_cells", [6, 12, 30])
def test_cells_that_are_only_far_away_have_no_factor(n_cells):
    rng = np.random.default_rng(n_cells)
    for _ in range(200):
        expected, away = rng.normal(10, 3, n_cells), rng.uniform(18, 42)
        assert not named(expected + away, expected)  # a shift
        assert not named(rng.normal(10 + away, 1.5, n_cells), expected)  # a code, about
        assert not named(np.full(n_cells, 999.0), expected)
