"""Rows of Parquet files: one file, or a folder of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from robscore._tools.memory import rows_within
from robscore._tools.messages import ArgumentError, Setting, UsageError, first_few, quoted
from robscore._tools.optional import require
from robscore._tools.progress import announce
from robscore._tools.typing import Array, IntArray
from robscore.rows.arrow_batches import as_matrix, index_of, not_numeric
from robscore.rows.row_source import Rows, repieced
from robscore.rows.tables import check_names

# Bytes that are read at a time, and rows at least, since every column costs some time in each batch; guard memory.
_BATCH_BYTES, _LEAST_BATCH = 32e6, 4000
# A sample comes from at least so many row groups, which have so many times its rows; decide which rows are drawn.
_FEWEST_GROUPS, _TIMES_THE_SAMPLE = 64, 4


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
        groups = [_rows_in(file, self.names, self.files[0], chosen=columns is not None) for file in self.files]
        self._stamps = [_stamp(file) for file in self.files]
        self._starts = np.concatenate([[0], np.cumsum([sum(own) for own in groups])]).tolist()
        self._groups = np.concatenate([[0], np.cumsum([rows for own in groups for rows in own])])  # where each starts
        self._first_group = np.concatenate([[0], np.cumsum([len(own) for own in groups])]).tolist()
        self.n_rows, self.n_columns = self._starts[-1], len(self.names)
        if self.n_rows == 0:
            raise ValueError(f"{str(path)!r} holds no rows.")

    def __repr__(self) -> str:
        return f"ParquetRows({len(self.files)} files, {self.n_rows} rows, {self.n_columns} columns)"

    def place(self, row: int) -> str:
        """Describe a row, and where it is in which file."""
        number = bisect_right(self._starts, row) - 1
        return f"row {row}, which is row {row - self._starts[number]} of {self.files[number].name!r}"

    def pieces(self, bounds: IntArray) -> Iterator[Array]:
        """Read all files once."""
        every = np.arange(self._groups.size - 1)
        return repieced((as_matrix(batch, self.names or ()) for _, batch in self._batches(every)), bounds)

    def sample(self, size: int, rng: np.random.Generator) -> IntArray:
        """Draw row groups at random, so many that they have several times the rows, then rows of these at random."""
        sizes = np.diff(self._groups)
        if sizes.size <= _FEWEST_GROUPS:
            return super().sample(size, rng)
        order = rng.permutation(sizes.size)
        enough = int(np.searchsorted(np.cumsum(sizes[order]), _TIMES_THE_SAMPLE * size)) + 1
        chosen = np.sort(order[: max(enough, _FEWEST_GROUPS)])
        among = np.sort(rng.choice(int(sizes[chosen].sum()), size=size, replace=False, shuffle=False))
        before = np.concatenate([[0], np.cumsum(sizes[chosen])])
        group = np.searchsorted(before, among, side="right") - 1
        return np.asarray(self._groups[chosen[group]] + among - before[group])

    def take(self, index: IntArray) -> Array:
        """Return some rows, from the row groups that they are in."""
        order = np.argsort(index, kind="stable")
        wanted, result = np.asarray(index)[order], np.empty((len(index), self.n_columns))
        groups = np.unique(np.searchsorted(self._groups, wanted, side="right") - 1)
        seen, of_these = 0, int(np.diff(self._groups)[groups].sum())
        announce("drawing rows", seen, of_these)
        for low, batch in self._batches(groups):
            first, last = np.searchsorted(wanted, [low, low + batch.num_rows])
            if last > first:
                result[order[first:last]] = as_matrix(batch.take(wanted[first:last] - low), self.names or ())
            seen += batch.num_rows
            announce("drawing rows", seen, of_these)
        return result

    def _batches(self, groups: IntArray) -> Iterator[tuple[int, Any]]:
        """Yield the rows of some row groups, ascending: the number of the first row of a batch, and the batch."""
        import pyarrow as pa

        for number, file in enumerate(self.files):
            first, last = self._first_group[number : number + 2]
            own = groups[np.searchsorted(groups, first) : np.searchsorted(groups, last)] - first
            if not own.size:
                continue
            if _stamp(file) != self._stamps[number]:
                gone = "has changed" if file.exists() else "is gone"
                raise ValueError(f"{file.name!r} {gone} since it was opened; fit again, or pass the rows to look at.")
            try:
                with _opened(file) as parquet:
                    for run in np.split(own, np.flatnonzero(np.diff(own) > 1) + 1):
                        low = int(self._groups[first + run[0]])
                        options = {
                            "batch_size": self._batch_size(int(self._groups[first + run[0] + 1]) - low),
                            "row_groups": run.tolist(),
                            "columns": self.names,
                        }
                        for batch in parquet.iter_batches(**options):
                            yield low, batch
                            low += batch.num_rows
                        if low != self._groups[first + run[-1] + 1]:
                            raise ValueError(f"{file.name!r} cannot be read (it holds other rows than it says).")
            except (pa.ArrowException, OSError) as error:
                raise ValueError(f"{file.name!r} cannot be read ({_first_line(error)}).") from None

    def _batch_size(self, of_group: int) -> int:
        """The rows of a batch: a row group, or a whole part of it; a batch from two groups would have to be copied."""
        most = rows_within(_BATCH_BYTES, self.n_columns, at_least=_LEAST_BATCH)
        return max(_LEAST_BATCH, -(-of_group // -(-of_group // most))) if of_group else most


def _files_of(path: str | PathLike[str] | Sequence[str | PathLike[str]]) -> list[Path]:
    """Return the files that a path, or several, stand for."""
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
    """Return size and time of a file, which change when it does; None if there is no such file."""
    try:
        about = file.stat()
    except OSError:
        return None
    return about.st_size, about.st_mtime_ns


def _opened(file: Path) -> Any:
    """Open a file; raise, naming it, if it cannot be read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(file)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{file.name!r} is not a Parquet file that can be read ({_first_line(error)}).") from None


def _columns_of(file: Path, columns: Sequence[str] | None) -> list[str]:
    """Return the columns to use: those asked for, or all but an index."""
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


def _rows_in(file: Path, names: list[str], first: Path, *, chosen: bool) -> list[int]:
    """Count the rows of a file's row groups; raise unless its columns are those of the first file, and numbers."""
    with _opened(file) as parquet:
        schema, about = parquet.schema_arrow, parquet.metadata
        rows = [int(about.row_group(group).num_rows) for group in range(about.num_row_groups)]
    if any(count < 0 for count in rows):
        raise ValueError(f"{file.name!r} is not a Parquet file that can be read (its numbers of rows are negative).")
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
    if wrong := not_numeric(schema, names):
        raise ValueError(
            f"Columns of {file.name!r} that are not numeric: {first_few(wrong)}. Choose others with "
            "rs.ParquetRows(path, columns=[...])."
        )
    return rows


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__
