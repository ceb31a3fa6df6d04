"""Text files: CSV, TSV and the like."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from robscore._tools.messages import quoted
from robscore.reading.cell_values import Meaning, TextColumn
from robscore.reading.data_file import DataFileError, FileColumns, ReadOptions
from robscore.reading.surrounding_rows import FEWEST_COLUMNS, is_header, n_title_lines, strip_units_and_notes
from robscore.reading.text_format import (
    SEPARATORS,
    TextLine,
    decimal_of,
    encoding_of,
    holds,
    lines_of,
    open_text,
    separator_of,
)

_SNIFFED_LINES = 200
_CELLS_AT_ONCE, _FEWEST_LINES_AT_ONCE = 200_000, 8  # guard memory only: what is text before it becomes numbers


@dataclass(frozen=True)
class _Layout:
    """How a text file is laid out.

    Attributes
    ----------
    encoding, separator, decimal : as found or given
    n_before : number of lines before that with the names
    has_header : whether there is a line with names
    names : one per field
    is_last_optional : whether the last field is but the end of a separator, and may be absent
    is_last_empty : whether the last field has no name because it never holds anything
    """

    encoding: str
    separator: str
    decimal: str
    n_before: int
    has_header: bool
    names: list[str]
    is_last_optional: bool
    is_last_empty: bool


def read_text(path: Path, options: ReadOptions, notes: list[str]) -> FileColumns:
    """Read a text file, compressed or not."""
    layout = _look(path, options, notes)
    limited = bool(options.limits)
    meanings = Meaning.by_column(path, layout.names, layout.decimal, options.na, limited=limited)
    columns = [
        TextColumn(None if options.all_text or name == options.id else meaning)
        for name, meaning in zip(layout.names, meanings, strict=True)
    ]
    at_once = max(_FEWEST_LINES_AT_ONCE, _CELLS_AT_ONCE // len(columns))
    rows = _rows(path, layout, notes)
    while chunk := list(islice(rows, at_once)):
        for column, cells in zip(columns, zip(*chunk, strict=True), strict=True):
            column.add(cells)
    table = FileColumns(layout.names, [column.series() for column in columns], decimal=layout.decimal)
    return table if options.all_text or options.header is False else strip_units_and_notes(table, notes)


def _look(path: Path, options: ReadOptions, notes: list[str]) -> _Layout:
    """Look at the first lines: all that must be known to read the rest."""
    encoding = encoding_of(path, notes)
    with open_text(path, encoding) as file:
        lines = list(islice(file, _SNIFFED_LINES))
    separator, n_before = _start(path, lines, options)
    if n_before:
        kind = "title" if any(map(_has_content, lines[:n_before])) else "comment"
        notes.append(f"Skipped {n_before} {kind} line{'s' * (n_before > 1)} at the start.")
    first = [line.cells for line in islice(lines_of(path, encoding, separator, n_before), _SNIFFED_LINES)]
    if not first:  # nothing but quotes
        raise DataFileError(f"{path} is empty.")
    header, *sample = first
    decimal = options.decimal or _decimal(path, encoding, separator, n_before, sample)
    found = [f"{SEPARATORS.get(separator, repr(separator))} between columns"] if separator != "," else []
    found += ["decimal commas"] if decimal == "," else []
    if found:
        notes.append(f"Read with {' and '.join(found)}.")
    if not (is_header(header, decimal, notes) if options.header is None else options.header):
        names = [f"column {k + 1}" for k in range(len(header))]
        plain = {"has_header": False, "is_last_optional": False, "is_last_empty": False}
        return _Layout(encoding, separator, decimal, n_before, names=names, **plain)
    whole, is_last_empty = _whole_header(header, [row for row in sample if any(map(str.strip, row))])
    names = [" ".join(name.split()) for name in whole]
    last = {"is_last_optional": not names[-1], "is_last_empty": is_last_empty}
    return _Layout(encoding, separator, decimal, n_before, names=names, has_header=True, **last)


def _start(path: Path, lines: list[str], options: ReadOptions) -> tuple[str, int]:
    """Return the separator, and how many lines come before that with the names."""
    if any("\0" in line for line in lines):
        raise DataFileError(f"{path} is not a text file: it holds NUL characters. Save it as UTF-8 text.")
    filled = [k for k, line in enumerate(lines) if _has_content(line)]
    if not filled:
        raise DataFileError(f"{path} is empty.")
    if options.header is None:
        filled = filled[n_title_lines([lines[k] for k in filled], options.separator) :]
    separator = options.separator or separator_of([lines[k] for k in filled])
    if len(separator) != 1 or separator in '"\r\n\0':
        raise DataFileError(f"--sep {separator!r}: it must be one character, such as ';' or tab.")
    n_before = next((k for k in range(filled[0], len(lines)) if _has_content(lines[k], separator)), None)
    if n_before is None:
        raise DataFileError(f"{path} is empty.")
    return separator, n_before


def _has_content(line: str, separator: str = ",") -> bool:
    """Return whether a line is neither a comment nor empty."""
    return not line.startswith("#") and bool(line.strip().replace(separator, "").strip())


def _decimal(path: Path, encoding: str, separator: str, n_before: int, sample: list[list[str]]) -> str:
    """Find the decimal sign of the first lines or, where all their numbers are whole, of the first that has one."""
    sign = decimal_of(path, sample)
    if sign is None and holds(path, encoding, "," if separator != "," else '"'):  # else no cell has a comma
        lines = islice(lines_of(path, encoding, separator, n_before), 1, None)
        sign = decimal_of(path, (line.cells for line in lines))
    return sign or "."


def _whole_header(header: list[str], rows: list[list[str]]) -> tuple[list[str], bool]:
    """Name every field where lines have one more than there are names; tell whether the last never holds anything."""
    if rows and all(len(row) == len(header) + 1 for row in rows):
        if all(not row[-1].strip() for row in rows):
            return [*header, ""], True  # a separator at the end of each line
        return ["", *header], False  # as R writes row names
    return header, False


def _rows(path: Path, layout: _Layout, notes: list[str]) -> Iterator[list[str]]:
    """Yield the cells of every line of data, but for notes below; raise at a line without one for every name."""
    width = len(layout.names)
    with closing(lines_of(path, layout.encoding, layout.separator, layout.n_before)) as every:
        lines = islice(every, int(layout.has_header), None)
        for line in lines:
            if _is_note(line.cells, width):
                notes.append(_on_notes(path, line, lines, layout))
                return
            if len(line.cells) == width and not (layout.is_last_empty and line.cells[-1].strip()):
                yield line.cells
            elif layout.is_last_optional and len(line.cells) == width - 1:
                yield [*line.cells, ""]
            else:
                raise _ragged(path, line, layout)


def _on_notes(path: Path, first: TextLine, lines: Iterator[TextLine], layout: _Layout) -> str:
    """Say what the notes below the data are; raise, at the first, where data follow."""
    texts = [" ".join(first.cells).strip()]
    for line in lines:
        if not _is_note(line.cells, len(layout.names)):
            raise _ragged(path, first, layout)
        texts.append(" ".join(line.cells).strip())
    lines_left_out = "Line" if len(texts) == 1 else f"{len(texts)} lines"
    return f"{lines_left_out} below the table, left out: {quoted(texts)}."


def _is_note(cells: list[str], width: int) -> bool:
    """Return whether a line is one sentence, in a table of several columns."""
    if not len(cells) < width >= FEWEST_COLUMNS:
        return False
    filled = [cell.strip() for cell in cells if cell.strip()]
    return len(filled) == 1 and " " in filled[0]


def _ragged(path: Path, line: TextLine, layout: _Layout) -> DataFileError:
    n, n_names = len(line.cells), len(layout.names) - layout.is_last_empty
    return DataFileError(
        f"{path}: line {line.number} has {n} field{'s' * (n != 1)}, but there are {n_names} "
        f"name{'s' * (n_names != 1)}; check the separator (--sep) and quotes."
    )
