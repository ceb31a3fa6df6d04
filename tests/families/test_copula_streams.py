"""Columns of any kind on tables beyond memory: cells are drawn within their bounds as rows are read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from designs import first

import robscore as rs
from robscore.cells import Drawing, row_seeds
from robscore.families.copula import Margins
from robscore.fitting import by_sample
from robscore.rows import ArrayRows, MappedRows

K = np.array([[1.0, -0.5, 0, 0], [-0.5, 1.4, -0.6, 0], [0, -0.6, 1.4, 0.4], [0, 0, 0.4, 1.0]])
OPTIONS = {"family": "copula", "alphas": 8, "random_state": 1, "max_memory": "1 MB"}


def latent(n: int, seed: int = 0) -> np.ndarray:
    covariance = np.linalg.inv(K)
    size = np.sqrt(covariance.diagonal())
    return np.random.default_rng(seed).multivariate_normal(np.zeros(4), covariance, size=n) / size


def columns(z: np.ndarray) -> np.ndarray:
    """A log-normal column, two values, four answers, and many zeros."""
    kinds = np.exp(z[:, 0]), z[:, 1] > 0.2, np.digitize(z[:, 2], [-1, 0, 0.8]), np.maximum(z[:, 3] + 0.2, 0)
    return np.column_stack(kinds).astype(float)


def associations(K: np.ndarray) -> np.ndarray:
    size = np.sqrt(np.diagonal(K))
    return (-K / np.multiply.outer(size, size))[np.triu_indices(len(K), 1)]


@pytest.fixture(autouse=True)
def samples_of_1000() -> Iterator[None]:
    with patch.multiple(by_sample, MOST_ROWS=1000, _FEWEST_ROWS=1000):
        yield


@pytest.fixture(scope="module")
def X() -> np.ndarray:
    return columns(latent(2500))


@pytest.fixture(scope="module")
def sampled(X: np.ndarray) -> rs.RobustGraph:
    with patch.multiple(by_sample, MOST_ROWS=1000, _FEWEST_ROWS=1000):
        return rs.RobustGraph(**OPTIONS).fit(X)


def test_draws_lie_within_bounds_whatever_the_pieces_and_the_order(X: np.ndarray) -> None:
    """Bit for bit; two rows that are equal may change places, and are drawn apart."""
    some = np.where(np.random.default_rng(1).random((600, 4)) < 0.2, np.nan, X[:600])
    margins, rows = Margins.of(X), ArrayRows(some)
    drawing = Drawing(rs.families.Gaussian(), (np.linalg.inv(np.corrcoef(latent(4000).T)), np.zeros(4)), np.zeros(4))
    drawing = Drawing(drawing.family, drawing.parameters, drawing.typical, margins)
    filled = MappedRows(rows, drawing, row_seeds(rows, 0))
    whole = filled.gather(np.asarray)
    np.testing.assert_array_equal(filled.gather(np.asarray, length=37), whole)
    np.testing.assert_array_equal(filled.take(np.array([250, 3, 17])), whole[[250, 3, 17]])
    lower, high = margins.bounds(some)
    assert ((whole >= lower) & (whole <= high)).all()
    assert np.unique(whole[:, 1]).size == 600
    order = np.random.default_rng(2).permutation(600)
    turned = MappedRows(ArrayRows(some[order]), drawing, row_seeds(ArrayRows(some[order]), 0)).gather(np.asarray)
    np.testing.assert_array_equal(np.sort(turned, axis=0), np.sort(whole, axis=0))


def test_draws_have_the_correlations_they_are_drawn_by() -> None:
    z = latent(6000, 3)
    answers = np.column_stack([z[:, 0] > 0.3, np.digitize(z[:, 1], [-1, 0, 1]), z[:, 2] > 0, z[:, 3]]).astype(float)
    R, rows = np.corrcoef(z.T), ArrayRows(answers)
    drawing = Drawing(rs.families.Gaussian(), (np.linalg.inv(R), np.zeros(4)), np.zeros(4), Margins.of(answers))
    drawn = MappedRows(rows, drawing, row_seeds(rows, 0)).gather(np.asarray)
    np.testing.assert_allclose(np.corrcoef(drawn.T), R, atol=0.03)
    np.testing.assert_allclose(drawn.std(axis=0), 1.0, atol=0.03)
    assert np.abs(np.corrcoef(answers.T) - R).max() > 0.1  # numbers of answers are correlated less


def test_the_estimate_is_that_of_the_fit_in_memory(X: np.ndarray, sampled: rs.RobustGraph) -> None:
    assert sampled.sampled_ is not None
    with patch.multiple(by_sample, MOST_ROWS=10**9, _FEWEST_ROWS=10**9):
        whole = rs.RobustGraph(**OPTIONS | {"max_memory": "1 GB"}).fit(X)
    assert whole.sampled_ is None
    assert sampled.sampled_.rows.size == 1000
    error = 1 / np.sqrt(len(X))
    found, by_all = associations(sampled.interaction_), associations(whole.fitted_.unshrunk[0])
    assert np.abs(found - by_all).max() < 2 * error
    assert np.abs(found - associations(K)).max() < 4 * error
    assert "of the sample tied values of 3 of 4 columns are ranges of latent numbers" in sampled.summary()


def test_pairs_of_answers_are_worth_fewer_rows(sampled: rs.RobustGraph) -> None:
    known = sampled.sampled_.known
    assert 0.1 < known[1, 2] < known[0, 2] < 1
    table = sampled.edge_intervals()
    errors = dict(zip(zip(table["source"], table["target"], strict=True), table["interaction_error"], strict=True))
    assert errors["x1", "x2"] * np.sqrt(2500) > 1.2  # that of the latent numbers is near 1


@pytest.mark.parametrize("way", first(2, ["Parquet", "Dask", "memory map"]))
def test_it_does_not_matter_where_rows_are(way: str, X: np.ndarray, sampled: rs.RobustGraph, tmp_path: Path) -> None:
    if way == "Parquet":
        pd.DataFrame(X, columns=list("abcd")).to_parquet(tmp_path / "rows.parquet", row_group_size=700)
        data = tmp_path / "rows.parquet"
    elif way == "Dask":
        data = pytest.importorskip("dask.array").from_array(X, chunks=(600, 4))
    else:
        np.save(tmp_path / "rows.npy", X)
        data = np.load(tmp_path / "rows.npy", mmap_mode="r")
    other = rs.RobustGraph(**OPTIONS).fit(data)
    np.testing.assert_allclose(other.interaction_, sampled.interaction_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(other.row_weights_, sampled.row_weights_, atol=1e-12)


def test_bad_rows_and_missing_cells_of_a_stream_do_not_matter(X: np.ndarray) -> None:
    rng = np.random.default_rng(0)
    dirty, bad = X.copy(), rng.random(len(X)) < 0.05
    dirty[np.ix_(bad, [0, 3])] = 30 * (1 + rng.pareto(1.5, (bad.sum(), 2)))
    dirty = np.where(rng.random(X.shape) < 0.1, np.nan, dirty)
    model = rs.RobustGraph(**OPTIONS, missing="impute").fit(
        dirty, sample_weight=np.tile([1.0, 2.0, 0.0, 1.0, 1.0], 500)
    )
    assert model.sampled_ is not None
    assert np.abs(associations(model.interaction_) - associations(K)).max() < 0.1
    assert "missing" in model.summary()
    with pytest.raises(ValueError, match="give the rows as X"):
        model.imputations(1)
    (table,) = model.imputations(1, dirty[:20])
    there = ~np.isnan(dirty[:20])
    np.testing.assert_array_equal(table[there], dirty[:20][there])
    with pytest.raises(ValueError, match="missing"):
        rs.RobustGraph(**OPTIONS).fit(dirty)


def test_without_ties_rows_are_read_as_often_as_without_margins() -> None:
    z = latent(2500)
    found, gaussian = (
        rs.RobustGraph(**OPTIONS).fit(np.exp(z)),
        rs.RobustGraph(**OPTIONS | {"family": "gaussian"}).fit(z),
    )
    np.testing.assert_allclose(found.association_, gaussian.association_, atol=0.03)
    np.testing.assert_array_equal(found.sampled_.known, 1.0)


def test_covariates_move_the_latent_numbers_of_a_stream() -> None:
    year = np.random.default_rng(4).normal(size=2500)
    X = columns(latent(2500) + 0.8 * year[:, None])
    model = rs.RobustGraph(**OPTIONS).fit(X, covariates={"year": year})
    assert model.sampled_ is not None
    assert np.abs(associations(model.interaction_) - associations(K)).max() < 0.1


def test_what_needs_all_rows_is_refused_beyond_memory() -> None:
    X = np.random.default_rng(0).integers(0, 3, (9000, 6)).astype(float)
    with pytest.raises(ValueError, match="Fit a sample of the rows"):
        rs.RobustGraph("copula", n_blocks=1, max_memory="1 MB").fit(X)
