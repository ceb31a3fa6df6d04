"""What is usual among numbers, by medians."""

import numpy as np
import pytest

from robscore._tools.deviations import largest_usual, median, stands_out


def test_four_deviations_of_normal_numbers_are_usual():
    values = np.random.default_rng(0).normal(3.0, 2.0, size=100_001)
    assert largest_usual(values) == pytest.approx(3.0 + 4 * 2.0, abs=0.1)
    assert stands_out(np.append(values, 11.5)).sum() <= 10
    assert stands_out(np.append(values, 11.5))[-1]


def test_of_infinite_values_those_stand_out_that_are_few():
    values = np.append(np.random.default_rng(0).normal(size=90), np.full(10, np.inf))
    assert stands_out(values)[90:].all()
    assert largest_usual(np.full(10, np.inf)) == np.inf


def test_frequencies_are_repetitions():
    values, often = np.array([1.0, 2.0, 3.0, 50.0]), np.array([2.0, 5.0, 4.0, 1.0])
    repeated = np.repeat(values, often.astype(int))
    assert median(values, often) == median(repeated)
    assert largest_usual(values, often) == pytest.approx(largest_usual(repeated))
