"""What the readers of all kinds of files hand on: columns as they stand in the file, before any is chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robscore.cli.reading.options import ReadOptions


@dataclass(frozen=True)
class Table:
    """Names and columns of a file.

    Attributes
    ----------
    names : as written; empty where there is none
    columns : a pandas Series each
    index : positions of columns that are the index of a data frame, and not data
    decimal : the decimal sign of cells that are still text
    """

    names: list[str]
    columns: list[Any]
    index: frozenset[int] = frozenset()
    decimal: str = "."


Reader = Callable[[Path, ReadOptions, list[str]], Table]
"""From a file, how to read it, and a list of notes to add to."""
