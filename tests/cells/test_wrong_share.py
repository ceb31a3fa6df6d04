"""Wrong cells: how many are found, and those of stuck sensors."""

from __future__ import annotations

import numpy as np
import pytest
from designs import first

import robscore as rs
from robscore.cells import CellRule, SuspectCells, stuck_cells


def _with_pareto_cells(
    family: str, m: int, n_edges: int, share: float, seed: int = 0
) -> tuple[rs.simulate.Model, np.ndarray, np.ndarray]:
    """A model, rows of it, and the same with wrong cells of three medians and more."""
    truth = rs.simulate.random_model(m, n_edges, min_eigenvalue=0.3, random_state=seed)
    X = rs.simulate.sample(family, truth.interaction, truth.location, n_rows=1000, random_state=seed + 1)
    rng = np.random.default_rng(seed + 2)
    wrong = rng.random(X.shape) < share
    return truth, X, np.where(wrong, 3 * np.median(X, axis=0) * (1 + rng.pareto(1.0, size=X.shape)), X)


@pytest.mark.parametrize(("family", "share"), [("sqrt", 0.05), ("sqrt", 0.02), ("gamma", 0.02)])
def test_the_true_parameters_find_the_true_share_of_wrong_cells(family: str, share: float) -> None:
    truth, X, Y = _with_pareto_cells(family, 10, 12, share)
    suspects = SuspectCells.of(CellRule(), rs.families.get_family(family), Y, np.zeros(Y.shape, dtype=bool))
    for _ in range(3):
        suspects = suspects.updated(X, (truth.interaction, truth.location), np.ones(len(X), dtype=bool))
    assert suspects.share == pytest.approx(share, rel=0.25)


def test_rows_that_count_several_times_are_several_rows() -> None:
    truth, X, Y = _with_pareto_cells("sqrt", 10, 12, 0.02)
    times = np.where((X != Y).any(axis=1), 3, 1)
    parameters, shares = (truth.interaction, truth.location), []
    for own, rows, frequency in ((X, Y, times), (np.repeat(X, times, axis=0), np.repeat(Y, times, axis=0), None)):
        missing = np.zeros(rows.shape, dtype=bool)
        suspects = SuspectCells.of(CellRule(), rs.families.get_family("sqrt"), rows, missing, frequency)
        for _ in range(3):
            suspects = suspects.updated(own, parameters, np.ones(len(rows), dtype=bool))
        shares.append(suspects.share)
    assert shares[0] > 0.03
    assert shares[0] == pytest.approx(shares[1], rel=0.1)  # of distinct rows it would be half of that


def test_all_cells_of_a_stuck_sensor_are_flagged() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 1)) + 0.25 * rng.normal(size=(400, 6))
    X[200:240, 2] = X[200, 2]
    model = rs.RobustGraph("gaussian", cells=True).fit(X)
    flagged = model.fitted_.prepared.filling.suspects.likely_wrong
    assert flagged[201:240, 2].all()
    assert flagged.sum() <= 39 + 5
    assert model.share_dropped_ < 0.02  # rows are repaired, not left out


def test_zeros_rounded_values_and_sorted_columns_are_not_stuck() -> None:
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(400, 3))
    X[:, 0] = np.where(np.arange(400) % 100 < 40, 0.0, X[:, 0])
    X[:, 1] = np.round(X[:, 1], 1)
    X[:, 2] = np.sort(np.round(X[:, 2], 1))
    assert not stuck_cells(X, 1e-4).any()


@pytest.mark.long
def test_wrong_cells_of_moderate_size_are_not_taken_for_tails_of_the_model() -> None:
    """Of what they cost the default, the mean of eight tables."""
    lost = np.zeros(2)
    for seed in range(8):
        truth, X, Y = _with_pareto_cells("gamma", 8, 8, 0.05, seed)
        clean, default, cells = (
            np.linalg.norm(rs.RobustGraph("gamma", cells=cells).fit(rows).interaction_ - truth.interaction)
            for rows, cells in ((X, False), (Y, False), (Y, True))
        )
        lost += default - clean, cells - clean
    assert lost[1] < 0.6 * lost[0]


@pytest.mark.parametrize("wrong", first(1, [True, False]))
def test_where_no_cell_is_wrong_the_weight_is_the_familys_own(wrong: bool) -> None:
    _, X, Y = _with_pareto_cells("sqrt", 6, 6, 0.05)
    fit = rs.RobustGraph("sqrt", cells=True, alphas=10).fit(Y if wrong else X).fitted_
    weight = fit.prepared.preparation.scaled_family.boundary
    assert isinstance(weight, rs.boundary.LogPower) if wrong else weight == rs.families.get_family("sqrt").boundary
