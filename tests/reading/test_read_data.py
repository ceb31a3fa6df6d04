"""Files as people have them become columns of numbers, and what was found out or left out is said."""

import numpy as np
import pandas as pd
import pytest

from robscore.reading import DataFileError, ReadOptions, read_coordinates, read_data, read_outline


def write(tmp_path, text, name="data.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return path


def said(data):
    return " ".join(data.notes)


FRAME = pd.DataFrame(
    {"day": pd.date_range("2024-01-01", periods=4), "a": [1.5, 2, 3, 0], "b": [0.25, 0, 1, 7], "c": [3, 1, 2, 9]}
)


@pytest.mark.parametrize(
    "name", ["x.csv", "x.tsv", "x.csv.gz", "x.parquet", "x.xlsx", "german.csv", "bar.txt", "semi.csv"]
)
def test_every_kind_of_file_gives_the_same_numbers(tmp_path, name):
    path = tmp_path / name
    options = {"x.tsv": {"sep": "\t"}, "german.csv": {"sep": ";", "decimal": ","}, "bar.txt": {"sep": "|"}}
    if name.endswith("parquet"):
        FRAME.to_parquet(path)
    elif name.endswith("xlsx"):
        FRAME.to_excel(path, index=False)
    else:
        FRAME.to_csv(path, index=False, **options.get(name, {"sep": ";"} if name == "semi.csv" else {}))
    data = read_data(path)
    assert data.names == ("a", "b", "c")
    np.testing.assert_array_equal(data.values, FRAME[["a", "b", "c"]])
    assert data.labels == ("2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04")
    assert data.label_name == "day"
    assert "'day' labels the rows" in said(data)
    assert ("decimal commas" in said(data)) == (name == "german.csv")


def test_numbers_are_read_to_the_last_bit(tmp_path):
    values = np.random.default_rng(0).normal(size=(50, 3)) * 10.0 ** np.arange(-3, 6, 3)
    pd.DataFrame(values, columns=list("abc")).to_csv(tmp_path / "x.csv", index=False)
    np.testing.assert_array_equal(read_data(tmp_path / "x.csv").values, values)


def test_thousands_and_decimals_of_both_worlds(tmp_path):
    german = read_data(write(tmp_path, "a;b\n1.234,5;2\n0,5;3.000.000\n"))
    np.testing.assert_array_equal(german.values, [[1234.5, 2], [0.5, 3e6]])
    english = read_data(write(tmp_path, 'a;b\n"1,234.5";2\n0.5;3\n'))
    np.testing.assert_array_equal(english.values, [[1234.5, 2], [0.5, 3]])


def test_what_may_be_a_thousand_or_a_decimal_is_asked_for(tmp_path):
    path = write(tmp_path, "a;b\n1,234;2,345\n3,456;4,567\n")
    with pytest.raises(DataFileError, match="decimal comma or a thousand; pass --decimal"):
        read_data(path)
    np.testing.assert_array_equal(read_data(path, ReadOptions(decimal=",")).values, [[1.234, 2.345], [3.456, 4.567]])
    np.testing.assert_array_equal(read_data(path, ReadOptions(decimal=".")).values, [[1234, 2345], [3456, 4567]])


def test_columns_without_use_are_left_out_and_named(tmp_path):
    text = "id,kind,a,b,flat,none\nx1,wet,1,2,5,\nx2,dry,2,3,5,\nx3,wet,4,1,5,\n"
    data = read_data(write(tmp_path, text))
    assert data.names == ("a", "b")
    assert data.labels == ("x1", "x2", "x3")
    assert "Dropped (not numeric): 'kind'" in said(data)
    assert "(constant): 'flat'" in said(data)
    assert "(empty): 'none'" in said(data)


def test_what_became_of_every_column_is_told_in_the_order_of_the_file(tmp_path):
    text = "no,a,town,b,flat,none,twin,season,site,c,\n1,5,x,1,7,,5,w,p,0,\n2,6,y,3,7,,6,d,q,1,\n3,9,x,2,7,,9,w,p,3,\n"
    data = read_data(write(tmp_path, text), ReadOptions(exclude=("c",), given=("season",), by=("site",)))
    assert list(data.fates.items()) == [
        ("no", "labels the rows"),
        ("a", ""),
        ("town", "not numeric"),
        ("b", ""),
        ("flat", "constant"),
        ("none", "empty"),
        ("twin", "same as 'a'"),
        ("season", "covariate"),
        ("site", "changes the graph"),
        ("c", "left out"),
    ]
    assert [name for name, why in data.fates.items() if not why] == list(data.names)


def test_a_column_that_counts_the_rows_labels_them(tmp_path):
    pd.DataFrame({"a": [1.5, 2, 1], "b": [3, 1, 2.5]}).to_csv(tmp_path / "x.csv")
    data = read_data(tmp_path / "x.csv")
    assert (data.names, data.labels) == (("a", "b"), ("0", "1", "2"))
    asked = read_data(write(tmp_path, "year,a\n1990,1\n1991,5\n1992,2\n"), ReadOptions(columns=("*",)))
    assert asked.names == ("year", "a")


def test_row_names_as_r_writes_them(tmp_path):
    data = read_data(write(tmp_path, '"a" "b"\n'.replace(" ", "\t") + '"r1"\t1\t2\n"r2"\t3\t5\n', "x.tsv"))
    assert (data.names, data.labels) == (("a", "b"), ("r1", "r2"))


def test_columns_are_chosen_by_name_and_pattern(tmp_path):
    path = write(tmp_path, "day,rain_a,rain_b,temp_a,temp_b\nd1,1,2,3,4\nd2,2,1,4,5\nd3,3,5,6,8\n")
    assert read_data(path, ReadOptions(columns=("rain_*", "temp_a"))).names == ("rain_a", "rain_b", "temp_a")
    assert read_data(path, ReadOptions(exclude=("*_b",))).names == ("rain_a", "temp_a")
    with pytest.raises(DataFileError, match=r"--columns snow\*: no such column in data.csv; it has day, rain_a"):
        read_data(path, ReadOptions(columns=("snow*",)))
    with pytest.raises(DataFileError, match="--id date: no such column"):
        read_data(path, ReadOptions(id="date"))
    with pytest.raises(DataFileError, match="'day' holds no numbers; leave it out of --columns"):
        read_data(path, ReadOptions(columns=("day", "rain_a")))


def test_names_are_kept_as_written(tmp_path):
    names = ["a, b", 'say "hi"', "🌧 rain", "<script>alert(1)</script>", "Zürich"]
    pd.DataFrame(np.random.default_rng(0).normal(size=(3, 5)), columns=names).to_csv(tmp_path / "x.csv", index=False)
    assert list(read_data(tmp_path / "x.csv").names) == names


@pytest.mark.parametrize(("encoding", "remark"), [("utf-8-sig", False), ("utf-16", False), ("cp1252", True)])
def test_encodings(tmp_path, encoding, remark):
    data = read_data(write(tmp_path, "Zürich,Genève\n1,2\n3,5\n", encoding=encoding))
    assert data.names == ("Zürich", "Genève")
    assert ("cp1252" in said(data)) == remark


def test_remarks_at_the_start_are_passed_over(tmp_path):
    data = read_data(write(tmp_path, "# made by hand\n\na,b\n1,2\n3,5\n"))
    assert data.names == ("a", "b")
    assert "Skipped 2 comment lines" in said(data)


def test_missing_values_become_nan(tmp_path):
    data = read_data(write(tmp_path, "a,b\n1,NA\n,2\nn/a,4\n-999,5\n2,7\n"), ReadOptions(na=("-999",)))
    np.testing.assert_array_equal(np.isnan(data.values), [[0, 1], [1, 0], [1, 0], [1, 0], [0, 0]])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("a,b\n", "has no rows of data"),
        ("a,b\n1,2\n", "has 1 row of data; a graph needs many"),
        ("a,b\n1,2\n2,0.1x\n3,5\n4,6\n", "column 'b' has 1 entry that is not a number, first '0.1x' in data row 2"),
        ("a,a,b\n1,2,3\n2,3,5\n", "columns 1 and 2 are both named 'a'; rename one, or leave them out with --exclude"),
        ("a,k\n1,2\n4,2\n", "at least two columns of numbers; only 'a' is left"),
        ("a,b\n1,2,3\n3,5,4,6\n", "line 2 has 3 fields, but there are 2 names; check the separator"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path, text, words):
    with pytest.raises(DataFileError) as caught:
        read_data(write(tmp_path, text))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_are_not_there(tmp_path):
    write(tmp_path, "a,b\n1,2\n", "rain.csv")
    with pytest.raises(DataFileError, match=r"does not exist; did you mean rain.csv\?$"):
        read_data(tmp_path / "rian.csv")
    (tmp_path / "robscore-snow").mkdir()  # as a fit makes it before it reads
    with pytest.raises(DataFileError, match=r"does not exist\.$"):
        read_data(tmp_path / "robscore-snow.csv")
    with pytest.raises(DataFileError, match="is a folder without data files"):
        read_data(tmp_path / "robscore-snow")
    with pytest.raises(DataFileError, match=r"ending in .docx are not known"):
        read_data(write(tmp_path, "x", "x.docx"))
    with pytest.raises(DataFileError, match="is not a Parquet file"):
        read_data(write(tmp_path, "x", "x.parquet"))
    with pytest.raises(DataFileError, match="cannot be read as an Excel file"):
        read_data(write(tmp_path, "x", "x.xlsx"))


def test_sheets_of_excel(tmp_path):
    path = tmp_path / "x.xlsx"
    with pd.ExcelWriter(path) as book:
        FRAME.to_excel(book, sheet_name="first", index=False)
        (FRAME[["a", "b"]] * 2).to_excel(book, sheet_name="second", index=False)
    assert "first of 2 sheets, 'first'" in said(read_data(path))
    for sheet in ("second", "2"):
        np.testing.assert_array_equal(read_data(path, ReadOptions(sheet=sheet)).values, FRAME[["a", "b"]] * 2)
    with pytest.raises(DataFileError, match="has no sheet 'third'; it has 'first', 'second'"):
        read_data(path, ReadOptions(sheet="third"))


def test_coordinates_by_name_in_any_order(tmp_path):
    path = write(tmp_path, "lon,lat,town\n8.5,47.4,Zürich\n7.4,46.9,Bern\n6.1,46.2,Genf\n")
    np.testing.assert_array_equal(read_coordinates(path, ["Bern", "Zürich"]).coordinates, [[46.9, 7.4], [47.4, 8.5]])
    with pytest.raises(DataFileError, match="does not have 'Basel'"):
        read_coordinates(path, ["Bern", "Basel"])
    with pytest.raises(DataFileError, match="no column is named latitude"):
        read_coordinates(write(tmp_path, "name,x,y\nBern,1,2\n"), ["Bern"])
    with pytest.raises(DataFileError, match="latitude 469 and longitude 7"):
        read_coordinates(write(tmp_path, "name,lat,lon\nBern,469,7\nBasel,47,7\n"), ["Bern"])


def test_thousands_are_read_only_where_they_are_written_right(tmp_path):
    path = write(tmp_path, "day;a;b\n01.01.2020;1.003,28;2\n02.01.2020;0,5;3\n03.01.2020;7;5\n")
    data = read_data(path)
    assert data.labels[0] == "01.01.2020"
    np.testing.assert_array_equal(data.values[:, 0], [1003.28, 0.5, 7])
    quoted = read_data(write(tmp_path, 'a,b\n"1,024.56",2\n0.5,3\n'))
    np.testing.assert_array_equal(quoted.values, [[1024.56, 2], [0.5, 3]])
    with pytest.raises(
        DataFileError, match=r"column 'a' has 1 entry that is not a number, first '1\.25' in data row 1"
    ):
        read_data(write(tmp_path, "a;b\n1.25;2\n0,5;3\n7,25;9\n"), ReadOptions(decimal=","))
    with pytest.raises(DataFileError, match=r"first '12,5' in data row 2"):
        read_data(write(tmp_path, "a;b\n1.25;2\n12,5;3\n7.25;9\n"), ReadOptions(decimal="."))


@pytest.mark.parametrize("cell", ["1,2x", "1.25"])
def test_a_typing_error_in_a_german_file_does_not_cost_the_variable(tmp_path, cell):
    text = "a;b\n" + "".join(f"{k},5;{k},25\n" for k in range(300)) + f"{cell};1,5\n"
    with pytest.raises(DataFileError, match="column 'a' has 1 entry that is not a number"):
        read_data(write(tmp_path, text))


def test_both_decimal_signs_are_asked_about(tmp_path):
    with pytest.raises(DataFileError, match=r"decimal commas \('0,939'\) and decimal points \('0.5'\)"):
        read_data(write(tmp_path, "a;b\n0,939;0.5\n1,982;0.25\n"))


def test_a_separator_at_the_end_of_lines_does_not_shift_names(tmp_path):
    data = read_data(write(tmp_path, "a,b,c\n1,2,3,\n2,5,7,\n4,4,1,\n"))
    assert data.names == ("a", "b", "c")
    np.testing.assert_array_equal(data.values[0], [1, 2, 3])


def test_labels_stay_as_written(tmp_path):
    data = read_data(write(tmp_path, "id,a,b\n0035,1,2\nNA,2,5\n0007,4,3\n"), ReadOptions(id="id"))
    assert data.labels == ("0035", "NA", "0007")
    path = write(tmp_path, "name,lat,lon\n0012,47.1,8.2\nNA,46.0,7.0\n", "c.csv")
    np.testing.assert_array_equal(read_coordinates(path, ["NA", "0012"]).coordinates, [[46.0, 7.0], [47.1, 8.2]])


@pytest.mark.parametrize(
    ("name", "cells"),
    [("t", ["20200101", "20200103", "20200102"]), ("station_id", ["17", "3", "25"]), ("x", ["5", "6", "7"])],
)
def test_numbers_that_name_rows_are_no_variables(tmp_path, name, cells):
    rows = zip(cells, ["1", "5", "2"], ["2.5", "1", "7"], strict=True)
    data = read_data(write(tmp_path, f"{name},a,b\n" + "".join(",".join(row) + "\n" for row in rows)))
    assert data.names == ("a", "b")
    assert data.labels == tuple(cells)


def test_per_cent_and_currency_signs_are_dropped_and_named(tmp_path):
    data = read_data(write(tmp_path, "a,b,c\n1,12.5%,$3.10\n2,13%,$5\n4,1%,-$6\n"))
    np.testing.assert_array_equal(data.values, [[1, 12.5, 3.1], [2, 13, 5], [4, 1, -6]])
    assert "Per cent and currency signs were dropped ('12.5%' in 'b' is read as a number)." in data.notes
    german = read_data(write(tmp_path, "a;b\n1;12,5 %\n2;1.300,25 €\n4;7\n"))
    np.testing.assert_array_equal(german.values, [[1, 12.5], [2, 1300.25], [4, 7]])


def test_places_that_occur_twice(tmp_path):
    twice = "name,lat,lon\nBern,47,7\nBern,46,7\nBasel,47.5,7.6\n"
    with pytest.raises(DataFileError, match="has 'Bern' at two places"):
        read_coordinates(write(tmp_path, twice), ["Bern", "Basel"])
    with pytest.raises(DataFileError, match="lat must hold numbers, in degrees; row 1 has 'north'"):
        read_coordinates(write(tmp_path, "name,lat,lon\nBern,north,7\n"), ["Bern"])


def test_outlines_end_at_gaps(tmp_path):
    one = read_outline(write(tmp_path, "lat,lon\n1,2\n2,3\n,\n5,6\n6,7\n"))
    assert [line.tolist() for line in one] == [[[1, 2], [2, 3]], [[5, 6], [6, 7]]]
    two = read_outline(write(tmp_path, "river,lat,lon\nRhine,1,2\nRhine,2,3\nAare,5,6\n"))
    assert [len(line) for line in two] == [2, 1]


def test_lines_of_separators_at_the_start(tmp_path):
    assert read_data(write(tmp_path, ",,\na,b,c\n1,2,4\n3,5,1\n")).names == ("a", "b", "c")
