"""What comes in: data of any library as a float matrix with column names, and clear refusals."""

from __future__ import annotations

from collections.abc import Sized
from typing import TYPE_CHECKING

import narwhals as nw
import numpy as np

from robscore._typing import AnyData, Array, BoolArray

if TYPE_CHECKING:
    from robscore.families.base import Family


def column_names(X: AnyData) -> list[str] | None:
    """Names of the columns of a data frame of any library; None for arrays."""
    frame = nw.from_native(X, pass_through=True, eager_only=True)
    return [str(name) for name in frame.columns] if isinstance(frame, nw.DataFrame) else None


def read_matrix(X: AnyData, argument: str, *, allow_missing: bool = False) -> tuple[Array, list[str]]:
    """X as a float matrix of shape (n, m) and its column names; raise on what cannot be one."""
    names = column_names(X)
    if names is not None:
        check_numeric_columns(X)
        matrix = np.asarray(nw.from_native(X, eager_only=True).to_numpy(), dtype=float)
    else:
        try:
            matrix = np.asarray(X, dtype=float)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{argument} must be numeric; {error}") from None
    if matrix.ndim != 2:
        raise ValueError(f"{argument} must have shape (rows, columns); got {matrix.ndim} dimension(s).")
    if 0 in matrix.shape:
        raise ValueError(
            f"{argument} has {matrix.shape[0]} rows and {matrix.shape[1]} columns; both must be at least 1."
        )
    labels = names or default_names(matrix.shape[1])
    bad = ~np.isfinite(matrix) if not allow_missing else np.isinf(matrix)
    if bad.any():
        raise ValueError(
            f"{argument} contains NaN or infinite values: {describe_entries(bad, labels)}. "
            "Drop those rows, or pass missing='drop' to an estimator."
        )
    return matrix, labels


def check_numeric_columns(X: AnyData) -> None:
    """Raise, naming them, when columns of a data frame are not numbers."""
    frame = nw.from_native(X, pass_through=True, eager_only=True)
    if not isinstance(frame, nw.DataFrame):
        return
    wrong = [
        f"{name!r} ({dtype})"
        for name, dtype in frame.schema.items()
        if not (dtype.is_numeric() or dtype == nw.Boolean or dtype == nw.Object)
    ]
    if wrong:
        raise ValueError(f"Columns that are not numeric: {', '.join(wrong[:5])}{_more(wrong)}; drop or convert them.")


def default_names(n_columns: int) -> list[str]:
    """x0, x1, ... as scikit-learn names the columns of an array."""
    return [f"x{j}" for j in range(n_columns)]


def check_rows(family: Family, X: Array, names: list[str], *, caller: str) -> None:
    """Raise, naming columns and rows, where X holds values that the family excludes."""
    family.domain.check_columns(X.shape[1])
    bad, reason = family.problem(X)
    if not bad.any():
        return
    where = describe_entries(bad, names)
    if family.domain.is_non_negative and (negative := X < 0).any():
        raise ValueError(
            f"Negative values in data passed to {caller}: {describe_entries(negative, names)}. {family!r} needs "
            f"values in {family.domain!r}; remove them, or use family='gaussian'."
        )
    raise ValueError(
        f"Data passed to {caller} hold values that {reason}: {where}. "
        "Drop those rows or columns, or choose another family."
    )


def describe_entries(bad: BoolArray, names: list[str]) -> str:
    """Where the marked entries of an (n, m) array are, in words."""
    columns = np.flatnonzero(bad.any(axis=0))
    words = []
    for j in columns[:5]:
        rows = np.flatnonzero(bad[:, j])
        words.append(f"column {names[j]!r} has {rows.size} (first in row {rows[0]})")
    return "; ".join(words) + _more(columns)


def _more(things: Sized) -> str:
    return f" and {len(things) - 5} more" if len(things) > 5 else ""
