"""The lines of a text file, cut into cells as Python's csv module does it."""

from __future__ import annotations

import csv
from collections.abc import Generator, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from robscore.cli.reading.dialect import opened
from robscore.cli.reading.result import DataFileError


class Line(NamedTuple):
    """Cells, and the line of the file on which they begin, from 1; a cell in quotes may go over several lines."""

    number: int
    cells: list[str]


def lines_of(path: Path, encoding: str, separator: str, before: int) -> Generator[Line, None, None]:
    """All lines but the first few and empty ones; raise, naming the line, where one cannot be cut into cells."""
    with opened(path, encoding) as file:
        taken: list[str] = []
        reader = csv.reader(_noted(islice(file, before, None), taken), delimiter=separator, skipinitialspace=True)
        number, last = before + 1, [""]
        try:
            for cells in reader:
                if len(cells) > 1 or (cells and cells[0].strip()):
                    yield Line(number, cells)
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
    """The lines, each put on a list when it is taken."""
    for line in lines:
        taken.append(line)
        yield line
