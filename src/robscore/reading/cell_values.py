"""What a cell means: a number in either decimal sign, something missing, the truth, or the text that it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robscore._tools.messages import first_few, quoted, shown
from robscore._tools.typing import Array
from robscore.reading.data_file import DataFileError

if TYPE_CHECKING:
    import pandas as pd


# Numbers with each decimal sign, alone or between groups of three digits; and what may be either.
PLAIN = {sign: re.compile(rf"^[+-]?(\d+(\{sign}\d*)?|\{sign}\d+)([eE][+-]?\d+)?$") for sign in ".,"}
GROUPED = {sign: re.compile(rf"^[+-]?[1-9]\d{{0,2}}(\{other}\d{{3}})+(\{sign}\d+)?$") for sign, other in (".,", ",.")}
EITHER = re.compile(r"^[+-]?[1-9]\d{0,2}[.,]\d{3}$")
_SPACED = re.compile(r"^([+-]?[1-9]\d{0,2}(?:[ \u00a0\u2009\u202f'\u2019]\d{3})+)([.,]\d+)?$")  # 1 234,5 and 1'234.5
_MONEY = r"[$€£¥₹]|(?:USD|EUR|GBP|CHF|JPY)\b"
_MARK = re.compile(rf"^\s*([+-]?)\s*(?:{_MONEY})?\s*([+-]?[\d.,]+)\s*(?:%|‰|{_MONEY})?\s*$")
_WITH_UNIT = re.compile(r"^([+-]?[\d.,]+(?:[eE][+-]?\d+)?)\s*((?:[^\W\d_]|[°'\"]).{0,14})$")

_LIMIT = re.compile(r"^\s*(<=?|>=?|≤|≥)\s*(.+?)\s*$")
NOT_DETECTED = ("nd", "n.d.", "n.d", "n/d", "not detected", "bdl", "lod", "loq", "n.n.", "nicht nachweisbar")  # or <LOD

MISSING_WORDS = ("", "na", "n/a", "nan", "null", "none", "-", "--", "#n/a", "nd", "missing")  # in any letters
_OF_PANDAS = ("#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "NaN")
MISSING = [
    *(spelled for word in MISSING_WORDS for spelled in dict.fromkeys((word, word.upper(), word.title()))),
    *_OF_PANDAS,
]
_INFINITE = re.compile(r"^[+-]?inf(inity)?$", re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?\d{1,40}$", re.ASCII)  # of so few digits that reading it as an int takes no time
_NESTED = (list, tuple, dict, set, np.ndarray)
_EXACT = 2.0**53  # guards rounding: beyond it, not every whole number is a float
_NONE = frozenset(("none", "None", "NONE"))  # missing among numbers; among texts it may name a group
_TRUTH = {word: value for value in (True, False) for word in (str(value), str(value).lower(), str(value).upper())}


class Meaning:
    """What cells mean: a number, something that is missing, or the text that they are.

    Parameters
    ----------
    decimal : the decimal sign
    na : further texts that mean missing; a number among them means every way to write it
    limited : whether limits of detection are known, so that "nd" is not missing
    """

    def __init__(self, decimal: str, na: Sequence[str], *, limited: bool = False) -> None:
        words = [word.strip() for word in na]
        given = (number_in(word, sign) for word in words for sign in (decimal, "."))
        self.decimal = decimal
        self.missing_numbers = frozenset(number for number in given if number is not None)
        not_missing = [*_NONE, *(word for word in MISSING if limited and word.lower() in NOT_DETECTED)]
        self._missing = frozenset(MISSING).difference(not_missing).union(words)

    @classmethod
    def by_column(
        cls, path: Path, names: Sequence[str], decimal: str, na: Sequence[str], *, limited: bool
    ) -> list[Meaning]:
        """Return the meaning of cells in every column: of "depth=-9" the text after "=" is for that column alone.

        Examples
        --------
        >>> na = ["depth=-9", "x"]
        >>> depth, rain = Meaning.by_column(Path("x.csv"), ["depth", "rain"], ".", na, limited=False)
        >>> depth.of("-9"), rain.of("-9"), rain.of("x")
        (nan, -9.0, nan)
        """
        own: dict[str, list[str]] = {}
        everywhere = []
        for text in na:
            column = max((name for name in names if name and text.startswith(f"{name}=")), key=len, default="")
            if column:
                own.setdefault(column, []).append(text[len(column) + 1 :])
            elif "=" in text and number_in(text.partition("=")[2].strip(), ".") is not None:
                unknown = shown(text.partition("=")[0])
                raise DataFileError(
                    f"{path}: --na {shown(text)}: there is no column {unknown}; it has {quoted(names)}."
                )
            else:
                everywhere.append(text)
        common = cls(decimal, everywhere, limited=limited)
        return [cls(decimal, [*everywhere, *own[name]], limited=limited) if name in own else common for name in names]

    def of(self, cell: Any) -> Any:
        """Return a float, an int that would not be exact as one, NaN where something is missing, or the cell as it is.

        Examples
        --------
        >>> meaning = Meaning(",", ["-999"])
        >>> meaning.of("1,5"), meaning.of("-999,0"), meaning.of("n/a"), meaning.of("north"), meaning.of(-999)
        (1.5, nan, nan, 'north', nan)
        """
        if isinstance(cell, str):
            text = cell.strip()
            number = None if text in self._missing else number_in(text, self.decimal)
            if number is None:
                return np.nan if text in self._missing else cell
            return np.nan if number in self.missing_numbers else with_all_digits(number, text)
        if isinstance(cell, _NESTED):
            return str(cell)
        if isinstance(cell, Decimal):
            cell = float(cell)
        is_code = isinstance(cell, Real) and not isinstance(cell, bool) and cell in self.missing_numbers
        return np.nan if is_code else cell


def words_resolved(cells: Sequence[Any]) -> list[Any]:
    """Return the cells of a whole column, in which words mean what the other cells let them mean.

    A column of nothing but words such as "true" holds truths, and "none" is missing unless all others are texts.


    Examples
    --------
    >>> words_resolved([1.5, "none"]), words_resolved(["true", "none", "FALSE"]), words_resolved(["drug", "none"])
    ([1.5, nan], [True, nan, False], ['drug', 'none'])
    """
    observed = [cell for cell in cells if not (_is_none(cell) or _is_nan(cell))]
    if not all(isinstance(cell, str) for cell in observed):
        return [np.nan if _is_none(cell) else cell for cell in cells]
    if not observed or not all(cell in _TRUTH for cell in observed):
        return list(cells)
    return [np.nan if _is_none(cell) or _is_nan(cell) else _TRUTH[cell] for cell in cells]


def _is_none(cell: Any) -> bool:
    return isinstance(cell, str) and cell.strip() in _NONE


def _is_nan(cell: Any) -> bool:
    return isinstance(cell, float) and cell != cell


def with_all_digits(number: float, text: str) -> float | int:
    """Return the number in a text, as an int where a float would lose digits of it: it may be the name of a row."""
    return int(text) if abs(number) >= _EXACT and _WHOLE.match(text) else number


def number_in(text: str, decimal: str) -> float | None:
    """Return the number that a text is, in this decimal sign and with or without groups of three, or None.

    Examples
    --------
    >>> number_in("1.234,5", ","), number_in("1 234,5", ","), number_in("1e3", "."), number_in("12 m", ".")
    (1234.5, 1234.5, 1000.0, None)
    """
    text = ungrouped(text)
    if PLAIN[decimal].match(text):
        return float(text.replace(decimal, "."))
    if GROUPED[decimal].match(text):
        return float(text.replace("," if decimal == "." else ".", "").replace(decimal, "."))
    return float(text) if _INFINITE.match(text) else None


def ungrouped(text: str) -> str:
    """Return a number without spaces or apostrophes between groups of three digits; other texts as they are.

    Examples
    --------
    >>> ungrouped("12 345,5"), ungrouped("1'234.50"), ungrouped("079 123 45 67")
    ('12345,5', '1234.50', '079 123 45 67')
    """
    found = _SPACED.match(text)
    return re.sub(r"[^\d+-]", "", found[1]) + (found[2] or "") if found else text


def unmarked(text: str) -> str:
    """Return a cell without a per cent or currency sign around its number; as it is where there is none.

    Examples
    --------
    >>> unmarked(" 12,5 %"), unmarked("-$1,200.50"), unmarked("12 m")
    ('12,5', '-1,200.50', '12 m')
    """
    found = _MARK.match(text)
    return found[1] + found[2] if found and not (found[1] and found[2][0] in "+-") else text.strip()


@dataclass(frozen=True)
class Unread:
    """Cells among numbers that are no numbers: how many, where the first is, and the different texts in them."""

    count: int
    first_row: int
    texts: tuple[str, ...]


def without_limits(
    column: pd.Series, decimal: str, detected_from: float | None = None
) -> tuple[pd.Series, Array | None]:
    """Take cells such as "<0.05" and "> 100" out of a column of numbers: the limits that they lie between.

    Parameters
    ----------
    column : pandas Series
        As it was read.
    decimal : the decimal sign
    detected_from : the limit of detection, below which cells such as "n.d." lie; None if it is not known

    Returns
    -------
    column : with NaN in cells with a limit
    limits : array of shape (2, n), or None
        Above and below which numbers cells lie, NaN where a cell has no such limit. None, and the column as it is,
        where it has no limits, or holds texts besides.

    Examples
    --------
    >>> import pandas as pd
    >>> column, limits = without_limits(pd.Series([0.3, "<0.05", "> 2", "n.d."]), ".", detected_from=0.02)
    >>> column.tolist(), limits.tolist()
    ([0.3, nan, nan, nan], [[nan, nan, 2.0, nan], [nan, 0.05, nan, 0.02]])
    """
    if column.dtype != object:
        return column, None
    limits, is_limit, n_numbers = np.full((2, len(column)), np.nan), np.zeros(len(column), dtype=bool), 0
    for k, cell in enumerate(column):
        if not isinstance(cell, str):
            n_numbers += isinstance(cell, Real) and cell == cell
        elif (found := _limit_in(cell, decimal, detected_from)) is not None:
            limits[found[0], k], is_limit[k] = found[1], True
        elif number_in(unmarked(cell), decimal) is None:
            return column, None
        else:
            n_numbers += 1
    if not n_numbers or not is_limit.any():
        return column, None
    return column.mask(is_limit), limits


def _limit_in(cell: str, decimal: str, detected_from: float | None) -> tuple[int, float] | None:
    """Return 0 and the number that a cell lies above, or 1 and the one that it lies below; None if it is no limit."""
    found = _LIMIT.match(cell)
    sign, text = found.groups() if found else ("<", cell.strip())
    number = number_in(unmarked(text), decimal) if found else None
    if number is None and sign in "<≤" and text.lower() in NOT_DETECTED:
        number = detected_from
    return None if number is None else (int(sign[0] in "<≤"), number)


def floats(column: pd.Series, decimal: str = ".") -> tuple[Array | Unread | None, str]:
    """Return a column as floats, with NaN where a cell is missing, and the first cell of which a sign was dropped.

    In place of floats, None for a column of texts, and `Unread` where cells among numbers are none. The sign is one of
    per cent or money; the second is empty where there was none.
    """
    import pandas as pd

    if pd.api.types.is_datetime64_any_dtype(column):
        return None, ""
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return np.asarray(column.to_numpy(dtype=float, na_value=np.nan)), ""
    column, marked = _without_marks(column, decimal)
    numbers = column.map(lambda cell: float(cell) if isinstance(cell, Real) else np.nan, na_action="ignore")
    if not numbers.notna().any() and column.notna().any():
        return None, ""
    wrong = column.notna() & numbers.isna()
    if not wrong.any():
        return np.asarray(numbers, dtype=float), marked
    texts = tuple(dict.fromkeys(str(cell) for cell in column[wrong]))
    others = {text for text in texts if not (_LIMIT.match(text) or text.strip().lower() in NOT_DETECTED)}
    if column.isin(others).mean() > 0.5:  # names with a number among them
        return None, ""
    return Unread(int(wrong.sum()), int(np.flatnonzero(wrong)[0]), texts), ""


def _without_marks(column: pd.Series, decimal: str) -> tuple[pd.Series, str]:
    """Read texts that are a number with a sign of per cent or money as this number; return the first such text too."""
    marked: list[str] = []

    def read(cell: Any) -> Any:
        plain = unmarked(cell) if isinstance(cell, str) else ""
        number = number_in(plain, decimal) if plain and plain != cell.strip() else None
        if number is not None:
            marked.append(cell.strip())
        return cell if number is None else number

    return column.astype(object).map(read, na_action="ignore"), marked[0] if marked else ""


def unit_in(column: pd.Series, decimal: str) -> str:
    """Return what follows the number in all cells of a column of text, as kg in "3.75 kg"; empty where that differs.

    Examples
    --------
    >>> import pandas as pd
    >>> unit_in(pd.Series(["3.75 kg", None, "12kg"]), "."), unit_in(pd.Series(["3 kg", "5 g"]), ".")
    ('kg', '')
    """
    unit = ""
    for cell in column[column.notna()]:
        found = _WITH_UNIT.match(cell.strip()) if isinstance(cell, str) else None
        if found is None or number_in(found[1], decimal) is None or found[2] != (unit or found[2]):
            return ""
        unit = found[2]
    return unit


def refuse_unread(path: Path, unread: dict[str, Unread]) -> None:
    """Raise where columns of numbers hold something else: all of it in one message, with what to do."""
    if not unread:
        return
    name, found = next(iter(unread.items()))
    texts = list(dict.fromkeys(text for one in unread.values() for text in one.texts))
    count = sum(one.count for one in unread.values())
    entries = "1 entry that is not a number" if count == 1 else f"{count} entries that are not numbers"
    several = len(unread) > 1
    columns = f"columns {quoted(list(unread))} have" if several else f"column {shown(name)} has"
    listed = first_few([shown(text) for text in texts])
    options = " ".join(f"--na {shown(text)}" for text in texts[:5])
    unseen = next((text for text in texts if text.strip(" <≤").lower() in NOT_DETECTED), None)
    limits = ""
    if unseen is not None:
        limits = f" If {shown(unseen)} means below a limit of detection, say which: --limit {shown(f'{name}=0.05')}."
    elif any(_LIMIT.match(text) for text in texts):
        limits = " Limits such as '<0.05' are understood where all other entries are numbers."
    fix = "it" if count == 1 else "them"
    raise DataFileError(
        f"{path}: {columns} {entries}, first {shown(found.texts[0])} in data row {found.first_row + 1}"
        f"{f' of {shown(name)}' * several}{f' (altogether {listed})' if len(texts) > 1 else ''}. Fix {fix}, or pass "
        f"{options} if {'it means' if len(texts) == 1 else 'they mean'} missing, or "
        f"{'leave the columns out with --exclude' if several else f'--exclude {shown(name)}'}.{limits}"
    )


class TextColumn:
    """A column of a text file, put together piece by piece: numbers as floats, to the last bit of what is written.

    Parameters
    ----------
    meaning : what its cells mean; None for a column that stays as it is written: 0012 stays 0012, and NA may be a name
    """

    def __init__(self, meaning: Meaning | None) -> None:
        self._meaning = meaning
        self._pieces: list[Any] = []

    def add(self, cells: Sequence[str]) -> None:
        """Take the next cells."""
        meaning = self._meaning
        self._pieces.append([cell.strip() for cell in cells] if meaning is None else _piece(cells, meaning))

    def series(self) -> pd.Series:
        """Put all cells together: floats, with NaN where one is missing, else objects."""
        import pandas as pd

        if self._meaning is None:
            return pd.Series([cell for piece in self._pieces for cell in piece], dtype=object)
        if all(isinstance(piece, np.ndarray) for piece in self._pieces):
            return pd.Series(np.concatenate(self._pieces) if self._pieces else np.zeros(0))
        cells = words_resolved([cell for piece in self._pieces for cell in piece])
        only_numbers = all(isinstance(cell, float) for cell in cells)
        return pd.Series(cells, dtype=float if only_numbers else object)


def _piece(cells: Sequence[str], meaning: Meaning) -> Array | list[Any]:
    """Return an array where all cells are numbers or missing, else a list of what they mean."""
    numbers = _all_numbers(cells) if meaning.decimal == "." else None
    if numbers is None:
        meant = [meaning.of(cell) for cell in cells]
        if any(isinstance(cell, str) for cell in meant):
            return meant
        numbers = np.array(meant, dtype=float)
    if meaning.missing_numbers:
        numbers[np.isin(numbers, list(meaning.missing_numbers))] = np.nan
    if (np.abs(numbers) >= _EXACT).any():
        exact = zip(numbers.tolist(), cells, strict=True)
        return [with_all_digits(number, cell.strip()) for number, cell in exact]
    return numbers


def _all_numbers(cells: Sequence[str]) -> Array | None:
    """Return cells of nothing but numbers with decimal points, quickly; None where some may be something else."""
    text = "".join(cells)
    if not text.isascii() or text.encode().translate(None, b"0123456789.eE+-"):
        return None
    try:
        return np.array(list(map(float, cells)))
    except ValueError:
        return None


def as_label(cell: Any) -> str:
    """Return a cell as people write it: no ".0" after whole numbers, no midnight after days."""
    text = str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
    return text.removesuffix(" 00:00:00") if text.endswith(" 00:00:00") else text
