"""A data file as a scientist has it -> named columns of numbers, with every choice that was made said in words.

CSV and TSV (separator, decimal sign and encoding are found out), Parquet, Excel.
"""

from __future__ import annotations

from robscore.cli.reading.data import read_data
from robscore.cli.reading.options import ReadOptions
from robscore.cli.reading.places import read_coordinates, read_outline
from robscore.cli.reading.result import DataFile, DataFileError

__all__ = ["DataFile", "DataFileError", "ReadOptions", "read_coordinates", "read_data", "read_outline"]
