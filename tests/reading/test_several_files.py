"""Several data files, or a folder of them, as one."""

import json

import numpy as np
import pandas as pd
import pytest
from running import run

from robscore.reading import DataFileError, ReadOptions, read_data

FRAME = pd.DataFrame(np.random.default_rng(0).gamma(2.0, size=(90, 3)), columns=list("abc"))


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "rain"
    (place / "robscore-earlier").mkdir(parents=True)
    FRAME[:30].to_csv(place / "1.csv", index=False)
    FRAME[30:60][list("cab")].to_parquet(place / "2.parquet", index=False)
    FRAME[60:].to_csv(place / "3.csv.gz", index=False)
    (place / "robscore-earlier" / "edges.csv").write_text("source,target\na,b\n")
    (place / "notes.md").write_text("no data")
    return place


def test_files_of_any_kind_one_after_the_other(folder):
    whole = read_data(folder)
    np.testing.assert_allclose(whole.values, FRAME)
    assert any("3 files were read" in note for note in whole.notes)
    named = read_data(folder / "3.csv.gz", more=[folder / "1.csv"])
    np.testing.assert_allclose(named.values, pd.concat([FRAME[60:], FRAME[:30]]))


def test_files_with_other_columns_are_refused(folder):
    FRAME.rename(columns={"a": "z"}).to_csv(folder / "4.csv", index=False)
    with pytest.raises(DataFileError, match=r"differ in their columns: 'a', 'z'.*4\.csv"):
        read_data(folder)


def test_a_folder_is_fitted_and_repeated(folder, tmp_path):
    one, many = tmp_path / "one", tmp_path / "many"
    for inputs, out in (([folder], one), (sorted(folder.glob("[123]*")), many)):
        result = run("fit", *inputs, "--family", "gamma", "--edges", 1, "--no-compare", "--out", out)
        assert result.exit_code == 0, result.output
    assert (one / "edges.csv").read_text() == (many / "edges.csv").read_text()
    assert len(json.loads((many / "model.json").read_text())["data"]["more_files"]) == 2
    assert run("fit", "--from", many / "model.json", "--out", tmp_path / "again").exit_code == 0
    FRAME[:5].to_csv(folder / "4.csv", index=False)
    assert "has changed" in run("fit", "--from", one / "model.json").output


def test_files_larger_than_the_memory_are_refused_with_the_way_that_streams(folder, monkeypatch):
    monkeypatch.setattr("robscore.reading.read_files.free_memory", lambda: 1000.0)
    (folder / "1.csv").unlink()
    (folder / "3.csv.gz").unlink()
    with pytest.raises(DataFileError, match=r"30 rows of 3 columns take about .*RobustGraph\(\)\.fit\('.*rain'\)"):
        read_data(folder)
    result = run("fit", folder)
    assert result.exit_code != 0
    assert "piece by piece" in " ".join(result.output.split())
    monkeypatch.setattr("robscore.reading.read_files.free_memory", lambda: None)  # not known
    assert len(read_data(folder).values) == 30


def test_decimal_commas_stay_so_in_several_files(tmp_path):
    """With 1,234 % in one of them: a thousandth part of what it would be with decimal points."""
    shares = FRAME[:30].map(lambda value: f"{1 + value % 1:.3f}").assign(c=FRAME["c"].map(str))
    comma = shares.map(lambda cell: cell.replace(".", ",")).assign(a=lambda table: table["a"] + " %")
    comma.to_csv(tmp_path / "1.csv", sep=";", index=False)
    comma.to_csv(tmp_path / "2.csv", sep=";", index=False)
    shares.assign(a=shares["a"] + " %").to_csv(tmp_path / "3.csv", index=False)
    expected = shares.astype(float)
    for files in (["1.csv"], ["1.csv", "2.csv"], ["1.csv", "2.csv", "3.csv"], ["3.csv", "1.csv"]):
        first, *more = [tmp_path / name for name in files]
        read = read_data(first, more=more)
        np.testing.assert_array_equal(read.values, pd.concat([expected] * len(files)))


def test_columns_without_names_stay_together(tmp_path):
    (tmp_path / "1.csv").write_text(FRAME[:30].to_csv(index=False).replace("a,b,c", ",,c", 1))
    (tmp_path / "2.csv").write_text(FRAME[30:][list("cab")].to_csv(index=False).replace("c,a,b", "c,,", 1))
    read = read_data(tmp_path / "1.csv", more=[tmp_path / "2.csv"])
    assert read.names == ("column 1", "column 2", "c")
    np.testing.assert_allclose(read.values, FRAME)


def test_a_group_called_none_may_fill_a_file(tmp_path):
    FRAME[:30].assign(given="none").to_csv(tmp_path / "1.csv", index=False)
    FRAME[30:].assign(given="drug").to_csv(tmp_path / "2.csv", index=False)
    read = read_data(tmp_path / "1.csv", ReadOptions(by=("given",)), [tmp_path / "2.csv"])
    assert read.given["given"].tolist() == ["none"] * 30 + ["drug"] * 60
