"""What a data file holds, before any fit: its columns and what became of each, missing cells, and the family."""

from __future__ import annotations

from typing import Any

import numpy as np

from robscore._tools.messages import visible
from robscore._tools.progress import announce
from robscore._tools.typing import Array
from robscore.cli.console import said, warnings_kept
from robscore.cli.reading import DataFile
from robscore.cli.speaker import in_options
from robscore.family_choice.choose_family import choose_family
from robscore.rows import ArrayRows


def what_was_read(data: DataFile, seed: int = 0) -> dict[str, Any]:
    """Of a data file, as JSON can hold it.

    Examples
    --------
    >>> values = np.array([[1.0, 2.0], [np.nan, 3.0], [4.0, 5.5]])
    >>> data = DataFile(values, ("a", "b"), None, None, fates={"a": "", "b": "", "town": "not numeric"})
    >>> read = what_was_read(data)
    >>> read["rows"], read["missing"], [column["why"] for column in read["columns"]]
    (3, {'cells': 1, 'rows': 1, 'columns': 1}, ['', '', 'not numeric'])
    """
    holes = np.isnan(data.values)
    numbers = dict(zip(data.names, data.values.T, strict=True))
    return {
        "rows": len(data.values),
        "variables": len(data.names),
        "columns": [_column(name, why, numbers.get(name), name in data.texts) for name, why in data.fates.items()],
        "missing": {
            "cells": int(holes.sum()),
            "rows": int(holes.any(axis=1).sum()),
            "columns": int(holes.any(axis=0).sum()),
        },
        "labels": data.label_name,
        "notes": [visible(note) for note in data.notes],
        "family": _family(data, seed),
    }


def _column(name: str, why: str, values: Array | None, is_text: bool) -> dict[str, Any]:  # noqa: FBT001
    told: dict[str, Any] = {"name": name, "shown": visible(name), "why": why, "text": is_text}
    if values is not None:
        there = values[~np.isnan(values)]
        low, middle, high = (float(value) for value in np.quantile(there, [0, 0.5, 1], method="nearest"))
        told |= {"missing": int(values.size - there.size), "low": _short(low), "middle": _short(middle)}
        told |= {"high": _short(high)}
    return told


def _short(value: float) -> str:
    return f"{value:.5g}"


def _family(data: DataFile, seed: int) -> dict[str, str]:
    """The family that "auto" takes, and why; or why it can take none."""
    announce("choosing a family")
    try:
        with warnings_kept(), np.errstate(all="ignore"):
            taken = choose_family(ArrayRows(data.values, list(data.names), whole=False), seed)
    except ValueError as error:
        return {"name": "", "reason": said(error)}
    careful = [remark.message.worded(in_options) for remark in taken.remarks]
    return {"name": taken.name, "reason": visible(" ".join([f"{taken.reason}.", *careful]))}
