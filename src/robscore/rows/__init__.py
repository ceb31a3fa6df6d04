"""Rows of numbers, wherever they are: in memory, on disk, on other machines."""

from robscore.rows.arrow_batches import ArrowRows
from robscore.rows.input_data import readable
from robscore.rows.ordered_words import order_of, scales
from robscore.rows.parquet_files import ParquetRows
from robscore.rows.partition import Partition, halves, make_blocks
from robscore.rows.quantiles import column_quantiles
from robscore.rows.row_source import ArrayRows, MappedRows, Rows, SelectedRows, cut, repieced
from robscore.rows.tables import check_names, columns_of, repeated

__all__ = [
    "ArrayRows",
    "ArrowRows",
    "MappedRows",
    "ParquetRows",
    "Partition",
    "Rows",
    "SelectedRows",
    "check_names",
    "column_quantiles",
    "columns_of",
    "cut",
    "halves",
    "make_blocks",
    "order_of",
    "readable",
    "repeated",
    "repieced",
    "scales",
]
