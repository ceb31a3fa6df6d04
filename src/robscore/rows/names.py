"""Names of columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from robscore._tools.messages import quoted


def check_names(given: Sequence[object]) -> list[str]:
    """Names of columns as strings; raise unless they tell columns apart."""
    names = [str(name) for name in given]
    check_unique("Column names", names)
    if len({isinstance(name, str) for name in given}) > 1:
        raise ValueError(
            "Some column names are strings and some are not; make all of them strings, in pandas by X.columns = "
            "X.columns.astype(str)."
        )
    return names


def check_unique(what: str, names: Sequence[str]) -> None:
    """Raise, naming them, where names occur more than once."""
    if twice := repeated(names):
        verb = "occurs" if len(twice) == 1 else "occur"
        raise ValueError(f"{what} must be unique, but {quoted(twice)} {verb} more than once; rename or drop some.")


def repeated(names: Sequence[str]) -> list[str]:
    """Names that occur more than once, in order."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def default_names(n_columns: int) -> list[str]:
    """x0, x1, ... as scikit-learn names the columns of an array."""
    return [f"x{j}" for j in range(n_columns)]
