"""Tables in the data-frame library of the user: how they are made, and which numbers and names their columns have."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np

from robscore._tools.messages import quoted
from robscore._tools.numbers import as_numbers
from robscore._tools.typing import AnyArray, AnyData, Array

Kind: TypeAlias = type[str] | type[float] | type[int] | type[bool]
_NARWHALS = {str: nw.String(), float: nw.Float64(), int: nw.Int64(), bool: nw.Boolean()}


def as_table(columns: dict[str, tuple[Kind, Any]], library: str | None) -> AnyData:
    """Make a table of columns, each with its kind, in a data-frame library.

    Without a library it is pandas if that is installed, else a structured array.
    """
    backend = library or ("pandas" if importlib.util.find_spec("pandas") else None)
    if backend is not None:
        values = {name: list(column) if kind is str else np.asarray(column) for name, (kind, column) in columns.items()}
        kinds = {name: _NARWHALS[kind] for name, (kind, _) in columns.items()}
        return nw.from_dict(values, schema=kinds, backend=backend).to_native()  # type: ignore[arg-type]
    fields: list[tuple[str, Any]] = []
    for name, (kind, column) in columns.items():
        fields.append((name, f"U{max((len(text) for text in column), default=1)}" if kind is str else kind))
    table = np.empty(len(next(iter(columns.values()))[1]), dtype=fields)
    for name, (_, column) in columns.items():
        table[name] = column
    return table


def row_labels(data: AnyData) -> AnyArray | None:
    """Return what the rows of a data frame are called in its index; None where that only counts from 0, or is none."""
    frame = nw.from_native(data, eager_only=True, pass_through=True)
    index = nw.maybe_get_index(frame) if isinstance(frame, nw.DataFrame) else None
    if index is None:
        return None
    labels = np.asarray(index)
    is_count = np.issubdtype(labels.dtype, np.integer) and np.array_equal(labels, np.arange(labels.size))
    return None if is_count else labels


def columns_of(table: AnyData) -> dict[str, Any]:
    """Return the columns of a table that :func:`as_table` made, as NumPy arrays."""
    if isinstance(table, np.ndarray):
        return {name: table[name] for name in table.dtype.names or ()}
    frame = nw.from_native(table, eager_only=True)
    return {name: frame[name].to_numpy() for name in frame.columns}


def numbers_in(column: nw.Series[AnyData]) -> Array | None:
    """Return a column as floats, NaN where a value is missing; None if it does not hold numbers.

    Ordered categories, as of answers, are 0, 1, ... in their order.
    """
    levels = levels_of(column)
    if levels:
        place = {level: float(k) for k, level in enumerate(levels)}
        return np.array([place.get(value, np.nan) for value in column.to_list()])
    if not (column.dtype.is_numeric() or column.dtype in (nw.Boolean, nw.Object, nw.Unknown)):
        return None
    present = ~np.asarray(column.is_null().to_numpy(), dtype=bool)
    numbers = np.full(len(column), np.nan)
    try:
        numbers[present] = as_numbers("column", np.asarray(column.to_numpy())[present])
    except (TypeError, ValueError):
        return None
    return numbers


def library_of(data: AnyData) -> str | None:
    """Return the name of the library of a data frame; None for anything else."""
    frame = nw.from_native(data, eager_only=True, pass_through=True)
    return frame.implementation.name.lower() if isinstance(frame, nw.DataFrame) else None


def levels_of(column: nw.Series[AnyData]) -> tuple[str, ...]:
    """Return the ordered categories of a column, the lowest first; empty where it has none."""
    return tuple(map(str, getattr(column.dtype, "categories", ()))) if isinstance(column.dtype, nw.Enum) else ()


def check_names(given: Sequence[object]) -> list[str]:
    """Return names of columns as strings; raise unless each column has its own."""
    names = [str(name) for name in given]
    check_unique("Column names", names)
    if len({isinstance(name, str) for name in given}) > 1:
        raise ValueError(
            "Some column names are strings and some are not; make all of them strings, in pandas by X.columns = "
            "X.columns.astype(str)."
        )
    return names


def check_unique(what: str, names: Sequence[str]) -> None:
    """Raise, naming those, if names occur more than once."""
    if twice := repeated(names):
        verb = "occurs" if len(twice) == 1 else "occur"
        raise ValueError(f"{what} must be unique, but {quoted(twice)} {verb} more than once; rename or drop some.")


def repeated(names: Sequence[str]) -> list[str]:
    """Return the names that occur more than once, in order."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def default_names(n_columns: int) -> list[str]:
    """Return x0, x1, ..., as scikit-learn names the columns of an array."""
    return [f"x{j}" for j in range(n_columns)]
