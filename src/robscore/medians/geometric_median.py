"""The geometric median: the point with the smallest sum of distances to K points.

    Gmed(mu_1..mu_K) = argmin_m sum_k p_k |m - mu_k| = sum_k w_k mu_k,    w_k >= 0, sum w = 1

Weiszfeld's fixed point w_k ~ p_k / |m - mu_k| is started at the point with the least total distance (or at a midpoint
that is better still). If that point is not itself the median (Vardi and Zhang's test), the objective falls below its
value at every point, so later iterates do not meet one (where the start is the best of a sample, the test is made again
when an iterate comes near a point). Anderson's extrapolation, taken only where it does not raise the objective, makes
the iteration fast. Newton's method finishes: its step says how far the median still is, also for clouds so elongated
that Weiszfeld's steps are tiny long before that. The weights returned are always those of a plain Weiszfeld step, so
they are non-negative and sum to one.

Most clouds of points need none of this: the bare iteration finds their median and proves it (:func:`certified_median`).

    m <- m + omega sum_k p_k e_k / S,    e_k = (mu_k - m) / d_k,    d_k = |mu_k - m|,    S = sum_k p_k / d_k

The Hessian of sum_k p_k |m - mu_k| is H = sum_k a_k (I - e_k e_k') with a_k = p_k / d_k. Two points with the angle t
between e_k and e_l give it at least (a_k + a_l - sqrt((a_k - a_l)^2 + 4 a_k a_l cos^2 t)) / 2 in every direction, so
the sum of that over disjoint pairs is a lower bound c of its least eigenvalue. Where no point is near, the median lies
within |sum_k p_k e_k| / c of m, up to a factor near one. Both come from one pass over the points. A point that the
iteration comes near to is tested itself. Where directions are spread evenly, H = S (1 - 1/p) I: hence
omega = p / (p - 1), which lies between 1 and 2, where the objective never rises (Ostresh 1978).
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robscore._tools.memory import chunks, rows_within
from robscore._tools.numbers import as_numbers
from robscore._tools.typing import Array, BoolArray
from robscore.medians.clouds import LARGEST_SQUARED_NORM, Cloud, PointCloud, lengths, one_hot

TOLERANCE = 1e-10  # of the distance from the median, relative to the harmonic mean distance to the points
MAX_ITER = 500
_PLAIN_ITER = 60  # Weiszfeld steps before Newton takes over
_MEMORY = 6  # how many past steps the extrapolation uses
_MANY, _MEMORY_OF_MANY = 50_000, 3  # from so many points on fewer steps are kept: they are what takes memory
_AT_A_TIME = 256e3  # bytes: differences stay in the processor's cache; decides how sums are rounded
_MAX_STEPS = 60  # of the bare iteration, before it gives up
_LEAST_CURVATURE = 0.02  # c / S below which points are too near a line for short steps to mean much
_NEAR = 1e-3  # of the mean distance: a point so near may be the median itself
_SAMPLE = 25  # points whose column medians are the start


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
    array = read_points(points)
    size = array.shape[0]
    multiplicity = np.ones(size) if weights is None else as_numbers("weights", weights)
    if multiplicity.shape != (size,):
        raise ValueError(f"weights must have shape ({size},), one per point; got {multiplicity.shape}.")
    if not (np.isfinite(multiplicity).all() and (multiplicity >= 0).all() and multiplicity.any()):
        raise ValueError("weights must be finite, non-negative and not all zero.")

    used = np.flatnonzero(multiplicity)
    multiplicity = multiplicity / multiplicity.max()
    p, some = multiplicity[used], array[used] if used.size < size else array
    full = np.zeros(size)
    easy = certified_median(some, p, tol=TOLERANCE)
    if easy is not None:
        full[used] = easy.weights
        return easy._replace(weights=full)
    centre = _weighted_median(some, p)
    cloud, near = _standard_cloud(some, centre, p)
    if 2 * p[~near].sum() >= p.sum():
        raise ValueError("Half of the points or more overflow when squared; rescale them first.")
    solved = median_weights(cloud, p[near]) if array.shape[1] > 1 else _of_numbers(cloud, p[near])
    full[used[near]] = solved.weights
    median = centre + solved.weights @ (some[near] - centre)
    return GeometricMedian(median, full, solved.n_iter, solved.converged)


def _of_numbers(cloud: PointCloud, p: Array) -> MedianWeights:
    """Compute the median of points with one coordinate: they are on a line, which need not be looked for."""
    weights = _median_on_line(cloud, p, np.sqrt(cloud.squared_norms))
    assert weights is not None
    return MedianWeights(weights, 0, converged=True)


def read_points(points: ArrayLike) -> Array:
    """Read points as an array of shape (K, p), numbers alone as p = 1; raise on what is not finite."""
    array = as_numbers("points", points)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"points must have shape (K, p) with K, p >= 1; got {np.shape(points)}.")
    if not np.isfinite(array).all():
        raise ValueError("points contain NaN or infinite values; drop those points first.")
    return array


def _standard_cloud(points: Array, centre: Array, p: Array) -> tuple[PointCloud, BoolArray]:
    """Return centred points over their typical size as a cloud, without those that overflow, and which it holds."""
    with np.errstate(over="ignore", invalid="ignore"):
        centred = points - centre
        size = np.abs(centred).max(axis=1)
        positive = (size > 0) & np.isfinite(size)
        typical = float(_weighted_median(size[positive, None], p[positive])[0]) if positive.any() else 1.0
        typical = typical or float(size[positive].min())  # half of the smallest number there is rounds to zero
        centred = centred / typical
        squared = np.einsum("ij,ij->i", centred, centred)
        resolution = 4 * np.finfo(float).eps * float(np.abs(centre).max()) / typical
    near = squared <= LARGEST_SQUARED_NORM
    return PointCloud(centred[near], resolution), near


def _weighted_median(values: Array, p: Array) -> Array:
    """Return the median of every column of values, shape (K, p), with multiplicities; a midpoint for ties."""
    result = np.empty(values.shape[1])
    for j, column in enumerate(values.T):
        order = np.argsort(column, kind="stable")
        below = np.cumsum(p[order])
        low, high = (min(int(np.searchsorted(below, below[-1] / 2, side=s)), order.size - 1) for s in ("left", "right"))
        result[j] = column[order[low]] / 2 + column[order[high]] / 2
    return result


def median_weights(
    cloud: Cloud,
    multiplicity: Array | None = None,
    *,
    tol: float = TOLERANCE,
    max_iter: int = MAX_ITER,
) -> MedianWeights:
    """Compute weights w of the geometric median sum_k w_k mu_k of a cloud, from inner products alone.

    Parameters
    ----------
    cloud : Cloud
        K points, all of finite size.
    multiplicity : array of shape (K,), optional
        Positive weights p_k of the points in the objective; default 1.
    tol : float
        Stop when Newton's step, which estimates the distance still to go, is below this, relative to the
        harmonic mean distance to the points; or when rounding hides all progress.
    max_iter : int
        Most steps to take.
    """
    size = cloud.squared_norms.size
    p = np.broadcast_to(np.float64(1.0), (size,)) if multiplicity is None else multiplicity
    if size == 1:
        return MedianWeights(np.ones(1), 0, converged=True)
    weights = cloud.start(p)
    distances = cloud.distances(weights)
    if not distances.any() and np.count_nonzero(weights) == 1:
        return MedianWeights(p / p.sum(), 0, converged=True)
    on_line = _median_on_line(cloud, p, distances)
    if on_line is not None:
        return MedianWeights(on_line, 0, converged=True)
    return _Iteration(cloud, p, weights, distances).run(tol, max_iter)


class _Iteration:
    """The current iterate m = sum_k w_k mu_k of a cloud, and the steps that improve it."""

    def __init__(self, cloud: Cloud, p: Array, weights: Array, distances: Array) -> None:
        self.cloud, self.p = cloud, p
        self.weights, self.distances = weights, distances
        self.tested: set[int] = set()

    def run(self, tol: float, max_iter: int) -> MedianWeights:
        """Weiszfeld's steps, then Newton's."""
        history: list[tuple[Array, Array]] = []  # (weights, step) of the last iterates
        shortest, idle = np.inf, 0
        for iteration in range(1, max_iter + 1):
            vertex = self._near_point()
            if vertex is not None:
                if vertex.converged:
                    return vertex._replace(n_iter=iteration)
                if not self.distances.all():
                    self._leave_point(vertex.weights)
                    history.clear()
                    continue
            if iteration <= _PLAIN_ITER and not self._weiszfeld(history, tol):
                continue
            if iteration > _PLAIN_ITER and self.distances.min() <= tol * np.median(self.distances):
                # Next to a point that is almost the median: no step is shorter than what rounding allows.
                return MedianWeights(self._plain_weights(), iteration, converged=True)
            length, slope, moved = self._newton()
            if length <= tol or (idle >= 3 and -slope <= 8 * np.finfo(float).eps):
                return MedianWeights(self._plain_weights(), iteration, converged=True)
            idle = idle + 1 if not moved or length > 0.5 * shortest else 0
            shortest = min(shortest, length)
            if not moved:
                self._move(self._plain_weights())
        return MedianWeights(self._plain_weights(), max_iter, converged=False)

    def _move(self, weights: Array) -> None:
        self.weights, self.distances = weights, self.cloud.distances(weights)

    def _leave_point(self, towards: Array) -> None:
        """Leave a data point in Vardi and Zhang's direction, twice as far as long as the objective still falls.

        Their step is tiny where the point is nearly the median, and Newton's equations lose their digits so near.
        """
        at_point = self.weights
        direction = towards - at_point
        products = self.cloud.inner(direction)
        self._move(towards)
        for _ in range(60):
            candidate = self.weights + (self.weights - at_point)
            distances = self.cloud.distances(candidate)
            if not distances.all() or np.sum(self.p / distances * (products - candidate @ products)) <= 0:
                return
            self.weights, self.distances = candidate, distances

    def _plain_weights(self) -> Array:
        """Weiszfeld's w_k ~ p_k / d_k, or the point itself when the iterate is one."""
        at_point = self.distances == 0
        pull = np.where(at_point, self.p, 0.0) if at_point.any() else self.p / self.distances
        return pull / pull.sum()

    def _near_point(self) -> MedianWeights | None:
        """Vardi and Zhang's step from the iterate if it is a data point, or from one that it comes near to."""
        nearest = int(np.argmin(self.distances))
        if self.distances[nearest] == 0:
            return _step_from_point(self.cloud, self.p, self.distances)
        if nearest not in self.tested and self.distances[nearest] < 1e-3 * np.median(self.distances):
            self.tested.add(nearest)
            return _step_from_point(self.cloud, self.p, self.cloud.distances(one_hot(self.p.size, nearest)))
        return None

    def _weiszfeld(self, history: list[tuple[Array, Array]], tol: float) -> bool:
        """One step, extrapolated where that does not raise the objective; True when it hardly moves any more."""
        target = self._plain_weights()
        step = target - self.weights
        if float(np.abs(step) @ self.distances) <= tol * float(target @ self.distances):
            return True
        history.append((self.weights, step))
        del history[: -(_MEMORY if target.size < _MANY else _MEMORY_OF_MANY)]
        if len(history) > 1:
            candidate = _extrapolate(history)
            distances = self.cloud.distances(candidate)
            if distances.all() and self.p @ distances <= self.p @ self.distances * (1 + 1e-13):
                self.weights, self.distances = candidate, distances
                return False
            history.clear()
        self._move(target)
        return False

    def _newton(self) -> tuple[float, float, bool]:
        """Newton's step with a line search on the slope, which stays exact where the objective is flat.

        Returns its length over the harmonic mean distance, the slope along it over the objective, and
        whether the iterate moved.
        """
        p, d, w = self.p, self.distances, self.weights
        try:
            pull = self.cloud.newton_pull(w, d, p) / d
        except np.linalg.LinAlgError:
            return np.inf, -np.inf, False
        direction = pull - pull.sum() * w
        products = self.cloud.inner(direction)
        length = np.sqrt(self.cloud.squared_norm(direction)) * float(np.sum(p / d)) / float(p.sum())
        objective = float(p @ d)

        def slope(weights: Array, distances: Array) -> float:
            return -float(np.sum(p / distances * (products - weights @ products)))

        first = slope(w, d)
        share = 1.0
        for _ in range(30 if first < 0 else 0):
            candidate = w + share * direction
            distances = self.cloud.distances(candidate)
            if distances.all() and slope(candidate, distances) <= -0.5 * first:
                self.weights, self.distances = candidate, distances
                return length, first / objective, True
            share /= 2
        return length, first / objective, False


