"""Numbers as users pass them: single ones checked, arrays of them read, what only looks like numbers refused.

Errors name the argument, its value and what it must be. Also how far numbers are rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any, NoReturn

import numpy as np
from scipy.sparse import issparse

from robscore._tools.messages import ArgumentError, UsageError
from robscore._tools.typing import AnyArray, AnyData, Array, IntArray

_DECIMALS = range(10)
_EXACT = 1e-12  # relative: guards rounding only, since floats do not hold decimals exactly
_TIMES = (np.datetime64, np.timedelta64)


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


def as_numbers(
    name: str, values: AnyData, *, masked_is_missing: bool = False, column: Callable[[int], str] | None = None
) -> Array:
    """An array-like argument as floats; raise, naming it, on what does not hold real numbers.

    Parameters
    ----------
    name : of the argument
    values : array-like
    masked_is_missing : bool, default False
        Masked entries become NaN; otherwise they are refused.
    column : callable, optional
        The name of a column by its position, for messages about matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore._tools.numbers import as_numbers
    >>> as_numbers("points", [[1, 2]])
    array([[1., 2.]])
    >>> as_numbers("points", np.zeros(2, dtype="datetime64[D]"))
    Traceback (most recent call last):
    ...
    robscore._tools.messages.UsageError: points holds dates or times (datetime64[D]); turn them into numbers first.
    """
    if issparse(values):
        raise TypeError(f"{name} is a sparse matrix; pass {name}.toarray().")
    array, mask = _parted(name, values)
    if array.dtype.kind in "mM":
        raise UsageError(f"{name} holds dates or times ({array.dtype}); turn them into numbers first.")
    if array.dtype.kind == "c":
        raise UsageError(
            f"Complex data not supported: {name} holds complex numbers ({array.dtype}); pass {name}.real, or real and "
            "imaginary parts as columns of their own."
        )
    if array.dtype.kind == "V":
        raise UsageError(f"{name} must be numeric; it is a structured array ({array.dtype}).")
    if mask.any() and not masked_is_missing:
        raise UsageError(f"{name} has {np.count_nonzero(mask)} masked entries; drop them, or fill them in.")
    numbers = _floats(name, array, mask, column)
    if mask.any():
        numbers = np.where(mask, np.nan, numbers)
    return numbers


def _parted(name: str, values: AnyData) -> tuple[AnyArray, AnyArray]:
    """The array and the mask of what may be a masked array, or a list of rows that are masked or have masked cells."""
    if isinstance(values, list | tuple):
        if any(isinstance(row, np.ma.MaskedArray) and row is not np.ma.masked for row in values):
            values = np.ma.array(values)
        else:
            values = _unmasked(values)
    try:
        array = np.asarray(np.ma.getdata(values) if isinstance(values, np.ma.MaskedArray) else values)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name} must be numeric, with rows of equal length; {_first_line(error)}") from None
    mask = np.ma.getmask(values)
    return array, np.zeros((), dtype=bool) if mask is np.ma.nomask else np.ma.getmaskarray(values)


def _unmasked(cells: Any) -> Any:
    """Lists with NaN in place of NumPy's masked constant."""
    if isinstance(cells, list | tuple) and any(
        cell is np.ma.masked or (isinstance(cell, list | tuple) and any(part is np.ma.masked for part in cell))
        for cell in cells
    ):
        return [np.nan if cell is np.ma.masked else _unmasked(cell) for cell in cells]
    return cells


