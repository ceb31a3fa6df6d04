"""The set that rows live in, and how far each coordinate is from the nearest boundary.

Distances are taken one coordinate at a time: given the other entries of the row, x_j may move in a union of
intervals, and d_j is the distance from x_j to the nearest end of the one it lies in. A domain only has to say
what those intervals are. Domains are joined by ``&`` (:class:`Both`) and ``|`` (:class:`Either`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robscore._tools.typing import Array, BoolArray, IntArray


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


class Domain(ABC):
    """A set of rows.

    Attributes
    ----------
    moves : bool
        Whether the domain of scaled columns is of the same kind, so that columns can be scaled.
    is_bounded, is_real_line, is_non_negative, only_boundary_is_zero : bool
        Whether it lies within finite bounds (as far as known); has no boundary at all; has no negative values; is
        [0, inf) in every column.
    caps_positive : bool
        Whether it bounds a sum with positive coefficients from above.
    """

    moves: bool = False
    is_bounded: bool = False
    is_real_line: bool = False
    is_non_negative: bool = False
    only_boundary_is_zero: bool = False
    caps_positive: bool = False

    @abstractmethod
    def segments(self, X: Array) -> tuple[Array, Array]:
        """Return where each entry of X may move when the rest of its row stays: lower and upper ends.

        Both have shape (n, m, q): at most q intervals for an entry, empty ones with lower > upper.
        """

    def segments_of(self, X: Array, j: int) -> tuple[Array, Array]:
        """Return where the entries of column j may move, shape (n, q) each."""
        lower, upper = self.segments(X)
        return lower[:, j], upper[:, j]

    def others_inside(self, X: Array) -> BoolArray:
        """Return for every entry of X, shape (n, m), whether the others of its row meet what is asked of them alone."""
        return np.ones(X.shape, dtype=bool)

    def contains(self, X: ArrayLike) -> BoolArray:
        """Return which entries of X, shape (n, m), lie inside, given the rest of their row."""
        x = np.asarray(X, dtype=float)
        lower, upper = self.segments(x)
        return np.asarray(((x[..., None] >= lower) & (x[..., None] <= upper)).any(axis=-1))

    def nearest(self, X: ArrayLike) -> Nearest:
        """Return the distance of every entry of X, shape (n, m), to its nearest boundary, with its derivative."""
        x = np.asarray(X, dtype=float)
        low, high = _around(x, *self.segments(x))
        below, above = x - low, high - x
        distance = np.minimum(below, above)
        slope = np.where(np.isinf(distance), 0.0, np.where(below <= above, 1.0, -1.0))
        return Nearest(distance, slope, (slope > 0) & (low == 0))

    def replaced(self, X: Array, j: int, values: Array) -> Array:
        """Return the rows X, shape (n, m), with other values, shape (n,), in column j."""
        changed = X.copy()
        changed[:, j] = values
        return changed

    def free_columns(self, n_columns: int) -> range:
        """Columns that can move while all others stay."""
        return range(n_columns)

    def sweep_order(self, n_columns: int, rng: np.random.Generator) -> IntArray:
        """An order of the columns for one sweep of a sampler."""
        return np.arange(n_columns)

    def some_rows(self, n_rows: int, n_columns: int, rng: np.random.Generator) -> Array:
        """Draw rows inside the domain, shape (n_rows, n_columns), by trial."""
        found = np.empty((0, n_columns))
        for _ in range(20):
            draws = self.candidates(100 * min(n_rows, 200), n_columns, rng)
            found = np.concatenate([found, draws[self.contains(draws).all(axis=1)]])
            if len(found) >= n_rows:
                break
        if not len(found):
            raise ValueError(f"No row inside {self!r} was found to start from; give start=.")
        chosen: Array = found[rng.integers(len(found), size=n_rows)]
        return chosen

    def candidates(self, n_rows: int, n_columns: int, rng: np.random.Generator) -> Array:
        """Draw rows that may lie inside: normal, of sizes from small to large, positive where no others are allowed."""
        draws = np.geomspace(0.05, 50, n_rows)[:, None] * rng.standard_normal((n_rows, n_columns))
        return np.abs(draws) if self.is_non_negative else draws

    def moved(self, centre: Array, scale: Array) -> Domain:
        """The domain of (x - centre) / scale, column by column."""
        raise TypeError(f"{self!r} does not move with the scale of its columns.")

    def check_columns(self, n_columns: int) -> None:  # noqa: B027
        """Raise unless the domain fits so many columns; most fit any number."""

    def __and__(self, other: Domain) -> Domain:
        return Both(self, other)

    def __or__(self, other: Domain) -> Domain:
        return Either(self, other)


def _around(x: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Return the ends of the connected piece of a union of intervals, shape (..., q), that holds x, shape (...)."""
    inside = (x[..., None] >= lower) & (x[..., None] <= upper)
    low = np.where(inside, lower, np.inf).min(axis=-1)
    high = np.where(inside, upper, -np.inf).max(axis=-1)
    for _ in range(lower.shape[-1] - 1):  # intervals that touch the piece found so far extend it
        touching = (lower <= high[..., None]) & (upper >= low[..., None])
        low = np.minimum(low, np.where(touching, lower, np.inf).min(axis=-1))
        high = np.maximum(high, np.where(touching, upper, -np.inf).max(axis=-1))
    return low, high


