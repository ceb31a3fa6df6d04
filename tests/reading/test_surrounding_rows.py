"""Rows around the data of a file: titles, units under the names, notes below; and numbers as people write them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robscore.reading import DataFileError, read_data

ROWS = [["1.5", "2", "7.25"], ["2", "2.5", "1"], ["3", "1", "4"], ["1", "4", "2.5"]]
VALUES = np.array(ROWS, dtype=float)


def write(tmp_path: Path, lines: list[list[str]], sign: str = ",") -> Path:
    path = tmp_path / "table.csv"
    path.write_text("\n".join(sign.join(line) for line in lines) + "\n", encoding="utf-8")
    return path


def test_units_under_the_names_are_left_out_and_told(tmp_path):
    data = read_data(write(tmp_path, [["temp", "rain", "sun"], ["°C", "mm", "h"], *ROWS]))
    np.testing.assert_array_equal(data.values, VALUES)
    assert data.names == ("temp", "rain", "sun")
    assert "The row under the names holds units and was left out: '°C', 'mm', 'h'." in data.notes


def test_units_need_not_stand_under_every_name(tmp_path):
    lines = [
        ["town", "temp", "rain", "sun"],
        ["", "°C", "mm", ""],
        *(["Bern" + str(k), *r] for k, r in enumerate(ROWS)),
    ]
    data = read_data(write(tmp_path, lines))
    np.testing.assert_array_equal(data.values, VALUES)
    assert data.labels == ("Bern0", "Bern1", "Bern2", "Bern3")


def test_a_single_text_among_the_first_numbers_is_an_error_still(tmp_path):
    with pytest.raises(DataFileError, match="first 'mm' in data row 1"):
        read_data(write(tmp_path, [["temp", "rain", "sun"], ["mm", "2", "1"], *ROWS]))


@pytest.mark.parametrize("ending", [["", ""], []])
def test_notes_below_are_left_out_and_told(tmp_path, ending):
    notes = [["Source: own measurements", *ending], ["* not final", *ending]]
    data = read_data(write(tmp_path, [["temp", "rain", "sun"], *ROWS, *notes]))
    np.testing.assert_array_equal(data.values, VALUES)
    assert any("below the table, left out: 'Source: own measurements', '* not final'" in note for note in data.notes)


def test_data_after_a_note_and_lines_cut_short_are_errors(tmp_path):
    with pytest.raises(DataFileError, match="line 6 has 1 field, but there are 3 names"):
        read_data(write(tmp_path, [["temp", "rain", "sun"], *ROWS, ["a note of mine"], ROWS[0]]))
    with pytest.raises(DataFileError, match="line 6 has 2 fields, but there are 3 names"):
        read_data(write(tmp_path, [["temp", "rain", "sun"], *ROWS, ["1.5", "2"]]))


def test_a_last_row_with_a_label_alone_stays(tmp_path):
    lines = [["town", "temp", "rain"], *([f"t{k}", *r[:2]] for k, r in enumerate(ROWS)), ["t4", "", ""]]
    assert read_data(write(tmp_path, lines)).labels == ("t0", "t1", "t2", "t3", "t4")


@pytest.mark.parametrize(
    ("cells", "sign"),
    [
        (["1 234,5", "12 345,25", "999,5"], ";"),
        (["1\u00a0234,5", "12\u202f345,25", "999,5"], ";"),
        (["1'234.5", "12'345.25", "999.5"], ","),
        (["1\u2019234.5", "12\u2019345.25", "999.5"], ","),
    ],
)
def test_thousands_by_spaces_and_apostrophes(tmp_path, cells, sign):
    data = read_data(write(tmp_path, [["a", "b"], *zip(cells, cells[::-1], strict=True)], sign))
    np.testing.assert_array_equal(data.values[:, 0], [1234.5, 12345.25, 999.5])


def test_sheets_with_a_title_units_and_notes(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    numbers = VALUES.tolist()
    book = openpyxl.Workbook()
    sheet = book.active
    for row in [
        ["Weather, 2020"],
        [],
        [None, "air", None, "sky"],
        ["day", "temp", "rain", "sun"],
        [None, "°C", "mm", "h"],
    ]:
        sheet.append(row)
    for k, row in enumerate(numbers):
        sheet.append([f"2020-01-0{k + 1}", *row])
    sheet.append([])
    sheet.append(["Source: own measurements, not final"])
    book.save(tmp_path / "book.xlsx")
    book.close()
    data = read_data(tmp_path / "book.xlsx")
    np.testing.assert_array_equal(data.values, VALUES)
    assert data.names == ("temp", "rain", "sun")
    assert data.labels == ("2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04")
    assert "Skipped 2 title rows at the start." in data.notes


def test_labels_without_a_name_are_told_in_words(tmp_path):
    data = read_data(
        write(tmp_path, [["", "temp", "rain", "sun"], *([f"2020-01-0{k + 1}", *r] for k, r in enumerate(ROWS))])
    )
    assert "The column without a name labels the rows (--id chooses another)." in data.notes
