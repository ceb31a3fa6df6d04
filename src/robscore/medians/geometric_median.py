"""The geometric median: the point with the least sum of distances to K points.

    Gmed(mu_1..mu_K) = argmin_m sum_k p_k |m - mu_k| = sum_k w_k mu_k,    w_k >= 0, sum w = 1

Weiszfeld's fixed point w_k ~ p_k / |m - mu_k| is started at the point with the least total
distance. If that point is not itself the median (Vardi and Zhang's test), the objective falls
below its value at every point, so later iterates do not meet one. Anderson's extrapolation, taken
only where it does not raise the objective, makes the iteration fast; the weights returned are
always those of a plain Weiszfeld step, so they are non-negative and sum to one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robscore._typing import Array, BoolArray
from robscore.medians.clouds import LARGEST_SQUARED_NORM, Cloud, PointCloud, one_hot

TOLERANCE = 1e-11
MAX_ITER = 2000
_NEAR = 1e-6  # from here on, ask whether rounding is all that still moves
_MEMORY = 6  # how many past steps the extrapolation uses


class GeometricMedian(NamedTuple):
    """A geometric median as a convex combination of its points.

    Attributes
    ----------
    median : array of shape (p,)
    weights : array of shape (K,), non-negative, summing to one; ``median = weights @ points``
    n_iter : int
    converged : bool
    """

    median: Array
    weights: Array
    n_iter: int
    converged: bool


class MedianWeights(NamedTuple):
    """The weights of a median, without the median itself."""

    weights: Array
    n_iter: int
    converged: bool


def geometric_median(points: ArrayLike, weights: ArrayLike | None = None) -> GeometricMedian:
    """Geometric median of points of any dimension.

    Parameters
    ----------
    points : array-like of shape (K, p) or (K,)
    weights : array-like of shape (K,), optional
        Multiplicities, non-negative; a point with weight 2 counts as two equal points.

    Returns
    -------
    GeometricMedian
        ``(median, weights, n_iter, converged)``. Where the median is not unique (two points, or an
        even number on a line) it is the midpoint. Points so far away that their squared distance
        overflows get weight zero.

    Examples
    --------
    >>> import robscore as rs
    >>> median, weights, _, _ = rs.geometric_median([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1e9, 1e9]])
    >>> print(median.round(6), weights.round(6))
    [0.5 0.5] [0.333333 0.333333 0.333333 0.      ]
    """
    array = np.asarray(points, dtype=float)
    flat = array.ndim == 1
    if flat:
        array = array[:, None]
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"points must have shape (K, p) with K, p >= 1; got {np.shape(points)}.")
    if not np.isfinite(array).all():
        raise ValueError("points contain NaN or infinite values; drop those points first.")
    size = array.shape[0]
    multiplicity = np.ones(size) if weights is None else np.asarray(weights, dtype=float)
    if multiplicity.shape != (size,):
        raise ValueError(f"weights must have shape ({size},), one a point; got {multiplicity.shape}.")
    if not (np.isfinite(multiplicity).all() and (multiplicity >= 0).all() and multiplicity.any()):
        raise ValueError("weights must be finite, non-negative and not all zero.")

    used = np.flatnonzero(multiplicity)
    cloud_points, far = _standardise(array[used])
    if 2 * multiplicity[used][far].sum() >= multiplicity.sum():
        raise ValueError("Half of the points or more overflow when squared; rescale them first.")
    near = used[~far]
    solved = median_weights(PointCloud(cloud_points[~far]), multiplicity[near])
    full = np.zeros(size)
    full[near] = solved.weights
    centre = array[near[0]]
    median = centre + solved.weights @ (array[near] - centre)
    return GeometricMedian(median, full, solved.n_iter, solved.converged)


def _standardise(points: Array) -> tuple[Array, BoolArray]:
    """Centre at the coordinatewise median, divide by the median distance; which points overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        centred = points - np.median(points, axis=0)
        size = np.abs(centred).max(axis=1)
        typical = np.median(size)
        if not typical > 0:
            typical = size[np.isfinite(size)].max(initial=0.0)
        if typical > 0:
            centred = centred / typical
        squared = np.einsum("ij,ij->i", centred, centred)
    return centred, ~(squared <= LARGEST_SQUARED_NORM)


def median_weights(
    cloud: Cloud,
    multiplicity: Array | None = None,
    *,
    tol: float = TOLERANCE,
    max_iter: int = MAX_ITER,
) -> MedianWeights:
    """Weights w of the geometric median sum_k w_k mu_k of a cloud, from inner products alone.

    Parameters
    ----------
    cloud : Cloud
        K points, all of finite size.
    multiplicity : array of shape (K,), optional
        Positive weights p_k of the points in the objective; default 1.
    tol : float
        Stop when a step moves the median by less than this, relative to its harmonic mean distance
        to the points.
    max_iter : int
        Most steps to take.
    """
    size = cloud.squared_norms.size
    p = np.ones(size) if multiplicity is None else multiplicity
    if size == 1:
        return MedianWeights(np.ones(1), 0, converged=True)
    weights = cloud.start(p)
    distances = cloud.distances(weights)
    if not distances.any() and np.count_nonzero(weights) == 1:
        return MedianWeights(p / p.sum(), 0, converged=True)
    on_line = _median_on_line(cloud, p, distances)
    if on_line is not None:
        return MedianWeights(on_line, 0, converged=True)
    return _iterate(cloud, p, weights, distances, tol, max_iter)


