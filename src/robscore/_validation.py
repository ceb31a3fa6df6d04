"""What comes in: data of any library as a float matrix with column names, and clear refusals."""

from __future__ import annotations

from collections.abc import Sized
from typing import TYPE_CHECKING

import narwhals as nw
import numpy as np
from scipy.sparse import issparse

from robscore._typing import AnyData, Array, BoolArray, IntArray

if TYPE_CHECKING:
    from robscore.families.base import Family


def readable(X: AnyData) -> tuple[AnyData, list[str] | None]:
    """X as something NumPy can read, and its column names if it is a data frame; raise on what cannot be data.

    Masked entries become NaN. Columns that are not numbers are named.
    """
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.filled(X.astype(float), np.nan), None
    columns = [str(name) for name in getattr(X, "columns", [])] if hasattr(X, "shape") else []
    if repeated := sorted({name for name in columns if columns.count(name) > 1}):
        raise ValueError(f"Column names must be unique, but {', '.join(map(repr, repeated[:5]))} occur more than once.")
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"X is a {type(X).__name__} that has not been computed; pass X.collect().")
    if not isinstance(frame, nw.DataFrame):
        return X, None
    columns = [str(name) for name in frame.columns]
    numbered = zip(columns, frame.iter_columns(), strict=True)
    wrong = [f"{name!r} ({column.dtype})" for name, column in numbered if not _is_numeric(column)]
    if wrong:
        raise ValueError(f"Columns that are not numeric: {', '.join(wrong[:5])}{_more(wrong)}; drop or convert them.")
    return X, columns


def _is_numeric(column: nw.Series[AnyData]) -> bool:
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        return True
    if column.dtype != nw.Object:
        return False
    try:
        np.asarray(column.to_numpy(), dtype=float)
    except (TypeError, ValueError):
        return False
    return True


def read_matrix(X: AnyData, argument: str) -> tuple[Array, list[str]]:
    """X as a float matrix of shape (n, m) and its column names; raise on what cannot be one."""
    X, names = readable(X)
    if issparse(X):
        raise TypeError(f"{argument} is a sparse matrix; pass {argument}.toarray().")
    try:
        matrix = np.asarray(X)
        if np.iscomplexobj(matrix):
            raise ValueError("it holds complex numbers.")
        matrix = matrix.astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{argument} must be numeric; {error}") from None
    if matrix.ndim != 2:
        raise ValueError(f"{argument} must have shape (rows, columns); got {matrix.ndim} dimension(s).")
    if 0 in matrix.shape:
        n, m = matrix.shape
        raise ValueError(f"{argument} has {n} rows and {m} columns; both must be at least 1.")
    labels = names or default_names(matrix.shape[1])
    bad = ~np.isfinite(matrix)
    if bad.any():
        raise ValueError(
            f"{argument} contains NaN or infinite values: {describe_entries(bad, labels)}. "
            "Drop those rows, or pass missing='drop' to an estimator."
        )
    return matrix, labels


def default_names(n_columns: int) -> list[str]:
    """x0, x1, ... as scikit-learn names the columns of an array."""
    return [f"x{j}" for j in range(n_columns)]


def check_rows(family: Family, X: Array, names: list[str], *, caller: str, row_numbers: IntArray | None = None) -> None:
    """Raise, naming columns and rows, where X holds values that the family excludes."""
    family.domain.check_columns(X.shape[1])
    bad, reason = family.problem(X)
    if not bad.any():
        return
    negative = X < 0
    if family.domain.is_non_negative and negative.any():
        raise ValueError(
            f"Negative values in data passed to {caller}: {describe_entries(negative, names, row_numbers)}. "
            f"{family!r} needs values in {family.domain!r}; remove them, or use family='gaussian'."
        )
    raise ValueError(
        f"Data passed to {caller} hold values that {reason}: {describe_entries(bad, names, row_numbers)}. "
        "Drop those rows or columns, or choose another family."
    )


def describe_entries(bad: BoolArray, names: list[str], row_numbers: IntArray | None = None) -> str:
    """Where the marked entries of an (n, m) array are, in words; rows counted as in the data the user gave."""
    columns = np.flatnonzero(bad.any(axis=0))
    words = []
    for j in columns[:5]:
        rows = np.flatnonzero(bad[:, j]) if row_numbers is None else row_numbers[bad[:, j]]
        words.append(f"column {names[j]!r} has {rows.size} (first in row {rows[0]})")
    return "; ".join(words) + _more(columns)


def _more(things: Sized) -> str:
    return f" and {len(things) - 5} more" if len(things) > 5 else ""
