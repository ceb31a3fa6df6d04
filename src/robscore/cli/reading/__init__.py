"""A data file as scientists have it -> named columns of numbers, with a note on every choice that was made.

CSV and TSV (separator, decimal sign and encoding are detected), JSON lines, Parquet, feather, Excel, Stata, SPSS.
"""

from __future__ import annotations

from robscore.cli.reading.data import read_data
from robscore.cli.reading.groups import read_groups
from robscore.cli.reading.options import ReadOptions
from robscore.cli.reading.places import read_coordinates, read_outline
from robscore.cli.reading.result import DataFile, DataFileError
from robscore.cli.reading.several import files_of

__all__ = [
    "DataFile",
    "DataFileError",
    "ReadOptions",
    "files_of",
    "read_coordinates",
    "read_data",
    "read_groups",
    "read_outline",
]
