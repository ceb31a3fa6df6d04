"""Columns of numbers that tell nothing are left out, and the notes say why."""

import numpy as np
import pandas as pd
import pytest

from robscore.cli.reading import ReadOptions, read_data

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
