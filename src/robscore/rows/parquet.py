"""Rows of Parquet files: one file, or a folder of them."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from robscore._tools.errors import ArgumentError, UsageError
from robscore._tools.optional import require
from robscore._tools.typing import Array, IntArray
from robscore._tools.words import Setting, first_few, quoted
from robscore.rows.base import Rows, repieced
from robscore.rows.names import check_names

_DASK_INDEX = "__null_dask_index__"


class ParquetRows(Rows):
    """The rows of a Parquet file, or of all Parquet files in a folder in the order of their names, one after the other.

    An estimator's ``fit`` takes this, or simply the path. Rows are read again in every pass over the data and never
    held together.

    Parameters
    ----------
    path : str or path-like, or a list of them
        A file, a folder (with its subfolders; names that start with a dot or an underscore are left out), or files.
    columns : list of str, optional
        The columns to use, by default all but the index of a data frame; they must hold numbers.

    Attributes
    ----------
    n_rows, n_columns : int
    names : list of str
    files : list of Path

    Raises
    ------
    ValueError
        If files have different columns, or columns that are not numeric.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.ParquetRows("no such folder")
    Traceback (most recent call last):
    ...
    FileNotFoundError: There is no file or folder 'no such folder'.
    """

    def __init__(
        self, path: str | PathLike[str] | Sequence[str | PathLike[str]], columns: Sequence[str] | None = None
    ) -> None:
        require("pyarrow")
        if isinstance(columns, str):
            columns = [columns]
        self.files = _files_of(path)
        self.names = check_names(_columns_of(self.files[0], columns))
        if not self.names:
            raise UsageError(f"{str(path)!r} has no columns to use; ", Setting("columns", columns), ".")
        counts = [_rows_in(file, self.names, self.files[0], chosen=columns is not None) for file in self.files]
        self._stamps = [_stamp(file) for file in self.files]
        self._starts = np.concatenate([[0], np.cumsum(counts)]).tolist()
        self.n_rows, self.n_columns = self._starts[-1], len(self.names)
        if self.n_rows == 0:
            raise ValueError(f"{str(path)!r} holds no rows.")

    def __repr__(self) -> str:
        return f"ParquetRows({len(self.files)} files, {self.n_rows} rows, {self.n_columns} columns)"

    def place(self, row: int) -> str:
        """The row, and where it is in which file."""
        number = bisect_right(self._starts, row) - 1
        return f"row {row}, which is row {row - self._starts[number]} of {self.files[number].name!r}"

    def pieces(self, bounds: IntArray) -> Iterator[Array]:
        """Read through the files once."""
        return repieced(self._batches(), bounds)

    def _batches(self) -> Iterator[Array]:
        import pyarrow as pa

        for number, file in enumerate(self.files):
            if _stamp(file) != self._stamps[number]:
                gone = "has changed" if file.exists() else "is gone"
                raise ValueError(f"{file.name!r} {gone} since it was opened; fit again, or pass the rows to look at.")
            try:
                with _opened(file) as parquet:
                    for batch in parquet.iter_batches(batch_size=self.length, columns=self.names):
                        columns = np.empty((self.n_columns, batch.num_rows))
                        for own, name in zip(columns, self.names or (), strict=True):
                            own[:] = batch.column(name).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
                        yield np.ascontiguousarray(columns.T)
            except (pa.ArrowException, OSError) as error:
                raise ValueError(f"{file.name!r} cannot be read ({_first_line(error)}).") from None


def _files_of(path: str | PathLike[str] | Sequence[str | PathLike[str]]) -> list[Path]:
    """The files that a path, or several, stand for."""
    if isinstance(path, Sequence) and not isinstance(path, str):
        files = [file for part in path for file in _files_of(part)]
        if not files:
            raise ValueError("No Parquet files were given.")
        return files
    place = Path(path).absolute()
    if place.is_file():
        return [place]
    if not place.exists():
        raise FileNotFoundError(f"There is no file or folder {str(path)!r}.")
    found = [
        file
        for file in place.rglob("*")
        if file.suffix.lower() in (".parquet", ".pq")
        and file.is_file()
        and not any(name.startswith((".", "_")) for name in file.relative_to(place).parts)
    ]
    if not found:
        raise ValueError(f"The folder {str(path)!r} holds no Parquet files (names that end in .parquet or .pq).")
    return sorted(found)


def _stamp(file: Path) -> tuple[int, int] | None:
    """Size and time of a file, which change when it does; None if it is not there."""
    try:
        about = file.stat()
    except OSError:
        return None
    return about.st_size, about.st_mtime_ns


def _opened(file: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(file)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{file.name!r} is not a Parquet file that can be read ({_first_line(error)}).") from None


def _columns_of(file: Path, columns: Sequence[str] | None) -> list[str]:
    with _opened(file) as parquet:
        schema = parquet.schema_arrow
    names = list(schema.names)
    if columns is None:
        index = index_of(schema)
        return [name for name in names if name not in index]
    if absent := [name for name in columns if name not in names]:
        problem = f": {file.name!r} has no {quoted(absent)}; it has {quoted(names)}."
        raise ArgumentError("columns", list(columns), problem)
    return list(columns)


def index_of(schema: Any) -> set[str]:
    """Columns that are the index of a data frame, by pandas or by Dask, and not data."""
    try:
        named = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))["index_columns"]
    except (ValueError, KeyError, TypeError, RecursionError):  # a note that cannot be read says nothing
        named = []
    named = named if isinstance(named, list) else []
    return {name for name in named if isinstance(name, str)} | {_DASK_INDEX}


def _rows_in(file: Path, names: list[str], first: Path, *, chosen: bool) -> int:
    """How many rows a file has; raise unless its columns are those of the first, and numbers."""
    import pyarrow as pa

    with _opened(file) as parquet:
        schema, rows = parquet.schema_arrow, int(parquet.metadata.num_rows)
    own, index = schema.names, index_of(schema)
    missing = [name for name in names if name not in own]
    more = [] if chosen else [name for name in own if name not in names and name not in index]
    if missing or more:
        lacks = f" has no {quoted(missing)}" if missing else ""
        adds = f" has {quoted(more)} besides" if more else ""
        raise ValueError(
            f"Parquet files differ in their columns: {file.name!r}{' and'.join(filter(None, (lacks, adds)))}, unlike "
            f"{first.name!r}. Use rs.ParquetRows(path, columns=[...]) with columns that all files have."
        )
    wrong = [
        name
        for name in names
        if not (
            pa.types.is_floating(schema.field(name).type)
            or pa.types.is_integer(schema.field(name).type)
            or pa.types.is_boolean(schema.field(name).type)
            or pa.types.is_decimal(schema.field(name).type)
            or pa.types.is_null(schema.field(name).type)
        )
    ]
    if wrong:
        kinds = first_few([f"{name!r} ({schema.field(name).type})" for name in wrong])
        raise ValueError(
            f"Columns of {file.name!r} that are not numeric: {kinds}. Choose others with rs.ParquetRows(path, "
            "columns=[...])."
        )
    return rows


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__
