"""The geometric median of means (Definition 2.2): block means, and their geometric median."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robscore._tools.messages import ArgumentError
from robscore._tools.randomness import as_generator
from robscore._tools.typing import Array, RandomState
from robscore.medians.geometric_median import GeometricMedian, geometric_median, is_central, read_points, sample_centre
from robscore.rows.partition import Partition


def median_of_means(
    points: ArrayLike,
    n_blocks: int,
    *,
    n_partitions: int = 1,
    shuffle: bool = False,
    random_state: RandomState = None,
) -> GeometricMedian:
    """Geometric median of means of n points (Definition 2.2).

    Parameters
    ----------
    points : array-like of shape (n, p) or (n,)
    n_blocks : int
        K, from 1 (the mean) to n (the geometric median of the points). Block sizes differ by at
        most one.
    n_partitions : int, default 1
        With more than one, average over that many random partitions.
    shuffle : bool, default False
        Partition at random instead of in the given order.
    random_state : int, Generator or None

    Returns
    -------
    GeometricMedian
        ``(median, weights, n_iter, converged)`` with one weight per point.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> points = np.append(np.zeros(9), 1e6)
    >>> rs.median_of_means(points, 5).median
    array([0.])
    """
    array = read_points(points)
    n = array.shape[0]
    parts = partitions(n, n_blocks, n_partitions, shuffle=shuffle, random_state=random_state)
    with np.errstate(over="ignore", invalid="ignore"):
        centre = sample_centre(array)
        solved = _of_partitions(array, centre, parts)
        if solved is None or not is_central(centre, solved.median, _typical(array - solved.median)):
            # The sample consisted of bad points: differences to it lose digits.
            centre = np.median(array, axis=0)
            centre[~np.isfinite(centre)] = 0.0  # the midpoint of numbers whose sum overflows
            solved = _of_partitions(array, centre, parts)
    if solved is None:
        raise ValueError("Half of the blocks or more overflow; use more blocks, or rescale the points.")
    return solved


def _typical(differences: Array) -> float:
    """Return the median over rows of the largest entry in size."""
    return float(np.median(np.maximum(differences.max(axis=1), -differences.min(axis=1))))


def _of_partitions(array: Array, centre: Array, parts: list[Partition]) -> GeometricMedian | None:
    """Average over partitions; None where half of the blocks or more overflow."""
    n = array.shape[0]
    weights, n_iter, converged = np.zeros(n), 0, True
    for partition in parts:
        n_blocks = partition.n_blocks
        means = partition.means(array - centre)
        finite = np.isfinite(means).all(axis=1)  # a block that overflows is infinitely far
        if 2 * np.count_nonzero(finite) <= n_blocks and not finite.all():
            return None
        solved = geometric_median(means[finite])
        block_weights = np.zeros(n_blocks)
        block_weights[finite] = solved.weights
        weights += partition.row_weights(block_weights, n) / len(parts)
        n_iter = max(n_iter, solved.n_iter)
        converged &= solved.converged
    used = weights > 0
    some, share = (array, weights) if used.all() else (array[used], weights[used])
    return GeometricMedian(centre + share @ (some - centre), weights, n_iter, converged)


def partitions(
    n: int,
    n_blocks: int,
    n_partitions: int,
    *,
    shuffle: bool,
    random_state: RandomState,
    frequency: Array | None = None,
) -> list[Partition]:
    """Return one partition (in the given order unless shuffled), or several random ones."""
    if isinstance(n_partitions, bool) or not isinstance(n_partitions, int | np.integer) or n_partitions < 1:
        raise ArgumentError("n_partitions", n_partitions, "must be an integer of at least 1.")
    if n_partitions == 1 and not shuffle:
        return [Partition.even(n, n_blocks, frequency=frequency)]
    rng = as_generator(random_state)
    return [Partition.even(n, n_blocks, rng, frequency) for _ in range(n_partitions)]
