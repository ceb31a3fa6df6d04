"""How often every row counts: sample weights, read and checked."""

from __future__ import annotations

import numpy as np

from robscore._tools.messages import UsageError
from robscore._tools.numbers import as_numbers
from robscore._tools.typing import AnyData, Array, BoolArray
from robscore.rows.base import Rows


def read_frequency(sample_weight: AnyData, n_rows: int) -> Array:
    """Sample weights as numbers, shape (n,); raise, saying what they must be, where they are something else.

    Examples
    --------
    >>> from robscore.rows.frequency import read_frequency
    >>> read_frequency([1, 2, 0], 3)
    array([1., 2., 0.])
    """
    often = as_numbers("sample_weight", sample_weight)
    if often.ndim != 1:
        raise UsageError(f"Sample weights must be 1D: sample_weight has {often.ndim} dimensions; give one per row.")
    if often.size != n_rows:
        raise UsageError(f"sample_weight has {often.size} entries and X has {n_rows} rows; give one per row.")
    wrong = np.flatnonzero(~(np.isfinite(often) & (often >= 0)))
    if wrong.size:
        raise UsageError(
            f"sample_weight[{wrong[0]}]={often[wrong[0]]:g} must be a finite number of at least 0: it is how many "
            "times the row counts."
        )
    if not often.any():
        raise UsageError("All entries of sample_weight are zero, so no sample is left; give some rows a weight.")
    return often


def with_frequency(rows: Rows, sample_weight: AnyData) -> tuple[Rows, BoolArray]:
    """The rows with positive weight, with their frequency; and which these are, shape (n,)."""
    often = read_frequency(sample_weight, rows.n_rows)
    there = often > 0
    often = often[there]
    return rows.selected(np.flatnonzero(there)).counted(None if (often == 1).all() else often), there


def check_total(frequency: Array | None) -> None:
    """Raise if the weights sum to less than two, as normalised weights do."""
    if frequency is not None and frequency.sum() < 2:
        raise UsageError(
            f"sample_weight sums to {frequency.sum():.3g}: weights count rows, so their sum is the number of rows, at "
            "least 2. Multiply them, for example by the number of rows."
        )
