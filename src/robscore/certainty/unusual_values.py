"""What makes a row stand out, in the units of the data: "pH 72.1, usually 6.9 to 8.0"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robscore._tools.messages import clipped
from robscore._tools.numbers import evenly_spread, last_digit
from robscore._tools.typing import Array, IntArray
from robscore.fitting.fit_result import Fit
from robscore.rows.row_source import some_of

Called = Callable[[str, float, int], str]  # a column's name, a value of it, and with how many decimals to write it

_MOST_ROWS = 20_000  # that usual values are taken from: it saves time
_USUAL = (0.025, 0.975)  # quantiles between which values are usual
_MOST_DECIMALS = 6
_ROUNDING = 1e-12  # relative: a value that was scaled and scaled back differs by so much


def in_numbers(name: str, value: float, decimals: int) -> str:
    """Write a value of any column as a number."""
    return f"{value:.{decimals}f}" if decimals <= _MOST_DECIMALS and abs(value) < 1e7 else f"{value:.3g}"


@dataclass(frozen=True)
class UsualValues:
    """Between which values 95 % of the rows that count lie, column by column.

    Attributes
    ----------
    names : list of str
    low, high : arrays of shape (m,)
    digits : list with as many decimals as a value of every column has at the most
    called : Called
    """

    names: list[str]
    low: Array
    high: Array
    digits: list[int]
    called: Called

    @classmethod
    def of(cls, fit: Fit, called: Called) -> UsualValues:
        """Take them from the rows that count in a fit."""
        counted = np.flatnonzero(fit.weights.gamma_weights)
        some = evenly_spread(counted, _MOST_ROWS, some_of(fit.prepared.rows.frequency, counted))
        values = values_of(fit, some)
        low, high = np.nanquantile(values, _USUAL, axis=0)
        units = (last_digit(column[~np.isnan(column)]) for column in values.T)
        digits = [round(-np.log10(unit)) if unit else _MOST_DECIMALS for unit in units]
        return cls(fit.names, np.asarray(low), np.asarray(high), digits, called)

    def describe(self, j: int, value: float, *, is_high: bool) -> str:
        """A value of column j that makes its row stand out, with what is usual, in the column or given the others.

        Examples
        --------
        >>> import numpy as np
        >>> from robscore.certainty.unusual_values import UsualValues, in_numbers
        >>> usual = UsualValues(["pH"], np.array([6.9]), np.array([8.0]), [1], in_numbers)
        >>> usual.describe(0, 72.1, is_high=True), usual.describe(0, 7.8, is_high=True)
        ('pH 72.1, usually 6.9 to 8.0', 'pH 7.8, high given the others')
        """
        decimals = min(_decimals(self.high[j] - self.low[j]), self.digits[j])
        name = self.names[j]
        own, low, high = (self.called(name, float(number), decimals) for number in (value, self.low[j], self.high[j]))
        beyond = value > self.high[j] if is_high else value < self.low[j]
        if not beyond or own == (high if is_high else low):
            return f"{clipped(name)} {own}, {'high' if is_high else 'low'} given the others"
        return f"{clipped(name)} {own}, usually {low if low == high else f'{low} to {high}'}"


def _decimals(width: float) -> int:
    """As many decimals as give a range two digits."""
    return max(0, 1 - int(np.floor(np.log10(width)))) if width > 0 else _MOST_DECIMALS + 1


def values_of(fit: Fit, which: IntArray) -> Array:
    """Values of some rows of a fit as they were given, shape (k, m); NaN where cells were missing."""
    prepared = fit.prepared
    if prepared.filling is not None:
        return np.asarray(prepared.filling.given[which])
    rows, scaling = prepared.rows.take(which), prepared.preparation.scaling
    if scaling is not None:
        rows = scaling.undo(rows)
        rows[np.abs(rows) < _ROUNDING * scaling.scale] = 0.0
    return rows[:, : len(fit.names)]
