"""Where every entry of a row lies within what the model says of it given the rest: uniform if the model is right.

    F(x_j | the others) = integral up to x_j of exp(log p(x_j, the others)) over the same up to infinity

by the trapezoid rule, on the orthant in log x_j, where a density may be infinite at zero.
"""

from __future__ import annotations

import numpy as np

from robscore._tools.errors import UsageError
from robscore._tools.typing import Array, IntArray
from robscore._tools.words import Setting
from robscore.certainty.check_fit import rows_to_check
from robscore.fitting.fit import Fit
from robscore.weighting.simulation import proper

_POINTS = 400
_MOST_ROWS = 1000
_BEYOND = (1e-4, 20.0)  # of the smallest and the largest value: what the integral includes


def conditional_ranks(fit: Fit, columns: IntArray) -> Array:
    """F(x_j | the others) of rows that count, at most 1000, and some columns, shape (n, k)."""
    family = fit.prepared.preparation.scaled_family
    if (
        family.n_given
        or not family.is_pairwise
        or not (family.domain.only_boundary_is_zero or family.domain.is_real_line)
    ):
        raise UsageError(
            f"{fit.prepared.preparation.family!r} is not looked at column by column: that is for families on [0, inf) "
            "or the real line without covariates; choose one by ",
            Setting("family"),
            ".",
        )
    X = fit.prepared.rows.take(rows_to_check(fit, _MOST_ROWS))
    parameters = proper(family, fit.loss, fit.unshrunk)
    found = np.empty((len(X), columns.size))
    for k, j in enumerate(columns.tolist()):
        values, steps = _grid(X[:, j], on_line=family.domain.is_real_line)
        with np.errstate(all="ignore"):
            log_density = family.conditional(X, j, *parameters)
            heights = np.stack([log_density(np.full(len(X), value)) for value in values], axis=1) + steps
        heights = np.exp(heights - np.nanmax(heights, axis=1, keepdims=True))
        heights = np.nan_to_num(heights)
        width = np.diff(values if family.domain.is_real_line else np.log(values))
        areas = np.cumsum((heights[:, 1:] + heights[:, :-1]) / 2 * width, axis=1)
        areas = np.concatenate([np.zeros((len(X), 1)), areas], axis=1) / areas[:, -1:]
        found[:, k] = [np.interp(x, values, area) for x, area in zip(X[:, j], areas, strict=True)]
    return found


def _grid(column: Array, *, on_line: bool) -> tuple[Array, Array]:
    """Values from end to end, and the log of what makes a step of the grid a step of the column."""
    if on_line:
        reach = 2 * float(np.ptp(column))
        values = np.linspace(column.min() - reach, column.max() + reach, 3 * _POINTS)
        return values, np.zeros(values.size)
    least = float(column[column > 0].min(initial=1.0))
    values = np.geomspace(_BEYOND[0] * least, _BEYOND[1] * float(column.max()), _POINTS)
    return values, np.log(values)
