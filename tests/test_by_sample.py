"""Very many rows: a sample chooses the graph, all rows its numbers."""

from contextlib import contextmanager
from unittest.mock import patch

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pytest
from designs import first

import robscore as rs
from robscore._tools.progress import watched_by
from robscore.elements import LossWeights
from robscore.fitting import by_sample
from robscore.losses import RestrictedLoss, entries_of
from robscore.rows import ArrayRows
from robscore.solvers import refit

TRUTH = rs.simulate.random_model(8, 8, random_state=1)


def square_root_rows(n, seed=2):
    X = rs.simulate.sample("sqrt", TRUTH.interaction, TRUTH.location, n_rows=n, random_state=seed)
    return rs.simulate.contaminate_pareto(X, 0.05, random_state=seed + 1).X


@contextmanager
def samples_of_2000():
    with patch.multiple(by_sample, MOST_ROWS=2000, _FEWEST_ROWS=2000):
        yield


@pytest.fixture
def small_samples():
    with samples_of_2000():
        yield


@pytest.fixture(scope="module")
def X():
    return square_root_rows(6000)


@pytest.fixture(scope="module")
def sampled(X):
    with samples_of_2000():
        return rs.RobustGraph("sqrt", random_state=3, alphas=20).fit(X)


CASES = {
    "square root": ("sqrt", {}),
    "Gaussian": ("gaussian", {}),
    "weights": ("sqrt", {"sample_weight": np.tile([1.0, 2.0, 0.0], 300)}),
    "covariates": ("gaussian", {"covariates": {"year": np.linspace(0, 1, 900)}}),
}


