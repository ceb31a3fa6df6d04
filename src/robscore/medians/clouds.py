"""Clouds of points, as the median iteration sees them: through inner products.

The iteration never asks for the points themselves. It needs the inner products of all K points
with one affine combination of them, so a cloud can be K vectors, a K x K Gram matrix, or data that
is streamed over anew at every call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from robscore._tools.memory import chunks
from robscore._tools.typing import Array, BoolArray, IntArray

# Squared norms above this count as overflow: their products and sums must stay below 1e308.
LARGEST_SQUARED_NORM = 1e280

# Inner products carry about this relative rounding error.
ROUNDING = 32 * float(np.finfo(float).eps)

_DIRECT_NEWTON = 1000  # up to so many points, Newton's equations are solved directly
_CG_STEPS = 60  # conjugate gradients for more points
_MIDPOINTS = 30  # neighbours of the best point whose midpoints with it are tried: good starts for elongated clouds


def lengths(differences: Array) -> Array:
    """Return the lengths of vectors, the rows of an array of shape (K, p)."""
    return np.sqrt(np.einsum("ij,ij->i", differences, differences))


class Cloud(ABC):
    """K points mu_1..mu_K, known by their inner products.

    Attributes
    ----------
    squared_norms : array of shape (K,)
        |mu_k|^2.
    rounding : float
        Relative error of an inner product; squared distances below ``rounding * |mu|^2`` are zero.
    """

    squared_norms: Array
    rounding: float = ROUNDING

    @abstractmethod
    def inner(self, coefficients: Array) -> Array:
        """<sum_k v_k mu_k, mu_l> for every l, for coefficients v of shape (K,)."""

    @abstractmethod
    def start(self, multiplicity: Array) -> Array:
        """Weights of a good first iterate, shape (K,), summing to one."""

    def squared_norm(self, coefficients: Array) -> float:
        """|sum_k v_k mu_k|^2."""
        return max(float(coefficients @ self.inner(coefficients)), 0.0)

    def distances(self, weights: Array) -> Array:
        """|m - mu_l| for every l, with m = sum_k w_k mu_k; exactly 0 where rounding hides the difference."""
        products = self.inner(weights)
        m_squared = max(float(weights @ products), 0.0)
        squared = self.squared_norms - 2.0 * products + m_squared
        hidden = squared <= self.rounding * (self.squared_norms + m_squared)
        return np.sqrt(np.where(hidden, 0.0, squared))

    def line_coordinates(self, origin: int, towards: int) -> tuple[Array, BoolArray]:
        """Signed coordinates of all points along mu_towards - mu_origin, and which points are off that line.

        Both have shape (K,). Off the line means: by more than rounding hides.
        """
        direction = one_hot(self.squared_norms.size, towards) - one_hot(self.squared_norms.size, origin)
        products = self.inner(direction)
        coordinates = (products - products[origin]) / np.sqrt(self.squared_norm(direction))
        squared = self.distances(one_hot(self.squared_norms.size, origin)) ** 2
        hidden = self.rounding * (squared + self.squared_norms + self.squared_norms[origin])
        return np.where(squared > 0, coordinates, 0.0), squared - coordinates**2 > hidden

    def newton_pull(self, weights: Array, distances: Array, p: Array) -> Array:
        """Coefficients y, shape (K,), of Newton's step sum_k y_k e_k with e_k = (mu_k - m) / d_k.

        The Hessian of sum_k p_k |m - mu_k| is S I - E D E' with D = diag(p / d) and S its trace, the negative
        gradient E p; so (S I - D E'E) y = p. Solved here by conjugate gradients on its symmetric form.
        """
        scale = np.sqrt(p / distances)
        S = float(np.sum(p / distances))

        def times(x: Array) -> Array:
            along = scale * x / distances
            products = self.inner(along - along.sum() * weights)
            return S * x - scale / distances * (products - weights @ products)

        return scale * _conjugate_gradients(times, p / scale)


class GramCloud(Cloud):
    """Points known by their Gram matrix G_kl = <mu_k, mu_l> of shape (K, K)."""

    def __init__(self, gram: Array) -> None:
        self.gram = gram
        self.squared_norms = gram.diagonal().copy()

    def inner(self, coefficients: Array) -> Array:
        """G v."""
        return self.gram @ coefficients

    def start(self, multiplicity: Array) -> Array:
        """The point with the least total distance to the others, or a midpoint between it and another one."""
        size = self.squared_norms.size
        total = np.zeros(size)
        for chunk in chunks(size, max(1, 4_000_000 // size)):
            total[chunk] = np.sqrt(self._squared_distances(chunk)) @ multiplicity
        best = int(np.argmin(total))
        from_best = self._squared_distances(slice(best, best + 1))[0]
        others = np.argsort(from_best, kind="stable")[: _MIDPOINTS + 1]
        squared = (from_best + self._squared_distances(others)) / 2 - from_best[others, None] / 4
        at_midpoints = np.sqrt(np.maximum(squared, 0.0)) @ multiplicity
        return _best_start(size, best, total[best], others, at_midpoints)

    def _squared_distances(self, points: slice | IntArray) -> Array:
        """|mu_k - mu_l|^2 for some k and all l."""
        squared = self.squared_norms[points, None] + self.squared_norms - 2.0 * self.gram[points]
        return np.maximum(squared, 0.0)

    def newton_pull(self, weights: Array, distances: Array, p: Array) -> Array:
        """Newton's step, directly where the matrix is small enough."""
        if distances.size > _DIRECT_NEWTON:
            return super().newton_pull(weights, distances, p)
        products = self.gram @ weights
        centred = self.gram - products[:, None] - products[None, :] + weights @ products
        return _pull_from_units(centred / np.multiply.outer(distances, distances), distances, p)


class PointCloud(Cloud):
    """Points held explicitly, an array of shape (K, p), centred beforehand by the caller.

    ``resolution`` is the rounding that the points already carry, as a distance.
    """

    rounding = 0.0

    def __init__(self, points: Array, resolution: float = 0.0) -> None:
        self.points = points
        self.resolution = resolution
        self.squared_norms = np.einsum("ij,ij->i", points, points)

    def inner(self, coefficients: Array) -> Array:
        """P (v' P)'."""
        return self.points @ (coefficients @ self.points)

    def distances(self, weights: Array) -> Array:
        """|m - mu_l|, from the differences themselves."""
        return self._distances_from(weights @ self.points)

    def line_coordinates(self, origin: int, towards: int) -> tuple[Array, BoolArray]:
        """Return what every cloud does, with the distance to the line taken from the points themselves."""
        difference = self.points - self.points[origin]
        direction = difference[towards] / np.linalg.norm(difference[towards])
        coordinates = difference @ direction
        off = difference - np.multiply.outer(coordinates, direction)
        hidden = 16 * np.finfo(float).eps * np.abs(coordinates) + 8 * self.resolution
        return coordinates, np.linalg.norm(off, axis=1) > hidden

    def newton_pull(self, weights: Array, distances: Array, p: Array) -> Array:
        """Newton's step in the smaller of the two dimensions."""
        units = (self.points - weights @ self.points) / distances[:, None]
        n_points, dimension = units.shape
        if min(n_points, dimension) > _DIRECT_NEWTON:
            return super().newton_pull(weights, distances, p)
        if n_points < dimension:
            return _pull_from_units(units @ units.T, distances, p)
        hessian = np.sum(p / distances) * np.eye(dimension) - (units * (p / distances)[:, None]).T @ units
        step = _solve_positive(hessian, p @ units)
        return (p + p / distances * (units @ step)) / np.sum(p / distances)

    def squared_norm(self, coefficients: Array) -> float:
        """|v' P|^2."""
        combination = coefficients @ self.points
        return float(combination @ combination)

    def start(self, multiplicity: Array) -> Array:
        """The start of a Gram matrix, with total distances to at most 1000 of the points."""
        size = self.squared_norms.size
        sample = np.unique(np.linspace(0, size - 1, min(size, 1000)).round().astype(int))
        candidates = self._nearest_in_total(sample, multiplicity)
        total = np.zeros(candidates.size)
        for k in sample:
            total += multiplicity[k] * lengths(self.points[candidates] - self.points[k])
        best = int(candidates[np.argmin(total)])
        others = np.argsort(self._distances_from(self.points[best]), kind="stable")[: _MIDPOINTS + 1]
        middles = (self.points[best] + self.points[others]) / 2
        at_midpoints = np.array([multiplicity[sample] @ self._distances_from(middle)[sample] for middle in middles])
        return _best_start(size, best, total.min(), others, at_midpoints)

    def _nearest_in_total(self, sample: IntArray, multiplicity: Array) -> IntArray:
        """Return points that may have the least total distance to a sample.

        Distances come from inner products: |a - b|^2 = |a|^2 + |b|^2 - 2 <a, b>, up to an error e of rounding. That
        moves a distance d by at most 2 e / d, and all that could be the least within these bounds are kept.
        """
        size, dimension = self.points.shape
        total, unsure = np.empty(size), np.empty(size)
        for part in chunks(size, 1000):
            norms = self.squared_norms[part, None] + self.squared_norms[None, sample]
            error = (dimension + 4) * np.finfo(float).eps * norms + np.finfo(float).tiny
            squared = norms - 2 * (self.points[part] @ self.points[sample].T)
            distances = np.sqrt(np.maximum(squared, error))
            total[part] = distances @ multiplicity[sample]
            unsure[part] = 2 * (error / distances) @ multiplicity[sample]
        return np.flatnonzero(total - unsure <= np.min(total + unsure))

    def _distances_from(self, point: Array) -> Array:
        return lengths(self.points - point)


def _best_start(size: int, best: int, at_best: float, others: IntArray, at_midpoints: Array) -> Array:
    """Return weights of the best point, or of its midpoint with another one where that is clearly better."""
    other = int(np.argmin(at_midpoints))
    if at_midpoints[other] < at_best * (1 - 16 * np.finfo(float).eps):
        return (one_hot(size, best) + one_hot(size, int(others[other]))) / 2
    return one_hot(size, best)


def _pull_from_units(unit_gram: Array, distances: Array, p: Array) -> Array:
    """Solve (S I - D E'E) y = p directly, E'E of shape (K, K)."""
    scale = np.sqrt(p / distances)
    matrix = -unit_gram * np.multiply.outer(scale, scale)
    matrix[np.diag_indices(len(matrix))] += np.sum(p / distances)
    return scale * _solve_positive(matrix, p / scale)


def _solve_positive(matrix: Array, right: Array) -> Array:
    """Solve a positive definite system; raise LinAlgError where rounding has made it singular."""
    lower = np.linalg.cholesky(matrix)  # NumPy throughout: a second BLAS would wake a second set of threads
    return np.linalg.solve(lower.T, np.linalg.solve(lower, right))


def _conjugate_gradients(times: Callable[[Array], Array], right: Array) -> Array:
    x = np.zeros_like(right)
    residual = right.copy()
    direction = residual.copy()
    squared = first = float(residual @ residual)
    for _ in range(_CG_STEPS):
        if squared <= 1e-12 * first:
            break
        image = times(direction)
        curvature = float(direction @ image)
        if curvature <= 0:
            break
        x += squared / curvature * direction
        residual -= squared / curvature * image
        last, squared = squared, float(residual @ residual)
        direction = residual + squared / last * direction
    return x


def one_hot(size: int, position: int) -> Array:
    """Return the unit vector e_position of the given size."""
    weights = np.zeros(size)
    weights[position] = 1.0
    return weights
