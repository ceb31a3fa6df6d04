"""How long normal vectors are: quantiles of a quadratic form, computed and not drawn.

With w normal of mean mu and covariance C = V diag(l) V', the square of its length is Q = sum l_i (g_i + b_i)^2, where
g is standard normal and b = diag(l)^-1/2 V' mu. Its characteristic function is

    phi(u) = prod (1 - 2 i l_k u)^-1/2 exp(i l_k b_k^2 u / (1 - 2 i l_k u))

and (Davies, 1973), with a step d so small that Q hardly ever exceeds 2 pi / d,

    P(Q < x) = 1/2 - sum_k Im[phi(u_k) exp(-i u_k x)] / (pi (k + 1/2)),      u_k = (k + 1/2) d.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtri

from robscore._tools.typing import AnyArray, Array

_KNOTS, _MOST_TERMS = 400, 4000
_NEGLIGIBLE = 1e-6  # phi beyond the last term
_SURE = 1e-5  # probabilities closer than that to 0 or 1 are not interpolated
_BLOCK = 500  # terms at a time


def quantiles_of_length(mean: Array, covariance: Array, count: int) -> Array | None:
    """So many evenly spread quantiles of the length of normal vectors, ascending, shape (count,).

    None where too many terms would be needed, as for two or three columns: few columns are drawn accurately.

    Parameters
    ----------
    mean : array of shape (m,)
    covariance : array of shape (m, m)
    count : int

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import chi
    >>> lengths = quantiles_of_length(np.zeros(8), np.eye(8), 999)
    >>> bool(np.allclose(lengths, chi(8).ppf((np.arange(999) + 0.5) / 999), rtol=1e-4))
    True
    """
    spread, directions = np.linalg.eigh(covariance)
    keep = spread > 1e-12 * spread[-1]
    spread, shift = spread[keep], (directions.T @ mean)[keep] ** 2 / spread[keep]
    average, variance = float(spread @ (1 + shift)), float(2 * spread**2 @ (1 + 2 * shift))
    largest = average + 6 * np.sqrt(variance) + 30 * spread[-1]
    terms = _terms(spread, shift, step=np.pi / largest)
    if terms is None:
        return None
    u, weights = terms
    x = np.linspace((largest / _KNOTS) ** (1 / 3), largest ** (1 / 3), _KNOTS) ** 3
    below = np.full(_KNOTS, 0.5)
    for first in range(0, u.size, _BLOCK):
        some = slice(first, first + _BLOCK)
        below -= (np.exp(np.multiply.outer(x, -1j * u[some])) @ weights[some]).imag
    below = np.maximum.accumulate(below)
    inside = (below > _SURE) & (below < 1 - _SURE)
    inside[1:] &= np.diff(below) > 0
    if np.count_nonzero(inside) < 10:
        return None
    between = PchipInterpolator(ndtri(below[inside]), np.cbrt(x[inside]), extrapolate=True)
    wanted = ndtri((np.arange(count) + 0.5) / count)
    return np.asarray(np.sqrt(np.maximum(between(wanted), 0.0) ** 3))


def _terms(spread: Array, shift: Array, step: float) -> tuple[Array, AnyArray] | None:
    """Where phi is taken, and phi over pi (k + 1/2), complex, both of shape (k,), as far as it is not negligible."""
    pieces: list[AnyArray] = []
    for first in range(0, _MOST_TERMS, _BLOCK):  # the absolute value of phi falls
        u = (np.arange(first, first + _BLOCK) + 0.5) * step
        log_phi = np.zeros(_BLOCK, dtype=complex)
        for one, away in zip(spread, shift, strict=True):
            factor = 1 - 2j * one * u
            log_phi += 1j * one * away * u / factor - 0.5 * np.log(factor)
        pieces.append(np.exp(log_phi))
        if abs(pieces[-1][-1]) <= _NEGLIGIBLE:
            break
    else:
        return None
    phi = np.concatenate(pieces)
    halves = np.arange(int(np.argmax(np.abs(phi) <= _NEGLIGIBLE)) + 1) + 0.5
    return np.asarray(halves * step, dtype=np.float64), phi[: halves.size] / (np.pi * halves)
