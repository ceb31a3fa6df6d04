"""What may be passed as X and as ``sample_weight``: how it is recognised, read and refused.

:func:`open_rows` recognises rows that are not in memory, :func:`readable` and :func:`read_matrix` turn arrays and data
frames into a matrix of floats with column names, and :func:`read_frequency` checks sample weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import narwhals as nw
import numpy as np

from robscore._tools.messages import Setting, UsageError, clipped, first_few, quoted
from robscore._tools.numbers import as_numbers
from robscore._tools.typing import AnyData, Array, BoolArray
from robscore.rows.arrow_batches import ArrowRows, is_arrow_source
from robscore.rows.inspection import Marks
from robscore.rows.parquet_files import ParquetRows
from robscore.rows.row_source import ArrayRows, Rows
from robscore.rows.tables import check_names, default_names, numbers_in

# How to keep the columns of numbers, in libraries that have a way of their own.
_KEEPING_NUMBERS = {"PANDAS": "select_dtypes('number')", "POLARS": "select(polars.selectors.numeric())"}
# Endings of compressed files, and of files that are read by rs.read_table; other names may be Parquet files.
_PACKED = (".gz", ".bz2", ".xz", ".zip")
_OTHER = (".csv", ".tsv", ".txt", ".tab", ".dat", ".xls", ".json", ".dta", ".sav", ".zip", ".gz")


class Table(NamedTuple):
    """Data as an array of floats, with the column names and the library of a data frame (None for arrays)."""

    values: Array
    names: list[str] | None = None
    library: str | None = None


def readable(X: AnyData, argument: str = "X") -> Table:
    """Read X as numbers, NaN where an entry is masked or missing; raise, naming columns, on what cannot be data."""
    if isinstance(X, np.ma.MaskedArray):
        return Table(_matrix(X, argument))
    is_named = isinstance(X, Mapping) and not hasattr(X, "shape")  # some sparse matrices are mappings with a shape
    if is_named or (isinstance(X, list | tuple) and X and isinstance(X[0], Mapping)):
        what = "columns by name" if is_named else "rows by name"
        raise TypeError(f"{argument} holds {what}; pass a data frame, such as pandas.DataFrame({argument}).")
    if type(X).__module__.startswith("pyarrow") and hasattr(X, "column_names"):
        import pyarrow as pa

        given = list(X.column_names)  # the attribute ``columns`` holds the values themselves
        X = pa.Table.from_batches([X]) if isinstance(X, pa.RecordBatch) else X
    else:
        given = list(getattr(X, "columns", [])) if hasattr(X, "shape") else []
    columns = check_names(given)
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"{argument} is a {type(X).__name__} that has not been computed; pass {argument}.collect().")
    if not isinstance(frame, nw.DataFrame):
        return Table(_matrix(X, argument))
    read = [numbers_in(column) for column in frame.iter_columns()]
    wrong = [
        f"{name!r} ({_kind(column)})"
        for name, column, numbers in zip(columns, frame.iter_columns(), read, strict=True)
        if numbers is None
    ]
    if wrong:
        how = _KEEPING_NUMBERS.get(frame.implementation.name) if len(wrong) < len(read) else None
        rest = f" ({argument}.{how} keeps the rest)" if how else ""
        raise ValueError(
            f"Columns that are not numeric: {first_few(wrong)}. Drop them{rest}, or turn what they hold into numbers; "
            "family='copula' reads words that have an order, such as yes and no."
        )
    matrix = np.column_stack([numbers for numbers in read if numbers is not None]) if read else np.empty(frame.shape)
    return Table(matrix, columns, frame.implementation.name.lower())


def _kind(column: nw.Series[AnyData]) -> str:
    """Describe what a column holds that is not numbers, with an example."""
    if column.dtype.is_temporal():
        return "durations" if column.dtype == nw.Duration else "dates or times"
    if not (column.dtype in (nw.String, nw.Object, nw.Categorical) or isinstance(column.dtype, nw.Enum)):
        return str(getattr(column.to_native(), "dtype", column.dtype))
    values = [value for value in column.to_list() if value is not None and value == value]
    others = [value for value in values if not _is_number(value)]
    if not others:
        return f"numbers as text, such as {clipped(repr(values[0]))}" if values else "nothing but missing values"
    kind = "text" if column.dtype in (nw.String, nw.Object) else "categories"
    return f"{kind} such as {clipped(repr(others[0]))}"


def _is_number(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def _matrix(X: AnyData, argument: str) -> Array:
    """Return an array-like as floats, NaN where it is masked."""
    return as_numbers(argument, X, masked_is_missing=True, column=lambda j: f"x{j}")


def read_matrix(X: AnyData, argument: str, *, missing: str = "raise") -> tuple[Array, list[str]]:
    """Return X as a float matrix of shape (n, m) and its column names; raise on what cannot be one.

    With ``missing="drop"`` or "impute" it may contain NaN: the caller drops those rows, or fills them in.
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
    bad = np.isinf(matrix) if missing in ("drop", "impute") else ~np.isfinite(matrix)
    if bad.any():
        raise UsageError(
            f"{argument} contains NaN or infinite values: ",
            Marks.of(bad).words(labels),
            ". Drop those rows, or pass ",
            Setting("missing", "drop"),
            " to an estimator.",
        )
    return matrix, labels


