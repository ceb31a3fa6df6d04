"""Parts of a whole: rows that sum to the same number, exactly or up to the rounding of their cells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from robscore._tools.rounding import last_digit, roundest
from robscore._tools.typing import Array
from robscore.rows.base import Rows

_SUM = 1e-6  # relative: how far sums of rows may be from constant where cells are not rounded
_EXACT = 1e-12  # relative: what floats leave of sums
_MOST = 1e-3  # relative: how far rounding may take them
_CLEARLY = 10  # times as much as rounding moves the sums: how far two columns at least must vary


@dataclass(frozen=True)
class Whole:
    """What every row sums to.

    Attributes
    ----------
    total : float
    slack : float
        How far the sum of a row may be from it.
    is_rounded : bool
        Whether the sums differ as far as the rounding of the cells goes.
    """

    total: float
    slack: float
    is_rounded: bool = False

    @classmethod
    def of(cls, low: float, high: float, sample: Array) -> Whole | None:
        """From the least and the largest sum of all rows, and some of the rows; None where sums are not constant."""
        if high - low <= _SUM * high:
            return cls((low + high) / 2, 10 * _SUM * high)
        if high - low > 2 * _MOST * high:
            return None
        slack = min(last_digit(sample) * sample.shape[1] / 2, _MOST * high) + _EXACT * high
        second = np.sort(np.ptp(sample, axis=0))[-2]
        if high - low > 2 * slack or second < _CLEARLY * slack:
            return None
        return cls(roundest(high - slack, low + slack), slack, is_rounded=True)

    @property
    def is_one(self) -> bool:
        """Whether rows sum to one as they are."""
        return not self.is_rounded and abs(self.total - 1) < 1e-9

    @property
    def describe(self) -> str:
        """What rows sum to, and what is done about it."""
        if self.is_rounded:
            return f"{self.total:.6g} up to rounding, divided by their sums"
        return f"{self.total:.6g}" if self.is_one else f"{self.total:.6g}, divided by it"

    def closed(self, rows: Rows) -> Rows:
        """Rows that sum to one."""
        return rows.mapped(partial(_divided, self))


def _divided(whole: Whole, X: Array) -> Array:
    """Over their own sums, so that rounding does not add up; rows that sum to something else stay in proportion."""
    sums = X.sum(axis=1, keepdims=True)
    ours = np.abs(sums - whole.total) <= whole.slack
    return np.where(ours, X / np.where(ours, sums, 1.0), X / whole.total)
