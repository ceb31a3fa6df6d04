"""Numbers in cells of text, in either decimal sign, and texts that mean "missing"."""

from __future__ import annotations

import re
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robscore._tools.typing import Array
from robscore.cli.reading.result import DataFileError

if TYPE_CHECKING:
    import pandas as pd

# Numbers with each decimal sign, alone or between groups of three digits; and what may be either.
PLAIN = {sign: re.compile(rf"^[+-]?(\d+\{sign}?\d*|\{sign}\d+)([eE][+-]?\d+)?$") for sign in ".,"}
GROUPED = {sign: re.compile(rf"^[+-]?[1-9]\d{{0,2}}(\{other}\d{{3}})+(\{sign}\d+)?$") for sign, other in (".,", ",.")}
EITHER = re.compile(r"^[+-]?[1-9]\d{0,2}[.,]\d{3}$")
_PER_CENT = re.compile(r"^[+-]?\d+([.,]\d+)?\s*%$")

NOTHING = ("", "na", "n/a", "nan", "null", "none", "-", "--", "#n/a", "nd", "missing")
MISSING = [spelled for word in NOTHING for spelled in dict.fromkeys((word, word.upper(), word.title()))]


def with_numbers(column: pd.Series, decimal: str) -> pd.Series:
    """A column with those cells of text as numbers that are, in this decimal sign."""
    import pandas as pd

    if not (pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column)):
        return column
    other = "," if decimal == "." else "."

    def read(cell: Any) -> Any:
        if not isinstance(cell, str):
            return cell
        text = cell.strip()
        if GROUPED[decimal].match(text):
            return float(text.replace(other, "").replace(decimal, "."))
        return float(text.replace(decimal, ".")) if PLAIN[decimal].match(text) else cell

    return column.astype(object).map(read, na_action="ignore")


def floats(path: Path, name: str, column: pd.Series) -> Array | None:
    """A column as floats with NaN for what is missing; None if it holds no number; an error if only some are."""
    import pandas as pd

    if pd.api.types.is_datetime64_any_dtype(column):
        return None
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return np.asarray(column.to_numpy(dtype=float, na_value=np.nan))
    numbers = column.map(lambda cell: float(cell) if isinstance(cell, Real) else np.nan, na_action="ignore")
    per_cent = next((cell for cell in column if isinstance(cell, str) and _PER_CENT.match(cell.strip())), None)
    if per_cent is not None:
        raise DataFileError(
            f"{path}: column {name!r} has per cent signs ({per_cent!r}); take them away, or --exclude {name!r}."
        )
    if not numbers.notna().any() and column.notna().any():
        return None
    wrong = column.notna() & numbers.isna()
    if not wrong.any():
        return np.asarray(numbers, dtype=float)
    if wrong.mean() > 0.5:  # names with a number among them
        return None
    row = int(np.flatnonzero(wrong)[0])
    first = str(column.iloc[row])
    raise DataFileError(
        f"{path}: column {name!r} has {int(wrong.sum())} entr{'y' if wrong.sum() == 1 else 'ies'} not a number, first "
        f"{first!r} in data row {row + 1}; mend them, say --na {first!r} if it means missing, or --exclude {name!r}."
    )