def _extrapolate(history: list[tuple[Array, Array]]) -> Array:
    """Anderson: the affine combination of past iterates whose steps nearly cancel, one step on.

    By normal equations of scaled changes, one change at a time: there may be very many points.
    """
    (iterate, step), older = history[-1], list(pairwise(history))
    size = [float(np.linalg.norm(new[1] - old[1])) or 1.0 for old, new in older]
    gram, right = np.empty((len(older), len(older))), np.empty(len(older))
    for a, (old, new) in enumerate(older):
        change = (new[1] - old[1]) / size[a]
        right[a] = change @ step
        for b in range(a + 1):
            gram[a, b] = gram[b, a] = change @ older[b][1][1] / size[b] - change @ older[b][0][1] / size[b]
    coefficients = np.linalg.lstsq(gram, right, rcond=1e-13)[0] / size
    combined = iterate + step
    for share, (old, new) in zip(coefficients, older, strict=True):
        combined -= share * (new[0] - old[0])
        combined -= share * (new[1] - old[1])
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
    """Compute weights of the median when all points lie on one line, else None; the midpoint for ties."""
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


class _Pass(NamedTuple):
    """The result of one pass over the points, at an iterate.

    ``distances`` d of shape (K,), ``pull`` sum_k p_k e_k of shape (p,), ``curvature`` a lower bound of H.
    """

    distances: Array
    pull: Array
    curvature: float


