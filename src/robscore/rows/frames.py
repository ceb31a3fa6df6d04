"""Data of any library as a float matrix with column names, and clear refusals."""

from __future__ import annotations

from os import PathLike
from typing import NamedTuple

import narwhals as nw
import numpy as np

from robscore._tools.errors import UsageError
from robscore._tools.numbers import as_numbers
from robscore._tools.typing import AnyData, Array
from robscore._tools.words import Setting, first_few
from robscore.rows.base import Rows
from robscore.rows.inspection import Marks
from robscore.rows.names import check_names, default_names


class Table(NamedTuple):
    """Data as an array of floats, with the column names and the library of a data frame (None for arrays)."""

    values: Array
    names: list[str] | None = None
    library: str | None = None


def readable(X: AnyData, argument: str = "X") -> Table:
    """What can be read of X; raise, naming columns, on what cannot be data.

    Masked and missing entries become NaN.
    """
    if isinstance(X, np.ma.MaskedArray):
        return Table(_matrix(X, argument))
    if type(X).__module__.startswith("pyarrow") and hasattr(X, "column_names"):
        X, given = _arrow_table(X), list(X.column_names)  # its columns are the values themselves
    else:
        given = list(getattr(X, "columns", [])) if hasattr(X, "shape") else []
    columns = check_names(given)
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"{argument} is a {type(X).__name__} that has not been computed; pass {argument}.collect().")
    if not isinstance(frame, nw.DataFrame):
        return Table(_matrix(X, argument))
    read = [_numbers(column) for column in frame.iter_columns()]
    wrong = [
        f"{name!r} ({column.dtype})"
        for name, column, numbers in zip(columns, frame.iter_columns(), read, strict=True)
        if numbers is None
    ]
    if wrong:
        raise ValueError(f"Columns that are not numeric: {first_few(wrong)}; drop or convert them.")
    matrix = np.column_stack([numbers for numbers in read if numbers is not None]) if read else np.empty(frame.shape)
    return Table(matrix, columns, frame.implementation.name.lower())


def _numbers(column: nw.Series[AnyData]) -> Array | None:
    """A column as floats, NaN where a value is missing; None if it does not hold numbers."""
    if not (column.dtype.is_numeric() or column.dtype in (nw.Boolean, nw.Object)):
        return None
    present = ~np.asarray(column.is_null().to_numpy(), dtype=bool)
    numbers = np.full(len(column), np.nan)
    try:
        numbers[present] = as_numbers("column", np.asarray(column.to_numpy())[present])
    except (TypeError, ValueError):
        return None
    return numbers


def _matrix(X: AnyData, argument: str) -> Array:
    """An array-like as floats, NaN where it is masked."""
    return as_numbers(argument, X, masked_is_missing=True, column=lambda j: f"x{j}")


def _arrow_table(X: AnyData) -> AnyData:
    """A table of Arrow's, also where it is one batch of rows."""
    import pyarrow as pa

    return pa.Table.from_batches([X]) if isinstance(X, pa.RecordBatch) else X


def read_matrix(X: AnyData, argument: str, *, missing: str = "raise") -> tuple[Array, list[str]]:
    """X as a float matrix of shape (n, m) and its column names; raise on what cannot be one.

    With ``missing="drop"`` it may contain NaN: the caller drops those rows.
    """
    if isinstance(X, str | PathLike | Rows) or type(X).__module__.partition(".")[0].startswith("dask"):
        raise TypeError(
            f"{argument} must be in memory here, an array or a data frame; got {type(X).__name__}. Read it first, or "
            "take some of its rows."
        )
    table = readable(X, argument)
    matrix = np.array(table.values, dtype=float)  # the user's array stays the user's
    if matrix.ndim != 2:
        raise ValueError(f"{argument} must have shape (rows, columns); got {matrix.ndim} dimension(s).")
    if 0 in matrix.shape:
        n, m = matrix.shape
        raise ValueError(f"{argument} has {n} rows and {m} columns; both must be at least 1.")
    labels = table.names or default_names(matrix.shape[1])
    bad = np.isinf(matrix) if missing == "drop" else ~np.isfinite(matrix)
    if bad.any():
        raise UsageError(
            f"{argument} contains NaN or infinite values: ",
            Marks.of(bad).words(labels),
            ". Drop those rows, or pass ",
            Setting("missing", "drop"),
            " to an estimator.",
        )
    return matrix, labels
