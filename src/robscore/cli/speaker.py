"""The library's messages worded for the command line: arguments are options, and rows count from 1."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Any

from robscore._tools.messages import Phrase, RowAt, Setting

# Arguments of the library that have an option of their own, and how it is called.
_OPTIONS = {
    "alpha": "alpha",
    "contamination": "contamination",
    "family": "family",
    "missing": "missing",
    "n_blocks": "n-blocks",
    "n_edges": "edges",
    "n_jobs": "jobs",
    "random_state": "seed",
    "scale": "scale",
    "select": "select",
    # of robscore simulate
    "n_columns": "columns",
    "n_rows": "rows",
    "share": "bad",
}


def in_options(part: Setting | RowAt | Phrase) -> str:
    """One part of a message, worded for the command line.

    Examples
    --------
    >>> in_options(Setting("missing", "drop")), in_options(Setting("max_iter", 100)), in_options(Setting("n_edges"))
    ('--missing drop', '--set max_iter=100', '--edges')
    >>> in_options(RowAt(3, "row 3"))
    'data row 4'
    """
    if isinstance(part, RowAt):
        return f"data row {part.number + 1}"
    if isinstance(part, Phrase):
        return part.plain
    if part.name == "shuffle" and (part.value is True or not part.has_value):
        return "--shuffle"
    if part.name == "cells":
        return "--cells"
    if part.name in _OPTIONS:
        return f"--{_OPTIONS[part.name]}" + (f" {_typed(part.value)}" if part.has_value else "")
    return f"--set {part.name}={_typed(part.value) if part.has_value else '...'}"


def _typed(value: Any) -> str:
    """A value as it is typed after an option."""
    if getattr(value, "ndim", None) == 0:  # a number of NumPy
        value = value.item()
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return shlex.quote(value) if value else "''"
    if isinstance(value, Iterable):
        return ",".join(_typed(entry) for entry in value)
    return str(value)
