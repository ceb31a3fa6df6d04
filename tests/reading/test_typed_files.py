"""Files that know types: options, words for missing, decimal signs and names mean the same in them as in text."""

import json
from decimal import Decimal

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from running import run

from robscore.reading import DataFileError, ReadOptions, read_data

N = 24
FRAME = pd.DataFrame(0.25 + (64 * np.random.default_rng(0).gamma(2.0, size=(N, 3))).round() / 64, columns=list("abc"))
KINDS = ("csv", "parquet", "feather", "dta", "jsonl", "xlsx")


def written(folder, frame, kind):
    path = folder / f"x.{kind}"
    {
        "csv": lambda: frame.to_csv(path, index=False),
        "parquet": lambda: frame.to_parquet(path),
        "feather": lambda: frame.to_feather(path),
        "dta": lambda: frame.to_stata(path, write_index=False),
        "jsonl": lambda: frame.to_json(path, orient="records", lines=True),
        "xlsx": lambda: frame.to_excel(path, index=False),
    }[kind]()
    return path


def with_first(name, cell):
    return FRAME.assign(**{name: [cell, *FRAME[name].map(str)[1:]]})


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_that_mean_missing_are_missing(tmp_path, kind):
    frame = FRAME.assign(a=[-999, *FRAME["a"][1:]], n=[-999, *range(N, 1, -1)])
    path = written(tmp_path, frame, kind)
    assert (read_data(path).values[0] == -999).sum() == 2
    data = read_data(path, ReadOptions(na=("-999",)))
    assert data.names == ("a", "b", "c", "n")
    assert np.isnan(data.values[0]).tolist() == [True, False, False, True]
    np.testing.assert_array_equal(data.values[1:], frame[1:])


