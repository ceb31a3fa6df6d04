"""Checks of single arguments; their errors name the argument, its value and what it must be."""

from __future__ import annotations

from numbers import Real

import numpy as np

from robscore._tools.messages import ArgumentError


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
