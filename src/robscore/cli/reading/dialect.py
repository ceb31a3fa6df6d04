"""How a text file is written: its encoding, the sign between columns, the decimal sign."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from robscore._tools.messages import shown
from robscore.cli.reading.cells import EITHER, GROUPED, PLAIN, ungrouped, unmarked
from robscore.cli.reading.packed import raw
from robscore.cli.reading.result import DataFileError

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}


def opened(path: Path, encoding: str) -> io.TextIOWrapper:
    """A text file, which may be compressed, open to be read; ends of lines stay as they are."""
    return io.TextIOWrapper(raw(path), encoding=encoding, newline="")


def encoding_of(path: Path, notes: list[str]) -> str:
    """UTF-8 with or without a mark, UTF-16 with one, else what Windows writes."""
    with raw(path) as file:
        start = file.read(4)
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    try:
        holds(path, "utf-8-sig", None)
    except UnicodeDecodeError:
        notes.append("Not UTF-8; read as Windows' Western European text (cp1252).")
        return "cp1252"
    return "utf-8-sig"


def holds(path: Path, encoding: str, sign: str | None) -> bool:
    """Whether a sign is anywhere in a text file; with None all of it is read, and nothing found."""
    with opened(path, encoding) as file:
        while block := file.read(1 << 20):
            if sign is not None and sign in block:
                return True
    return False


def separator_of(lines: list[str]) -> str:
    """The sign that cuts the lines into equally many fields, and the most of them."""

    def quality(sign: str) -> tuple[float, int]:
        try:
            widths = [len(row) for row in csv.reader(lines, delimiter=sign, skipinitialspace=True) if row]
        except csv.Error:  # which line it is will be said when all are read
            return 0.0, 0
        typical = max(set(widths), key=widths.count)
        return (widths.count(typical) / len(widths) if typical > 1 else 0.0), typical

    in_header = [sign for sign in SEPARATORS if sign in lines[0].strip()]
    signs = [sign for sign in in_header if sign != " "] or in_header or [","]
    return max(signs, key=quality)


def decimal_of(path: Path, rows: Iterable[list[str]]) -> str | None:
    """The decimal sign of some lines, None where they have none; an error that asks for it where they do not tell."""
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