def test_they_are_in_single_precision_too(tmp_path):
    path = written(tmp_path, FRAME.assign(a=[-99.9, *FRAME["a"][1:]]).astype("float32"), "parquet")
    assert np.isnan(read_data(path, ReadOptions(na=("-99.9",))).values[0, 0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("word", ["NA", "n/a", "-", "missing", "none"])
def test_words_for_missing_are_missing_among_numbers(tmp_path, kind, word):
    data = read_data(written(tmp_path, with_first("a", word), kind))
    assert np.isnan(data.values).sum() == 1
    np.testing.assert_array_equal(data.values[1:], FRAME[1:])


@pytest.mark.parametrize("kind", KINDS)
def test_the_error_about_other_words_says_what_works(tmp_path, kind):
    path = written(tmp_path, with_first("b", "bad"), kind)
    with pytest.raises(DataFileError, match=r"first 'bad' in data row 1\. Fix it, or pass --na 'bad'"):
        read_data(path)
    assert np.isnan(read_data(path, ReadOptions(na=("bad",))).values[0, 1])


@pytest.mark.parametrize("kind", KINDS)
def test_a_group_may_be_called_none(tmp_path, kind):
    path = written(tmp_path, FRAME.assign(given=["none", "drug"] * (N // 2), asked=["true", "none"] * (N // 2)), kind)
    data = read_data(path, ReadOptions(by=("given",)))
    assert data.given["given"].tolist() == ["none", "drug"] * (N // 2)
    assert "names 2 groups" in " ".join(read_data(path).notes)
    assert data.fates["asked"] == "constant"  # true, or not known


@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_or_a_decimal_comma_is_asked_for(tmp_path, kind):
    path = written(tmp_path, FRAME.map(lambda value: f"{1 + value % 1:.3f}".replace(".", ",")), kind)
    with pytest.raises(DataFileError, match=r"may be a decimal comma or a thousand; pass --decimal"):
        read_data(path)
    np.testing.assert_allclose(read_data(path, ReadOptions(decimal=",")).values, 1 + FRAME % 1, atol=6e-4)
    thousands = read_data(path, ReadOptions(decimal=".")).values
    np.testing.assert_allclose(thousands, 1000 * (1 + FRAME % 1), atol=0.6)


@pytest.mark.parametrize("kind", KINDS)
def test_decimal_commas_that_are_clear_are_read_and_told(tmp_path, kind):
    path = written(tmp_path, FRAME.map(lambda value: f"{value:.6f}".replace(".", ",")), kind)
    data = read_data(path)
    np.testing.assert_array_equal(data.values, FRAME)
    assert "decimal commas" in " ".join(data.notes)


def test_decimals_of_databases_are_numbers(tmp_path):
    decimals = pa.array([Decimal(str(value)) for value in FRAME["a"]])
    pq.write_table(pa.table({"a": decimals, "b": FRAME["b"], "c": FRAME["c"]}), tmp_path / "x.parquet")
    np.testing.assert_array_equal(read_data(tmp_path / "x.parquet").values, FRAME)


def test_texts_of_a_dictionary_are_read_as_others_are(tmp_path):
    path = written(tmp_path, FRAME.assign(a=FRAME["a"].map(str).astype("category")), "parquet")
    np.testing.assert_array_equal(read_data(path).values, FRAME)


@pytest.mark.parametrize("kind", ["parquet", "feather", "jsonl"])
@pytest.mark.parametrize("cell", [[1, 2], {"x": 1}])
def test_nested_cells_are_no_numbers(tmp_path, kind, cell):
    data = read_data(written(tmp_path, FRAME.assign(d=[cell] * N), kind))
    np.testing.assert_array_equal(data.values, FRAME)
    assert data.notes == ("Dropped (not numeric): 'd'.",)


def test_whole_numbers_beyond_all_floats_are_infinite(tmp_path):
    path = tmp_path / "x.jsonl"
    lines = [json.dumps({"a": (-10) ** (401 * (k < 2)), "b": k % 5, "c": k % 7}) for k in range(N)]
    path.write_text("\n".join(lines))
    assert read_data(path).values[:3, 0].tolist() == [-np.inf, -np.inf, 1]


def test_sheets_without_names_lose_no_row(tmp_path):
    path = tmp_path / "x.xlsx"
    FRAME.to_excel(path, index=False, header=False)
    data = read_data(path)
    np.testing.assert_array_equal(data.values, FRAME)
    assert data.names == ("column 1", "column 2", "column 3")
    assert "so it was read as data" in data.notes[0]
    FRAME.round().set_axis([1990, 1991, 1992], axis=1).to_excel(path, index=False)
    data = read_data(path)
    assert data.names == ("1990", "1991", "1992")
    assert "pass --no-header" in data.notes[0]
    assert len(read_data(path, ReadOptions(header=False)).values) == N + 1


@pytest.mark.parametrize(("cell", "told"), [("=A2+B2", "1 formula without a computed"), ("#DIV/0!", "1 error such as")])
def test_cells_of_a_sheet_that_hold_no_value_are_told(tmp_path, cell, told):
    book = openpyxl.Workbook()
    for row in [list(FRAME), *FRAME.to_numpy().tolist()]:
        book.active.append(row)
    book.active["C5"] = cell
    book.active["A6"] = "#N/A"
    book.save(tmp_path / "x.xlsx")
    data = read_data(tmp_path / "x.xlsx")
    assert np.isnan(data.values[[3, 4], [2, 0]]).all()
    assert np.isnan(data.values).sum() == 2
    assert data.notes[0].startswith(f"Read as missing: {told}")
    assert "#N/A" not in data.notes[0]


def test_the_advice_about_codes_can_be_followed(tmp_path):
    codes = np.where(np.arange(200) % 20 == 3, -999.0, np.random.default_rng(1).normal(size=200))
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=list("abc")).assign(a=codes)
    frame.loc[5, "b"] = -999.0
    path, out = written(tmp_path, frame, "parquet"), tmp_path / "out"
    assert "-999" in run("fit", path, "--no-compare", "--out", out).output
    result = run("fit", path, "--no-compare", "--out", out, "--na", "-999", "--missing", "drop")
    assert result.exit_code == 0, result.output
    assert "189" in result.output
