"""Latent normal numbers drawn within intervals, given the rest of their row: compiled Gibbs sweeps.

Given the others, z_j is normal with mean_j = z_j + (eta_j - (K z)_j) / K_jj and deviation s_j = K_jj^-1/2, cut to its
interval [l, u]. With a uniform number U,

    z_j = mean_j + s_j Phi^-1( Phi(a) + U (Phi(b) - Phi(a)) ),     a = (l - mean_j) / s_j,   b = (u - mean_j) / s_j

so a draw is a continuous function of the bounds, of K and of the other cells. Beyond the mean both ends change sign, so
that small probabilities keep their digits.
"""

from __future__ import annotations

from math import erfc, inf, log, sqrt

import numpy as np

from robscore._tools.compiling import compiled
from robscore._tools.typing import Array, BoolArray

_ROOT2 = sqrt(2.0)
_ROWS = 64  # at a time: a column of them stays in the nearest cache; decides nothing
_LEAST = 1e-300  # probabilities below it have no quantile that matters: the cell lies at the end of its interval


@compiled
def _ratio(
    t: float,
    n0: float, n1: float, n2: float, n3: float, n4: float, n5: float, n6: float, n7: float,
    d1: float, d2: float, d3: float, d4: float, d5: float, d6: float, d7: float,
) -> float:  # fmt: skip
    """A ratio of two polynomials of degree 7."""
    above = ((((((n7 * t + n6) * t + n5) * t + n4) * t + n3) * t + n2) * t + n1) * t + n0
    return above / (((((((d7 * t + d6) * t + d5) * t + d4) * t + d3) * t + d2) * t + d1) * t + 1.0)


@compiled
def normal_quantile(p: float) -> float:
    """Phi^-1(p) to 16 digits, by the rational approximations of Wichura (1988, algorithm AS 241)."""
    q = p - 0.5
    if abs(q) <= 0.425:
        return q * _ratio(
            0.180625 - q * q,
            3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125,
            45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727,
            42.313330701600911252, 687.18700749205790830, 5394.1960214247511077, 21213.794301586595867,
            39307.895800092710610, 28729.085735721942674, 5226.4952788528545610,
        )  # fmt: skip
    tail = min(p, 1.0 - p)
    if tail <= 0.0:
        return -inf if q < 0.0 else inf
    r = sqrt(-log(tail))
    if r <= 5.0:
        found = _ratio(
            r - 1.6,
            1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504,
            1.27045825245236838258, 0.241780725177450611770, 0.0227238449892691845833, 7.74545014278341407640e-4,
            2.05319162663775882187, 1.67638483018380384940, 0.689767334985100004550, 0.148103976427480074590,
            0.0151986665636164571966, 5.47593808499534494600e-4, 1.05075007164441684324e-9,
        )  # fmt: skip
    else:
        found = _ratio(
            r - 5.0,
            6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580, 0.296560571828504891230,
            0.0265321895265761230930, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7,
            0.599832206555887937690, 0.136929880922735805310, 0.0148753612908506148525, 7.86869131145613259100e-4,
            1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15,
        )  # fmt: skip
    return -found if q < 0.0 else found


@compiled
def within(a: float, b: float, u: float) -> float:
    """The quantile at u of a standard normal number between a and b."""
    flipped = a > 0.0
    if flipped:
        a, b, u = -b, -a, 1.0 - u
    low, high = 0.5 * erfc(-a / _ROOT2), 0.5 * erfc(-b / _ROOT2)
    z = b if high <= _LEAST else min(max(normal_quantile(low + u * (high - low)), a), b)
    return -z if flipped else z


@compiled
def sweep(
    Z: Array, drawn: BoolArray, lower: Array, upper: Array, pulls: Array, mean: Array, size: Array, uniforms: Array
) -> None:
    """Draw the marked cells of columns Z, shape (m, n), in place, as often as ``uniforms``, (sweeps, m, n), has.

    Cell j of a row is normal with mean  mean_j + sum_k pulls_jk z_k  and deviation 1 / size_j. Rows are taken a few at
    a time: the sums run along rows side by side, and one draw does not wait for the one before.
    """
    m, n = Z.shape
    centre = np.empty(_ROWS)
    for first in range(0, n, _ROWS):
        count = min(_ROWS, n - first)
        for step in range(uniforms.shape[0]):
            for j in range(m):
                if not drawn[j, first : first + count].any():
                    continue
                for i in range(count):
                    centre[i] = mean[j, first + i]
                for k in range(m):
                    pull = pulls[j, k]
                    if pull != 0.0:
                        for i in range(count):
                            centre[i] += pull * Z[k, first + i]
                for i in range(count):
                    at = first + i
                    if drawn[j, at]:
                        a, b = (lower[j, at] - centre[i]) * size[j], (upper[j, at] - centre[i]) * size[j]
                        z = centre[i] + within(a, b, uniforms[step, j, at]) / size[j]
                        Z[j, at] = min(max(z, lower[j, at]), upper[j, at])


def drawn_within(
    Z: Array, drawn: BoolArray, bounds: tuple[Array, Array], K: Array, eta: Array, uniforms: Array
) -> Array:
    """The columns Z, shape (m, n), with the marked cells drawn anew within their bounds.

    Parameters
    ----------
    Z : array of shape (m, n)
        One column of the table after the other.
    drawn : boolean array of shape (m, n)
    bounds : two arrays of shape (m, n)
    K : array of shape (m, m), positive definite
    eta : array of shape (m, n)
    uniforms : array of shape (sweeps, m, n)

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.cells.interval_draws import drawn_within
    >>> n, rng = 4000, np.random.default_rng(0)
    >>> bounds = np.array([np.zeros(n), np.full(n, -np.inf)]), np.full((2, n), np.inf)
    >>> K = np.linalg.inv([[1.0, 0.8], [0.8, 1.0]])
    >>> Z = drawn_within(np.ones((2, n)), np.ones((2, n), bool), bounds, K, np.zeros((2, n)), rng.random((20, 2, n)))
    >>> bool(Z[0].min() > 0), Z.mean(axis=1).round(1).tolist()
    (True, [0.8, 0.6])
    """
    found, own = np.array(Z, order="C"), K.diagonal()[:, None]
    pulls = -K / own
    np.fill_diagonal(pulls, 0.0)
    lower, upper, mean = (np.ascontiguousarray(array) for array in (*bounds, eta / own))
    with np.errstate(all="ignore"):
        sweep(found, np.ascontiguousarray(drawn), lower, upper, pulls, mean, np.sqrt(K.diagonal()), uniforms)
    return found
