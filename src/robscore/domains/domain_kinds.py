"""The domains there are: intervals for every column, an inequality, the simplex, or a distance of your own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from robscore._tools.messages import ArgumentError, Message, Setting
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.domains.domain import Domain, Nearest

if TYPE_CHECKING:
    from robscore.domains.domain import Domain

Bound: TypeAlias = "float | tuple[float, ...]"
SUM_TOLERANCE = 1e-6  # by which the sum of a composition may differ from one


def as_bound(bound: Array) -> Bound:
    """Return an array of no or one dimension as a number or a tuple, which can be compared and hashed."""
    if bound.ndim > 1:
        raise ValueError(f"A bound is a number, or one number per column; got shape {bound.shape}.")
    return float(bound) if bound.ndim == 0 else tuple(float(value) for value in bound)


def check_count(domain: Domain, numbers: Array, n_columns: int) -> None:
    """Raise unless numbers given by column are as many as the columns."""
    if numbers.ndim and numbers.size != n_columns:
        raise ValueError(f"{domain!r} has {numbers.size} bounds, but the data have {n_columns} columns.")


def show(bound: Array) -> str:
    """Write a bound for messages."""
    return str(as_bound(bound))


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
        """Return the same intervals for every row."""
        shape = (*X.shape, len(self.intervals))
        lower = np.stack([np.broadcast_to(low, X.shape) for low, _ in self.bounds], axis=-1)
        upper = np.stack([np.broadcast_to(high, X.shape) for _, high in self.bounds], axis=-1)
        return lower.reshape(shape), upper.reshape(shape)

    def segments_of(self, X: Array, j: int) -> tuple[Array, Array]:
        """Return the same intervals for every row."""
        ends = np.array([[end if end.ndim == 0 else end[j] for end in pair] for pair in self.bounds])
        lower, upper = np.broadcast_to(ends.T[:, None], (2, len(X), len(ends)))
        return lower, upper

    def contains(self, X: ArrayLike) -> BoolArray:
        """Return which entries of X, shape (n, m), lie in an interval of their column."""
        x = np.asarray(X, dtype=float)
        each = [(x >= lower) & (x <= upper) for lower, upper in self.bounds]
        return np.asarray(each[0] if len(each) == 1 else np.logical_or.reduce(each))

    def others_inside(self, X: Array) -> BoolArray:
        """Return whether all other entries of the row lie in their intervals."""
        outside = ~self.contains(X)
        return np.asarray(outside.sum(axis=-1, keepdims=True) == outside)

    def candidates(self, n_rows: int, n_columns: int, rng: np.random.Generator) -> Array:
        """Draw uniformly within finite bounds, from near to far of a single one, widely where there is none."""
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
        with np.errstate(over="ignore"):  # a bound that overflows is so far away that it is none
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
        """Return infinite distances: there is no boundary."""
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
        """Return the distance to zero, the only boundary."""
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


@dataclass(frozen=True)
class Inequality(Domain):
    """Rows with ``sum_k c_k x_k^power <= bound`` (or ``>=``).

    Parameters
    ----------
    coefficients : float, or one per column
    relation : "<=" or ">="
        "<" and ">" mean the same: a boundary has no probability.
    bound : float
    power : float, default 1
        Positive. Powers that are not whole numbers need ``NonNegative() & ...``.

    Examples
    --------
    >>> import robscore as rs
    >>> outside_the_ball = rs.domains.Inequality(1.0, ">=", 1.0, power=2)
    >>> outside_the_ball.nearest([[0.6, 2.0]]).distance
    array([[inf, 1.2]])
    >>> below_a_line = rs.domains.NonNegative() & rs.domains.Inequality([1.3, 1.0], "<=", 2.0)
    >>> below_a_line.nearest([[0.5, 0.75]]).distance.round(4)
    array([[0.4615, 0.6   ]])
    """

    coefficients: Bound
    relation: Literal["<=", ">=", "<", ">"]
    bound: float
    power: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficients", as_bound(np.asarray(self.coefficients, dtype=float)))
        if self.relation not in ("<=", ">=", "<", ">"):
            raise ArgumentError("relation", self.relation, "must be '<=' or '>='.")
        if not (np.isfinite(self.power) and self.power > 0 and np.isfinite(self.bound)):
            raise ArgumentError(
                "power", self.power, Message("must be positive and ", Setting("bound", self.bound), " finite.")
            )

    @property
    def caps_positive(self) -> bool:  # type: ignore[override]
        """Whether it bounds a sum with positive coefficients from above."""
        return self.relation in ("<=", "<") and bool((np.asarray(self.coefficients) > 0).all())

    @property
    def is_bounded(self) -> bool:  # type: ignore[override]
        """Whether it is a ball, or bounds another sum of even powers."""
        return self.caps_positive and self.power % 2 == 0

    def check_columns(self, n_columns: int) -> None:
        """Raise unless coefficients given by column are as many as the columns."""
        check_count(self, np.asarray(self.coefficients), n_columns)

    def segments(self, X: Array) -> tuple[Array, Array]:
        """Compare c_j x_j^power with what the others leave of the bound."""
        c = np.broadcast_to(np.asarray(self.coefficients), X.shape)
        sign = 1.0 if self.relation in ("<=", "<") else -1.0
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            terms = c * X**self.power
            rest = self.bound - (terms.sum(axis=-1, keepdims=True) - terms)
            level = rest / c
        at_most = sign * c > 0
        root = np.sign(level) * np.abs(level) ** (1 / self.power)
        lower, upper = np.full((*X.shape, 2), np.inf), np.full((*X.shape, 2), -np.inf)
        if self.power % 2 == 1:
            lower[..., 0], upper[..., 0] = np.where(at_most, -np.inf, root), np.where(at_most, root, np.inf)
        else:
            # Even powers are symmetric about 0; powers that are not whole have no negative values.
            floor = -np.inf if self.power % 2 == 0 else 0.0
            size = np.maximum(root, 0.0)
            lower[..., 0] = np.where(at_most, np.maximum(-size, floor), size)
            upper[..., 0] = np.where(at_most, np.where(level >= 0, size, -np.inf), np.inf)
            lower[..., 1] = np.where(at_most, np.inf, floor)
            upper[..., 1] = np.where(at_most, -np.inf, np.where(floor < 0, -size, -np.inf))
        free = c == 0  # the row satisfies the inequality or not, wherever x_j is
        holds = free & (sign * rest >= 0)
        lower[free], upper[free] = np.inf, -np.inf
        lower[holds], upper[holds] = [-np.inf, np.inf], [np.inf, -np.inf]
        return lower, upper


@dataclass(frozen=True)
class Custom(Domain):
    """A domain given by your own distance and its derivative.

    Parameters
    ----------
    distance : callable
        X, shape (n, m), to the distance of every entry to its nearest boundary, shape (n, m), at least 0.
    derivative : callable
        X to the derivative of each distance in its own entry, shape (n, m).
    inside : callable, optional
        X to a boolean array of shape (n, m); by default every finite distance of at least 0 is inside.
    non_negative : bool, default False
        Whether no entry may be negative, which powers that are not whole numbers need.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> disc = rs.domains.Custom(lambda X: 2 - np.abs(X), lambda X: -np.sign(X))
    >>> disc.nearest([[0.5, -1.5]]).distance
    array([[1.5, 0.5]])
    """

    distance: Callable[[Array], Array]
    derivative: Callable[[Array], Array]
    inside: Callable[[Array], BoolArray] | None = None
    non_negative: bool = False

    @property
    def is_non_negative(self) -> bool:  # type: ignore[override]
        """Whether no entry may be negative, as given."""
        return self.non_negative

    def segments(self, X: Array) -> tuple[Array, Array]:
        """Raise, because the intervals of a distance are not known."""
        raise TypeError("A Custom domain has a distance only; it cannot be joined with others or sampled on.")

    def contains(self, X: ArrayLike) -> BoolArray:
        """Return which entries of X, shape (n, m), lie inside."""
        x = np.asarray(X, dtype=float)
        return self._checked(self.inside, x).astype(bool) if self.inside else self._checked(self.distance, x) >= 0

    def nearest(self, X: ArrayLike) -> Nearest:
        """The given distance and derivative."""
        x = np.asarray(X, dtype=float)
        distance = self._checked(self.distance, x)
        return Nearest(distance, self._checked(self.derivative, x), np.zeros(x.shape, dtype=bool))

    def _checked(self, function: Callable[[Array], Any], x: Array) -> Array:
        values = np.asarray(function(x), dtype=float)
        if values.shape != x.shape or np.isnan(values).any():
            raise ValueError(
                f"The functions of a Custom domain must give a number for each entry, shape {x.shape}; got shape "
                f"{values.shape}{' with NaN' if np.isnan(values).any() else ''}."
            )
        return values


def misses_one(X: Array) -> Array:
    """Return how far the sum of every row of X, shape (n, m), is from one, shape (n, 1); perhaps infinite."""
    with np.errstate(over="ignore"):
        return np.asarray(np.abs(X.sum(axis=1, keepdims=True) - 1))


@dataclass(frozen=True)
class Simplex(Domain):
    """Rows of non-negative entries that sum to one: compositions.

    The last entry is 1 minus the rest, so a column moves against the last one and its boundary is where either
    becomes zero: d_j = min(x_j, x_m).

    Examples
    --------
    >>> import robscore as rs
    >>> rs.domains.Simplex().nearest([[0.5, 0.3, 0.2]]).distance
    array([[0.2, 0.2, 0.2]])
    """

    is_non_negative = True
    is_bounded = True

    def segments(self, X: Array) -> tuple[Array, Array]:
        """Return 0 and x_j + x_m; the last entry cannot move when all others stay."""
        lower, upper = np.zeros(X.shape), X + X[:, -1:]
        lower[:, -1] = upper[:, -1] = X[:, -1]
        return lower[..., None], upper[..., None]

    def contains(self, X: ArrayLike) -> BoolArray:
        """Return which entries of X, shape (n, m), are not negative; none in rows that do not sum to one."""
        x = np.asarray(X, dtype=float)
        return np.asarray((x >= 0) & (misses_one(x) <= SUM_TOLERANCE))

    def nearest(self, X: ArrayLike) -> Nearest:
        """min(x_j, x_m), which falls as x_j rises where x_m is the smaller one."""
        x = np.asarray(X, dtype=float)
        last = np.broadcast_to(x[:, -1:], x.shape)
        return Nearest(np.minimum(x, last), np.where(x <= last, 1.0, -1.0), np.zeros(x.shape, dtype=bool))

    def replaced(self, X: Array, j: int, values: Array) -> Array:
        """The rows with other values in column j; the last column takes up the difference."""
        changed = super().replaced(X, j, values)
        changed[:, -1] = np.maximum(X[:, -1] + X[:, j] - values, 0.0)
        return changed

    def free_columns(self, n_columns: int) -> range:
        """All columns but the last."""
        return range(n_columns - 1)

    def sweep_order(self, n_columns: int, rng: np.random.Generator) -> IntArray:
        """Draw any order: another part comes last each time, so that a small one does not slow down all others."""
        return rng.permutation(n_columns)

    def some_rows(self, n_rows: int, n_columns: int, rng: np.random.Generator) -> Array:
        """Draw rows uniformly."""
        return rng.dirichlet(np.ones(n_columns), size=n_rows)

    def check_columns(self, n_columns: int) -> None:
        """Raise unless there are two columns at least."""
        if n_columns < 2:
            raise ValueError(f"{self!r} needs at least 2 columns that sum to one; the data have {n_columns}.")

    def __and__(self, other: Domain) -> Domain:
        raise TypeError("Simplex() cannot be joined with other domains; drop a column and use inequalities instead.")

    __or__ = __and__
