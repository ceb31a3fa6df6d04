"""Excel and Parquet files that are broken, or made to do harm."""

import zipfile
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

from robscore.reading import DataFileError, read_data

BOMB = b'<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">%s]><worksheet>&l9;</worksheet>' % b"".join(
    b'<!ENTITY l%d "%s">' % (k, (b"&l%d;" % (k - 1) if k > 1 else b"&lol;") * 10) for k in range(1, 10)
)


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    path = tmp_path_factory.mktemp("book") / "x.xlsx"
    pd.DataFrame(np.random.default_rng(0).normal(size=(20, 3)), columns=list("abc")).to_excel(path, index=False)
    return path


def replaced(book, path, part, change):
    """A copy of a book with one part of it changed."""
    with zipfile.ZipFile(book) as whole, zipfile.ZipFile(path, "w") as other:
        for name in whole.namelist():
            content = whole.read(name)
            other.writestr(name, change(content) if name == part else content)
    return path


SHEET = "xl/worksheets/sheet1.xml"


@pytest.mark.parametrize("part", [SHEET, "xl/workbook.xml", "[Content_Types].xml", "xl/styles.xml"])
@pytest.mark.parametrize(
    "change",
    [
        lambda content: content[: len(content) // 2],
        lambda content: content.replace(b">", b"", 3),
        lambda content: b"",
        lambda content: b"<a>" * 100_000,
        lambda content: BOMB,
    ],
    ids=["cut", "broken", "empty", "nested", "bomb"],
)
def test_broken_excel_files_are_said_to_be_so(book, tmp_path, part, change):
    with pytest.raises(
        DataFileError, match=r"cannot be read as an Excel file|declares XML entities|is empty"
    ) as caught:
        read_data(replaced(book, tmp_path / "x.xlsx", part, change))
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused_before_any_is_looked_at(book, tmp_path, encoding):
    bomb = BOMB.decode().replace('"1.0"', f'"1.0" encoding="{encoding}"').encode(encoding)
    with pytest.raises(DataFileError, match="declares XML entities"):
        read_data(replaced(book, tmp_path / "x.xlsx", SHEET, lambda content: bomb))


def test_excel_files_that_unpack_without_end_are_refused(book, tmp_path, monkeypatch):
    monkeypatch.setattr("robscore.reading.excel_files._LARGEST", 1000)
    with pytest.raises(DataFileError, match="unpacks to more than"):
        read_data(book)


def test_a_cell_far_away_does_not_fill_the_memory(book, tmp_path):
    """One at the end of the last row would stand for 17,179,869,184; a style without a value stands for none."""

    def with_last_cell(rest):
        last = b'<row r="1048576"><c r="XFD1048576"' + rest + b"</row></sheetData>"
        return replaced(book, tmp_path / "x.xlsx", SHEET, lambda content: content.replace(b"</sheetData>", last))

    with pytest.raises(DataFileError, match="a sheet of 1048576 rows and 16384 columns, too many to read"):
        read_data(with_last_cell(b"><v>1</v></c>"))
    assert read_data(with_last_cell(b' s="0"/>')).values.shape == (20, 3)


def test_parquet_files_that_are_cut_or_changed(tmp_path):
    path = tmp_path / "x.parquet"
    pd.DataFrame(np.random.default_rng(0).normal(size=(50, 3)), columns=list("abc")).to_parquet(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    for size in (0, 3, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(DataFileError, match="is not a Parquet file, or a broken one"):
            read_data(path)
    for _ in range(30):
        changed = bytearray(whole)
        for at in rng.integers(0, len(whole), 8):
            changed[at] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(changed))
        with suppress(DataFileError):
            assert read_data(path).values.shape[0] > 1
