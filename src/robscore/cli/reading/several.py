"""Several data files, or all of a folder, read as one: rows of one file after those of another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robscore._tools.messages import quoted
from robscore.cli.reading.cells import number_in, unmarked
from robscore.cli.reading.formats import ALL_ENDINGS, ENDINGS, read_table
from robscore.cli.reading.options import ReadOptions
from robscore.cli.reading.result import DataFileError
from robscore.cli.reading.table import Table

if TYPE_CHECKING:
    import pandas as pd


def files_of(path: Path) -> list[Path]:
    """The file itself, or the data files of a folder and its subfolders, in the order of their names.

    Earlier results are left out.
    """
    if not path.is_dir():
        return [path]
    found = [
        file
        for file in sorted(path.rglob("*"))
        if file.is_file()
        and file.suffix.lower() in ALL_ENDINGS
        and not any(name.startswith((".", "_", "robscore-")) for name in file.relative_to(path).parts)
    ]
    if not found:
        raise DataFileError(f"{path} is a folder without data files (names that end in {', '.join(ENDINGS)}).")
    return found


def read_tables(files: Sequence[Path], options: ReadOptions, notes: list[str]) -> Table:
    """The rows of all files, whose columns must have the same names, in any order."""
    first = read_table(files[0], options, notes)
    if len(files) == 1:
        return first
    import pandas as pd

    parts = [first]
    for file in files[1:]:
        own: list[str] = []
        table = read_table(file, options, own)
        notes.extend(note for note in own if note not in notes)
        if sorted(table.names) != sorted(first.names):
            other = sorted({*table.names} ^ {*first.names}) or table.names
            raise DataFileError(
                f"Files differ in their columns: {quoted(other)} in one of {files[0].name} and {file.name} only. Pass "
                "files with the same columns."
            )
        parts.append(table)
    decimal = first.decimal if len({table.decimal for table in parts}) == 1 else "."
    own_columns = [_in_order(table, first.names, decimal) for table in parts]
    columns = [pd.concat(same, ignore_index=True) for same in zip(*own_columns, strict=True)]
    notes.append(f"{len(files)} files were read, from {files[0].name} to {files[-1].name}.")
    return Table(first.names, columns, first.index, decimal)


def _in_order(table: Table, names: Sequence[str], decimal: str) -> list[pd.Series]:
    """The columns in the order of these names, equal ones in their own; cells of text with this decimal sign."""
    where: dict[str, list[int]] = {}
    for k, name in enumerate(table.names):
        where.setdefault(name, []).append(k)
    columns = [table.columns[where[name].pop(0)] for name in names]
    return columns if table.decimal == decimal else [_with_points(column) for column in columns]


def _with_points(column: pd.Series) -> pd.Series:
    """Cells of text that are numbers with a per cent or currency sign, with points in place of decimal commas."""
    other = str.maketrans(".,", ",.")

    def read(cell: Any) -> Any:
        is_number = isinstance(cell, str) and number_in(unmarked(cell), ",") is not None
        return cell.translate(other) if is_number else cell

    return column.map(read, na_action="ignore") if column.dtype == object else column
