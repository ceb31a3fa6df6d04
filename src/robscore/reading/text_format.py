"""How a text file is written: compression, encoding, the sign between columns, the decimal sign; its lines."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import zipfile
from collections.abc import Generator, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from robscore._tools.messages import first_few, shown
from robscore.reading.cell_values import EITHER, GROUPED, PLAIN, ungrouped, unmarked
from robscore.reading.data_file import DataFileError

PACKED = (".gz", ".bz2", ".xz", ".zip")
BROKEN = (lzma.LZMAError, zipfile.BadZipFile, gzip.BadGzipFile)
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}


def unpacked(path: Path) -> Any:
    """Return the bytes of a file, unpacked as they are read."""
    ending = path.suffix.lower()
    if ending == ".zip":
        archive = zipfile.ZipFile(path)
        try:
            return archive.open(_only_member(path, archive))
        except RuntimeError:
            raise DataFileError(f"{path} needs a password; unpack it first.") from None
    opener: Any = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}.get(ending, open)
    return opener(path, "rb")


def inner_ending(path: Path) -> str:
    """Return how the name of what is in a file ends, in small letters: .csv for data.csv.gz, or data.zip with x.csv."""
    endings = [suffix.lower() for suffix in path.suffixes]
    if endings and endings[-1] == ".zip":
        with zipfile.ZipFile(path) as archive:
            return Path(_only_member(path, archive).filename).suffix.lower()
    packed = len(endings) > 1 and endings[-1] in PACKED
    return endings[-2] if packed else endings[-1] if endings else ""


def _only_member(path: Path, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    members = [one for one in archive.infolist() if not one.is_dir() and not one.filename.startswith("__MACOSX/")]
    if len(members) != 1:
        held = first_few([shown(one.filename) for one in members]) if members else "nothing"
        raise DataFileError(f"{path} must hold one file, but it holds {held}; unpack the one you want.")
    return members[0]


def open_text(path: Path, encoding: str) -> io.TextIOWrapper:
    """Return a text file, which may be compressed, open to be read; ends of lines stay as they are."""
    return io.TextIOWrapper(unpacked(path), encoding=encoding, newline="")


def encoding_of(path: Path, notes: list[str]) -> str:
    """UTF-8 with or without a mark, UTF-16 with one, else what Windows writes."""
    with unpacked(path) as file:
        start = file.read(4)
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    try:
        for _ in _blocks(path, "utf-8-sig"):
            pass
    except UnicodeDecodeError:
        notes.append("Not UTF-8; read as Windows' Western European text (cp1252).")
        return "cp1252"
    return "utf-8-sig"


def holds(path: Path, encoding: str, sign: str) -> bool:
    """Return whether a sign is anywhere in a text file."""
    return any(sign in block for block in _blocks(path, encoding))


def _blocks(path: Path, encoding: str) -> Iterator[str]:
    with open_text(path, encoding) as file:
        yield from iter(lambda: file.read(1 << 20), "")


def separator_of(lines: list[str]) -> str:
    """Return the sign that cuts the lines into equally many fields, and the most of them."""

    def quality(sign: str) -> tuple[float, int]:
        try:
            widths = [len(row) for row in csv.reader(lines, delimiter=sign, skipinitialspace=True) if row]
        except csv.Error:  # the error that names the line comes when all are read
            return 0.0, 0
        typical = max(set(widths), key=widths.count)
        return (widths.count(typical) / len(widths) if typical > 1 else 0.0), typical

    in_header = [sign for sign in SEPARATORS if sign in lines[0].strip()]
    signs = [sign for sign in in_header if sign != " "] or in_header or [","]
    return max(signs, key=quality)


def decimal_of(path: Path, rows: Iterable[list[str]]) -> str | None:
    """Find the decimal sign of some lines, None where they have none; raise and ask for it where it may be either."""
    clear: dict[str, str] = {}
    either: str | None = None
    for cell in (ungrouped(unmarked(cell)) for row in rows for cell in row if "," in cell or "." in cell):
        if EITHER.match(cell):
            either = either or (cell if "," in cell else None)
            continue
        for sign, other in (".,", ",."):
            if sign not in clear and sign in cell:
                fits = PLAIN[sign].match(cell) or (other in cell and GROUPED[sign].match(cell))
                clear.update({sign: cell} if fits else {})
        if len(clear) == 2:
            raise DataFileError(
                f"{path} has decimal commas ({shown(clear[','])}) and decimal points ({shown(clear['.'])}); pass "
                "--decimal ',' or --decimal '.', or fix one of them."
            )
    if either and not clear:
        raise DataFileError(
            f"{path}: {shown(either)} may be a decimal comma or a thousand; pass --decimal ',' or --decimal '.'."
        )
    return next(iter(clear), None)


class TextLine(NamedTuple):
    """Cells, and the line of the file on which they begin, from 1; a cell in quotes may go over several lines."""

    number: int
    cells: list[str]


def lines_of(path: Path, encoding: str, separator: str, n_before: int) -> Generator[TextLine, None, None]:
    """Yield all lines but the first few and empty ones; raise, naming the line, where one cannot be cut into cells."""
    with open_text(path, encoding) as file:
        taken: list[str] = []
        reader = csv.reader(_noted(islice(file, n_before, None), taken), delimiter=separator, skipinitialspace=True)
        number, last = n_before + 1, [""]
        try:
            for cells in reader:
                if len(cells) > 1 or (cells and cells[0].strip()):
                    yield TextLine(number, cells)
                last = taken[:]
                taken.clear()
                number += len(last)
            is_open = len(list(csv.reader([*last, "x"], delimiter=separator, skipinitialspace=True))) == 1
        except csv.Error as error:
            too_long = f"has a cell of more than {csv.field_size_limit()} characters"
            why = too_long if "field larger" in str(error) else f"cannot be read ({error})"
            raise DataFileError(f"{path}: line {number} {why}; is there an extra quotation mark?") from None
    if is_open:
        begun = number - len(last)
        raise DataFileError(f"{path}: line {begun} has a quotation mark that is never closed; close it or remove it.")


def _noted(lines: Iterable[str], taken: list[str]) -> Iterator[str]:
    """Yield the lines, each put on a list when it is taken, so that the raw text of a record is known."""
    for line in lines:
        taken.append(line)
        yield line
