"""Files that pandas reads whole: feather, JSON lines, Stata, SPSS."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path

from robscore._tools.messages import clipped
from robscore.cli.reading.options import ReadOptions
from robscore.cli.reading.packed import raw
from robscore.cli.reading.result import DataFileError
from robscore.cli.reading.table import Table
from robscore.cli.reading.typed import typed_table

# What they are called, what reads them, and what has to be installed besides pandas.
_KINDS: dict[str, tuple[str, str, str]] = {
    ".feather": ("a feather file", "read_feather", "pyarrow"),
    ".arrow": ("a feather file", "read_feather", "pyarrow"),
    ".jsonl": ("JSON lines", "", ""),
    ".ndjson": ("JSON lines", "", ""),
    ".dta": ("a Stata file", "read_stata", ""),
    ".sav": ("an SPSS file", "read_spss", "pyreadstat"),
}
FRAME_ENDINGS = tuple(_KINDS)
_MOST_DIGITS = 300  # of a whole number that surely is a float


def _whole(digits: str) -> int | float:
    """A whole number, infinite where no float is as large, as in text files."""
    return int(digits) if len(digits) < _MOST_DIGITS else float(digits)


def read_frame(ending: str) -> Callable[[Path, ReadOptions, list[str]], Table]:
    """The reader of files that end so."""
    what, function, needed = _KINDS[ending]

    def read(path: Path, options: ReadOptions, notes: list[str]) -> Table:
        if needed and importlib.util.find_spec(needed) is None:
            raise DataFileError(f"{path} is {what}, which needs the package {needed}: pip install {needed}")
        import pandas as pd

        try:
            with raw(path) as source:
                if not function:
                    frame = pd.DataFrame([json.loads(line, parse_int=_whole) for line in source if line.strip()])
                elif function == "read_stata":
                    frame = pd.read_stata(source, convert_categoricals=False)
                else:
                    frame = getattr(pd, function)(path if function == "read_spss" else source)
        except MemoryError:
            raise
        except Exception as error:  # whatever a broken file makes the reader say
            why = clipped(" ".join(str(error).split()) or type(error).__name__, 200)
            raise DataFileError(f"{path} cannot be read as {what}: {why.rstrip('.')}.") from None
        columns = [frame.iloc[:, k].reset_index(drop=True) for k in range(frame.shape[1])]
        return typed_table(path, [str(name) for name in frame.columns], columns, options, notes)

    return read
