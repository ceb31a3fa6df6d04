"""Parts of a whole that were rounded: recognised, and divided by their sums."""

import numpy as np
import pytest

import robscore as rs
from robscore.family_choice import DataProfile
from robscore.rows import ArrayRows


def whole_of(X):
    return DataProfile.of(ArrayRows(np.asarray(X, dtype=float)), 0).constant_sum


def shares(n=300, parts=(3.0, 4.0, 5.0, 6.0, 2.0), seed=0):
    return np.random.default_rng(seed).dirichlet(parts, size=n)


@pytest.mark.parametrize(("total", "decimals"), [(1.0, 4), (100.0, 2), (100.0, 3), (1e6, 0), (24.0, 3)])
def test_sums_are_constant_up_to_the_rounding_of_the_cells(total, decimals):
    for seed in range(5):
        X = np.round(total * shares(seed=seed), decimals)
        whole = whole_of(X)
        assert np.ptp(X.sum(axis=1)) > 0
        assert whole.total == total
        assert whole.is_rounded
        np.testing.assert_allclose(whole.closed(ArrayRows(X)).gather(np.asarray).sum(axis=1), 1.0, rtol=1e-12)


def test_sums_that_differ_by_more_than_rounding_are_none():
    X = np.round(100 * shares(), 2)
    X[7, 0] += 0.06  # five cells, half a hundredth each
    assert whole_of(X) is None
    assert whole_of(np.round(shares(), 2)) is None  # more than one in a thousand
    assert whole_of(100 * shares() * (1 + 1e-5 * np.arange(300)[:, None])) is None  # not rounded
    rng = np.random.default_rng(0)
    answers = np.column_stack([rng.integers(2000, 2002, 300), rng.integers(0, 2, (300, 3))])
    assert whole_of(answers) is None  # whole numbers beside a large one that hardly varies


def test_rounded_percentages_are_fitted_as_a_composition():
    X = np.round(100 * shares(), 2)
    model = rs.RobustGraph("auto", n_edges=2).fit(X)
    assert model.family_ == "simplex"
    assert "all rows sum to 100 up to rounding, divided by their sums" in model.summary()
    plain = rs.RobustGraph("simplex", n_edges=2).fit(X / X.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(model.interaction_, plain.interaction_, rtol=1e-9)
    assert model.score(X) == pytest.approx(plain.score(X / X.sum(axis=1, keepdims=True)))


def test_rows_that_do_not_sum_to_one_are_refused_in_one_sentence():
    X = shares()
    X[[4, 9]] *= 100
    with pytest.raises(ValueError, match="sum to one") as error:
        rs.RobustGraph("simplex").fit(X)
    said = "In data passed to RobustGraph, the entries of 2 rows (first row 4) do not sum to one: divide each row by"
    assert str(error.value) == f"{said} its sum."
