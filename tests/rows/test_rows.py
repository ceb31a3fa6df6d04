"""Rows in memory, in files and on other machines are the same rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robscore.rows import ArrayRows, ParquetRows, column_quantiles, cut, repieced
from robscore.rows import row_source as rows_base

KINDS = ["array", "memory map", "parquet", "dask", "selected", "mapped"]


def make(kind, X, folder):
    """The rows of X as each kind has them."""
    if kind == "array":
        return ArrayRows(X, whole=False)
    if kind == "memory map":
        np.save(folder / "X.npy", X)
        return ArrayRows(np.load(folder / "X.npy", mmap_mode="r"), whole=False)
    if kind == "parquet":
        for k, part in enumerate(np.array_split(X, 4)):
            pd.DataFrame(part, columns=[f"c{j}" for j in range(X.shape[1])]).to_parquet(folder / f"{k}.parquet")
        return ParquetRows(folder)
    if kind == "dask":
        da = pytest.importorskip("dask.array")
        from robscore.rows.dask_cluster import DaskRows

        return DaskRows(da.from_array(X, chunks=(37, 2)))
    if kind == "selected":
        twice = np.repeat(X, 2, axis=0)
        return ArrayRows(twice, whole=False).selected(np.arange(1, len(twice), 2))
    return ArrayRows(X - 1, whole=False).mapped(_plus_one)


def _plus_one(X):
    return X + 1


@pytest.fixture(params=KINDS)
def both(request, tmp_path, monkeypatch):
    monkeypatch.setattr(rows_base, "PIECE_BYTES", 8 * 3 * 11)  # eleven rows of three columns
    X = np.random.default_rng(0).normal(size=(123, 3)).round(6)
    return X, make(request.param, X, tmp_path)


def test_every_row_is_seen_once_and_in_order(both):
    X, rows = both
    np.testing.assert_allclose(rows.gather(np.asarray), X, atol=1e-15)
    np.testing.assert_allclose(rows.total(lambda piece: piece.sum(axis=0)), X.sum(axis=0), atol=1e-12)
    firsts = [first for first, _ in rows.each(len)]
    assert firsts == sorted(set(firsts))
    assert firsts[0] == 0


def test_arrays_go_along_with_the_rows(both):
    X, rows = both
    numbers = np.arange(len(X))
    pairs = rows.gather(lambda piece, own: np.column_stack([piece, own]), numbers)
    np.testing.assert_array_equal(pairs[:, 3], numbers)
    np.testing.assert_allclose(pairs[:, :3], X, atol=1e-15)


def test_blocks_are_never_cut(both):
    _, rows = both
    starts = np.array([0, 5, 40, 41, 100])
    sums = rows.gather(
        lambda piece, own: np.unique(own), np.repeat(np.arange(5), np.diff([*starts, 123])), starts=starts
    )
    np.testing.assert_array_equal(sums, np.arange(5))  # a block in two pieces would be there twice


def test_any_rows_can_be_taken_and_selected(both):
    X, rows = both
    index = np.array([100, 3, 3, 0, 122])
    np.testing.assert_allclose(rows.take(index), X[index], atol=1e-15)
    some = np.array([0, 7, 8, 60, 121])
    np.testing.assert_allclose(rows.selected(some).gather(np.asarray), X[some], atol=1e-15)
    again = rows.selected(some).selected(np.array([1, 4]))
    np.testing.assert_allclose(again.gather(np.asarray), X[[7, 121]], atol=1e-15)


@pytest.mark.parametrize("q", [0.0, 0.25, 0.5, 0.9, 1.0])
def test_quantiles_are_exact(both, q, monkeypatch):
    X, rows = both
    monkeypatch.setattr("robscore.rows.quantiles._HELD", 5)
    np.testing.assert_allclose(column_quantiles(rows, q), np.quantile(X, q, axis=0), rtol=1e-12)


@settings(max_examples=30)
@given(
    st.lists(st.one_of(st.floats(allow_nan=True), st.sampled_from([0.0, -0.0, 1.0])), min_size=1, max_size=40),
    st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    st.integers(1, 7),
)
def test_quantiles_of_any_numbers(values, q, length):
    column = np.array(values)
    kept = np.sort(column[~np.isnan(column)])
    import robscore.rows.quantiles as quantiles

    held, quantiles._HELD = quantiles._HELD, 3
    try:
        found = column_quantiles(Short(column[:, None], length), q)[0]
    finally:
        quantiles._HELD = held
    if not kept.size:
        assert np.isnan(found)
        return
    rank = q * (kept.size - 1)
    low, high = kept[int(np.floor(rank))], kept[int(np.ceil(rank))]
    assert low <= found <= high or np.isnan(found)
    if low == high:
        assert found == low


class Short(ArrayRows):
    """Rows in short pieces."""

    def __init__(self, values, length):
        super().__init__(values, whole=False)
        self._length = length

    @property
    def length(self):
        return self._length


@given(st.integers(1, 50), st.integers(1, 20), st.lists(st.integers(1, 12), min_size=1, max_size=12))
def test_cuts_cover_all_rows(n, length, sizes):
    bounds = cut(n, length)
    assert bounds[0] == 0
    assert bounds[-1] == n
    assert (np.diff(bounds) > 0).all()
    assert (np.diff(bounds) <= length).all()
    starts = np.cumsum([0, *sizes[:-1]])
    bounds = cut(sum(sizes), length, starts)
    assert set(bounds[:-1]) <= set(starts)
    long = np.diff(bounds) > length
    assert all(
        np.count_nonzero((starts >= low) & (starts < high)) == 1
        for low, high in zip(bounds[:-1][long], bounds[1:][long], strict=True)
    )


@given(st.lists(st.integers(0, 9), min_size=1, max_size=9), st.integers(1, 9))
def test_pieces_of_any_length_are_cut_anew(lengths, length):
    n = sum(lengths)
    if n == 0:
        return
    X = np.arange(n)[:, None] * 1.0
    arrays = np.split(X, np.cumsum(lengths)[:-1])
    pieces = list(repieced(arrays, cut(n, length)))
    np.testing.assert_array_equal(np.concatenate(pieces), X)
    assert all(len(piece) <= length for piece in pieces)
