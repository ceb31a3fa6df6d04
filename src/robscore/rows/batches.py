"""Batches of Arrow: which columns are numbers, and rows of them as arrays."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from robscore._tools.typing import Array

_DASK_INDEX = "__null_dask_index__"


def not_numeric(schema: Any, names: Sequence[str]) -> list[str]:
    """Columns that do not hold numbers, each with its type, in words."""
    import pyarrow.types as kinds

    def is_number(kind: Any) -> bool:
        tests = (kinds.is_floating, kinds.is_integer, kinds.is_boolean, kinds.is_decimal, kinds.is_null)
        return any(test(kind) for test in tests)

    return [f"{name!r} ({schema.field(name).type})" for name in names if not is_number(schema.field(name).type)]


def index_of(schema: Any) -> set[str]:
    """Columns that are the index of a data frame, by pandas or by Dask, and not data."""
    try:
        named = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))["index_columns"]
    except (ValueError, KeyError, TypeError, RecursionError):  # a note that cannot be read says nothing
        named = []
    named = named if isinstance(named, list) else []
    return {name for name in named if isinstance(name, str)} | {_DASK_INDEX}


def as_matrix(batch: Any, names: Sequence[str]) -> Array:
    """Some columns of a batch of rows, shape (rows, names); NaN where a value is missing.

    One column after the other in memory, as Arrow has them: to turn them into rows costs as much as to look at them.
    """
    import pyarrow as pa

    columns = np.empty((len(names), batch.num_rows))
    for own, name in zip(columns, names, strict=True):
        column = batch.column(name)
        if column.type != pa.float64():
            column = column.cast(pa.float64(), safe=False)
        own[:] = column.to_numpy(zero_copy_only=False)
    return columns.T


def short(batch: Any, length: int) -> Iterator[Any]:
    """A batch in pieces of at most so many rows, nothing copied."""
    for low in range(0, batch.num_rows, length):
        yield batch.slice(low, length)
