"""The rows that a fit expects: always the same numbers, and judged as the data are."""

import numpy as np
import pytest

from robscore.families import get_family
from robscore.weighting import ColumnScaling, Simulator, find_central_rows, judged


@pytest.mark.parametrize("family", ["gaussian", "log-log", "sqrt"])
def test_rows_that_are_drawn_twice_are_the_same_and_judged_like_data(family: str) -> None:
    own, rng = get_family(family), np.random.default_rng(0)
    X = rng.gamma(2.0, size=(200, 4))
    standard = ColumnScaling.of(own, X)
    scatter, _ = find_central_rows(standard(X), np.ones(200, dtype=bool), 0.7, 0.1)
    one, two = (Simulator(own, X).draw((np.eye(4), np.ones(4))) for _ in range(2))
    assert one is not None
    np.testing.assert_array_equal(one, two)
    distances, residuals = judged(one, standard, scatter)
    assert residuals.shape == one.shape
    some, _ = scatter.judge(standard(one[:50]), np.zeros(50, dtype=bool))
    assert np.isin(some, distances).all()


def test_a_family_without_a_sampler_expects_nothing() -> None:
    assert Simulator(get_family("sqrt"), np.ones((50, 2))).draw((-np.eye(2), np.ones(2))) is None
