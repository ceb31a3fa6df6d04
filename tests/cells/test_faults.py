"""What wrong cells have in common."""

import numpy as np
import pytest

from robscore.cells import common_factors, stuck_runs


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


def in_groups(kind, rng):
    """A column that rows are sorted or grouped by."""
    months = np.repeat([5.0, 6.0, 7.0, 8.0, 9.0], [31, 30, 31, 31, 30])
    return {
        "months": months,
        "unsorted": np.repeat([3.0, 1.0, 7.0, 2.0], [40, 9, 30, 74]),
        "years within groups": np.tile(np.repeat([2007.0, 2008.0, 2009.0], 17), 3),
        "sorted": np.sort(np.where(rng.random(153) < 0.3, 0.0, rng.gamma(2.0, size=153))),
        "with holes": np.where(rng.random(153) < 0.1, np.nan, months),
    }[kind]


@pytest.mark.parametrize("kind", ["months", "unsorted", "years within groups", "sorted", "with holes"])
def test_columns_that_rows_are_sorted_or_grouped_by_are_not_stuck(kind):
    rng = np.random.default_rng(0)
    column = in_groups(kind, rng)
    assert stuck_runs(np.column_stack([column, rng.normal(size=column.size)]), 1e-4) == []


def test_a_stuck_sensor_is_named_whatever_it_measures():
    rng = np.random.default_rng(0)
    rain = np.where(rng.random(153) < 0.7, 0.0, rng.gamma(2.0, size=153).round(1))
    columns = [rng.normal(size=153), rain, rng.integers(1, 6, 153).astype(float), rng.normal(size=153).round(1)]
    X = np.column_stack(columns)
    X[40:70], X[100:120, 0] = 3.0, 2.5  # stuck twice
    assert [(run.column, run.start >= 38, run.length >= 30) for run in stuck_runs(X, 1e-4)] == [
        (j, True, True) for j in range(4)
    ]


def test_a_small_factor_is_told_from_the_largest_values_of_a_column():
    rng = np.random.default_rng(0)
    wrongly = rightly = 0
    for _ in range(200):
        expected = np.exp(0.3 * rng.normal(size=12))
        rightly += named(1.609344 * expected * np.exp(0.05 * rng.normal(size=12)), expected) == [1.6093]
        wrongly += bool(named(expected + rng.uniform(0.5, 0.7, size=12), expected))  # so much too large, whatever it is
    assert rightly > 180
    assert wrongly < 20
