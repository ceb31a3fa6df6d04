"""How far numbers were rounded before they were written."""

from __future__ import annotations

import numpy as np

from robscore._tools.typing import Array

_DECIMALS = range(10)
_EXACT = 1e-12  # relative: what floats leave of decimals


def last_digit(values: Array) -> float:
    """One of the last digit that is written of any value, 0.01 with two decimals; 0 where they are not rounded.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore._tools.rounding import last_digit
    >>> last_digit(np.array([1.5, 2.25])), last_digit(np.array([3.0, 40.0])), last_digit(np.sqrt([2.0, 3.0]))
    (0.01, 1.0, 0.0)
    """
    rounded = (n for n in _DECIMALS if (np.abs(values - np.round(values, n)) <= _EXACT * np.abs(values)).all())
    decimals = next(rounded, None)
    return 0.0 if decimals is None else 10.0**-decimals


def roundest(least: float, most: float) -> float:
    """The number between two with the fewest digits.

    Examples
    --------
    >>> roundest(99.98, 100.015), roundest(0.3936, 0.3938), roundest(-0.1, 0.3)
    (100.0, 0.3937, 0.0)
    """
    middle = (least + most) / 2
    rounded = (round(middle, digits) + 0.0 for digits in range(-12, 13))
    return next((number for number in rounded if least <= number <= most), middle)
