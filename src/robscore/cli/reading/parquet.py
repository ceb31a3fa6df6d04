"""Parquet files."""

from __future__ import annotations

from pathlib import Path

from robscore._tools.messages import clipped
from robscore._tools.optional import require
from robscore.cli.reading.options import ReadOptions
from robscore.cli.reading.result import DataFileError
from robscore.cli.reading.table import Table
from robscore.cli.reading.typed import typed_table
from robscore.rows.batches import index_of


def read_parquet(path: Path, options: ReadOptions, notes: list[str]) -> Table:
    """Read a Parquet file."""
    require("pyarrow")
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
        names = list(table.column_names)
        index = index_of(table.schema)
        columns = [column.to_pandas() for column in table.columns]
    except MemoryError:
        raise
    except Exception as error:  # whatever a broken file makes the reader say
        why = clipped(next(iter(str(error).splitlines()), type(error).__name__), 200)
        raise DataFileError(f"{path} is not a Parquet file, or a broken one: {why.rstrip('.')}.") from None
    return typed_table(path, names, columns, options, notes, index)
