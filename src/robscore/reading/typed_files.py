"""Files that know the types of their columns: Parquet, feather, JSON lines, Stata, SPSS.

What is text in them, and what means missing, is read as in files of text.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robscore._tools.optional import require
from robscore.reading.cell_values import Meaning, words_resolved
from robscore.reading.data_file import DataFileError, FileColumns, ReadOptions, refusing_broken
from robscore.reading.text_format import decimal_of, unpacked
from robscore.rows.arrow_batches import index_of

if TYPE_CHECKING:
    import pandas as pd


def typed_table(
    path: Path,
    names: Sequence[str],
    columns: Sequence[pd.Series],
    options: ReadOptions,
    notes: list[str],
    index: Collection[str] = (),
) -> FileColumns:
    """Return columns with cells of text as numbers where they are, and with NaN for what means missing.

    Those whose names are in ``index`` are the index of a data frame.
    """
    as_written = [options.all_text or name == options.id for name in names]
    texts = [column for column, keep in zip(columns, as_written, strict=True) if not keep and _may_hold_text(column)]
    cells = ([cell for cell in column if isinstance(cell, str)] for column in texts)
    decimal = options.decimal or decimal_of(path, cells) or "."
    if texts and decimal == ",":
        notes.append("Read with decimal commas.")
    limited = bool(options.limits)
    meanings = Meaning.by_column(path, [str(name) for name in names], decimal, options.na, limited=limited)
    return FileColumns(
        list(names),
        [
            column if keep else _with_meaning(column, meaning)
            for column, keep, meaning in zip(columns, as_written, meanings, strict=True)
        ],
        frozenset(k for k, name in enumerate(names) if name in index),
        decimal,
    )


def _may_hold_text(column: pd.Series) -> bool:
    import pandas as pd

    is_category = isinstance(column.dtype, pd.CategoricalDtype)
    return is_category or pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column)


def _with_meaning(column: pd.Series, meaning: Meaning) -> pd.Series:
    """Return a column with numbers for the cells of text that are some, and NaN for those that mean missing."""
    import pandas as pd

    if getattr(column.dtype, "ordered", False):
        levels = {category: meaning.of(category) for category in column.cat.categories}
        if all(isinstance(one, str) or one != one for one in levels.values()):
            return column.cat.remove_categories([category for category, one in levels.items() if one != one])
    if _may_hold_text(column):
        cells = zip(column.astype(object), column.isna(), strict=True)
        meant = [np.nan if is_missing else meaning.of(cell) for cell, is_missing in cells]
        return pd.Series(words_resolved(meant), dtype=object)
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return column
    codes = np.array(sorted(meaning.missing_numbers))
    dtype = getattr(column.dtype, "numpy_dtype", column.dtype)
    if codes.size and dtype.kind == "f":
        codes = codes.astype(dtype).astype(float)  # -99.9 in single precision is another number
    are_codes = np.isin(column.to_numpy(dtype=float, na_value=np.nan), codes)
    return column.mask(are_codes) if are_codes.any() else column


# What they are called, and what has to be installed besides pandas.
_KINDS = {
    ".feather": ("a feather file", "pyarrow"),
    ".arrow": ("a feather file", "pyarrow"),
    ".jsonl": ("JSON lines", ""),
    ".ndjson": ("JSON lines", ""),
    ".dta": ("a Stata file", ""),
    ".sav": ("an SPSS file", "pyreadstat"),
}
FRAME_ENDINGS = tuple(_KINDS)
_MOST_DIGITS = 300  # guards time only: a whole number of more digits is read as a float, and becomes infinite


def read_frame(ending: str, path: Path, options: ReadOptions, notes: list[str]) -> FileColumns:
    """Read a file that pandas reads whole: feather, JSON lines, Stata, SPSS, by how its name ends."""
    kind, needed = _KINDS[ending]
    if needed and importlib.util.find_spec(needed) is None:
        raise DataFileError(f"{path} is {kind}, which needs the package {needed}: pip install {needed}")
    import pandas as pd

    with refusing_broken(path, f"cannot be read as {kind}"), unpacked(path) as source:
        if kind == "JSON lines":
            frame = pd.DataFrame([json.loads(line, parse_int=_whole) for line in source if line.strip()])
        elif kind == "a Stata file":
            frame = pd.read_stata(source, convert_categoricals=False)
        else:
            frame = pd.read_spss(path) if kind == "an SPSS file" else pd.read_feather(source)
    columns = [frame.iloc[:, k].reset_index(drop=True) for k in range(frame.shape[1])]
    return typed_table(path, [str(name) for name in frame.columns], columns, options, notes)


def _whole(digits: str) -> int | float:
    """Return a whole number, infinite where no float is as large, as in text files."""
    return int(digits) if len(digits) < _MOST_DIGITS else float(digits)


def read_parquet(path: Path, options: ReadOptions, notes: list[str]) -> FileColumns:
    """Read a Parquet file."""
    require("pyarrow")
    import pyarrow.parquet as pq

    with refusing_broken(path, "is not a Parquet file, or a broken one"):
        table = pq.read_table(path)
        names = list(table.column_names)
        index = index_of(table.schema)
        columns = [column.to_pandas() for column in table.columns]
    return typed_table(path, names, columns, options, notes, index)