def open_rows(X: AnyData) -> Rows | None:
    """Open rows that are not in memory: of a path, a memory map, Dask, a stream of Arrow; None for anything else."""
    if isinstance(X, Rows):
        return X
    if isinstance(X, str | PathLike) or (
        isinstance(X, list | tuple) and X and all(isinstance(path, str | PathLike) for path in X)
    ):
        _refuse_other_files(X)
        return ParquetRows(X)
    if isinstance(X, np.memmap):
        return _mapped_file(X)
    if type(X).__module__.partition(".")[0].startswith("dask"):
        from robscore.rows.dask_cluster import DaskRows

        return DaskRows(X)
    return ArrowRows(X) if is_arrow_source(X) else None


def _refuse_other_files(X: AnyData) -> None:
    """Raise where the name of a path is that of a file of another kind."""
    for path in [X] if isinstance(X, str | PathLike) else X:
        ending = "".join(Path(path).suffixes[-2:] if Path(path).suffix in _PACKED else Path(path).suffixes[-1:])
        if ending.lower().startswith(_OTHER):
            raise UsageError(
                f"fit takes the paths of Parquet files, and {str(path)!r} ends in {ending}. Read it first, X = "
                f"rs.read_table({str(path)!r}), or use the command line: robscore fit {path}"
            )


def _mapped_file(X: AnyData) -> ArrayRows:
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(f"X is a memory map of shape {X.shape} and type {X.dtype}; it must be a matrix of numbers.")
    if 0 in X.shape:
        raise ValueError(f"X is a memory map of {X.shape[0]} rows and {X.shape[1]} columns; both must be at least 1.")
    return ArrayRows(X, whole=False)


def read_frequency(sample_weight: AnyData, n_rows: int) -> Array:
    """Read sample weights as numbers, shape (n,): how many times every row counts; raise on anything else.

    Examples
    --------
    >>> from robscore.rows.input_data import read_frequency
    >>> read_frequency([1, 2, 0], 3)
    array([1., 2., 0.])
    """
    frequency = as_numbers("sample_weight", sample_weight)
    if frequency.ndim != 1:
        raise UsageError(f"Sample weights must be 1D: sample_weight has {frequency.ndim} dimensions; give one per row.")
    if frequency.size != n_rows:
        raise UsageError(f"sample_weight has {frequency.size} entries and X has {n_rows} rows; give one per row.")
    wrong = np.flatnonzero(~(np.isfinite(frequency) & (frequency >= 0)))
    if wrong.size:
        raise UsageError(
            f"sample_weight[{wrong[0]}]={frequency[wrong[0]]:g} must be a finite number of at least 0: it is how many "
            "times the row counts."
        )
    if not frequency.any():
        raise UsageError("All entries of sample_weight are zero, so no sample is left; give some rows a weight.")
    return frequency


def with_frequency(rows: Rows, sample_weight: AnyData) -> tuple[Rows, BoolArray]:
    """Return the rows with positive weight, with their frequency; and which these are, shape (n,)."""
    frequency = read_frequency(sample_weight, rows.n_rows)
    used = frequency > 0
    frequency = frequency[used]
    return rows.selected(np.flatnonzero(used)).counted(None if (frequency == 1).all() else frequency), used


def check_total(frequency: Array | None) -> None:
    """Raise if the weights sum to less than two, as normalised weights do."""
    if frequency is not None and frequency.sum() < 2:
        raise UsageError(
            f"sample_weight sums to {frequency.sum():.3g}: weights count rows, so their sum is the number of rows, at "
            "least 2. Multiply them, for example by the number of rows."
        )


def read_limits(lower: AnyData | None, upper: AnyData | None, names: list[str], n_rows: int) -> tuple[Array, Array]:
    """Read limits of cells, two arrays of shape (n, m), infinite where there is none; raise where they contradict.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.rows.input_data import read_limits
    >>> read_limits(None, np.array([[0.5, np.nan]]), ["x", "y"], 1)
    (array([[-inf, -inf]]), array([[0.5, inf]]))
    """
    low = np.full((n_rows, len(names)), -np.inf) if lower is None else _limit("lower", lower, names, n_rows, -np.inf)
    high = np.full((n_rows, len(names)), np.inf) if upper is None else _limit("upper", upper, names, n_rows, np.inf)
    if (low > high).any():
        row, column = np.argwhere(low > high)[0]
        raise UsageError(
            f"In row {row} of column {names[column]!r} the lower limit, {low[row, column]:g}, is above the upper one, "
            f"{high[row, column]:g}."
        )
    return low, high


def _limit(argument: str, given: AnyData, names: list[str], n_rows: int, none: float) -> Array:
    """One of two limits, with ``none`` where there is no limit."""
    table = readable(given, argument)
    if table.names is not None:
        if unknown := [name for name in table.names if name not in names]:
            raise UsageError(f"{argument} has columns that X does not have: {quoted(unknown)}. Name them as X does.")
        limits = np.full((len(table.values), len(names)), np.nan)
        limits[:, [names.index(name) for name in table.names]] = table.values
    else:
        limits = np.asarray(table.values, dtype=float)
    if limits.shape != (n_rows, len(names)):
        raise UsageError(
            f"{argument} has shape {limits.shape}, but X has {n_rows} rows and {len(names)} columns; give one limit "
            "for every cell, NaN where there is none."
        )
    return np.where(np.isnan(limits), none, limits)
