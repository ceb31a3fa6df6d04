"""Files as people have them: what is read, what is said, what is refused, and with which exit code."""

import bz2
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import time
import zipfile

import numpy as np
import pandas as pd
import pytest
from running import run

import robscore as rs
from robscore.reading import DataFileError, ReadOptions, read_coordinates, read_data, read_groups, read_outline

N = 24
RNG = np.random.default_rng(0)
# Halves and quarters, which no way of writing a number changes.
FRAME = pd.DataFrame(0.25 + (64 * RNG.gamma(2.0, size=(N, 3))).round() / 64, columns=["a", "b", "c"])
NAMES = ("a", "b", "c")


def text(frame=FRAME, **options):
    return frame.to_csv(index=False, **options)


def changed(**columns):
    return FRAME.assign(**columns)


def with_cells(column, *cells):
    frame = FRAME.astype(object)
    frame.iloc[: len(cells), frame.columns.get_loc(column)] = cells
    return text(frame)


def zipped(*names):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name in names:
            archive.writestr(name, text())
    return held.getvalue()


LONG = FRAME.assign(day=range(N)).melt(id_vars="day", var_name="station", value_name="rain")
SHARES = FRAME.div(FRAME.sum(axis=1), axis=0)

# What is in the file, its name, the columns that come of it (None: a, b, c with the numbers above), and what is said.
READ = {
    "decimal comma": (text(sep=";", decimal=","), "x.csv", None, "semicolon between columns"),
    "byte order mark": ("\ufeff" + text(), "x.csv", None, ""),
    "latin-1": (text(changed(ort=["Zürich", "Genève"] * (N // 2))).encode("latin-1"), "x.csv", None, "Not UTF-8"),
    "UTF-16": (text().encode("utf-16"), "x.csv", None, ""),
    "tab": (text(sep="\t"), "x.txt", None, "tab between"),
    "space": (text(sep=" "), "x.txt", None, "space between"),
    "pipe": (text(sep="|"), "x.txt", None, "bar between"),
    "title lines": ("Rain, in 2024\nSource: me\n\n" + text(), "x.csv", None, "Skipped 3 title lines"),
    "title line with separators": ("Rain in 2024;;\n" + text(sep=";"), "x.csv", None, "Skipped 1 title line at"),
    "title of several words": ("Rain at three places\n" + text(sep=" "), "x.txt", None, "Skipped 1 title line"),
    "title above an index": ("Rain\n" + FRAME.to_csv(), "x.csv", None, "Skipped 1 title line"),
    "comment lines": ("# made by hand\n# in May\n" + text(), "x.csv", None, "Skipped 2 comment lines"),
    "index column": (FRAME.to_csv(), "x.csv", None, "labels the rows"),
    "unique dates": (text(changed(day=pd.date_range("2024-01-01", periods=N))), "x.csv", None, "'day' labels the rows"),
    "repeated dates": (text(changed(day=["2024-01-01", "2024-01-02"] * (N // 2))), "x.csv", None, "Dropped (not"),
    "ids": (text(changed(id=[f"p{k:04d}" for k in range(N)])), "x.csv", None, "'id' labels the rows"),
    "empty column": (text(changed(d="")), "x.csv", None, "Dropped (empty): 'd'"),
    "constant column": (text(changed(d=7)), "x.csv", None, "Dropped (constant): 'd'"),
    "0/1 column": (text(changed(d=[0, 1] * (N // 2))), "x.csv", (*NAMES, "d"), ""),
    "integers": (text(changed(d=RNG.integers(0, 50, N))), "x.csv", (*NAMES, "d"), ""),
    "Likert": (text(changed(d=RNG.integers(1, 6, N))), "x.csv", (*NAMES, "d"), ""),
    "per cent": (text(FRAME.assign(b=[f"{value} %" for value in FRAME["b"]])), "x.csv", None, "Per cent and currency"),
    "currency": (text(FRAME.assign(b=[f"€{value}" for value in FRAME["b"]])), "x.csv", None, "Per cent and currency"),
    "thousands": (text(changed(d=[f"1,{k:03d}.5" for k in range(N)])), "x.csv", (*NAMES, "d"), ""),
    "NA spelled missing": (with_cells("a", "missing", "NA", "-"), "x.csv", NAMES, ""),
    "infinite": (with_cells("a", "inf"), "x.csv", NAMES, ""),
    "1e300": (with_cells("a", "1e300"), "x.csv", NAMES, ""),
    "hostile names": (text(FRAME.set_axis(["=1+1", "<b>", "a\x1bb"], axis=1)), "x.csv", ("=1+1", "<b>", "a\x1bb"), ""),
    "headerless": (text(header=False), "x.csv", ("column 1", "column 2", "column 3"), "so it was read as data"),
    "sums to 1": (text(SHARES), "x.csv", NAMES, ""),
    "sums to 100": (text(100 * SHARES), "x.csv", NAMES, ""),
    "duplicated rows": (text(pd.concat([FRAME, FRAME])), "x.csv", NAMES, ""),
    "sorted rows": (text(FRAME.sort_values("a")), "x.csv", NAMES, ""),
    "csv.gz": (gzip.compress(text().encode()), "x.csv.gz", None, ""),
    "csv.bz2": (bz2.compress(text().encode()), "x.csv.bz2", None, ""),
    "csv.xz": (lzma.compress(text().encode()), "x.csv.xz", None, ""),
    "zip": (zipped("x.csv"), "x.zip", None, ""),
    "zip of a Mac": (zipped("x.csv", "__MACOSX/._x.csv"), "x.csv.zip", None, ""),
    "JSON lines": (FRAME.to_json(orient="records", lines=True), "x.jsonl", None, ""),
    "R's write.table": (FRAME.to_csv(sep=" ", index_label=False), "x.txt", None, "labels the rows"),
    "500 columns": (text(pd.DataFrame(RNG.normal(size=(N, 500)))).replace("0,1,2", "v0,v1,v2", 1), "x.csv", 500, ""),
    "fewer rows than columns": (text(pd.DataFrame(RNG.normal(size=(4, 9)), columns=list("abcdefghi"))), "x.csv", 9, ""),
    "years as names": (text(FRAME.set_axis(["1990", "1991", "1992"], axis=1)), "x.csv", 3, "pass --no-header"),
}  # fmt: skip

# What is in the file, its name, and what is said.
REFUSED = {
    "not detected": (with_cells("a", "n.d."), "x.csv", "--limit 'a=0.05'"),
    "all spellings at once": (
        with_cells("a", ".", "?", "*"), "x.csv", "--na '.' --na '?' --na '*' if they mean missing",
    ),
    "a unit among numbers": (text().replace("\n", "\nmm,1,2\n", 1), "x.csv", "first 'mm' in data row 1"),
    "duplicate names": (text(FRAME.set_axis(["a", "a", "c"], axis=1)), "x.csv", "columns 1 and 2 are both named 'a'"),
    "one row": (text(FRAME[:1]), "x.csv", "has 1 row of data"),
    "one column": (text(FRAME[["a"]]), "x.csv", "at least two columns of numbers; only 'a' is left"),
    "header only": ("a,b,c\n", "x.csv", "has no rows of data"),
    "empty": ("", "x.csv", "is empty"),
    "long format": (text(LONG), "x.csv", "frame.pivot(index='day', columns='station', values='rain')"),
    "two files in a zip": (zipped("x.csv", "y.csv"), "x.zip", "must hold one file, but it holds 'x.csv', 'y.csv'"),
    "broken xz": (b"\xfd7zXZ nothing", "x.csv.xz", "is broken or cut off"),
    "broken zip": (b"PK\x03\x04 nothing", "x.zip", "is broken or cut off"),
    "broken feather": (b"ARROW1 nothing", "x.feather", "cannot be read as a feather file"),
    "broken Stata": (b"nothing", "x.dta", "cannot be read as a Stata file"),
    "SPSS": (b"$FL2 nothing", "x.sav", "needs the package pyreadstat: pip install pyreadstat"),
    "unknown": (b"nothing", "x.docx", "files ending in .docx are not known; use .csv"),
    "packed Excel": (b"nothing", "x.xlsx.gz", ".xlsx files are not read from a compressed file; unpack it"),
    "words": (with_cells("a", "1.5 mm", "n.d."), "x.csv", "altogether '1.5 mm', 'n.d.'"),
}  # fmt: skip


def written(tmp_path, content, name):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("kind", READ)
def test_it_is_read(tmp_path, kind):
    content, name, columns, said = READ[kind]
    data = read_data(written(tmp_path, content, name))
    if isinstance(columns, int):
        assert len(data.names) == columns
    else:
        assert data.names == (columns or NAMES)
    if columns is None:
        np.testing.assert_array_equal(data.values, FRAME)
    assert said in " ".join(data.notes)


@pytest.mark.parametrize("kind", REFUSED)
def test_it_is_refused(tmp_path, kind):
    content, name, said = REFUSED[kind]
    if kind == "SPSS" and _is_installed("pyreadstat"):
        pytest.skip("pyreadstat is installed")
    result = run("fit", written(tmp_path, content, name), "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "out").exists()


def _is_installed(package):
    import importlib.util

    return importlib.util.find_spec(package) is not None


def test_minus_999_is_a_number_until_it_is_named(tmp_path):
    path = written(tmp_path, with_cells("a", "-999"), "x.csv")
    assert read_data(path).values.min() == -999
    assert np.isnan(read_data(path, ReadOptions(na=("-999",))).values[0, 0])


def test_marks_that_may_mean_something_else_are_missing_once_they_are_named(tmp_path):
    path = written(tmp_path, with_cells("a", ".", "?", "*"), "x.csv")
    result = run("fit", path, "--out", tmp_path / "out")
    told = "column 'a' has 3 entries that are not numbers, first '.' in data row 1 (altogether '.', '?', '*'). Fix them"
    assert told in result.stderr
    assert np.isnan(read_data(path, ReadOptions(na=(".", "?", "*"))).values[:3, 0]).all()


def test_all_columns_with_something_else_are_named_at_once(tmp_path):
    frame = FRAME.astype(object)
    frame.iloc[2, 0] = frame.iloc[4, 1] = "?"
    with pytest.raises(DataFileError) as refused:
        read_data(written(tmp_path, text(frame), "x.csv"))
    told = "columns 'a', 'b' have 2 entries that are not numbers, first '?' in data row 3 of 'a'. Fix them, or pass"
    assert f"{told} --na '?' if it means missing, or leave the columns out with --exclude." in str(refused.value)


def test_a_column_of_groups_says_what_to_do_with_it(tmp_path):
    path = written(tmp_path, text(changed(kind=["x", "y"] * (N // 2), place=[f"p{k % 12}" for k in range(N)])), "x.csv")
    (note,) = read_data(path).notes
    assert note.startswith("Dropped (not numeric): 'kind', 'place'. 'kind' names 2 groups: --by kind compares")


def test_frames_of_other_programs(tmp_path):
    FRAME.to_feather(tmp_path / "x.feather")
    FRAME.to_stata(tmp_path / "x.dta", write_index=False)
    FRAME.to_parquet(tmp_path / "x.parquet")
    for name in ("x.feather", "x.dta", "x.parquet"):
        np.testing.assert_allclose(read_data(tmp_path / name).values, FRAME, rtol=1e-12)


def test_sheets_are_named(tmp_path):
    with pd.ExcelWriter(tmp_path / "x.xlsx") as book:
        FRAME.to_excel(book, sheet_name="rain", index=False)
        (2 * FRAME).to_excel(book, sheet_name="wind", index=False)
        pd.DataFrame().to_excel(book, sheet_name="plan", index=False)
    data = read_data(tmp_path / "x.xlsx")
    assert "Read the first of 3 sheets, 'rain'; --sheet takes 'wind', 'plan'." in data.notes
    np.testing.assert_array_equal(read_data(tmp_path / "x.xlsx", ReadOptions(sheet="wind")).values, 2 * FRAME)
    with pytest.raises(DataFileError, match="has no sheet 'snow'; it has 'rain', 'wind', 'plan'"):
        read_data(tmp_path / "x.xlsx", ReadOptions(sheet="snow"))


def test_a_line_of_whole_numbers_is_data_if_so_said(tmp_path):
    path = written(tmp_path, "1,2,3\n4,6,5\n7,9,2\n3,1,8\n", "x.csv")
    assert read_data(path).names == ("1", "2", "3")
    data = read_data(path, ReadOptions(header=False))
    assert data.names == ("column 1", "column 2", "column 3")
    assert data.values.tolist() == [[1, 2, 3], [4, 6, 5], [7, 9, 2], [3, 1, 8]]
    mixed = read_data(written(tmp_path, "5.1,3.5,setosa\n4.9,3.0,setosa\n6.2,2.9,versicolor\n", "iris.data"))
    assert mixed.values.tolist() == [[5.1, 3.5], [4.9, 3.0], [6.2, 2.9]]


def test_two_way_tables_with_a_factor_are_not_long(tmp_path):
    frame = FRAME[["a", "b"]].assign(kind=["wet", "dry"] * (N // 2))
    assert read_data(written(tmp_path, text(frame), "x.csv")).names == ("a", "b")


def test_names_of_stations_become_labels(tmp_path):
    path = written(tmp_path, "code,station,lat,lon\ns1,Bern,46.9,7.4\ns2,Basel,47.6,7.6\n", "towns.csv")
    found = read_coordinates(path, ["s2", "s1"])
    assert found.labels == ["Basel", "Bern"]
    assert found.coordinates.tolist() == [[47.6, 7.6], [46.9, 7.4]]
    assert read_coordinates(path, ["Bern"]).labels is None
    other = written(tmp_path, "name,country,lat,lon\nBern,CH,46.9,7.4\nBasel,CH,47.6,7.6\n", "other.csv")
    assert read_coordinates(other, ["Bern", "Basel"]).labels is None


def test_outlines_with_names_of_points_are_one_line(tmp_path):
    points = "name,lat,lon\nMont Blanc,45.8,6.9\nMatterhorn,46.0,7.7\nBernina,46.4,9.9\n"
    assert [len(line) for line in read_outline(written(tmp_path, points, "ridge.csv"))] == [3]
    lines = "river,lat,lon\nAare,46.6,8.2\nAare,46.9,7.4\nRhine,46.7,8.7\nRhine,47.5,7.6\n"
    assert [len(line) for line in read_outline(written(tmp_path, lines, "rivers.csv"))] == [2, 2]


def test_groups_are_read(tmp_path):
    path = written(tmp_path, "name,group\na,wet\nc,dry\n", "groups.csv")
    assert read_groups(path, NAMES) == ["wet", "", "dry"]
    with pytest.raises(DataFileError, match="has none of the columns"):
        read_groups(path, ["x", "y"])
    with pytest.raises(DataFileError, match="has 'a' in two groups"):
        read_groups(written(tmp_path, "name,group\na,wet\na,dry\n", "two.csv"), NAMES)


def test_read_table_is_what_the_command_line_reads(tmp_path):
    frame = rs.read_table(
        written(tmp_path, text(changed(id=[f"p{k}" for k in range(N)]), sep=";", decimal=","), "x.csv")
    )
    pd.testing.assert_frame_equal(frame.reset_index(drop=True), FRAME)
    assert frame.index.name == "id"
    assert any("semicolon" in note for note in frame.attrs["notes"])


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.xlsx", "rain.tsv"])
def test_fit_says_how_other_files_are_read(name):
    with pytest.raises(ValueError, match=rf"X = rs.read_table\('{name}'\), or use the command line"):
        rs.RobustGraph("gaussian").fit(name)


def test_quiet_json_and_standard_input(tmp_path):
    path = written(tmp_path, text(), "x.csv")
    (tmp_path / "groups.csv").write_text("name,group\na,wet\nb,dry\n")
    quick = ("--no-compare", "--n-blocks", 1, "--set", "alphas=10")
    quiet = run("fit", path, "--quiet", "--out", tmp_path / "out", "--groups", tmp_path / "groups.csv", *quick)
    assert (quiet.exit_code, quiet.stdout, quiet.stderr) == (0, "", "")
    kept = rs.report.Record.from_json(tmp_path / "out" / "model.json")
    assert kept.groups == ["wet", "dry", ""]
    piped = run("fit", "-", "--json", "--out", tmp_path / "piped", *quick, given=gzip.compress(text().encode()))
    told = json.loads(piped.stdout)
    assert told["n_edges"] == len(kept.edges)
    assert told["fit"] == kept.fit
    assert [edge["association"] for edge in told["edges"]] == [edge[3] for edge in kept.edges]
    again = run("fit", "--from", tmp_path / "piped" / "model.json")
    assert again.exit_code == 1
    assert "was not made from a file" in again.stderr


def test_standard_input_that_is_stopped_leaves_nothing_behind(tmp_path):
    command = [sys.executable, "-m", "robscore", "fit", "-", "--out", str(tmp_path / "out")]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    while not list(tmp_path.glob("robscore-*")):
        assert process.poll() is None
        time.sleep(0.02)
    time.sleep(0.2)  # until it waits for what is written to it
    process.terminate()
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (143, b"robscore: Stopped; nothing was written.\n")
    assert list(tmp_path.iterdir()) == []


def test_help_alone_says_nothing_strange():
    for arguments in ([], ["fit"]):
        shown = subprocess.run([sys.executable, "-m", "robscore", *arguments], capture_output=True, text=True)
        assert "Usage:" in shown.stdout
        assert (shown.stderr, shown.returncode) == ("", 2)
    assert "--install-completion" in run("--help").output