@dataclass(frozen=True)
class _Joined(Domain):
    """Two domains joined into one."""

    left: Domain
    right: Domain

    def candidates(self, n_rows: int, n_columns: int, rng: np.random.Generator) -> Array:
        """Draw as both domains do, and as any domain does."""
        some = [Domain.candidates(self, n_rows // 3 + 1, n_columns, rng)]
        some += [side.candidates(n_rows // 3 + 1, n_columns, rng) for side in (self.left, self.right)]
        return np.concatenate(some)

    def check_columns(self, n_columns: int) -> None:
        """Raise unless both fit so many columns."""
        self.left.check_columns(n_columns)
        self.right.check_columns(n_columns)


@dataclass(frozen=True, repr=False)
class Both(_Joined):
    """Rows in both of two domains: ``left & right``.

    Examples
    --------
    >>> import robscore as rs
    >>> ring = rs.domains.Inequality(1.0, ">=", 1.0, power=2) & rs.domains.Inequality(1.0, "<=", 4.0, power=2)
    >>> ring.contains([[1.0, 1.0], [0.1, 0.1]])
    array([[ True,  True],
           [False, False]])
    """

    @property
    def is_bounded(self) -> bool:  # type: ignore[override]
        """Whether one of the two is bounded, or one bounds a positive sum and the other admits no negative value."""
        pairs = ((self.left, self.right), (self.right, self.left))
        capped = any(a.is_non_negative and b.caps_positive for a, b in pairs)
        return self.left.is_bounded or self.right.is_bounded or capped

    @property
    def is_non_negative(self) -> bool:  # type: ignore[override]
        """Whether one of the two admits no negative value."""
        return self.left.is_non_negative or self.right.is_non_negative

    def others_inside(self, X: Array) -> BoolArray:
        """Return whether the other entries meet what both domains ask of them alone."""
        return self.left.others_inside(X) & self.right.others_inside(X)

    def segments(self, X: Array) -> tuple[Array, Array]:
        """Intersect every interval of one with every interval of the other."""
        (a, b), (c, d) = self.left.segments(X), self.right.segments(X)
        shape = (*X.shape, -1)
        lower = np.maximum(a[..., :, None], c[..., None, :]).reshape(shape)
        return lower, np.minimum(b[..., :, None], d[..., None, :]).reshape(shape)

    def __repr__(self) -> str:
        return f"({self.left!r} & {self.right!r})"


@dataclass(frozen=True, repr=False)
class Either(_Joined):
    """Rows in at least one of two domains: ``left | right``.

    Examples
    --------
    >>> import robscore as rs
    >>> either = rs.domains.Box(0, 1) | rs.domains.Box(2, 3)
    >>> either.contains([[0.5, 0.7], [0.5, 2.5]])  # the second row lies in neither
    array([[ True,  True],
           [False, False]])
    """

    @property
    def is_bounded(self) -> bool:  # type: ignore[override]
        """Whether both are bounded."""
        return self.left.is_bounded and self.right.is_bounded

    @property
    def is_non_negative(self) -> bool:  # type: ignore[override]
        """Whether neither admits a negative value."""
        return self.left.is_non_negative and self.right.is_non_negative

    def segments(self, X: Array) -> tuple[Array, Array]:
        """Join the intervals of both, each where the rest of the row lies in that domain."""
        lower, upper = [], []
        for side in (self.left, self.right):
            low, high = side.segments(X)
            possible = side.others_inside(X)[..., None]
            lower.append(np.where(possible, low, np.inf))
            upper.append(np.where(possible, high, -np.inf))
        return np.concatenate(lower, axis=-1), np.concatenate(upper, axis=-1)

    def __repr__(self) -> str:
        return f"({self.left!r} | {self.right!r})"