def _floats(name: str, array: AnyArray, mask: AnyArray, column: Callable[[int], str] | None) -> Array:
    if array.dtype.kind == "O":
        if mask.any():
            array = np.where(mask, np.nan, array)
        for place, cell in np.ndenumerate(array):
            if isinstance(cell, _TIMES):
                _refuse(name, place, cell, "is a date or a time", column)
    try:
        with np.errstate(over="ignore"):  # of long doubles: infinite, which readers report
            return np.asarray(array, dtype=float)
    except (TypeError, ValueError, OverflowError):
        for place, entry in np.ndenumerate(array):
            cell = entry.item() if isinstance(entry, np.str_) else entry
            try:
                float(cell)
            except TypeError as error:  # as scikit-learn does for what is not a number at all
                _refuse(name, place, cell, f"is not a number ({_first_line(error)})", column, TypeError)
            except (ValueError, OverflowError) as error:
                _refuse(name, place, cell, f"is not a number ({_first_line(error)})", column)
        raise UsageError(f"{name} must be numeric; it is of type {array.dtype}.") from None


def _refuse(
    name: str,
    place: tuple[int, ...],
    cell: object,
    problem: str,
    column: Callable[[int], str] | None,
    kind: type[Exception] = UsageError,
) -> NoReturn:
    """Raise for one entry, by its column and row where these have names."""
    shown = repr(cell)
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    if not place:
        raise kind(f"{name} must be numeric; {shown} {problem}.")
    where = f"entry {', '.join(map(str, place))}"
    if column is not None and len(place) == 2:
        where = f"column {column(place[1])!r} in row {place[0]}"
    raise kind(f"{name} must be numeric; {where} holds {shown}, which {problem}.")


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:200]


def last_digit(values: Array) -> float:
    """Return the unit of the last digit that any value is written with: 0.01 for two decimals, 0 for unrounded values.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore._tools.numbers import last_digit
    >>> last_digit(np.array([1.5, 2.25])), last_digit(np.array([3.0, 40.0])), last_digit(np.sqrt([2.0, 3.0]))
    (0.01, 1.0, 0.0)
    """
    rounded = (n for n in _DECIMALS if (np.abs(values - np.round(values, n)) <= _EXACT * np.abs(values)).all())
    decimals = next(rounded, None)
    return 0.0 if decimals is None else 10.0**-decimals


def roundest(least: float, most: float) -> float:
    """Return the number between two with the fewest digits.

    Examples
    --------
    >>> roundest(99.98, 100.015), roundest(0.3936, 0.3938), roundest(-0.1, 0.3)
    (100.0, 0.3937, 0.0)
    """
    middle = (least + most) / 2
    rounded = (round(middle, digits) + 0.0 for digits in range(-12, 13))
    return next((number for number in rounded if least <= number <= most), middle)


def evenly_spread(positions: IntArray, most: int, frequency: Array | None = None) -> IntArray:
    """At most so many of some positions, evenly spread over all of them, each repeated by its frequency if it has one.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore._tools.numbers import evenly_spread
    >>> evenly_spread(np.arange(3), 9, np.array([1.0, 3.0, 2.0]))
    array([0, 1, 1, 1, 2, 2])
    """
    if frequency is not None and positions.size:
        reached = repetitions(frequency)
        spread = np.linspace(0, reached[-1] - 1, min(most, reached[-1])).astype(np.intp)
        return positions[np.searchsorted(reached, spread, side="right")]
    if positions.size <= most:
        return positions
    return positions[np.linspace(0, positions.size - 1, most).astype(np.intp)]


def repetitions(frequency: Array) -> IntArray:
    """How many rows there are up to each, shape (n,), if all are repeated by their frequency.

    Whole frequencies are met exactly. Where they are so small that rows would be lost, all are stretched.
    """
    total = max(float(frequency.sum()), float(frequency.size))
    return np.floor(np.cumsum(frequency) * (total / frequency.sum()) + 0.5).astype(np.int64)


def whole_counts(sums: Array) -> IntArray:
    """Round sums of frequencies to whole numbers of rows, but nothing above zero to none."""
    return np.where(sums > 0, np.maximum(np.rint(sums), 1), 0).astype(np.int64)


def finite_or_none(value: Any) -> float | None:
    """A number to the last bit; None for infinity and NaN, which JSON does not have."""
    return float(value) if math.isfinite(value) else None
