"""Checks of arguments, with errors in words."""

from __future__ import annotations

import re
from numbers import Real

import numpy as np

from robscore._tools.errors import ArgumentError


def check_whole(name: str, value: object, *, at_least: int) -> None:
    """Raise, naming the argument, unless the value is a whole number of at least ``at_least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
        raise ArgumentError(name, value, f"must be a whole number of at least {at_least}.")


def check_number(name: str, value: object, *, at_least: float = -np.inf, finite: bool = True) -> None:
    """Raise unless an argument is a real number within its bounds."""
    number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if not number or not float(value) >= at_least or (finite and not np.isfinite(float(value))):  # type: ignore[arg-type]
        bound = f" of at least {at_least:g}" if at_least > -np.inf else ""
        raise ArgumentError(name, value, f"must be a {'finite ' if finite else ''}number{bound}.")


_UNITS = {"": 0, "B": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def read_bytes(name: str, value: object) -> float:
    """A memory size, in bytes or in words such as "500 MB"; raise, naming the argument, on anything else.

    Examples
    --------
    >>> from robscore._tools.arguments import read_bytes
    >>> read_bytes("max_memory", "1.5 GB"), read_bytes("max_memory", "2 GiB")
    (1500000000.0, 2147483648.0)
    """
    size = float(value) if isinstance(value, Real) and not isinstance(value, bool) else np.nan
    if isinstance(value, str):
        words = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*([BKMGT]?)(i?)B?\s*", value, flags=re.IGNORECASE)
        try:
            number, unit, binary = words.groups() if words else ("", "", "")
            size = float(number) * (1024.0 if binary else 1000.0) ** _UNITS[unit.upper()]
        except ValueError:
            size = np.nan
    if not np.isfinite(size):
        raise ArgumentError(name, value, "is not a size: give a number of bytes, or words such as '500 MB' or '2 GB'.")
    if size < 1e6:
        raise ArgumentError(name, value, "is too little; at least 1 MB is needed.")
    return size


def describe(size: float) -> str:
    """A number of bytes in MB or GB."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
