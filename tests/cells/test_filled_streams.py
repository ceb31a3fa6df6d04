"""Missing cells of rows that do not fit in memory: filled in as they are read, by random numbers of each row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import robscore as rs
from robscore.cells import Drawing, row_seeds
from robscore.rows import ArrayRows, MappedRows


def _holed(n: int, m: int = 4, share: float = 0.2) -> tuple[np.ndarray, np.ndarray, rs.simulate.Model]:
    truth = rs.simulate.random_model(m, m - 1, random_state=1)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=n, random_state=2)
    return X, np.where(np.random.default_rng(0).random(X.shape) < share, np.nan, X), truth


@pytest.mark.parametrize("family", ["sqrt", "gamma", "truncated-gaussian", "gaussian", "log-log"])
def test_rows_are_filled_in_alike_in_whatever_pieces(family: str) -> None:
    _, holed, truth = _holed(300)
    holed = holed[~np.isnan(holed).all(axis=1)]
    rows = ArrayRows(holed)
    drawing = Drawing(rs.families.get_family(family), (truth.interaction, np.full(4, 0.3)), np.ones(4))
    filled = MappedRows(rows, drawing, row_seeds(rows, 0))
    whole = filled.gather(np.asarray)
    np.testing.assert_allclose(filled.gather(np.asarray, length=37), whole, rtol=1e-6)
    np.testing.assert_allclose(np.concatenate(list(filled.pieces(np.array([0, 5, 6, len(holed)])))), whole, rtol=1e-6)
    np.testing.assert_allclose(filled.take(np.array([250, 3, 17])), whole[[250, 3, 17]], rtol=1e-6)
    np.testing.assert_allclose(filled.selected(np.array([2, 90])).gather(np.asarray), whole[[2, 90]], rtol=1e-6)
    there = ~np.isnan(holed)
    np.testing.assert_array_equal(whole[there], holed[there])
    assert np.isfinite(whole).all()


def test_draws_of_rows_are_those_of_the_model() -> None:
    X, holed, truth = _holed(6000, share=0.4)
    holed[:, 0] = X[:, 0]
    rows = ArrayRows(holed)
    drawing = Drawing(rs.families.get_family("sqrt"), (truth.interaction, truth.location), np.ones(4))
    drawn = MappedRows(rows, drawing, row_seeds(rows, 0)).gather(np.asarray)
    u, v = np.sqrt(X), np.sqrt(drawn)
    assert np.abs(u.mean(axis=0) - v.mean(axis=0)).max() < 4 * u.std() / np.sqrt(len(X))
    np.testing.assert_allclose(np.corrcoef(u.T), np.corrcoef(v.T), atol=0.06)


def test_equal_rows_are_drawn_apart() -> None:
    rows = ArrayRows(np.tile([1.0, np.nan], (500, 1)))
    drawing = Drawing(rs.families.get_family("gaussian"), (np.eye(2), np.zeros(2)), np.zeros(2))
    drawn = MappedRows(rows, drawing, row_seeds(rows, 0)).gather(np.asarray)[:, 1]
    assert np.unique(drawn).size == 500
    assert abs(drawn.mean()) < 0.2
    assert 0.8 < drawn.std() < 1.2


@pytest.mark.long
def test_a_file_that_does_not_fit_is_filled_in(tmp_path: Path) -> None:
    """As in memory, up to what draws leave open; and whatever the pieces of the file."""
    X, holed, truth = _holed(12_000)
    holed[7] = np.nan
    in_memory = rs.RobustGraph("sqrt", missing="impute").fit(holed)
    found = []
    for size in (1000, 5000):
        path = tmp_path / f"rows{size}.parquet"
        pd.DataFrame(holed, columns=list("abcd")).to_parquet(path, row_group_size=size)
        model = rs.RobustGraph("sqrt", missing="impute", max_memory="1MB").fit(path)
        assert model.sampled_ is not None
        assert "missing and filled in" in model.graph_.summary()
        found.append(model)
    refit = in_memory.fitted_.prepared.preparation.unscale(in_memory.fitted_.unshrunk)[0]
    error = rs.RobustGraph("sqrt").fit(X).interaction_ - truth.interaction
    for model in found:
        np.testing.assert_array_equal(model.graph_.adjacency, in_memory.graph_.adjacency)
        assert np.abs(model.interaction_ - refit).max() < max(2 * np.abs(error).max(), 0.15)
    np.testing.assert_allclose(found[0].interaction_, found[1].interaction_, atol=0.1)


def test_completed_tables_of_rows_that_are_not_held_need_the_rows() -> None:
    """The refusal says that cells were filled in, and what to give; what is given is completed."""
    _, holed, _ = _holed(12_000, m=3)
    model = rs.RobustGraph("sqrt", missing="impute", max_memory="1MB", alphas=10).fit(holed)
    with pytest.raises(ValueError, match=r"filled in as rows were read.* give the rows as X"):
        model.imputations(1)
    (table,) = model.imputations(1, holed[:20])
    there = ~np.isnan(holed[:20])
    np.testing.assert_array_equal(table[there], holed[:20][there])
    assert np.isfinite(table[there.any(axis=1)]).all()


def test_what_is_not_read_row_by_row_is_still_refused() -> None:
    """Wrong cells are looked for in memory only; the refusal has a way out."""
    _, holed, _ = _holed(12_000)
    with pytest.raises(ValueError, match="sample of the rows"):
        rs.RobustGraph("sqrt", missing="impute", cells=True, max_memory="1MB").fit(holed)