@pytest.mark.parametrize(("family", "more"), CASES.values(), ids=CASES)
def test_when_the_sample_is_everything_weights_and_refit_are_those_of_the_fit_in_memory(family, more):
    X = square_root_rows(900) if family != "gaussian" else np.random.default_rng(0).normal(size=(900, 4)) @ np.tri(4)
    X[::100] = np.abs(X[::100]) * 30
    whole = rs.RobustGraph(family, alphas=10).fit(X, **more).fitted_
    every = np.arange(whole.prepared.rows.n_rows)
    again = by_sample._of_all(whole, whole.prepared, every, np.random.default_rng(0))
    np.testing.assert_array_equal(again.weights.phi, whole.weights.phi)
    np.testing.assert_array_equal(again.weighed.found.reasons, whole.weighed.found.reasons)
    for all_rows, in_memory in zip(again.scaled, whole.unshrunk, strict=True):
        np.testing.assert_allclose(all_rows, in_memory, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("with_covariates", [False, True])
def test_the_loss_on_a_support_is_that_part_of_the_whole_loss(with_covariates):
    X, rng = square_root_rows(300), np.random.default_rng(0)
    elements = rs.score_elements("gamma", X)
    if with_covariates:
        elements = elements.given(rng.normal(size=(300, 2)))
    weights = rng.uniform(size=300) * (rng.uniform(size=300) < 0.8)
    edges = np.triu(rng.uniform(size=(8, 8)) < 0.3, 1)
    edges |= edges.T
    dense = elements.average(weights, weights, storage="dense")
    pulls = -weights * (rng.uniform(size=300) < 0.3)
    z0 = np.where(edges, rng.normal(size=(8, 8)), 0.0) + 3 * np.eye(8), rng.normal(size=(8, elements.n_locations))
    z0 = z0[0] + z0[0].T, z0[1] if with_covariates else z0[1][:, 0]
    dense.g += elements.gamma_times(pulls, *z0)
    entries = entries_of(edges, elements.n_locations)
    loss = elements.restricted(LossWeights(weights, weights, pulls), z0, entries)
    assert isinstance(loss, RestrictedLoss)
    for node, own in enumerate(entries):
        np.testing.assert_allclose(loss.block(node, own, own), dense.block(node, own, own))
        np.testing.assert_allclose(loss.diagonal()[node, own], dense.diagonal()[node, own])
        np.testing.assert_allclose(loss.g[node, own], dense.g[node, own])
    options = {"locations": np.ones(dense.location_shape, dtype=bool), "symmetric": True}
    part, whole = (refit(one, edges, **options) for one in (loss, dense))
    np.testing.assert_allclose(part.interaction, whole.interaction, rtol=1e-7, atol=1e-9)
    K, eta = whole.interaction, whole.location
    np.testing.assert_allclose(loss.pulls_of(K), dense.pulls_of(K))
    np.testing.assert_allclose(loss.best_location(loss.pulls_of(K)), dense.best_location(dense.pulls_of(K)))
    known = np.zeros(loss.g.shape, dtype=bool)
    for node, own in enumerate(entries):
        known[node, own] = True
    np.testing.assert_allclose(loss.gamma_times(K, eta)[known], dense.gamma_times(K, eta)[known])
    with pytest.raises(ValueError, match="on the support"):
        _ = loss.blocks


@pytest.mark.parametrize("way", first(2, ["Parquet", "incomplete", "memory map", "Dask", "Arrow"]))
def test_it_does_not_matter_where_rows_are(way, X, sampled, small_samples, tmp_path):
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(8)])
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=700)
    np.save(tmp_path / "rows.npy", X)
    data = {
        "Parquet": tmp_path,
        "memory map": np.load(tmp_path / "rows.npy", mmap_mode="r"),
        "Dask": da.from_array(X, chunks=(1300, 8)),
        "Arrow": pl.scan_parquet(tmp_path / "rows.parquet"),
        "incomplete": np.vstack([X, np.full((3, 8), np.nan)]),
    }[way]
    other = rs.RobustGraph("sqrt", random_state=3, alphas=20, missing="drop", max_memory="2 MB").fit(data)
    assert other.sampled_ is not None
    np.testing.assert_array_equal(other.sampled_.rows, sampled.sampled_.rows)
    np.testing.assert_allclose(other.interaction_, sampled.interaction_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(other.row_weights_[:6000], sampled.row_weights_, atol=1e-12)


def test_estimates_and_bad_rows_are_those_of_all_rows(X, sampled, monkeypatch):
    monkeypatch.setattr(by_sample, "MOST_ROWS", 10**9)
    monkeypatch.setattr(by_sample, "_FEWEST_ROWS", 10**9)
    whole = rs.RobustGraph("sqrt", random_state=3, alphas=20).fit(X)
    assert whole.sampled_ is None
    by_all, _ = whole.fitted_.prepared.preparation.unscale(whole.fitted_.unshrunk)
    error = sampled.sampled_.interaction_error
    both = np.isfinite(error) & (by_all != 0)
    assert np.count_nonzero(both) >= 8 + 2 * 8
    assert np.abs((sampled.interaction_ - by_all) / error)[both].max() < 3
    assert (
        np.mean((sampled.row_weights_[:, 0] == 0) != (whole.row_weights_[:, 0] == 0)) < 0.02
    )  # a limit is known to some per cent


def test_errors_are_those_of_the_intervals(sampled):
    table = sampled.edge_intervals(estimate="full")
    ends = [(int(a[1:]), int(b[1:])) for a, b in zip(table["source"], table["target"], strict=True)]
    ours = np.array([sampled.sampled_.interaction_error[pair] for pair in ends])
    ratio = (table["interaction_error"] / ours)[np.isfinite(ours)]
    assert ratio.size >= 8
    assert ((ratio > 0.85) & (ratio < 1.3)).all()  # those of all pairs at once are a little larger


def test_pairs_that_were_left_out_are_found_by_fresh_rows(X, sampled, small_samples):
    few = rs.RobustGraph("sqrt", n_edges=4, random_state=3, alphas=20).fit(X)
    certificate = few.sampled_.certificate
    true = TRUTH.interaction[certificate.pairs] != 0
    assert np.flatnonzero(true).max() < 6  # the four that were left out are among the first
    assert certificate.n_missed >= 3
    assert sampled.sampled_.certificate.n_missed <= 2
    assert not np.isin(few.sampled_.rows, np.setdiff1d(np.arange(6000), few.fitted_.used)).any()


def test_the_summary_says_who_did_what(X, sampled, small_samples):
    assert "2000 random rows chose the graph, and all 6000 estimated it" in sampled.summary()
    again = rs.RobustGraph("sqrt", random_state=4, alphas=20).fit(X)
    assert not np.array_equal(again.sampled_.rows, sampled.sampled_.rows)
    assert again.suspicious_rows()["flagged"].sum() > 200


@pytest.mark.parametrize("said", [{"n_blocks": 50}, {"contamination": 0.05}, {"alpha": 0.1}, {"reweight": False}])
def test_nobody_samples_where_something_is_said(said, X, small_samples):
    assert rs.RobustGraph("sqrt", **({"alphas": 10} | said)).fit(X[:2500]).sampled_ is None


def test_a_sample_has_as_many_rows_as_memory_allows():
    settings = rs.RobustGraph("sqrt", n_blocks=1, alphas=2).fit(square_root_rows(100)).fitted_.settings
    sizes = [by_sample.sample_size(ArrayRows(np.empty((10, m))), settings) for m in (10, 1000, 10_000)]
    assert sizes[0] == by_sample.MOST_ROWS
    assert by_sample._FEWEST_ROWS < sizes[1] < by_sample.MOST_ROWS
    assert sizes[2] == by_sample._FEWEST_ROWS


class CountedRows(rs.ParquetRows):
    """Files that count how many rows are read from them."""

    n_read = 0

    def _batches(self, groups):
        for low, rows in super()._batches(groups):
            self.n_read += len(rows)
            yield low, rows


def test_few_passes(small_samples, tmp_path):
    for k in range(4):
        pd.DataFrame(square_root_rows(4000, seed=k)).add_prefix("c").to_parquet(tmp_path / f"{k:02d}.parquet")
    rows = CountedRows(tmp_path)
    assert rs.RobustGraph("sqrt", alphas=20).fit(rows).sampled_ is not None
    assert rows.n_read <= 6 * rows.n_rows  # a look, weights, loss, two samples, and the kinds of columns


def test_many_columns_need_no_gamma(small_samples, tmp_path):
    m = 80
    model = rs.simulate.random_model(m, 60, random_state=0)
    X = rs.simulate.sample("sqrt", model.interaction, model.location, n_rows=3000, burn_in=20, thin=2, random_state=1)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    found = rs.RobustGraph("sqrt", max_memory="3 MB").fit(mapped)  # of which Gamma alone takes 4
    assert isinstance(found.fitted_.loss, RestrictedLoss)
    assert rs.metrics.f1_score(found.interaction_, model.interaction) > 0.6
    assert found.suspicious_rows().shape[0] == 3000
    with pytest.raises(ValueError, match="Gamma of 80 columns takes"):
        found.edge_intervals(estimate="full")


def test_row_groups_are_drawn_first(tmp_path):
    pd.DataFrame({"a": np.arange(100_000.0), "b": 0.0}).to_parquet(tmp_path / "x.parquet", row_group_size=100)
    rows = rs.ParquetRows(tmp_path)
    index = rows.sample(200, np.random.default_rng(0))
    assert len(np.unique(index)) == 200
    assert len(np.unique(index // 100)) <= 64
    np.testing.assert_array_equal(rows.take(index)[:, 0], index)


def test_every_pass_is_told(X, small_samples, monkeypatch):
    monkeypatch.setattr("robscore.rows.row_source.PIECE_BYTES", 64_000)
    monkeypatch.setattr(by_sample, "_PIECE_BYTES", 64_000)
    told = []
    with watched_by(lambda *words: told.append(words)):
        rs.RobustGraph("sqrt", alphas=20).fit(X)
    for step in ("looking at all rows, pass 1", "weighing all rows, pass 2", "adding up their loss, pass 3"):
        counts = [done for words, done, _ in told if words.startswith(step) and done]
        assert len(counts) > 4
        assert counts == sorted(counts)
        assert counts[-1] == 6000
