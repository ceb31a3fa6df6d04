"""Whether any row can overflow: a bound of all squared norms, at a fraction of their cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robscore._tools.typing import Array

if TYPE_CHECKING:
    from robscore.elements.power import PowerRows


def largest_norm(rows: PowerRows) -> float:
    """What no |Gamma(x)|^2 or |g(x)|^2 of a power family exceeds: every array as large everywhere as anywhere.

    NaN where an array has one.
    """
    sizes = {id(array): _largest(array) for array in rows}
    u, A, B, C, alpha, beta, gamma, c = (sizes[id(array)] ** 2 for array in rows)
    m, k = rows.u.shape[1], 1.0 + c * rows.c.shape[1]
    s = m * u
    of_gamma = m * (s**2 * A + 2 * s * k * B + k**2 * C)
    return of_gamma + s * m * alpha + m * (alpha * u + 2 * beta + k * gamma)


def _largest(array: Array) -> float:
    """The largest size of an entry; NaN if there is one, infinite where its square would be."""
    largest = float(max(array.max(initial=0.0), -array.min(initial=0.0)))
    return float("inf") if largest > 1e150 else largest
