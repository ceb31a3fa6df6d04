"""Parquet files."""

from __future__ import annotations

from pathlib import Path

from robscore._tools.optional import require
from robscore.cli.reading.cells import with_numbers
from robscore.cli.reading.options import ReadOptions
from robscore.cli.reading.result import DataFileError
from robscore.cli.reading.table import Table


def read_parquet(path: Path, options: ReadOptions, notes: list[str]) -> Table:
    """Read a Parquet file."""
    require("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise DataFileError(f"{path} is not a Parquet file: {str(error).splitlines()[0]}.") from None
    return Table(list(table.column_names), [with_numbers(column.to_pandas(), ".") for column in table.columns])
