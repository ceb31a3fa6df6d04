"""Text files: CSV, TSV and the like."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from robscore._tools.messages import quoted
from robscore.reading.cell_values import TextColumn, column_for
from robscore.reading.data_file import DataFileError, FileColumns, ReadOptions
from robscore.reading.surrounding_rows import FEWEST_COLUMNS, is_header, strip_units_and_notes, titles
from robscore.reading.text_format import (
    SEPARATORS,
    Line,
    decimal_of,
    encoding_of,
    holds,
    lines_of,
    opened,
    separator_of,
)

_SNIFFED_LINES = 200
_CELLS_AT_ONCE, _FEWEST_LINES_AT_ONCE = 200_000, 8


@dataclass(frozen=True)
class _Layout:
    """How a text file is laid out.

    Attributes
    ----------
    encoding, separator, decimal : as found or given
    before : number of lines before that with the names
    headed : whether there is a line with names
    names : one per field
    spare : whether the last field is but the end of a separator, and may be absent
    nameless : whether the last field has no name because it never holds anything
    """

    encoding: str
    separator: str
    decimal: str
    before: int
    headed: bool
    names: list[str]
    spare: bool
    nameless: bool


def read_text(path: Path, options: ReadOptions, notes: list[str]) -> FileColumns:
    """Read a text file, compressed or not."""
    layout = _look(path, options, notes)
    columns: list[TextColumn] = [
        column_for(layout.decimal, options.na, as_written=options.all_text or name == options.id)
        for name in layout.names
    ]
    at_once = max(_FEWEST_LINES_AT_ONCE, _CELLS_AT_ONCE // len(columns))
    rows = _rows(path, layout, notes)
    while chunk := list(islice(rows, at_once)):
        for column, cells in zip(columns, zip(*chunk, strict=True), strict=True):
            column.add(cells)
    table = FileColumns(layout.names, [column.series() for column in columns], decimal=layout.decimal)
    return table if options.all_text or options.header is False else strip_units_and_notes(table, notes)


def _look(path: Path, options: ReadOptions, notes: list[str]) -> _Layout:
    """At the first lines: all that must be known to read the rest."""
    encoding = encoding_of(path, notes)
    with opened(path, encoding) as file:
        lines = list(islice(file, _SNIFFED_LINES))
    separator, before = _start(path, lines, options)
    if before:
        what = "comment" if not any(map(_says_something, lines[:before])) else "title"
        notes.append(f"Skipped {before} {what} line{'s' if before > 1 else ''} at the start.")
    first = list(islice(lines_of(path, encoding, separator, before), _SNIFFED_LINES))
    if not first:  # nothing but quotes
        raise DataFileError(f"{path} is empty.")
    header, *sample = first
    decimal = options.decimal or _decimal(path, encoding, separator, before, [line.cells for line in sample])
    found = [f"{SEPARATORS.get(separator, repr(separator))} between columns"] if separator != "," else []
    found += ["decimal commas"] if decimal == "," else []
    if found:
        notes.append(f"Read with {' and '.join(found)}.")
    headed = is_header(header.cells, decimal, notes) if options.header is None else options.header
    if not headed:
        names = [f"column {k + 1}" for k in range(len(header.cells))]
        return _Layout(encoding, separator, decimal, before, headed, names, spare=False, nameless=False)
    whole, nameless = _whole_header(header.cells, [line.cells for line in sample if any(map(str.strip, line.cells))])
    names = [" ".join(name.split()) for name in whole]
    return _Layout(encoding, separator, decimal, before, headed, names, not names[-1], nameless)


def _start(path: Path, lines: list[str], options: ReadOptions) -> tuple[str, int]:
    """The separator, and how many lines come before that with the names."""
    telling = [line for line in lines if _says_something(line)]
    if not telling:
        raise DataFileError(f"{path} is empty.")
    if any("\0" in line for line in lines):
        raise DataFileError(f"{path} is not a text file: it holds NUL characters. Save it as UTF-8 text.")
    if options.header is None:
        telling = telling[titles(telling, options.separator) :]
    separator = options.separator or separator_of(telling)
    if len(separator) != 1 or separator in '"\r\n\0':
        raise DataFileError(f"--sep {separator!r}: it must be one character, such as ';' or tab.")
    begins = next(k for k, line in enumerate(lines) if line is telling[0])
    before = next((k for k, line in enumerate(lines) if k >= begins and _says_something(line, separator)), None)
    if before is None:
        raise DataFileError(f"{path} is empty.")
    return separator, before


def _says_something(line: str, separator: str = ",") -> bool:
    """Whether a line is neither a remark nor empty."""
    return not line.startswith("#") and bool(line.strip().replace(separator, "").strip())


def _decimal(path: Path, encoding: str, separator: str, before: int, sample: list[list[str]]) -> str:
    """The decimal sign: that of the first lines or, where they do not tell, of the first that do."""
    told = decimal_of(path, sample)
    if told is None and holds(path, encoding, "," if separator != "," else '"'):  # else no cell has a comma
        told = decimal_of(path, (line.cells for line in islice(lines_of(path, encoding, separator, before), 1, None)))
    return told or "."


def _whole_header(header: list[str], rows: list[list[str]]) -> tuple[list[str], bool]:
    """A name for every field, where lines have one more than there are names; whether the last stands for nothing."""
    if rows and all(len(row) == len(header) + 1 for row in rows):
        if all(not row[-1].strip() for row in rows):
            return [*header, ""], True  # a separator at the end of each line
        return ["", *header], False  # as R writes row names
    return header, False


def _rows(path: Path, layout: _Layout, notes: list[str]) -> Iterator[list[str]]:
    """The cells of every line of data, but for notes below; raise at the first line without one for every name."""
    with closing(lines_of(path, layout.encoding, layout.separator, layout.before)) as every:
        lines = islice(every, int(layout.headed), None)
        for line in lines:
            if _is_note(line.cells, len(layout.names)):
                notes.append(_on_notes(path, line, lines, layout))
                return
            yield _whole(path, line, layout)


def _whole(path: Path, line: Line, layout: _Layout) -> list[str]:
    """A cell for every name; raise where there are others."""
    width, cells = len(layout.names), line.cells
    if len(cells) != width:
        if not (layout.spare and len(cells) == width - 1):
            raise _ragged(path, line, width - layout.nameless)
        return [*cells, ""]
    if layout.nameless and cells[-1].strip():
        raise _ragged(path, line, width - 1)
    return cells


def _on_notes(path: Path, first: Line, lines: Iterator[Line], layout: _Layout) -> str:
    """What to say of notes below the data; raise, at the first, where data follow."""
    width, texts = len(layout.names), [" ".join(first.cells).strip()]
    for line in lines:
        if not _is_note(line.cells, width):
            raise _ragged(path, first, width - layout.nameless)
        texts.append(" ".join(line.cells).strip())
    lines_left = "Line" if len(texts) == 1 else f"{len(texts)} lines"
    return f"{lines_left} below the table, left out: {quoted(texts)}."


def _is_note(cells: list[str], width: int) -> bool:
    """Whether a line is one sentence, in a table of several columns."""
    if not len(cells) < width >= FEWEST_COLUMNS:
        return False
    filled = [cell.strip() for cell in cells if cell.strip()]
    return len(filled) == 1 and " " in filled[0]


def _ragged(path: Path, line: Line, n_names: int) -> DataFileError:
    n, names = len(line.cells), f"{n_names} name{'' if n_names == 1 else 's'}"
    return DataFileError(
        f"{path}: line {line.number} has {n} field{'' if n == 1 else 's'}, but there are {names}; check the separator "
        "(--sep) and quotes."
    )
