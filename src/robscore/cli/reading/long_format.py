"""Tables with one value per line, and the variable that it belongs to in a column beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from robscore._tools.messages import shown
from robscore.cli.reading.result import DataFileError
from robscore.cli.reading.table import Table

if TYPE_CHECKING:
    import pandas as pd

_MOST_COLUMNS = 4
_FEWEST_LINES = 6
_NEARLY_ALL = 1.5  # times the lines: as many cells a whole table of that shape would have at most


def refuse_long(path: Path, table: Table, numbers: list[int], text: list[int]) -> None:
    """Raise, saying how to reshape it, where a table is in long format.

    One column of text (the variable) repeats, so does another (the row), no pair of both comes twice, nearly all pairs
    are there, and one column of numbers is left.
    """
    n = len(table.columns[0])
    if not 3 <= len(table.columns) <= _MOST_COLUMNS or n < _FEWEST_LINES or table.index:
        return
    for variable in text:
        kinds = table.columns[variable].nunique()
        for row in [k for k in range(len(table.columns)) if k != variable]:
            values = [k for k in numbers if k not in (row, variable)]
            rows = table.columns[row].nunique()
            balanced = 2 <= kinds <= n // 2 and 2 <= rows <= n // 2 and rows * kinds <= _NEARLY_ALL * n
            if len(values) != 1 or not balanced:
                continue
            if _twice(table.columns[row], table.columns[variable]):
                continue
            named = [table.names[k] for k in (row, variable, values[0])]
            raise DataFileError(
                f"{path} has one value per line: {shown(named[2])} of the variable in {shown(named[1])}, for each "
                f"{shown(named[0])}. A graph needs a column per variable; reshape it, in Python with "
                f"frame.pivot(index={named[0]!r}, columns={named[1]!r}, values={named[2]!r}).to_csv('wide.csv')."
            )


def _twice(first: pd.Series, second: pd.Series) -> bool:
    """Whether a pair of entries comes more than once."""
    import pandas as pd

    return bool(pd.DataFrame({"first": first.astype(str), "second": second.astype(str)}).duplicated().any())
