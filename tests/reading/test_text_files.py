"""Text files line by line: every line is counted, every number is float(text), and broken files are said to be so."""

import csv
import gzip
import io
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from robscore.reading import DataFileError, ReadOptions, read_coordinates, read_data


def write(tmp_path, text, name="data.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return path


def table(n_rows, separator=","):
    rng = np.random.default_rng(0)
    return [separator.join(map(repr, row)) for row in rng.normal(size=(n_rows, 4)).tolist()]


@pytest.mark.parametrize("at", [3, 31, 199, 200, 201, 231, 249])
@pytest.mark.parametrize("cells", ["1,234.5,0.1,0.2,0.3", "1,2,3", "7"])
def test_a_line_with_too_many_or_too_few_fields_is_named_wherever_it_is(tmp_path, at, cells):
    lines = table(250)
    lines[at] = cells
    n = cells.count(",") + 1
    with pytest.raises(DataFileError) as caught:
        read_data(write(tmp_path, "\n".join(["a,b,c,d", *lines]) + "\n"))
    assert f"line {at + 2} has {n} field{'s' if n > 1 else ''}, but there are 4 names; check" in str(caught.value)


def test_line_numbers_are_those_of_the_file(tmp_path):
    """Remarks, empty lines and cells of several lines are counted."""
    text = '# remark\n\na,b,c\n1,2,"x\ny"\n\n3,4,z\n1,2\n'
    with pytest.raises(DataFileError, match="line 8 has 2 fields, but there are 3 names"):
        read_data(write(tmp_path, text))


def test_separators_at_the_end_and_row_names_hold_to_the_last_line(tmp_path):
    rows = "".join(f"{k * k},{k % 7},\n" for k in range(250))
    assert read_data(write(tmp_path, "a,b\n" + rows)).names == ("a", "b")
    assert read_data(write(tmp_path, "a,b\n" + rows + "3,4\n")).values.shape == (251, 2)
    assert read_data(write(tmp_path, "a,b,\n" + rows + "3,4\n")).values.shape == (251, 2)
    with pytest.raises(DataFileError, match="line 252 has 3 fields, but there are 2 names"):
        read_data(write(tmp_path, "a,b\n" + rows + "3,4,5\n"))
    named = "".join(f"r{k},{k * k},{k % 7}\n" for k in range(250))
    with pytest.raises(DataFileError, match="line 252 has 2 fields, but there are 3 names"):
        read_data(write(tmp_path, "a,b\n" + named + "3,4\n"))


def test_quotes_that_are_never_closed_do_not_swallow_rows(tmp_path):
    with pytest.raises(DataFileError, match="line 4 has a quotation mark that is never closed"):
        read_data(write(tmp_path, 'a,b,c\n1,2,x\n3,5,y\n4,5,"z\n7,8,w\n9,1,v\n'))


def test_a_decimal_comma_late_in_the_file_is_seen(tmp_path):
    whole = "".join(f"{k};{k % 7}\n" for k in range(300))
    german = read_data(write(tmp_path, "a;b\n" + whole + "1,5;2,25\n"))
    np.testing.assert_array_equal(german.values[-1], [1.5, 2.25])
    with pytest.raises(DataFileError, match="'1,234' may be a decimal comma or a thousand"):
        read_data(write(tmp_path, "a;b\n" + whole + "1,234;2\n"))


def test_every_number_is_that_which_python_reads(tmp_path):
    """To the last bit, whatever the version of pandas: shortest digits, many digits, halfway cases, extremes."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=2000) * 10.0 ** rng.integers(-300, 300, 2000)
    texts = [repr(value) for value in values[:1000].tolist()] + [f"{value:.25e}" for value in values[1000:].tolist()]
    texts += [f"{rng.integers(1, 10**17)}.{rng.integers(0, 10**17):017d}" for _ in range(1000)]
    texts += ["9007199254740993", "2.2250738585072011e-308", "5e-324", "1.7976931348623157e308", "-0.0", ".5", "5."]
    texts += ["8.41", "0.1", "1e23", "123456789012345678901234567890", "+7", "1E5", "00012.50"]
    text = "a,b\n" + "".join(f"{cell},{k % 13}\n" for k, cell in enumerate(texts))
    read = read_data(write(tmp_path, text), ReadOptions(columns=("a", "b"))).values[:, 0]
    wanted = np.array([float(cell) for cell in texts])
    np.testing.assert_array_equal(read.view(np.int64), wanted.view(np.int64))
    german = "a;b\n" + "".join(f"{cell.replace('.', ',')};{k % 13}\n" for k, cell in enumerate(texts))
    read = read_data(write(tmp_path, german), ReadOptions(columns=("a", "b"), decimal=",")).values[:, 0]
    np.testing.assert_array_equal(read.view(np.int64), wanted.view(np.int64))


def test_coordinates_are_read_to_the_last_bit_too(tmp_path):
    rng = np.random.default_rng(2)
    places = rng.uniform(-90, 90, size=(200, 2))
    lines = "".join(f"t{k},{a!r},{b!r}\n" for k, (a, b) in enumerate(places.tolist()))
    read = read_coordinates(write(tmp_path, "name,lat,lon\n" + lines), [f"t{k}" for k in range(200)])
    np.testing.assert_array_equal(read.coordinates, places)
    german = read_coordinates(write(tmp_path, "name;lat;lon\nBern;46,948;7,447\n"), ["Bern"])
    np.testing.assert_array_equal(german.coordinates, [[46.948, 7.447]])


def test_what_float_takes_but_no_table_means_is_text(tmp_path):
    with pytest.raises(DataFileError, match="column 'a' has 1 entry that is not a number, first '1_000'"):
        read_data(write(tmp_path, "a,b\n1_000,2\n2,4\n3,1\n"))


def test_large_numbers_that_name_rows_keep_their_digits(tmp_path):
    data = read_data(write(tmp_path, "id,a,b\n90071992547409931,1,2\n90071992547409955,2,5\n90071992547409977,4,1\n"))
    assert data.labels == ("90071992547409931", "90071992547409955", "90071992547409977")


@pytest.mark.parametrize("other", ["8", "NA"])
def test_what_means_missing_does_so_beside_large_numbers(tmp_path, other):
    text = f"a,b\n90071992547409931,1\n-999,2\n{other},4\n-999.0,1\n3,5\n"
    read = read_data(write(tmp_path, text), ReadOptions(columns=("a", "b"), na=("-999",))).values
    wanted = 8.0 if other == "8" else np.nan
    np.testing.assert_array_equal(read[:, 0], [90071992547409931.0, np.nan, wanted, np.nan, 3.0])


def test_numbers_beyond_64_bits_stand_beside_text(tmp_path):
    text = "a,b,c\n" + "".join(f"{10**25 + k},{k % 7},{k * k}\n" for k in range(99_999)) + "no,3,4\n"
    with pytest.raises(
        DataFileError, match="column 'a' has 1 entry that is not a number, first 'no' in data row 100000"
    ):
        read_data(write(tmp_path, text))


def test_infinite_numbers_are_no_dates(tmp_path):
    data = read_data(write(tmp_path, "a,b\ninf,1\n1e308,inf\n5,7\n"))
    np.testing.assert_array_equal(data.values, [[np.inf, 1], [1e308, np.inf], [5, 7]])


def test_true_and_false_and_missing_are_read_as_ever(tmp_path):
    data = read_data(
        write(tmp_path, "a,b,c\nTrue,1,inf\nFalse,NA,2\ntrue,-999.0,3\nFALSE,4,#N/A\n"), ReadOptions(na=("-999",))
    )
    np.testing.assert_array_equal(data.values[:, 0], [1, 0, 1, 0])
    np.testing.assert_array_equal(data.values[:, 1], [1, np.nan, np.nan, 4])
    np.testing.assert_array_equal(data.values[:, 2], [np.inf, 2, 3, np.nan])


def test_compressed_files_that_are_cut_off_or_broken(tmp_path):
    whole = gzip.compress(("a,b,c,d\n" + "\n".join(table(500))).encode())
    assert read_data(write(tmp_path, whole, "x.csv.gz")).values.shape == (500, 4)
    middle = len(whole) // 2
    changed = whole[:middle] + bytes(byte ^ 255 for byte in whole[middle : middle + 40]) + whole[middle + 40 :]
    for content in (whole[:middle], whole[:-4], changed, b"\x1f\x8b\x08\x00", b"a,b\n1,2\n3,4\n"):
        with pytest.raises(DataFileError, match="is broken or cut off"):
            read_data(write(tmp_path, content, "x.csv.gz"))
    utf16 = gzip.compress("a,b\n1,2\n3,5\n".encode("utf-16"))
    assert read_data(write(tmp_path, utf16, "y.csv.gz")).names == ("a", "b")


@pytest.mark.parametrize("at", [1, 250])
def test_cells_that_are_too_long_are_named_by_their_line_and_not_echoed(tmp_path, at):
    lines = table(300)
    lines[at - 1] = f"1,2,3,{'x' * 200_000}"
    with pytest.raises(DataFileError, match=f"line {at + 1} has a cell of more than 131072 characters") as caught:
        read_data(write(tmp_path, "\n".join(["a,b,c,d", *lines])))
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,{}\n2,3\n4,5\n5,6\n",
        "a,b\n1,{}%x\n2,3\n4,5\n5,6\n".replace("{}", "1" * 30_000 + "{}"),
        "a,{}\n1,2\n1,3\n1,4\n",
        "{},{}\n1,2\n2,3\n3,7\n",
        "k,a,{}\nx,1,2\nx,1,2\n",
    ],
)
def test_no_error_echoes_a_whole_cell(tmp_path, text):
    path = write(tmp_path, text.replace("{}", "x" * 50_000 if "%" not in text else ""))
    for options in (ReadOptions(), ReadOptions(columns=("no",)), ReadOptions(id="no"), ReadOptions(columns=("k", "a"))):
        with pytest.raises(DataFileError) as caught:
            read_data(path, options)
        assert len(str(caught.value)) < 600 + len(str(path))


def test_text_that_is_none(tmp_path):
    with pytest.raises(DataFileError, match="NUL characters"):
        read_data(write(tmp_path, "a,b\n1,2\n3,5\n".encode("utf-16-le")))
    with pytest.raises(DataFileError, match="cannot be read as text"):
        read_data(write(tmp_path, b"a,b\n1,\x81\xff\n3,5\n"))
    with pytest.raises(DataFileError, match="is empty"):
        read_data(write(tmp_path, '""\n""\n'))
    with pytest.raises(DataFileError, match="must be one character"):
        read_data(write(tmp_path, "a,b\n1,2\n"), ReadOptions(separator='"'))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_pipes_and_devices_are_refused_before_they_are_opened(tmp_path):
    """A pipe hangs until somebody writes to it and is empty when read again; /dev/zero has no end."""
    os.mkfifo(tmp_path / "x.csv")
    for path in (tmp_path / "x.csv", Path("/dev/zero")):
        with pytest.raises(DataFileError, match="is not a file but a pipe or a device; save the data as a file first"):
            read_data(path)


def test_many_columns_are_told_apart(tmp_path):
    names = [*(f"v{k}" for k in range(3000)), "v7"]
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(9, 3001)).round(3), columns=names)
    with pytest.raises(DataFileError, match="columns 8 and 3001 are both named 'v7'"):
        read_data(write(tmp_path, table.to_csv(index=False)))
    flat = 1_000
    text = io.StringIO()
    csv.writer(text).writerows([[f"v{k}" for k in range(flat)], ["1", "2"] * (flat // 2), ["1", "2"] * (flat // 2)])
    with pytest.raises(DataFileError, match="at least two columns of numbers; none is left"):
        read_data(write(tmp_path, text.getvalue()))
