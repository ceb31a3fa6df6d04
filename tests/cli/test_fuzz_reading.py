"""Random and corrupted files: the same cells as Python's csv module and float have, or an error that names the line."""

import csv
import io
import re

import numpy as np
import pytest
from corruption import CELLS, corrupted, whole_files
from fuzzing import count, examples
from hypothesis import given, settings
from hypothesis import strategies as st

from robscore.cli.reading import DataFileError, ReadOptions, read_coordinates, read_data, read_outline
from robscore.cli.reading.cells import MISSING, PLAIN
from robscore.cli.reading.text import read_text


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
    for k, (_, cells) in enumerate(rows):
        assert len(cells) == width or (len(cells) == width - 1 and not table.names[-1])
        for column, cell in zip(table.columns, cells, strict=False):
            read = column.iloc[k]
            assert (read == cell.strip()) if as_written else equal(read, cell, na), (read, cell)


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
