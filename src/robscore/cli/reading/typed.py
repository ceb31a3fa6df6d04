"""Columns of files that know types: what is text in them, and what means missing, is read as in files of text."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robscore.cli.reading.cells import Meaning, settled
from robscore.cli.reading.dialect import decimal_of
from robscore.cli.reading.options import ReadOptions
from robscore.cli.reading.table import Table

if TYPE_CHECKING:
    import pandas as pd


def typed_table(
    path: Path,
    names: Sequence[str],
    columns: Sequence[pd.Series],
    options: ReadOptions,
    notes: list[str],
    index: Collection[str] = (),
) -> Table:
    """Columns with cells of text as numbers where they are, and with NaN for what means missing.

    Those whose names are in ``index`` are the index of a data frame.
    """
    kept = [options.all_text or name == options.id for name in names]
    read = [column for column, keep in zip(columns, kept, strict=True) if not keep and _may_hold_text(column)]
    decimal = options.decimal or decimal_of(path, ([c for c in one if isinstance(c, str)] for one in read)) or "."
    if read and decimal == ",":
        notes.append("Read with decimal commas.")
    meaning = Meaning(decimal, options.na)
    return Table(
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
