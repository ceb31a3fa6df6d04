"""Anything that streams Arrow: the same fit as from memory, and clear words where it cannot be read twice."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import robscore as rs

FRAME = pd.DataFrame(
    np.random.default_rng(0).normal(size=(300, 4)) @ (np.eye(4) + np.eye(4, k=1) / 2), columns=list("abcd")
)


class Stream:
    """The protocol and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def relation(path):
    return pytest.importorskip("duckdb").sql(f"select * from '{path}'")


SOURCES = {
    "lazy frame": pl.scan_parquet,
    "relation": relation,
    "dataset": ds.dataset,
    "scanner": lambda path: ds.dataset(path).scanner(batch_size=77),
    "stream": lambda path: Stream(pa.table(FRAME)),
    "function of a reader": lambda path: lambda: pa.table(FRAME).to_reader(max_chunksize=50),
    "function of batches": lambda path: lambda: iter(pa.table(FRAME).to_batches(max_chunksize=50)),
    "function of a lazy frame": lambda path: lambda: pl.scan_parquet(path),
}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("arrow") / "rows.parquet"
    FRAME.to_parquet(path, row_group_size=100)
    return path


@pytest.fixture(scope="module")
def in_memory():
    return rs.RobustGraph("gaussian").fit(FRAME)


@pytest.mark.parametrize("opened", SOURCES.values(), ids=SOURCES)
def test_the_fit_is_that_of_the_rows_in_memory(opened, path, in_memory):
    source = opened(path)
    model = rs.RobustGraph("gaussian").fit(source)
    np.testing.assert_allclose(model.interaction_, in_memory.interaction_, atol=1e-10)
    np.testing.assert_allclose(model.row_losses(source), in_memory.row_losses(FRAME), rtol=1e-8)
    assert list(model.feature_names_in_) == list("abcd")


def test_rows_are_taken_in_any_order_and_columns_chosen():
    rows = rs.ArrowRows(lambda: pa.table(FRAME).to_batches(max_chunksize=13), columns=["d", "a"])
    index = np.array([250, 3, 3, 77])
    np.testing.assert_array_equal(rows.take(index), FRAME[["d", "a"]].to_numpy()[index])
    np.testing.assert_array_equal(np.concatenate(list(rows.pieces(np.array([0, 1, 150, 300])))), FRAME[["d", "a"]])
    assert "300 rows" in repr(rows)


def test_what_can_be_read_only_once_says_so():
    reader = pa.table(FRAME).to_reader()
    with pytest.raises(ValueError, match="read only once; pass a function"):
        rs.RobustGraph("gaussian").fit(reader)
    batches = iter(pa.table(FRAME).to_batches())
    with pytest.raises(ValueError, match=r"300 rows at first, and now 0.*pass a function"):
        rs.RobustGraph("gaussian").fit(lambda: batches)


@pytest.mark.parametrize(
    ("source", "match"),
    [
        (lambda: [], "yields no rows"),
        (lambda: 3, "does not yield batches"),
        (lambda: pa.table({"a": [1.0], "b": ["x"]}).to_batches(), r"not numeric: 'b' \(string\)"),
    ],
)
def test_other_streams_are_refused_in_words(source, match):
    with pytest.raises((ValueError, TypeError), match=match):
        rs.RobustGraph("gaussian").fit(source)
    with pytest.raises(ValueError, match="there is no 'z'"):
        rs.ArrowRows(lambda: pa.table(FRAME).to_batches(), columns=["z"])
