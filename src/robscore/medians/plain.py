"""Weiszfeld's bare iteration for easy clouds, and a certificate that its answer is the median.

    m <- m + omega sum_k p_k e_k / S,    e_k = (mu_k - m) / d_k,    d_k = |mu_k - m|,    S = sum_k p_k / d_k

The Hessian of sum_k p_k |m - mu_k| is H = sum_k a_k (I - e_k e_k') with a_k = p_k / d_k. Two points with the angle t
between e_k and e_l give it at least (a_k + a_l - sqrt((a_k - a_l)^2 + 4 a_k a_l cos^2 t)) / 2 in every direction, so
the sum of that over disjoint pairs is a lower bound c of its least eigenvalue. Where no point is near, the median lies
within |sum_k p_k e_k| / c of m, up to a factor near one. Both come from one pass over the points. A point that the
iteration comes near to is tested itself.

Where directions are spread evenly, H = S (1 - 1/p) I: hence omega = p / (p - 1), which lies between 1 and 2, where the
objective never rises (Ostresh 1978).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robscore._tools.memory import chunks, rows_within
from robscore._tools.typing import Array

_AT_A_TIME = 256e3  # bytes: differences stay in the processor's cache
_MAX_STEPS = 60
_LEAST_CURVATURE = 0.02  # c / S below which points are too near a line for short steps to mean much
_NEAR = 1e-3  # of the mean distance: a point so near may be the median itself
_SAMPLE = 25  # points whose column medians are the start


class PlainMedian(NamedTuple):
    """The median of points: m itself, its weights, and how many steps it took."""

    median: Array
    weights: Array
    n_iter: int


class _Pass(NamedTuple):
    """What one pass over the points says of an iterate.

    ``distances`` d of shape (K,), ``pull`` sum_k p_k e_k of shape (p,), ``curvature`` a lower bound of H.
    """

    distances: Array
    pull: Array
    curvature: float


def certified_median(points: Array, p: Array, *, tol: float) -> PlainMedian | None:
    """The geometric median where the bare iteration finds it and can prove it; else None, whatever the reason.

    Parameters
    ----------
    points : array of shape (K, p), finite
    p : array of shape (K,)
        Positive multiplicities, at most 1.
    tol : float
        Distance from the median that is allowed, relative to the harmonic mean distance to the points.
    """
    size, dimension = points.shape
    if size < 3 or dimension < 2:
        return None
    with np.errstate(all="ignore"):  # what overflows is not finite, and left to others
        centre = sample_centre(points)
        return _iterate(points, centre, p, dimension / (dimension - 1), tol)


def sample_centre(points: Array) -> Array:
    """Column medians of some of the points, shape (p,); they may all be bad, so see :func:`is_central`."""
    return np.median(points[:: -(-len(points) // _SAMPLE)], axis=0)


def is_central(centre: Array, median: Array, distance: float) -> bool:
    """Whether differences to a centre keep the digits of points that lie about so far from the median."""
    return bool(np.abs(centre).max() <= 4 * np.abs(median).max() + 100 * distance)


def _iterate(points: Array, centre: Array, p: Array, omega: float, tol: float) -> PlainMedian | None:
    offset, total, last = np.zeros(centre.size), float(p.sum()), np.inf
    for step in range(1, _MAX_STEPS + 1):
        now = _pass_over(points, centre, offset, p)
        weights = p / now.distances
        S = float(weights.sum())
        if not S > 0:  # all are infinitely far
            return None
        harmonic = total / S
        length = float(np.linalg.norm(now.pull)) / S
        if now.distances.min() <= _NEAR * harmonic:
            return _at_point(points, int(np.argmin(now.distances)), p, step)
        if not np.isfinite(length) or now.curvature < _LEAST_CURVATURE * S:
            return None
        if length * S / now.curvature <= tol * harmonic:
            median = centre + (offset + now.pull / S)
            if not is_central(centre, median, harmonic):
                return None
            return PlainMedian(median, weights / S, step)
        if step > 4 and length > 0.7 * last:  # not within so many steps
            return None
        offset, last = offset + omega * now.pull / S, length
    return None


def _at_point(points: Array, nearest: int, p: Array, n_iter: int) -> PlainMedian | None:
    """The point itself where what stands there outweighs the pull of all others (Vardi and Zhang), else None."""
    difference = points - points[nearest]
    distances = np.sqrt(np.einsum("ij,ij->i", difference, difference))
    here = ~difference.any(axis=1)
    pull = np.where(here, 0.0, p / distances) @ difference
    if not np.linalg.norm(pull) < (1 - 1e-9) * p[here].sum():
        return None
    return PlainMedian(points[nearest].copy(), np.where(here, p, 0.0) / p[here].sum(), n_iter)


def _pass_over(points: Array, centre: Array, offset: Array, p: Array) -> _Pass:
    """Distances, pull and curvature at m = centre + offset; never m itself, which would lose digits far from zero."""
    size, dimension = points.shape
    distances, pull, curvature = np.empty(size), np.zeros(dimension), 0.0
    for part in chunks(size, rows_within(_AT_A_TIME, dimension, at_least=2)):
        difference = points[part] - centre
        difference -= offset
        own = np.sqrt(np.einsum("ij,ij->i", difference, difference))
        distances[part] = own
        a = p[part] / own
        pull += a @ difference
        curvature += _curvature_of_pairs(difference, own, a)
    return _Pass(distances, pull, curvature)


def _curvature_of_pairs(difference: Array, distances: Array, a: Array) -> float:
    """Of each point of the first half with one of the second: what H is at least."""
    half = len(a) // 2
    first, second = slice(0, half), slice(half, 2 * half)
    cosines = np.einsum("ij,ij->i", difference[first], difference[second]) / (distances[first] * distances[second])
    sums, products = a[first] + a[second], a[first] * a[second]
    return float(np.sum(sums - np.sqrt(np.maximum(sums**2 - 4 * products * (1 - cosines**2), 0.0)))) / 2
