"""A Parquet file that pandas wrote: the index of the frame is no variable, and labels the rows where it can."""

import numpy as np
import pandas as pd
import pytest

import robscore as rs
from robscore.reading import ReadOptions, read_data

FRAME = pd.DataFrame(np.random.default_rng(0).gamma(2.0, size=(8, 3)), columns=list("abc"))
INDICES = {
    "counting": pd.RangeIndex(8),
    "filtered": pd.Index([0, 2, 3, 7, 11, 12, 15, 21]),
    "named": pd.Index(np.linspace(0.5, 9.0, 8), name="depth"),
    "days": pd.date_range("2020-01-01", periods=8, name="day"),
    "text": pd.Index(list("stuvwxyz")),
    "repeated": pd.Index([1, 1, 2, 2, 3, 3, 4, 4], name="site"),
    "several": pd.MultiIndex.from_product([[1, 2], [1, 2, 3, 4]], names=["year", "quarter"]),
}


@pytest.fixture(params=INDICES)
def kind(request):
    return request.param


def write(tmp_path, kind):
    path = tmp_path / "x.parquet"
    FRAME.set_index(INDICES[kind]).to_parquet(path)
    return path


def test_the_index_is_no_variable_for_the_command_line_and_the_library_alike(tmp_path, kind):
    path = write(tmp_path, kind)
    data, rows = read_data(path), rs.ParquetRows(path)
    assert list(data.names) == rows.names == ["a", "b", "c"]
    np.testing.assert_array_equal(data.values, rows.gather(np.asarray))


@pytest.mark.parametrize(
    ("kind", "name", "labels"),
    [
        ("filtered", "index", ("0", "2", "3")),
        ("named", "depth", None),
        ("days", "day", ("2020-01-01", "2020-01-02", "2020-01-03")),
        ("text", "index", ("s", "t", "u")),
    ],
)
def test_an_index_that_never_repeats_labels_the_rows(tmp_path, kind, name, labels):
    data = read_data(write(tmp_path, kind))
    assert data.label_name == name
    assert labels is None or data.labels[:3] == labels
    assert any("labels the rows" in note for note in data.notes)


@pytest.mark.parametrize("kind", ["repeated", "several"])
def test_another_index_is_left_out_and_named(tmp_path, kind):
    data = read_data(write(tmp_path, kind))
    assert data.labels is None
    told = {"repeated": "'site'", "several": "'year', 'quarter'"}[kind]
    assert f"Dropped (index of a data frame): {told}." in data.notes


def test_an_index_is_taken_where_it_is_asked_for_by_name(tmp_path):
    path = write(tmp_path, "repeated")
    assert read_data(path, ReadOptions(columns=("a", "site"))).names == ("a", "site")
    assert rs.ParquetRows(path, columns=["a", "site"]).names == ["a", "site"]
    assert read_data(path, ReadOptions(columns=("*",))).names == ("a", "b", "c")
    assert read_data(path, ReadOptions(id="site")).labels[:3] == ("1", "1", "2")


def test_a_column_of_names_comes_before_an_index_without_a_name(tmp_path):
    path = tmp_path / "x.parquet"
    FRAME.assign(town=list("stuvwxyz")).set_index(INDICES["filtered"]).to_parquet(path)
    assert read_data(path).label_name == "town"
    FRAME.assign(town=list("stuvwxyz")).set_index(INDICES["days"]).to_parquet(path)
    assert read_data(path).label_name == "day"
