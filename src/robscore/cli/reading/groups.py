"""Groups of the columns, from a file with a name and a group in each line."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from robscore._tools.messages import quoted, shown
from robscore._tools.optional import require
from robscore.cli.reading.formats import read_table
from robscore.cli.reading.labels import as_label
from robscore.cli.reading.options import ReadOptions
from robscore.cli.reading.result import DataFileError


def read_groups(path: str | PathLike[str], names: Sequence[str]) -> list[str]:
    """The group of every name, empty where the file has none: the first column names, the second one groups."""
    require("pandas")
    path = Path(path)
    if not path.is_file():
        raise DataFileError(f"--groups {path} does not exist.")
    table = read_table(path, ReadOptions(all_text=True), [])
    if len(table.columns) < 2:
        raise DataFileError(f"--groups {path} needs two columns, the name of a column and its group.")
    listed = [as_label(cell).strip() for cell in table.columns[0]]
    groups = [as_label(cell).strip() for cell in table.columns[1]]
    found: dict[str, str] = {}
    for name, group in zip(listed, groups, strict=True):
        if found.setdefault(name, group) != group:
            raise DataFileError(f"--groups {path} has {shown(name)} in two groups; keep one.")
    if not set(names) & set(found):
        raise DataFileError(
            f"--groups {path} has none of the columns: it names {quoted(listed)}, the data have {quoted(list(names))}."
        )
    return [found.get(name, "") for name in names]
