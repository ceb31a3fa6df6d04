"""How far pairs stand out where cells are called wrong now and then: by what completions have in common."""

import numpy as np

import robscore as rs
from robscore.fitting.filled_certainty import certainty_of_pairs, shared_noise


def test_cells_that_are_redrawn_share_what_is_there() -> None:
    """Cells that are there in all completions with probability s share s^2 of the noise of a pair."""
    rng = np.random.default_rng(0)
    X, holes = rng.normal(size=(40_000, 3)), rng.random((40_000, 3)) < 0.3
    one, other = (np.where(holes, rng.normal(size=X.shape), X) for _ in range(2))
    shared = shared_noise([((one, one), (other, other))])
    np.testing.assert_allclose(shared[np.triu_indices(3, k=1)], 0.49, atol=0.03)
    np.testing.assert_allclose(shared_noise([((one, one), (one, one))]), 1.0)


def test_cells_that_are_wrong_now_and_then_share_less_than_their_number_tells() -> None:
    """A cell that is called wrong in half of the rounds adds a quarter of its square, not half; large ones most."""
    rng = np.random.default_rng(0)
    X = rng.standard_t(3, size=(20_000, 2))
    one, other = (np.where((np.abs(X) > 3) & (rng.random(X.shape) < 0.5), 0.0, X) for _ in range(2))
    there = np.mean((one != 0).all(axis=1))
    assert shared_noise([((one, one), (other, other))])[0, 1] < 0.9 * there


def test_pairs_of_a_table_with_wrong_cells_stand_out_more_than_one_completion_says() -> None:
    truth = rs.simulate.random_model(8, 8, random_state=0)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=300, random_state=1)
    rng = np.random.default_rng(2)
    X = np.where(rng.random(X.shape) < 0.05, 6 * np.median(X, axis=0) * (1 + rng.pareto(1.0, size=X.shape)), X)
    fit = rs.RobustGraph("sqrt", cells=True, alphas=20).fit(X).fitted_
    filling = fit.prepared.filling
    certainty = certainty_of_pairs(fit.prepared, fit.loss, fit.weighed, fit.settings)
    apart = ~filling.linked & ~np.eye(8, dtype=bool)
    assert apart.any()
    assert (certainty[apart] >= 1).all()
    assert np.median(certainty[apart]) > np.median(filling.certainty[apart])
    np.testing.assert_array_equal(certainty[filling.linked], filling.certainty[filling.linked])
    clean = rs.RobustGraph("sqrt", n_blocks=1, alphas=10).fit(X).fitted_
    assert certainty_of_pairs(clean.prepared, clean.loss, clean.weighed, clean.settings) is None
