"""Random and corrupted files: the same cells as Python's csv module and float have, or an error that names the line."""

import csv
import io
import re
from itertools import zip_longest

import numpy as np
import pandas as pd
import pytest
from corruption import CELLS, NUMBERS, corrupted, whole_files
from fuzzing import count, examples
from hypothesis import given, settings
from hypothesis import strategies as st

from robscore.reading import DataFileError, ReadOptions, read_coordinates, read_data, read_outline
from robscore.reading.cell_values import MISSING, PLAIN
from robscore.reading.text_files import read_text


@st.composite
def files(draw):
    """Text with lines of about equally many cells, quoted as a program would, or not at all."""
    separator = draw(st.sampled_from(",;\t| "))
    width = draw(st.integers(1, 5))
    n_rows = draw(st.integers(0, 12) | st.sampled_from([205, 260]))
    pattern = draw(st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=6))
    rows = [pattern[k % len(pattern)] for k in range(n_rows)]
    for at in draw(st.lists(st.integers(0, max(n_rows - 1, 0)), max_size=2)):
        if rows:
            rows[at] = draw(st.lists(CELLS, max_size=7))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    header = separator.join(f"h{k}" for k in range(width)) + end
    if draw(st.booleans()):
        text = io.StringIO()
        csv.writer(text, delimiter=separator, lineterminator=end).writerows(rows)
        return separator, header + text.getvalue()
    return separator, header + end.join(separator.join(row) for row in rows)


def records(text, separator):
    """What the csv module makes of it: first lines and cells."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    at, found = 1, []
    for cells in reader:
        found += [(at, cells)] if len(cells) > 1 or (cells and cells[0].strip()) else []
        at = reader.line_num + 1
    return found


def meant(cell, na):
    """What a cell of text stands for, where further texts mean missing, and numbers however they are written."""
    number = number_meant(cell.strip())
    if cell.strip() in {*MISSING, *na} or (number is not None and number in {float(word) for word in na}):
        return np.nan
    return cell if number is None else number


def none_is_missing(cells, na):
    """Among numbers or words for truth; among other texts it names something."""
    others = [meant(cell, na) for cell in cells if cell.strip().lower() != "none"]
    there = [cell for cell in others if isinstance(cell, str) or cell == cell]
    return bool(there) and (
        any(not isinstance(cell, str) for cell in there)
        or all(re.fullmatch("[Tt]rue|[Ff]alse|TRUE|FALSE", cell) for cell in there)
    )


def number_meant(text):
    if PLAIN["."].match(text) or re.fullmatch(r"(?i)[+-]?inf(inity)?", text):
        return float(text)
    grouped = re.fullmatch(r"([+-]?[1-9]\d{0,2}(?:,\d{3})+)(\.\d+)?", text)
    return float(text.replace(",", "")) if grouped else None


def tried(read):
    """What comes of reading, or of the error that says why nothing does."""
    try:
        return read(), ""
    except DataFileError as error:
        return None, str(error)


def equal(read, cell, na):
    wanted = meant(cell, na)
    if isinstance(wanted, str):
        return read == wanted or (isinstance(read, bool) and str(read).lower() == wanted.lower())
    return isinstance(read, int | float) and np.array(float(read)).tobytes() == np.array(wanted).tobytes()


@pytest.mark.parametrize("as_written", [False, True])
@settings(max_examples=examples(0.1, few=100))
@given(files(), st.sampled_from([(), ("5.",), ("7", "1e5"), ("-1e-400",)]))
def test_the_same_cells_as_the_csv_module_and_float(tmp_path_factory, as_written, drawn, na):
    count("text files against csv and float")
    separator, text = drawn
    path = tmp_path_factory.getbasetemp() / "drawn.csv"
    path.write_bytes(text.encode())
    (_, header), *rows = records(text, separator)
    options = ReadOptions(separator=separator, decimal=".", all_text=as_written, na=na)
    notes = []
    table, error = tried(lambda: read_text(path, options, notes))
    if any("title line" in note for note in notes):  # another number of cells than below: as good a title as any
        return
    if error:
        at = int(re.search(r"line (\d+) ", error)[1])
        cells = next((cells for line, cells in rows if line == at), [])
        closed = records(text + "\n=", separator)[-1][1] == ["="]
        assert len(cells) != len(header) or (not closed and at == rows[-1][0]), error
        return
    width = len(table.names)
    assert all(len(column) == len(rows) for column in table.columns)
    missing = [none_is_missing([*cells, ""], na) for cells in zip_longest(*(cells for _, cells in rows), fillvalue="")]
    for k, (_, cells) in enumerate(rows):
        assert len(cells) == width or (len(cells) == width - 1 and not table.names[-1])
        for column, cell, none in zip(table.columns, cells, missing, strict=False):
            read = column.iloc[k]
            if as_written or (cell.strip() in ("none", "None", "NONE") and not none):
                assert read.strip() == cell.strip()
            else:
                assert equal(read, cell, na), (read, cell)


@st.composite
def tables(draw):
    """Columns of text, and one of numbers so that no line is empty."""
    n_rows = draw(st.integers(2, 30))
    kinds = [
        NUMBERS,
        CELLS,
        st.sampled_from(["1,234", "1.234", "2,5", "7", "NA", "none", "12 %", "€1,50", "-999", "x"]),
    ]
    kinds += [st.sampled_from(["none", "drug", "", "True", "false"])]
    columns = {name: draw(st.lists(draw(st.sampled_from(kinds)), min_size=n_rows, max_size=n_rows)) for name in "abc"}
    return pd.DataFrame({**columns, "n": [(7 * k) % 31 for k in range(n_rows)]})


@settings(max_examples=examples(0.02, few=40))
@given(tables(), st.sampled_from([(), ("-999",), ("x", "7")]), st.sampled_from([None, ".", ","]))
def test_files_that_know_types_hold_what_text_files_hold(tmp_path_factory, frame, na, decimal):
    count("typed files against text files")
    folder, options = tmp_path_factory.getbasetemp(), ReadOptions(separator=",", na=na, decimal=decimal)
    frame.to_csv(folder / "typed.csv", index=False, quoting=csv.QUOTE_ALL)
    frame.to_json(folder / "typed.jsonl", orient="records", lines=True)
    frame.to_parquet(folder / "typed.parquet")
    frame.astype({"a": "category"}).to_feather(folder / "typed.feather")
    expected, error = tried(lambda: read_data(folder / "typed.csv", options))
    for ending in (".jsonl", ".parquet", ".feather"):
        read, refused = tried(lambda ending=ending: read_data(folder / f"typed{ending}", options))
        if "--decimal" in error:  # with the first cells that show it, in rows or in columns
            assert "--decimal" in refused
        else:
            assert refused.replace(ending, ".csv") == error
        if read is not None:
            assert (read.names, read.labels, read.fates) == (expected.names, expected.labels, expected.fates)
            assert read.texts == expected.texts
            assert read.values.tobytes() == expected.values.tobytes()


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    return whole_files(tmp_path_factory.mktemp("whole"))


@pytest.mark.filterwarnings("ignore:::openpyxl")
@settings(max_examples=examples(0.1, few=120))
@given(st.data())
def test_corrupted_files_are_read_or_refused_in_one_short_line(tmp_path_factory, contents, data):
    count("corrupted files")
    name, content = data.draw(corrupted(contents))
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(content)
    for read in (read_data, lambda path: read_coordinates(path, ["a"]), read_outline):
        _, error = tried(lambda read=read: read(path))
        assert len(error) < 700 + len(str(path))
    assert path.read_bytes() == content
