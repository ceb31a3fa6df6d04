"""Text files: CSV, TSV, and what people call so."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from robscore.cli.reading.cells import MISSING, PLAIN, with_numbers
from robscore.cli.reading.dialect import SEPARATORS, decimal_of, encoding_of, opened, separator_of
from robscore.cli.reading.options import ReadOptions
from robscore.cli.reading.result import DataFileError
from robscore.cli.reading.table import Table

_SNIFFED_LINES = 200


@dataclass(frozen=True)
class _Layout:
    """How a text file is laid out; ``before`` counts the lines before that with the names."""

    encoding: str
    separator: str
    decimal: str
    before: int
    names: list[str]


def read_text(path: Path, options: ReadOptions, notes: list[str]) -> Table:
    """Read a text file, compressed or not."""
    layout = _look(path, options, notes)
    return Table(layout.names, _columns(path, layout, options))


def _look(path: Path, options: ReadOptions, notes: list[str]) -> _Layout:
    """At the first lines: all that must be known to read the rest."""
    encoding = encoding_of(path, notes)
    with opened(path, encoding) as file:
        lines = list(islice(file, _SNIFFED_LINES))
    separator, before = _start(path, lines, options)
    if before:
        notes.append(f"Passed over {before} line{'s' if before > 1 else ''} of remarks at the start.")
    header, *rows = [
        row
        for row in csv.reader(lines[before:], delimiter=separator, skipinitialspace=True)
        if any(cell.strip() for cell in row)
    ]
    decimal = options.decimal or decimal_of(path, rows)
    found = [f"{SEPARATORS.get(separator, repr(separator))} between columns"] if separator != "," else []
    found += ["decimal commas"] if decimal == "," else []
    if found:
        notes.append(f"Read with {' and '.join(found)}.")
    if header and all(PLAIN[decimal].match(cell.strip()) for cell in header if cell.strip()):
        notes.append("The first line holds numbers only and was taken for names; add a line of names if it is data.")
    names = [" ".join(name.split()) for name in _whole_header(path, header, rows, before)]
    return _Layout(encoding, separator, decimal, before, names)


def _start(path: Path, lines: list[str], options: ReadOptions) -> tuple[str, int]:
    """The separator, and how many lines come before that with the names."""
    telling = [line for line in lines if _says_something(line)]
    if not telling:
        raise DataFileError(f"{path} is empty.")
    separator = options.separator or separator_of(telling)
    if len(separator) != 1:
        raise DataFileError(f"--sep {separator}: it must be one sign, such as ';' or tab.")
    before = next((k for k, line in enumerate(lines) if _says_something(line, separator)), None)
    if before is None:
        raise DataFileError(f"{path} is empty.")
    return separator, before


def _says_something(line: str, separator: str = ",") -> bool:
    """Whether a line is neither a remark nor empty."""
    return not line.startswith("#") and bool(line.strip().replace(separator, "").strip())


def _whole_header(path: Path, header: list[str], rows: list[list[str]], before: int) -> list[str]:
    """A name for every field, where lines have one more than there are names."""
    width = max([len(header), *map(len, rows)])
    if width == len(header):
        return header
    if width == len(header) + 1 and all(len(row) == width for row in rows):
        if all(not row[-1].strip() for row in rows):
            return [*header, ""]  # a separator at the end of each line
        return ["", *header]  # as R writes row names
    k = next(k for k, row in enumerate(rows) if len(row) > len(header))
    raise DataFileError(
        f"{path}: line {before + k + 2} has {len(rows[k])} fields, but there are {len(header)} names; check the "
        "separator (--sep) and quotes."
    )


def _columns(path: Path, layout: _Layout, options: ReadOptions) -> list[Any]:
    """The whole file."""
    import pandas as pd

    every = range(len(layout.names))
    common: dict[str, Any] = {
        "sep": layout.separator,
        "header": None,
        "skiprows": layout.before + 1,
        "names": list(every),
        "index_col": False,
        "encoding": layout.encoding,
        "skipinitialspace": True,
    }
    as_written = [k for k in every if options.all_text or layout.names[k] == options.id]
    others = [k for k in every if k not in as_written]
    missing = [*options.na, *MISSING]
    try:
        # As written, 0012 stays 0012, and NA may be a name.
        labels = pd.read_csv(path, **common, usecols=as_written, dtype=str, keep_default_na=False, na_values=[])
        frame = pd.read_csv(path, **common, usecols=others, decimal=layout.decimal, na_values=missing, low_memory=False)
    except (pd.errors.ParserError, ValueError) as error:
        raise DataFileError(f"{path} cannot be read as a table: {str(error).strip().rstrip('.')}.") from None
    return [labels[k].str.strip() if k in labels.columns else with_numbers(frame[k], layout.decimal) for k in every]
