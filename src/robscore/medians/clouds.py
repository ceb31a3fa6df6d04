"""Clouds of points, as the median iteration sees them: through inner products.

The iteration never asks for the points themselves. It needs the inner products of all K points
with one affine combination of them, so a cloud can be K vectors, a K x K Gram matrix, or data that
is streamed over anew at every call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from robscore._typing import Array, BoolArray

# Squared norms above this count as overflow: their products and sums must stay below 1e308.
LARGEST_SQUARED_NORM = 1e280

# Inner products carry about this relative rounding error.
ROUNDING = 32 * float(np.finfo(float).eps)

# Points whose squared sine of the angle to a line is below this lie on it.
COLLINEAR = 1e-12


class Cloud(ABC):
    """K points mu_1..mu_K.

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

    def distance_error(self, weights: Array, distances: Array) -> float:
        """Relative error of the distances that rounding causes, averaged with the weights."""
        m_squared = self.squared_norm(weights)
        positive = distances > 0
        relative = (self.squared_norms[positive] + m_squared) / distances[positive] ** 2
        return float(self.rounding * (np.abs(weights[positive]) @ relative))

    def line_coordinates(self, origin: int, towards: int) -> tuple[Array, BoolArray]:
        """Signed coordinates of all points along mu_towards - mu_origin, and which points are off that line.

        Both have shape (K,). A point is off the line when its angle or its distance to it is more than rounding.
        """
        direction = one_hot(self.squared_norms.size, towards) - one_hot(self.squared_norms.size, origin)
        products = self.inner(direction)
        coordinates = (products - products[origin]) / np.sqrt(self.squared_norm(direction))
        squared = self.distances(one_hot(self.squared_norms.size, origin)) ** 2
        hidden = self.rounding * (self.squared_norms + self.squared_norms[origin])
        off_line = squared - coordinates**2 > COLLINEAR * squared + hidden
        return np.where(squared > 0, coordinates, 0.0), off_line


class GramCloud(Cloud):
    """Points known by their Gram matrix G_kl = <mu_k, mu_l> of shape (K, K)."""

    def __init__(self, gram: Array) -> None:
        self.gram = gram
        self.squared_norms = gram.diagonal().copy()

    def inner(self, coefficients: Array) -> Array:
        """G v."""
        return self.gram @ coefficients

    def start(self, multiplicity: Array) -> Array:
        """All weight on the point with the least total distance to the others."""
        size = self.squared_norms.size
        total = np.zeros(size)
        for chunk in chunks(size, max(1, 4_000_000 // size)):
            squared = self.squared_norms[chunk, None] + self.squared_norms[None, :] - 2.0 * self.gram[chunk]
            total[chunk] = np.sqrt(np.maximum(squared, 0.0)) @ multiplicity
        return one_hot(size, int(np.argmin(total)))


class PointCloud(Cloud):
    """Points held explicitly, an array of shape (K, p), centred beforehand by whoever makes it."""

    rounding = 0.0

    def __init__(self, points: Array) -> None:
        self.points = points
        self.squared_norms = np.einsum("ij,ij->i", points, points)

    def inner(self, coefficients: Array) -> Array:
        """P (v' P)'."""
        return self.points @ (coefficients @ self.points)

    def distances(self, weights: Array) -> Array:
        """|m - mu_l|, from the differences themselves."""
        difference = self.points - weights @ self.points
        return np.sqrt(np.einsum("ij,ij->i", difference, difference))

    def squared_norm(self, coefficients: Array) -> float:
        """|v' P|^2."""
        combination = coefficients @ self.points
        return float(combination @ combination)

    def start(self, multiplicity: Array) -> Array:
        """All weight on the point with the least total distance to (at most 1000 of) the others."""
        size = self.squared_norms.size
        sample = np.unique(np.linspace(0, size - 1, min(size, 1000)).round().astype(int))
        total = np.zeros(size)
        for k in sample:
            difference = self.points - self.points[k]
            total += multiplicity[k] * np.sqrt(np.einsum("ij,ij->i", difference, difference))
        return one_hot(size, int(np.argmin(total)))


def one_hot(size: int, position: int) -> Array:
    """The unit vector e_position of the given size."""
    weights = np.zeros(size)
    weights[position] = 1.0
    return weights


def chunks(size: int, length: int) -> list[slice]:
    """Cut range(size) into consecutive slices of at most the given length."""
    return [slice(low, min(low + length, size)) for low in range(0, size, length)]
