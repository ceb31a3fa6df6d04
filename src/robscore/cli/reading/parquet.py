"""Parquet files."""

from __future__ import annotations

from pathlib import Path

from robscore._tools.optional import require
from robscore.cli.reading.cells import with_numbers
from robscore.cli.reading.options import ReadOptions
from robscore.cli.reading.result import DataFileError
from robscore.cli.reading.table import Table
from robscore.rows.parquet import index_of


def read_parquet(path: Path, options: ReadOptions, notes: list[str]) -> Table:
    """Read a Parquet file."""
    require("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise DataFileError(f"{path} is not a Parquet file: {str(error).splitlines()[0]}.") from None
    names = list(table.column_names)
    index = index_of(table.schema)
    columns = [with_numbers(column.to_pandas(), ".") for column in table.columns]
    return Table(names, columns, frozenset(k for k, name in enumerate(names) if name in index))