def _iterate(cloud: Cloud, p: Array, weights: Array, distances: Array, tol: float, max_iter: int) -> MedianWeights:
    """Weiszfeld's iteration with Anderson's extrapolation, from the given iterate."""
    objective = float(p @ distances)
    history: list[tuple[Array, Array]] = []  # (weights, step) of the last iterates
    tested = -1
    for iteration in range(1, max_iter + 1):
        if not distances.all():
            vertex = _step_from_point(cloud, p, distances)
            if vertex.converged:
                return vertex._replace(n_iter=iteration)
            target = vertex.weights
            history.clear()
        else:
            nearest = int(np.argmin(distances))
            if nearest != tested and distances[nearest] < 1e-3 * np.median(distances):
                tested = nearest
                vertex = _step_from_point(cloud, p, cloud.distances(one_hot(p.size, nearest)))
                if vertex.converged:
                    return vertex._replace(n_iter=iteration)
            target = p / distances
            target /= target.sum()
            step = target - weights
            moved = float(np.abs(step) @ distances)
            spread = float(target @ distances)
            if moved <= tol * spread or (
                moved <= _NEAR * spread and moved <= cloud.distance_error(target, distances) * spread
            ):
                return MedianWeights(target, iteration, converged=True)
            history.append((weights, step))
            del history[:-_MEMORY]
            if len(history) > 1:
                candidate = _extrapolate(history)
                candidate_distances = cloud.distances(candidate)
                candidate_objective = float(p @ candidate_distances)
                if candidate_distances.all() and candidate_objective <= objective * (1 + 1e-13):
                    weights, distances, objective = candidate, candidate_distances, candidate_objective
                    continue
                history.clear()
        weights = target
        distances = cloud.distances(weights)
        objective = float(p @ distances)
    final = p / np.where(distances > 0, distances, np.inf)
    final = final / final.sum() if final.any() else weights
    return MedianWeights(final, max_iter, converged=False)


def _extrapolate(history: list[tuple[Array, Array]]) -> Array:
    """Anderson: the affine combination of past iterates whose steps nearly cancel, one step on."""
    iterates = np.array([item[0] for item in history])
    steps = np.array([item[1] for item in history])
    step_changes = np.diff(steps, axis=0).T
    coefficients = np.linalg.lstsq(step_changes, steps[-1], rcond=1e-12)[0]
    combined: Array = iterates[-1] + steps[-1] - (np.diff(iterates, axis=0).T + step_changes) @ coefficients
    return combined / combined.sum()


def _step_from_point(cloud: Cloud, p: Array, distances: Array) -> MedianWeights:
    """Vardi and Zhang's step from an iterate that is a data point.

    With R = sum_{l off the point} p_l (mu_l - mu_k) / |mu_l - mu_k| and eta the multiplicity at
    the point: the point is the median if |R| <= eta, else move by the share 1 - eta / |R|.
    """
    at_point = distances == 0
    eta = float(p[at_point].sum())
    stay = np.where(at_point, p, 0.0) / eta
    pull = np.where(at_point, 0.0, p / np.where(at_point, 1.0, distances))
    total = float(pull.sum())
    resultant = np.sqrt(cloud.squared_norm(pull - total * stay))
    if resultant <= eta:
        return MedianWeights(stay, 0, converged=True)
    share = 1.0 - eta / resultant
    return MedianWeights(share * pull / total + (1.0 - share) * stay, 0, converged=False)


def _median_on_line(cloud: Cloud, p: Array, distances: Array) -> Array | None:
    """Weights of the median when all points lie on one line, else None. Ties take the midpoint."""
    origin = int(np.argmin(distances))
    apart = np.flatnonzero(cloud.distances(one_hot(p.size, origin)) > 0)
    if apart.size == 0:
        return p / p.sum()
    towards = int(apart[np.argsort(distances[apart], kind="stable")[apart.size // 2]])
    coordinates, off_line = cloud.line_coordinates(origin, towards)
    if off_line.any():
        return None
    values, position = np.unique(coordinates, return_inverse=True)
    mass = np.bincount(position, weights=p)
    below = np.cumsum(mass)
    half = below[-1] / 2
    low = int(np.searchsorted(below, half * (1 - 1e-12)))
    high = low + 1 if abs(below[low] - half) <= 1e-12 * half and low + 1 < values.size else low
    weights = np.zeros(p.size)
    for index in {low, high}:
        members = position == index
        weights[members] += p[members] / p[members].sum()
    return weights / weights.sum()
