"""Where a coordinate lives, and how far it is from the nearest boundary.

Every domain here is a union of intervals, shared by all columns or with bounds of their own, so
one class computes the distances for all of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from robscore._typing import Array, BoolArray

Bound: TypeAlias = "float | tuple[float, ...]"


@dataclass(frozen=True)
class Nearest:
    """The nearest boundary of every entry of X; all arrays have X's shape.

    Attributes
    ----------
    distance : d >= 0, infinite where there is no boundary.
    slope : derivative of d in x: 1 where the nearest boundary lies below, -1 above, 0 where there is none.
    from_zero : True where the nearest boundary is 0 and lies below, so that d = x exactly.
    """

    distance: Array
    slope: Array
    from_zero: BoolArray


@dataclass(frozen=True, repr=False)
class Intervals:
    """A union of closed intervals for every column.

    Parameters
    ----------
    intervals : sequence of (lower, upper)
        Each bound is a number shared by all columns, or one number a column. Bounds may be infinite.

    Examples
    --------
    >>> import robscore as rs
    >>> near = rs.domains.Intervals([(0, 1), (2, 3)]).nearest([[0.25, 2.9]])
    >>> near.distance.round(6), near.slope
    (array([[0.25, 0.1 ]]), array([[ 1., -1.]]))
    """

    intervals: tuple[tuple[Bound, Bound], ...]

    def __init__(self, intervals: Iterable[Sequence[ArrayLike]]) -> None:
        pairs = []
        for interval in intervals:
            if len(interval) != 2:
                raise ValueError(f"An interval is a pair (lower, upper); got {interval!r}.")
            lower, upper = (np.asarray(bound, dtype=float) for bound in interval)
            if not (lower < upper).all():
                raise ValueError(f"An interval needs lower < upper; got ({_show(lower)}, {_show(upper)}).")
            pairs.append((_as_bound(lower), _as_bound(upper)))
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
    def is_real_line(self) -> bool:
        """Whether there is no boundary at all."""
        return len(self.intervals) == 1 and all(np.isinf(bound).all() for bound in self.bounds[0])

    @property
    def is_non_negative(self) -> bool:
        """Whether no column admits a negative value."""
        return all((lower >= 0).all() for lower, _ in self.bounds)

    @property
    def only_boundary_is_zero(self) -> bool:
        """Whether this is [0, inf) in every column."""
        return len(self.intervals) == 1 and all(
            (lower == 0).all() and np.isinf(upper).all() for lower, upper in self.bounds
        )

    def contains(self, X: ArrayLike) -> BoolArray:
        """Which entries of X, shape (n, m), lie inside."""
        x = np.asarray(X, dtype=float)
        inside = np.zeros(x.shape, dtype=bool)
        for lower, upper in self.bounds:
            inside |= (x >= lower) & (x <= upper)
        return inside

    def nearest(self, X: ArrayLike) -> Nearest:
        """Distance of every entry of X, shape (n, m), to its nearest boundary, with its derivative."""
        x = np.asarray(X, dtype=float)
        distance = np.full(x.shape, np.inf)
        slope = np.zeros(x.shape)
        from_zero = np.zeros(x.shape, dtype=bool)
        for lower, upper in self.bounds:
            inside = (x >= lower) & (x <= upper)
            below, above = x - lower, upper - x
            d = np.minimum(below, above)
            side = np.where(np.isinf(d), 0.0, np.where(below <= above, 1.0, -1.0))
            distance = np.where(inside, d, distance)
            slope = np.where(inside, side, slope)
            from_zero = np.where(inside, (side > 0) & (lower == 0), from_zero)
        return Nearest(distance, slope, from_zero)

    def moved(self, centre: Array, scale: Array) -> Intervals:
        """The domain of (x - centre) / scale, column by column."""
        if self.is_real_line or (self.only_boundary_is_zero and not centre.any()):
            return self
        return Intervals([((lower - centre) / scale, (upper - centre) / scale) for lower, upper in self.bounds])

    def check_columns(self, n_columns: int) -> None:
        """Raise unless bounds given by column are as many as the columns."""
        for bound in (bound for interval in self.bounds for bound in interval):
            if bound.ndim and bound.size != n_columns:
                raise ValueError(f"{self!r} has {bound.size} bounds, but the data have {n_columns} columns.")


class Real(Intervals):
    """The whole real line: no boundary."""

    def __init__(self) -> None:
        super().__init__([(-np.inf, np.inf)])

    def __repr__(self) -> str:
        return "Real()"


class NonNegative(Intervals):
    """[0, inf) in every column."""

    def __init__(self) -> None:
        super().__init__([(0.0, np.inf)])

    def __repr__(self) -> str:
        return "NonNegative()"


class Box(Intervals):
    """One interval [lower, upper], with bounds shared by all columns or one a column."""

    def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None:
        super().__init__([(lower, upper)])

    def __repr__(self) -> str:
        ((lower, upper),) = self.intervals
        return f"Box({lower}, {upper})"


def _as_bound(bound: Array) -> Bound:
    if bound.ndim > 1:
        raise ValueError(f"A bound is a number, or one number a column; got shape {bound.shape}.")
    return float(bound) if bound.ndim == 0 else tuple(float(value) for value in bound)


def _show(bound: Array) -> str:
    return str(_as_bound(bound))
