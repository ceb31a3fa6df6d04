"""Columns that live in intervals: the line, the half-line, boxes, and unions."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robscore._tools.typing import Array, BoolArray
from robscore.domains.base import Domain, Nearest
from robscore.domains.bounds import Bound, as_bound, check_count, show


@dataclass(frozen=True, repr=False)
class Intervals(Domain):
    """A union of closed intervals for every column.

    Parameters
    ----------
    intervals : sequence of (lower, upper)
        Each bound is a number shared by all columns, or one number per column. Bounds may be infinite.

    Examples
    --------
    >>> import robscore as rs
    >>> near = rs.domains.Intervals([(0, 1), (2, 3)]).nearest([[0.25, 2.9]])
    >>> near.distance.round(6), near.slope
    (array([[0.25, 0.1 ]]), array([[ 1., -1.]]))
    """

    intervals: tuple[tuple[Bound, Bound], ...]
    moves = True

    def __init__(self, intervals: Iterable[Sequence[ArrayLike]]) -> None:
        pairs = []
        for interval in intervals:
            if len(interval) != 2:
                raise ValueError(f"An interval is a pair (lower, upper); got {interval!r}.")
            lower, upper = (np.asarray(bound, dtype=float) for bound in interval)
            if not (lower < upper).all():
                raise ValueError(f"An interval needs lower < upper; got ({show(lower)}, {show(upper)}).")
            pairs.append((as_bound(lower), as_bound(upper)))
        if not pairs:
            raise ValueError("A domain needs at least one interval.")
        bounds = np.array(np.broadcast_arrays(*itertools.chain.from_iterable(pairs)))
        if (np.sort(bounds[::2], axis=0)[1:] < np.sort(bounds[1::2], axis=0)[:-1]).any():
            raise ValueError(f"The intervals {pairs} overlap; join those that do.")
        object.__setattr__(self, "intervals", tuple(pairs))

    def __repr__(self) -> str:
        return f"Intervals({list(self.intervals)})"

    @property
    def bounds(self) -> list[tuple[Array, Array]]:
        """The intervals as arrays that broadcast against rows."""
        return [(np.asarray(lower), np.asarray(upper)) for lower, upper in self.intervals]

    @property
    def is_bounded(self) -> bool:  # type: ignore[override]
        """Whether all bounds are finite."""
        return all(np.isfinite(bound).all() for pair in self.bounds for bound in pair)

    @property
    def is_real_line(self) -> bool:  # type: ignore[override]
        """Whether there is no boundary at all."""
        return len(self.intervals) == 1 and all(np.isinf(bound).all() for bound in self.bounds[0])

    @property
    def is_non_negative(self) -> bool:  # type: ignore[override]
        """Whether no column admits a negative value."""
        return all((lower >= 0).all() for lower, _ in self.bounds)

    @property
    def only_boundary_is_zero(self) -> bool:  # type: ignore[override]
        """Whether this is [0, inf) in every column."""
        return len(self.intervals) == 1 and all(
            (lower == 0).all() and np.isinf(upper).all() for lower, upper in self.bounds
        )

    def segments(self, X: Array) -> tuple[Array, Array]:
        """The same intervals for every row."""
        shape = (*X.shape, len(self.intervals))
        lower = np.stack([np.broadcast_to(low, X.shape) for low, _ in self.bounds], axis=-1)
        upper = np.stack([np.broadcast_to(high, X.shape) for _, high in self.bounds], axis=-1)
        return lower.reshape(shape), upper.reshape(shape)

    def segments_of(self, X: Array, j: int) -> tuple[Array, Array]:
        """The same intervals for every row."""
        ends = np.array([[end if end.ndim == 0 else end[j] for end in pair] for pair in self.bounds])
        lower, upper = np.broadcast_to(ends.T[:, None], (2, len(X), len(ends)))
        return lower, upper

    def contains(self, X: ArrayLike) -> BoolArray:
        """Which entries of X, shape (n, m), lie in an interval of their column."""
        x = np.asarray(X, dtype=float)
        each = [(x >= lower) & (x <= upper) for lower, upper in self.bounds]
        return np.asarray(each[0] if len(each) == 1 else np.logical_or.reduce(each))

    def others_inside(self, X: Array) -> BoolArray:
        """Whether all other entries of the row lie in their intervals."""
        outside = ~self.contains(X)
        return np.asarray(outside.sum(axis=-1, keepdims=True) == outside)

    def candidates(self, n_rows: int, n_columns: int, rng: np.random.Generator) -> Array:
        """Uniform within finite bounds, from near to far of a single one, wide where there is none."""
        which = rng.integers(len(self.intervals), size=(n_rows, n_columns))
        low, high = (
            np.take_along_axis(np.moveaxis(ends, -1, 0), which[None], axis=0)[0]
            for ends in self.segments(np.zeros((n_rows, n_columns)))
        )
        away = np.abs(super().candidates(n_rows, n_columns, rng))
        share = rng.random((n_rows, n_columns))
        with np.errstate(invalid="ignore", over="ignore"):
            between = low + share * (high - low)
        one_sided = np.where(np.isfinite(low), low + away, high - away)
        drawn = np.where(np.isfinite(high - low), between, one_sided)
        free = np.isinf(low) & np.isinf(high)
        return np.where(free, np.where(share < 0.5, away, -away), drawn)

    def moved(self, centre: Array, scale: Array) -> Intervals:
        """The domain of (x - centre) / scale, column by column."""
        if self.is_real_line or (self.only_boundary_is_zero and not centre.any()):
            return self
        with np.errstate(over="ignore"):  # a bound so far away is none
            return Intervals([((lower - centre) / scale, (upper - centre) / scale) for lower, upper in self.bounds])

    def check_columns(self, n_columns: int) -> None:
        """Raise unless bounds given by column are as many as the columns."""
        for bound in itertools.chain.from_iterable(self.bounds):
            check_count(self, bound, n_columns)


class Real(Intervals):
    """The whole real line: no boundary.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.domains.Real().nearest([[1.0]]).distance
    array([[inf]])
    """

    def __init__(self) -> None:
        super().__init__([(-np.inf, np.inf)])

    def nearest(self, X: ArrayLike) -> Nearest:
        """No boundary anywhere."""
        x = np.asarray(X, dtype=float)
        return Nearest(np.full(x.shape, np.inf), np.zeros(x.shape), np.zeros(x.shape, dtype=bool))

    def __repr__(self) -> str:
        return "Real()"


class NonNegative(Intervals):
    """[0, inf) in every column.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.domains.NonNegative().nearest([[1.5]]).distance
    array([[1.5]])
    """

    def __init__(self) -> None:
        super().__init__([(0.0, np.inf)])

    def nearest(self, X: ArrayLike) -> Nearest:
        """Zero, wherever an entry is."""
        x = np.asarray(X, dtype=float)
        return Nearest(x, np.ones(x.shape), np.ones(x.shape, dtype=bool))

    def __repr__(self) -> str:
        return "NonNegative()"


class Box(Intervals):
    """One interval [lower, upper], with bounds shared by all columns or one per column.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.domains.Box([0, -1], [1, 1]).nearest([[0.75, 0.0]]).distance
    array([[0.25, 1.  ]])
    """

    def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None:
        super().__init__([(lower, upper)])

    def __repr__(self) -> str:
        ((lower, upper),) = self.intervals
        return f"Box({lower}, {upper})"
