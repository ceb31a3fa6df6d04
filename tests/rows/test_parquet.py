"""Parquet folders: which files, which columns, and what is wrong with them."""

import warnings

import numpy as np
import pandas as pd
import pytest

import robscore as rs


def write(folder, name, **columns):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(columns).to_parquet(path)


def test_files_are_read_in_the_order_of_their_names(tmp_path):
    write(tmp_path, "b.parquet", x=[3.0, 4.0], y=[1, 2])
    write(tmp_path, "a/part.parquet", x=[1.0, 2.0], y=[5, 6])
    write(tmp_path, "_metadata/z.parquet", other=[1.0])
    (tmp_path / "readme.txt").write_text("not data")
    rows = rs.ParquetRows(tmp_path)
    assert (rows.n_rows, rows.names) == (4, ["x", "y"])
    np.testing.assert_array_equal(rows.gather(np.asarray), [[1, 5], [2, 6], [3, 1], [4, 2]])
    assert rows.place(2) == "row 2, which is row 0 of 'b.parquet'"


def test_whole_numbers_booleans_and_nulls_are_numbers(tmp_path):
    frame = pd.DataFrame({"i": pd.array([1, None], dtype="Int64"), "b": [True, False], "f": np.float32([0.5, 2])})
    frame.to_parquet(tmp_path / "x.parquet")
    values = rs.ParquetRows(tmp_path / "x.parquet").gather(np.asarray)
    np.testing.assert_array_equal(values, [[1, 1, 0.5], [np.nan, 0, 2]])


def test_columns_in_another_order_are_the_same_columns(tmp_path):
    write(tmp_path, "1.parquet", x=[1.0], y=[2.0])
    write(tmp_path, "2.parquet", y=[4.0], x=[3.0])
    np.testing.assert_array_equal(rs.ParquetRows(tmp_path).gather(np.asarray), [[1, 2], [3, 4]])


def test_files_with_other_columns_are_named(tmp_path):
    write(tmp_path, "1.parquet", x=[1.0], y=[2.0])
    write(tmp_path, "2.parquet", x=[1.0], z=[2.0])
    with pytest.raises(ValueError, match=r"'2.parquet' has no 'y' and has 'z' besides, unlike '1.parquet'"):
        rs.RobustGraph("sqrt").fit(tmp_path)
    assert rs.ParquetRows(tmp_path, columns=["x"]).n_rows == 2


def test_text_columns_are_named(tmp_path):
    write(tmp_path, "1.parquet", x=[1.0], place=["Graz"])
    with pytest.raises(ValueError, match=r"'1.parquet' that are not numeric: 'place'"):
        rs.RobustGraph("sqrt").fit(tmp_path)


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda p: p / "nowhere", FileNotFoundError, "There is no file or folder"),
        (lambda p: p, ValueError, "holds no Parquet files"),
        (lambda p: [], ValueError, "No Parquet files"),
        (lambda p: _broken(p), ValueError, "'x.parquet' is not a Parquet file that can be read"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path, make, error, match):
    with pytest.raises(error, match=match):
        rs.ParquetRows(make(tmp_path))


def _broken(folder):
    (folder / "x.parquet").write_bytes(b"PAR1 but not really")
    return folder


def test_missing_values_are_named_with_their_file(tmp_path):
    rng = np.random.default_rng(0)
    write(tmp_path, "1.parquet", x=rng.gamma(1.0, size=30), y=rng.gamma(1.0, size=30))
    second = rng.gamma(1.0, size=30)
    second[4] = np.nan
    write(tmp_path, "2.parquet", x=second, y=rng.gamma(1.0, size=30))
    with pytest.raises(ValueError, match=r"column 'x' has 1 \(first in row 34, which is row 4 of '2.parquet'\)"):
        rs.RobustGraph("sqrt").fit(tmp_path)
    assert rs.RobustScoreMatching(missing="drop", n_blocks=3).fit(tmp_path).n_rows_used_ == 59


def test_other_columns_than_those_of_the_fit_are_refused(tmp_path):
    rng = np.random.default_rng(0)
    write(tmp_path, "1.parquet", x=rng.gamma(1.0, size=60), y=rng.gamma(1.0, size=60))
    write(tmp_path / "other", "1.parquet", a=[1.0], b=[2.0])
    model = rs.RobustScoreMatching(n_blocks=5).fit(tmp_path / "1.parquet")
    assert list(model.feature_names_in_) == ["x", "y"]
    with pytest.raises(ValueError, match="columns of X must be those of the fit"):
        model.row_losses(tmp_path / "other")
    np.testing.assert_allclose(
        model.row_losses(tmp_path / "1.parquet"), model.row_losses(pd.read_parquet(tmp_path / "1.parquet"))
    )


def test_the_index_of_a_data_frame_is_not_a_variable(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["a", "b"])
    frame[frame.a > 0].to_parquet(tmp_path / "1.parquet")
    frame[frame.a <= 0].set_index(np.arange(np.count_nonzero(frame.a <= 0)) * 2).to_parquet(tmp_path / "2.parquet")
    assert rs.ParquetRows(tmp_path).names == ["a", "b"]
    dd = pytest.importorskip("dask.dataframe")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Dask's, about pandas
        dd.from_pandas(frame, npartitions=3).to_parquet(tmp_path / "dask")
    assert rs.ParquetRows(tmp_path / "dask").names == ["a", "b"]
    assert rs.ParquetRows([tmp_path / "1.parquet", tmp_path / "2.parquet"]).n_rows == 40


def test_files_that_change_are_noticed(tmp_path):
    rng = np.random.default_rng(0)
    write(tmp_path, "1.parquet", a=rng.normal(size=50), b=rng.normal(size=50))
    rows = rs.ParquetRows(tmp_path)
    write(tmp_path, "1.parquet", c=rng.normal(size=50), d=rng.normal(size=50), e=rng.normal(size=50))
    with pytest.raises(ValueError, match=r"'1.parquet' has changed since it was opened"):
        rows.gather(np.asarray)
    (tmp_path / "1.parquet").unlink()
    with pytest.raises(ValueError, match=r"'1.parquet' is gone since it was opened"):
        rows.gather(np.asarray)


@pytest.mark.parametrize(
    ("columns", "match"), [([], "no columns to use"), (["a", "a"], "must be unique"), ("z", "has no 'z'")]
)
def test_columns_must_make_sense(tmp_path, columns, match):
    write(tmp_path, "1.parquet", a=[1.0], b=[2.0])
    with pytest.raises(ValueError, match=match):
        rs.ParquetRows(tmp_path, columns=columns)


def test_large_whole_numbers_and_empty_columns_are_numbers(tmp_path):
    write(tmp_path, "1.parquet", a=[2**60 + 1, 3], b=[None, None])
    write(tmp_path, "2.parquet", a=[1, 2], b=[0.5, 1.5])
    values = rs.ParquetRows(tmp_path).gather(np.asarray)
    assert values[0, 0] == 2.0**60
    assert np.isnan(values[:2, 1]).all()