def certified_median(points: Array, p: Array, *, tol: float) -> GeometricMedian | None:
    """Compute the geometric median where the bare iteration finds it and can prove it; else None.

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
    with np.errstate(all="ignore"):  # what overflows is not finite: then the answer is None
        centre = sample_centre(points)
        return _iterate(points, centre, p, dimension / (dimension - 1), tol)


def sample_centre(points: Array) -> Array:
    """Return column medians of some of the points, shape (p,). All of these may be bad: see :func:`is_central`."""
    return np.median(points[:: -(-len(points) // _SAMPLE)], axis=0)


def is_central(centre: Array, median: Array, distance: float) -> bool:
    """Return whether differences to a centre keep the digits of points at this distance from the median."""
    return bool(np.abs(centre).max() <= 4 * np.abs(median).max() + 100 * distance)


def _iterate(points: Array, centre: Array, p: Array, omega: float, tol: float) -> GeometricMedian | None:
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
            return GeometricMedian(median, weights / S, step, converged=True)
        if step > 4 and length > 0.7 * last:  # it would take more steps than are allowed
            return None
        offset, last = offset + omega * now.pull / S, length
    return None


def _at_point(points: Array, nearest: int, p: Array, n_iter: int) -> GeometricMedian | None:
    """Return the point itself where its weight exceeds the pull of all others (Vardi and Zhang), else None."""
    difference = points - points[nearest]
    distances = lengths(difference)
    here = ~difference.any(axis=1)
    pull = np.where(here, 0.0, p / distances) @ difference
    if not np.linalg.norm(pull) < (1 - 1e-9) * p[here].sum():
        return None
    return GeometricMedian(points[nearest].copy(), np.where(here, p, 0.0) / p[here].sum(), n_iter, converged=True)


def _pass_over(points: Array, centre: Array, offset: Array, p: Array) -> _Pass:
    """Compute distances, pull and curvature at m = centre + offset, which itself would lose digits far from zero."""
    size, dimension = points.shape
    distances, pull, curvature = np.empty(size), np.zeros(dimension), 0.0
    for part in chunks(size, rows_within(_AT_A_TIME, dimension, at_least=2)):
        difference = points[part] - centre
        difference -= offset
        own = lengths(difference)
        distances[part] = own
        a = p[part] / own
        pull += a @ difference
        curvature += _curvature_of_pairs(difference, own, a)
    return _Pass(distances, pull, curvature)


def _curvature_of_pairs(difference: Array, distances: Array, a: Array) -> float:
    """Bound H from below by pairs of points, each of the first half with one of the second."""
    half = len(a) // 2
    first, second = slice(0, half), slice(half, 2 * half)
    cosines = np.einsum("ij,ij->i", difference[first], difference[second]) / (distances[first] * distances[second])
    sums, products = a[first] + a[second], a[first] * a[second]
    return float(np.sum(sums - np.sqrt(np.maximum(sums**2 - 4 * products * (1 - cosines**2), 0.0)))) / 2
