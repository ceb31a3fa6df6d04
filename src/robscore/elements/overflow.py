"""Whether any row can overflow: a bound of all squared norms, at a fraction of their cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robscore._tools.typing import Array

if TYPE_CHECKING:
    from robscore.elements.power import PowerRows


def largest_norm(rows: PowerRows) -> float:
    """What no |Gamma(x)|^2 or |g(x)|^2 of a power family exceeds: sums over all rows in place of those over one.

    NaN where an array has one, or where it overflows itself.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        sums = {id(array): _sum_of_squares(array) for array in rows}
        u, A, B, C, alpha, beta, gamma, c = (sums[id(array)] for array in rows)
        m, k = rows.u.shape[1], 1.0 + c
        of_gamma = m * (u**2 * A + 2 * u * k * B + k**2 * C)
        return float(of_gamma + 2 * u * alpha + 2 * beta + k * gamma)


def _sum_of_squares(array: Array) -> np.float64:
    flat = array.ravel(order="K")
    return np.float64(flat @ flat)
