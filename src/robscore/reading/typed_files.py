"""Columns of files that know types: what is text in them, and what means missing, is read as in files of text."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robscore._tools.messages import clipped
from robscore._tools.optional import require
from robscore.reading.cell_values import Meaning, settled
from robscore.reading.data_file import DataFileError, FileColumns, ReadOptions
from robscore.reading.text_format import decimal_of, raw
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
    """Columns with cells of text as numbers where they are, and with NaN for what means missing.

    Those whose names are in ``index`` are the index of a data frame.
    """
    kept = [options.all_text or name == options.id for name in names]
    read = [column for column, keep in zip(columns, kept, strict=True) if not keep and _may_hold_text(column)]
    decimal = options.decimal or decimal_of(path, ([c for c in one if isinstance(c, str)] for one in read)) or "."
    if read and decimal == ",":
        notes.append("Read with decimal commas.")
    meaning = Meaning(decimal, options.na)
    return FileColumns(
        list(names),
        [column if keep else _with_meaning(column, meaning) for column, keep in zip(columns, kept, strict=True)],
        frozenset(k for k, name in enumerate(names) if name in index),
        decimal,
    )


def _may_hold_text(column: pd.Series) -> bool:
    import pandas as pd

    is_category = isinstance(column.dtype, pd.CategoricalDtype)
    return is_category or pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column)


def _with_meaning(column: pd.Series, meaning: Meaning) -> pd.Series:
    """A column with numbers for the cells of text that are some, and NaN for those that mean missing."""
    import pandas as pd

    if _may_hold_text(column):
        cells = zip(column.astype(object), column.isna(), strict=True)
        return pd.Series(settled([np.nan if gone else meaning.of(cell) for cell, gone in cells]), dtype=object)
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return column
    codes = np.array(sorted(meaning.missing_numbers))
    kind = getattr(column.dtype, "numpy_dtype", column.dtype)
    if codes.size and kind.kind == "f":
        codes = codes.astype(kind).astype(float)  # -99.9 in single precision is another number
    are_codes = np.isin(column.to_numpy(dtype=float, na_value=np.nan), codes)
    return column.mask(are_codes) if are_codes.any() else column


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


def read_frame(ending: str) -> Callable[[Path, ReadOptions, list[str]], FileColumns]:
    """The reader of files that end so."""
    what, function, needed = _KINDS[ending]

    def read(path: Path, options: ReadOptions, notes: list[str]) -> FileColumns:
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


def read_parquet(path: Path, options: ReadOptions, notes: list[str]) -> FileColumns:
    """Read a Parquet file."""
    require("pyarrow")
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
        names = list(table.column_names)
        index = index_of(table.schema)
        columns = [column.to_pandas() for column in table.columns]
    except MemoryError:
        raise
    except Exception as error:  # whatever a broken file makes the reader say
        why = clipped(next(iter(str(error).splitlines()), type(error).__name__), 200)
        raise DataFileError(f"{path} is not a Parquet file, or a broken one: {why.rstrip('.')}.") from None
    return typed_table(path, names, columns, options, notes, index)
