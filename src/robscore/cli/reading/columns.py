"""Columns of a text file, put together piece by piece: numbers as floats, to the last bit of what is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from robscore._tools.typing import Array
from robscore.cli.reading.cells import EXACT, Meaning, settled, with_all_digits

if TYPE_CHECKING:
    import pandas as pd


class TextColumn(Protocol):
    """A column of which cells come piece by piece."""

    def add(self, cells: Sequence[str]) -> None:
        """The next cells."""

    def series(self) -> pd.Series:
        """All of them."""


class AsWritten:
    """A column that stays as it is written: 0012 stays 0012, and NA may be a name."""

    def __init__(self) -> None:
        self._cells: list[str] = []

    def add(self, cells: Sequence[str]) -> None:
        """The next cells."""
        self._cells.extend(cell.strip() for cell in cells)

    def series(self) -> pd.Series:
        """All of them."""
        import pandas as pd

        return pd.Series(self._cells, dtype=object)


class Numbers:
    """A column of numbers, as far as its cells are some: floats, NaN where one is missing, else the text.

    Parameters
    ----------
    decimal : the decimal sign
    na : further texts that mean missing; a number among them means every way to write it
    """

    def __init__(self, decimal: str, na: Sequence[str]) -> None:
        self._meaning = Meaning(decimal, na)
        self._pieces: list[Any] = []

    def add(self, cells: Sequence[str]) -> None:
        """The next cells."""
        numbers = _all_numbers(cells) if self._meaning.decimal == "." else None
        if numbers is None:
            read = [self._meaning.of(cell) for cell in cells]
            numbers = None if any(isinstance(cell, str) for cell in read) else np.array(read, dtype=float)
        if numbers is None:
            self._pieces.append(read)
            return
        if self._meaning.missing_numbers:
            numbers[np.isin(numbers, list(self._meaning.missing_numbers))] = np.nan
        if (np.abs(numbers) >= EXACT).any():
            exact = zip(numbers.tolist(), cells, strict=True)
            self._pieces.append([with_all_digits(number, cell.strip()) for number, cell in exact])
        else:
            self._pieces.append(numbers)

    def series(self) -> pd.Series:
        """All of them; a column of nothing but true and false holds these."""
        import pandas as pd

        if all(isinstance(piece, np.ndarray) for piece in self._pieces):
            return pd.Series(np.concatenate(self._pieces) if self._pieces else np.zeros(0))
        cells = settled([cell for piece in self._pieces for cell in piece])
        only_numbers = all(isinstance(cell, float) for cell in cells)
        return pd.Series(cells, dtype=float if only_numbers else object)


def _all_numbers(cells: Sequence[str]) -> Array | None:
    """Cells of nothing but numbers with decimal points, quickly; None where some may be something else."""
    text = "".join(cells)
    if not text.isascii() or text.encode().translate(None, b"0123456789.eE+-"):
        return None
    try:
        return np.array(list(map(float, cells)))
    except ValueError:
        return None


def column_for(decimal: str, na: Sequence[str], *, as_written: bool) -> TextColumn:
    """An empty column."""
    return AsWritten() if as_written else Numbers(decimal, na)
