"""Names of columns."""

from __future__ import annotations

from collections.abc import Sequence


def check_names(given: Sequence[object]) -> list[str]:
    """Names of columns as strings; raise unless they tell columns apart."""
    names = [str(name) for name in given]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"Column names must be unique, but {', '.join(map(repr, repeated[:5]))} occur more than once.")
    if len({isinstance(name, str) for name in given}) > 1:
        raise ValueError("Some column names are strings and some are not; make all of them strings.")
    return names


def default_names(n_columns: int) -> list[str]:
    """x0, x1, ... as scikit-learn names the columns of an array."""
    return [f"x{j}" for j in range(n_columns)]
