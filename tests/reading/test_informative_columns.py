"""Columns of numbers that tell nothing are left out, and the notes say why."""

import numpy as np
import pandas as pd
import pytest

from robscore.reading import DataFileError, ReadOptions, read_data

N = 30


def frame(**more):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {"town": [f"t{k % 9}" for k in range(N)], **dict(zip("abc", rng.normal(size=(3, N)), strict=True)), **more}
    )


def read(tmp_path, table, *, index=False, **options):
    path = tmp_path / "x.csv"
    table.to_csv(path, index=index)
    return read_data(path, ReadOptions(**options))


@pytest.mark.parametrize("start", [0, 1])
def test_a_count_of_the_rows_without_a_name_is_no_variable(tmp_path, start):
    table = frame(name=[f"n{k}" for k in range(N)]).set_index(np.arange(start, start + N))
    for options in ({}, {"id": "town"}, {"id": "name"}, {"columns": ("*",), "exclude": ("name", "town")}):
        data = read(tmp_path, table, index=True, **options)
        assert data.names == ("a", "b", "c"), options
        assert "Dropped (counts the rows): 'column 1'." in data.notes
        assert data.fates["column 1"] == "counts the rows"
    alone = read(tmp_path, table.drop(columns="name"), index=True)
    assert alone.names == ("a", "b", "c")
    assert alone.labels[0] == str(start)


def test_a_first_column_that_has_a_name_or_does_not_count_stays(tmp_path):
    assert read(tmp_path, frame(d=np.arange(N))[["d", "a", "b", "town"]], id="town").names == ("d", "a", "b")
    unequal = frame().set_index(2 * np.arange(N))
    assert read(tmp_path, unequal, index=True, id="town").names == ("column 1", "a", "b", "c")
    assert (
        read(tmp_path, frame().set_index(np.arange(N)), index=True, id="town", columns=("", "a")).names[0] == "column 1"
    )


UNITS = {
    "mm": (0.0, 10.0, "10 times 'a'"),
    "km": (0.0, 1e-3, "'a' / 1000"),
    "inch": (0.0, 1 / 2.54, "0.3937 times 'a'"),
    "rest": (24.0, -1.0, "24 - 'a'"),
    "kelvin": (273.15, 1.0, "'a' + 273.15"),
    "fahrenheit": (32.0, 1.8, "32 + 1.8 times 'a'"),
    "opposite": (0.0, -1.0, "-1 times 'a'"),
}


@pytest.mark.parametrize("unit", UNITS)
def test_a_linear_function_of_one_other_column_is_left_out_and_named(tmp_path, unit):
    start, slope, words = UNITS[unit]
    table = frame()
    data = read(tmp_path, table.assign(**{unit: start + slope * table["a"]}))
    assert data.names == ("a", "b", "c")
    assert f"Dropped (determined by another column): {unit!r} is {words}." in data.notes
    assert data.fates[unit] == words
    np.testing.assert_array_equal(data.values, table[["a", "b", "c"]])
    outlier = table.assign(a=np.where(np.arange(N) == 3, 1e6, table["a"]))
    assert read(tmp_path, outlier.assign(**{unit: start + slope * outlier["a"]})).names == ("a", "b", "c")


def test_of_two_columns_that_determine_each_other_the_fuller_one_stays(tmp_path):
    table = frame()
    table["d"] = 24 - table["a"]
    table.loc[:8, "a"] = np.nan
    data = read(tmp_path, table)
    assert data.names == ("b", "c", "d")
    assert "'a' is 24 - 'd'" in " ".join(data.notes)


def test_rounding_hides_no_line(tmp_path):
    rng = np.random.default_rng(7)
    sleep = rng.uniform(2, 20, N)
    table = frame(total=sleep.round(1), awake=(24 - sleep).round(2), celsius=rng.normal(10, 40, N).round(1))
    data = read(tmp_path, table.assign(f=(32 + 1.8 * table["celsius"]).round(1)))
    assert data.names == ("a", "b", "c", "total", "celsius")
    assert "'awake' is 24 - 'total', 'f' is 32 + 1.8 times 'celsius'" in " ".join(data.notes)
    scores = rng.integers(1, 6, N)
    assert "d" in read(tmp_path, frame(s=scores, d=scores + (np.arange(N) == 4))).names


def test_columns_that_are_not_quite_determined_stay(tmp_path):
    table = frame()
    rng = np.random.default_rng(1)
    for near in (
        table["a"] + 1e-3 * rng.normal(size=N),
        np.where(np.arange(N) == 5, 9.0, 2 * table["a"]),
        np.where(np.arange(N) < 21, np.nan, 2 * table["a"]),  # too few rows to tell
        table["a"] + table["b"],
        table["a"] ** 3,
    ):
        assert read(tmp_path, table.assign(d=near)).names == ("a", "b", "c", "d")
    huge = np.where(np.arange(N) == 3, 1e30, 1.0)  # an outlier in both is no line
    both = table.assign(a=table["a"] * huge, b=np.abs(table["b"]) * huge)
    assert read(tmp_path, both).names == ("a", "b", "c")


def test_many_columns_with_holes_are_compared_a_few_at_a_time(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 300))
    X[:, 280] = 3 * X[:, 5]
    X[rng.random(X.shape) < 0.2] = np.nan
    data = read(tmp_path, pd.DataFrame(X, columns=[f"v{k}" for k in range(300)]))
    assert len(data.names) == 299
    assert not {"v5", "v280"} <= set(data.names)


@pytest.mark.parametrize("unit", [" kg", "kg", "  m/s", " °C", " g m-2", "µm"])
def test_numbers_followed_by_a_unit_are_named_with_what_to_do(tmp_path, unit):
    cells = [f"{number:.3f}{unit}" for number in np.random.default_rng(0).gamma(2.0, size=N)]
    cells[4] = ""
    data = read(tmp_path, frame(mass=cells))
    assert data.names == ("a", "b", "c")
    words = f"The cells of 'mass' are numbers followed by {unit.strip()!r}: remove it to have the column in."
    assert words in data.notes
    assert not any("'town'" in note and "followed" in note for note in data.notes)
    two = read(tmp_path, frame(mass=cells, other=["5 x"] * N))
    assert ", those of 'other' by 'x': remove these units to have the columns in." in " ".join(two.notes)
    for options in ({"columns": ("a", "mass")}, {"exclude": ("b", "c")}):
        with pytest.raises(DataFileError, match="are numbers followed by"):
            read(tmp_path, frame(mass=cells), **options)


@pytest.mark.parametrize(
    "cells", [["3 kg", "5 g"], ["kg 3", "kg 5"], ["a 3", "3 a"], ["10:30", "11:30"], ["3 kg", "kg"]]
)
def test_other_texts_with_numbers_have_no_unit(tmp_path, cells):
    assert not any("followed by" in note for note in read(tmp_path, frame(text=cells * (N // 2))).notes)
