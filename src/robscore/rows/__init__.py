"""Rows of numbers, wherever they are: in memory, on disk, on other machines."""

from robscore.rows.arrays import ArrayRows
from robscore.rows.arrow import ArrowRows
from robscore.rows.base import Rows
from robscore.rows.parquet import ParquetRows

__all__ = ["ArrayRows", "ArrowRows", "ParquetRows", "Rows"]
