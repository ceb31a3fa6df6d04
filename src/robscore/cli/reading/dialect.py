"""How a text file is written: its encoding, the sign between columns, the decimal sign."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from robscore.cli.reading.cells import EITHER, GROUPED, PLAIN
from robscore.cli.reading.result import DataFileError

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}


def opened(path: Path, encoding: str) -> Any:
    """A text file, which may be compressed, open to be read."""
    if path.suffix.lower() == ".gz":
        import gzip

        return gzip.open(path, "rt", encoding=encoding, newline="")
    return path.open(encoding=encoding, newline="")


def encoding_of(path: Path, notes: list[str]) -> str:
    """UTF-8 with or without a mark, UTF-16 with one, else what Windows writes."""
    with path.open("rb") as raw:
        start = raw.read(4)
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    try:
        with opened(path, "utf-8-sig") as file:
            while file.read(1 << 20):
                pass
    except UnicodeDecodeError:
        notes.append("Not UTF-8; read as Windows' Western European text (cp1252).")
        return "cp1252"
    return "utf-8-sig"


def separator_of(lines: list[str]) -> str:
    """The sign that cuts the lines into equally many fields, and the most of them."""

    def quality(sign: str) -> tuple[float, int]:
        widths = [len(row) for row in csv.reader(lines, delimiter=sign, skipinitialspace=True) if row]
        typical = max(set(widths), key=widths.count)
        return (widths.count(typical) / len(widths) if typical > 1 else 0.0), typical

    in_header = [sign for sign in SEPARATORS if sign in lines[0].strip()]
    signs = [sign for sign in in_header if sign != " "] or in_header or [","]
    return max(signs, key=quality)


def decimal_of(path: Path, rows: list[list[str]]) -> str:
    """The decimal sign of the first lines; an error that asks for it where they do not tell."""
    cells = [cell.strip() for row in rows for cell in row]
    clear: dict[str, str | None] = {}
    for sign, other in (".,", ",."):
        some = (cell for cell in cells if sign in cell and not EITHER.match(cell))
        fits = (cell for cell in some if PLAIN[sign].match(cell) or (other in cell and GROUPED[sign].match(cell)))
        clear[sign] = next(fits, None)
    either = next((cell for cell in cells if "," in cell and EITHER.match(cell)), None)
    if clear[","] and clear["."]:
        raise DataFileError(
            f"{path} has decimal commas ({clear[',']!r}) and decimal points ({clear['.']!r}); say --decimal ',' or "
            "--decimal '.', or mend one of them."
        )
    if either and not clear[","] and not clear["."]:
        raise DataFileError(
            f"{path}: {either!r} may be a decimal comma or a thousand; say --decimal ',' or --decimal '.'."
        )
    return "," if clear[","] else "."
