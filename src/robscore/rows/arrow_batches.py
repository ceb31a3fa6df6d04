"""Rows of anything that yields batches of Arrow, again in every pass: lazy frames, relations, datasets, streams.

Below are also the functions that look at one batch: which of its columns are numbers, and its rows as an array.
Parquet files (``parquet_files.py``) are read in the same batches.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from typing import Any

import narwhals as nw
import numpy as np

from robscore._tools.messages import ArgumentError, first_few, quoted
from robscore._tools.optional import require
from robscore._tools.typing import AnyData, Array, IntArray
from robscore.rows.row_source import Rows, repieced
from robscore.rows.tables import check_names

_ONCE = "can be read only once; pass a function that returns it, as in fit(lambda: ...), so that each pass can read it"
_DASK_INDEX = "__null_dask_index__"


class ArrowRows(Rows):
    """The rows of a source that can be read more than once, in the same order every time.

    An estimator's ``fit`` takes this, or simply the source. Rows are read again in every pass over the data and never
    held together. A query (of Polars or DuckDB) is run again in every pass: put the result of a costly one in a file
    first.

    Parameters
    ----------
    source : a Polars lazy frame, a DuckDB relation, a pyarrow dataset or scanner, any object with the Arrow C stream
        protocol (``__arrow_c_stream__``), or a function without arguments that returns one of these, or batches of rows
        one by one
    columns : list of str, optional
        The columns to use, by default all; they must hold numbers.

    Attributes
    ----------
    n_rows, n_columns : int
    names : list of str

    Examples
    --------
    >>> import numpy as np, pyarrow as pa, robscore as rs
    >>> table = pa.table({"a": [1.0, 2.0, 3.0], "b": [3, 1, None]})
    >>> rows = rs.ArrowRows(lambda: table.to_batches(max_chunksize=2))
    >>> rows.n_rows, rows.names, rows.take(np.array([2])).tolist()
    (3, ['a', 'b'], [[3.0, nan]])
    """

    def __init__(self, source: AnyData, columns: Sequence[str] | None = None) -> None:
        require("pyarrow")
        self.source = source
        self._columns = None if columns is None else [columns] if isinstance(columns, str) else list(columns)
        self.n_rows, schema = self._counted()
        if schema is None or not self.n_rows:
            raise ValueError(f"{_kind(source)} yields no rows.")
        if self._columns is not None and (absent := [name for name in self._columns if name not in schema.names]):
            problem = f": there is no {quoted(absent)} among {quoted(schema.names)}."
            raise ArgumentError("columns", self._columns, problem)
        self.names: list[str] = check_names(
            self._columns or [name for name in schema.names if name not in index_of(schema)]
        )
        self.n_columns = len(self.names)
        if wrong := not_numeric(schema, self.names):
            raise ValueError(
                f"Columns that are not numeric: {first_few(wrong)}. Leave them out of the query, or choose others with "
                "rs.ArrowRows(source, columns=[...])."
            )

    def __repr__(self) -> str:
        return f"ArrowRows({_kind(self.source)}, {self.n_rows} rows, {self.n_columns} columns)"

    def pieces(self, bounds: IntArray) -> Iterator[Array]:
        """Read the source once, from its beginning to its end."""
        return repieced(self._arrays(), bounds)

    def _arrays(self) -> Iterator[Array]:
        seen = 0
        with closing(_batches(self.source, self._columns)) as batches:
            for batch in batches:
                seen += batch.num_rows
                for low in range(0, batch.num_rows, self.length):
                    yield as_matrix(batch.slice(low, self.length), self.names)
        if seen != self.n_rows:
            once = " It may be one that can be read only once: pass a function that returns it." if not seen else ""
            raise ValueError(f"{_kind(self.source)} had {self.n_rows} rows at first, and now {seen}.{once}")

    def _counted(self) -> tuple[int, Any]:
        """Count the rows, and find their schema; without reading where the source knows both."""
        if hasattr(self.source, "count_rows") and hasattr(self.source, "schema"):
            return int(self.source.count_rows()), self.source.schema
        n_rows, schema = 0, None
        for batch in _batches(self.source, self._columns):
            n_rows, schema = n_rows + batch.num_rows, schema or batch.schema
        return n_rows, schema


def is_arrow_source(X: AnyData) -> bool:
    """Return whether X yields batches of Arrow and does not hold its rows in memory; raise if it can be read once."""
    if callable(X) and not isinstance(X, type) and not hasattr(X, "shape"):
        return True
    if hasattr(X, "count_rows") and hasattr(X, "to_batches"):  # a dataset, or a scanner
        return True
    if hasattr(X, "read_next_batch"):  # a stream that is used up by reading
        raise ValueError(f"X is a {type(X).__name__}, which {_ONCE}.")
    if hasattr(X, "__array__") or (hasattr(X, "column_names") and hasattr(X, "to_batches")):  # a table in memory
        return False
    return hasattr(X, "__arrow_c_stream__") or isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame)


def _batches(source: Any, columns: list[str] | None) -> Generator[Any, None, None]:
    """Yield the batches of one reading, of some columns where the source can leave out others by itself."""
    import pyarrow as pa

    if callable(source):
        source = source()
    if hasattr(source, "collect_batches"):  # a lazy frame of Polars
        chosen = source if columns is None else source.select(columns)
        frames: Iterable[Any] = chosen.collect_batches(maintain_order=True)
        yield from (batch for frame in frames for batch in frame.to_arrow().to_batches())
    elif hasattr(source, "to_arrow_reader"):  # a relation of DuckDB, whose own stream holds more at a time
        yield from source.to_arrow_reader(100_000)
    elif hasattr(source, "fetch_arrow_reader"):  # the same in older versions, which must be told to read again
        source.execute()
        yield from source.fetch_arrow_reader(100_000)
    elif hasattr(source, "to_batches"):  # a dataset, a scanner, a table
        yield from source.to_batches(columns=columns) if hasattr(source, "scanner") else source.to_batches()
    elif hasattr(source, "__arrow_c_stream__"):
        yield from pa.RecordBatchReader.from_stream(source)
    elif isinstance(source, Iterable):
        yield from source
    else:
        if type(source).__module__.startswith("polars"):
            raise TypeError(
                "Polars reads lazy frames in batches from version 1.34 on: upgrade it, or pass lazy.collect()."
            )
        raise TypeError(
            f"{_kind(source)} does not yield batches of Arrow; use a lazy frame, a relation, a dataset, an object with "
            "__arrow_c_stream__, or a function that returns one of these."
        )


def _kind(source: Any) -> str:
    """Describe a source for messages."""
    return f"The {type(source).__name__}" if not callable(source) else "The function"


def not_numeric(schema: Any, names: Sequence[str]) -> list[str]:
    """Describe the columns that do not hold numbers, each with its type."""
    import pyarrow.types as kinds

    def is_number(kind: Any) -> bool:
        tests = (kinds.is_floating, kinds.is_integer, kinds.is_boolean, kinds.is_decimal, kinds.is_null)
        return any(test(kind) for test in tests)

    return [f"{name!r} ({schema.field(name).type})" for name in names if not is_number(schema.field(name).type)]


def index_of(schema: Any) -> set[str]:
    """Return the columns that are the index of a data frame, by pandas or by Dask, and not data."""
    try:
        named = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))["index_columns"]
    except (ValueError, KeyError, TypeError, RecursionError):  # metadata that cannot be read name no index
        named = []
    named = named if isinstance(named, list) else []
    return {name for name in named if isinstance(name, str)} | {_DASK_INDEX}


def as_matrix(batch: Any, names: Sequence[str]) -> Array:
    """Return some columns of a batch of rows, shape (rows, names); NaN where a value is missing.

    They stay one after the other in memory, as Arrow has them, because turning them into rows would take as long as all
    that is done with them.
    """
    import pyarrow as pa

    columns = np.empty((len(names), batch.num_rows))
    for own, name in zip(columns, names, strict=True):
        column = batch.column(name)
        if column.type != pa.float64():
            column = column.cast(pa.float64(), safe=False)
        own[:] = column.to_numpy(zero_copy_only=False)
    return columns.T
