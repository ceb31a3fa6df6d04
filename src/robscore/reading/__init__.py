"""A data file as scientists have it -> named columns of numbers, with a note on every choice that was made.

CSV and TSV (separator, decimal sign and encoding are detected), JSON lines, Parquet, feather, Excel, Stata, SPSS.
``read_table`` gives a data frame, ``read_data`` what the command line works with; ``read_coordinates``,
``read_outline`` and ``read_groups`` read the files that say more about the columns.
"""

from __future__ import annotations

from robscore.reading.data_file import DataFile, DataFileError, ReadOptions
from robscore.reading.maps_and_groups import read_coordinates, read_groups, read_outline
from robscore.reading.read_files import files_of, read_data, read_table

__all__ = [
    "DataFile",
    "DataFileError",
    "ReadOptions",
    "files_of",
    "read_coordinates",
    "read_data",
    "read_groups",
    "read_outline",
    "read_table",
]
