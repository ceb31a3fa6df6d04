"""Rows of numbers, wherever they are: in memory, on disk, on other machines."""

from robscore.rows.arrow_batches import ArrowRows
from robscore.rows.parquet_files import ParquetRows
from robscore.rows.row_source import ArrayRows, Rows

__all__ = ["ArrayRows", "ArrowRows", "ParquetRows", "Rows"]
