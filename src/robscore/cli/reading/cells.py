"""Numbers in cells of text, in either decimal sign, and texts that mean "missing"."""

from __future__ import annotations

import re
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robscore._tools.typing import Array
from robscore._tools.words import shown
from robscore.cli.reading.result import DataFileError

if TYPE_CHECKING:
    import pandas as pd

# Numbers with each decimal sign, alone or between groups of three digits; and what may be either.
PLAIN = {sign: re.compile(rf"^[+-]?(\d+(\{sign}\d*)?|\{sign}\d+)([eE][+-]?\d+)?$") for sign in ".,"}
GROUPED = {sign: re.compile(rf"^[+-]?[1-9]\d{{0,2}}(\{other}\d{{3}})+(\{sign}\d+)?$") for sign, other in (".,", ",.")}
EITHER = re.compile(r"^[+-]?[1-9]\d{0,2}[.,]\d{3}$")
_PER_CENT = re.compile(r"^[+-]?\d+([.,]\d+)?\s*%$")

NOTHING = ("", "na", "n/a", "nan", "null", "none", "-", "--", "#n/a", "nd", "missing")
_OF_PANDAS = ("#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "NaN")
MISSING = [*(spelled for word in NOTHING for spelled in dict.fromkeys((word, word.upper(), word.title()))), *_OF_PANDAS]
_INFINITE = re.compile(r"^[+-]?inf(inity)?$", re.IGNORECASE)


def with_numbers(column: pd.Series, decimal: str) -> pd.Series:
    """A column with those cells of text as numbers that are, in this decimal sign."""
    import pandas as pd

    if not (pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column)):
        return column

    def read(cell: Any) -> Any:
        number = number_in(cell.strip(), decimal) if isinstance(cell, str) else None
        return cell if number is None else number

    return column.astype(object).map(read, na_action="ignore")


def number_in(text: str, decimal: str) -> float | None:
    """The number that a text is, to the last bit, in this decimal sign and with or without groups of three; or None.

    Examples
    --------
    >>> number_in("1.234,5", ","), number_in("1e3", "."), number_in("12 m", ".")
    (1234.5, 1000.0, None)
    """
    if PLAIN[decimal].match(text):
        return float(text.replace(decimal, "."))
    if GROUPED[decimal].match(text):
        return float(text.replace("," if decimal == "." else ".", "").replace(decimal, "."))
    return float(text) if _INFINITE.match(text) else None


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
            f"{path}: column {shown(name)} has per cent signs ({shown(per_cent)}); take them away, or "
            f"--exclude {shown(name)}."
        )
    if not numbers.notna().any() and column.notna().any():
        return None
    wrong = column.notna() & numbers.isna()
    if not wrong.any():
        return np.asarray(numbers, dtype=float)
    if wrong.mean() > 0.5:  # names with a number among them
        return None
    row = int(np.flatnonzero(wrong)[0])
    first = shown(column.iloc[row])
    raise DataFileError(
        f"{path}: column {shown(name)} has {int(wrong.sum())} entr{'y' if wrong.sum() == 1 else 'ies'} not a number, "
        f"first {first} in data row {row + 1}; mend them, say --na {first} if it means missing, or "
        f"--exclude {shown(name)}."
    )
