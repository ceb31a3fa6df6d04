"""Families whose statistics a user writes down: any exponential family, and any pairwise interaction model.

An exponential family has the density exp( theta' t(x) + b(x) - a(theta) ). With h_j the boundary weight of column j
(section 2.1 of the paper) its score-matching elements are

    Gamma(x) = sum_j h_j  d_j t  d_j t'
    g(x)     = -sum_j ( h_j d_j b d_j t + h_j d_jj t + d_j h_j d_j t )

The paper's general pairwise interaction model (4.1) is

    p(x) ~ exp( -sum_{i<j} K_ij t_pair(x_i, x_j) - sum_j K_jj t_self(x_j) - sum_j eta_j t_single(x_j) )

In its extended parametrisation (K a full square matrix) node j owns z_j = (K_1j, ..., K_mj, eta_j) and

    v_j = -( d_2 t_pair(x_1, x_j), ..., t_self'(x_j), ..., d_2 t_pair(x_m, x_j), t_single'(x_j) )
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from robscore import boundary as boundaries
from robscore._tools.autodiff import Function, check_derivative, derivatives_along_columns, double_precision, have_jax
from robscore._tools.typing import Array
from robscore.boundary import Boundary
from robscore.domains import Domain, Real
from robscore.elements import NodeElements, StatisticElements
from robscore.families.family import WeightedFamily


def _check_jax(otherwise: str) -> None:
    """Raise unless JAX is there to find derivatives, or say what to give in its place."""
    if not have_jax():
        raise ImportError(
            f"The derivatives of your statistics are not known: either install JAX with pip install "
            f"'robscore[autodiff]', or give {otherwise}."
        )


class _CustomStatistics(WeightedFamily):
    """What families with statistics of a user's own share."""

    default_domain: Domain = Real()

    def _shown_as(self, function: Function) -> str:
        name = getattr(function, "__name__", type(function).__name__)
        weight = "" if self.boundary == boundaries.Power(2.0) else f", boundary={self.boundary!r}"
        return f"{type(self).__name__}({name}, domain={self.domain!r}{weight})"


class ExponentialFamily(_CustomStatistics):
    """The family of the statistics t: R^m -> R^r, with parameters theta in R^r.

    Parameters
    ----------
    t : callable
        One row, an array of shape (m,), to its r statistics, twice differentiable inside the domain. Written with
        ``jax.numpy`` so that JAX can differentiate it (``pip install 'robscore[autodiff]'``), unless derivatives are
        given. Use ``def`` rather than ``lambda`` if the estimator is to be pickled.
    derivatives : pair of callables, optional
        First and second derivatives by hand: all rows X, shape (n, m), to d_j t_k(x) and to d_jj t_k(x), each of
        shape (n, m, r).
    base : callable, optional
        One row to b(x), the logarithm of the base density; 0 by default.
    base_derivative : callable, optional
        X to d_j b(x), shape (n, m); needed with ``base`` when derivatives are given by hand.
    domain : domain, default Real()
    boundary : Boundary, optional
        Weight h of the distance to the boundary, d^2 by default, 1 where there is no boundary. It must vanish fast
        enough that h p d_j t does at the boundary; d^2 does for logarithms and powers.

    Examples
    --------
    The normal distribution, by hand:

    >>> import numpy as np, robscore as rs
    >>> family = rs.families.ExponentialFamily(
    ...     lambda x: np.array([x[0], x[0] ** 2]),
    ...     derivatives=(lambda X: np.stack([X**0, 2 * X], axis=-1), lambda X: np.stack([0 * X, 2 * X**0], axis=-1)),
    ... )
    >>> X = np.random.default_rng(0).normal(3.0, 2.0, size=(2000, 1))
    >>> theta = rs.RobustScoreMatching(family, n_blocks=1).fit(X).theta_
    >>> bool(np.isclose(-1 / (2 * theta[1]), X.var()))  # theta_2 = -1 / (2 sigma^2)
    True
    """

    is_pairwise = False

    def __init__(
        self,
        t: Function,
        *,
        derivatives: tuple[Function, Function] | None = None,
        base: Function | None = None,
        base_derivative: Function | None = None,
        domain: Domain | None = None,
        boundary: Boundary | None = None,
    ) -> None:
        if not callable(t):
            raise TypeError(f"t={t!r} must be a function of one row that gives its statistics.")
        pair = isinstance(derivatives, tuple | list) and len(derivatives) == 2 and all(map(callable, derivatives))
        if derivatives is not None and not pair:
            raise TypeError("derivatives must be two functions of X: the first and the second derivatives of t.")
        if base_derivative is not None and base is None:
            raise ValueError("base_derivative is given without base; give both, or neither.")
        by_hand = derivatives is not None and (base is None or base_derivative is not None)
        if not by_hand:
            _check_jax("derivatives=(first, second)" if derivatives is None else "base_derivative=")
        self.t, self.derivatives, self.base, self.base_derivative = t, derivatives, base, base_derivative
        super().__init__(domain=domain, boundary=boundary)

    def __repr__(self) -> str:
        return self._shown_as(self.t)

    def elements(self, X: Array) -> StatisticElements:
        """The derivatives of the statistics, the boundary weights and g of every row."""
        first, second = self._derivatives(X)
        with np.errstate(over="ignore", invalid="ignore"):  # rows that overflow are marked
            h, slope = weights_and_slopes(self.domain, self.boundary, X)
            factor = slope
            if self.base is not None:
                factor = factor + h * self._base_derivative(X)
            g = -np.einsum("nj,njr->nr", factor, first) - np.einsum("nj,njr->nr", h, second)
        return StatisticElements(X, first, h, g[:, None, :])

    def log_density(self, X: Array, *parameters: Array) -> Array:
        """Theta' t(x) + b(x) at rows X, shape (n,), up to a constant."""
        (theta,) = parameters
        with double_precision(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            values = np.array([np.asarray(self.t(x), dtype=float) @ theta for x in X])
            if self.base is not None:
                values += np.array([float(np.asarray(self.base(x)).squeeze()) for x in X])
        return values

    @property
    def is_natural(self) -> bool:
        """Without a base density every term of log p has a parameter."""
        return self.base is None

    def dependence(self, n_columns: int, *, fit_location: bool) -> str | None:
        """Say whether statistics are constant or linearly dependent, by their derivatives at rows in the domain."""
        first, _ = self._derivatives(self.domain.some_rows(60, n_columns, np.random.default_rng(0)))
        stacked = first[np.isfinite(first).all(axis=(1, 2))].reshape(-1, first.shape[-1])
        return _describe_dependence(stacked)

    def statistics_a_column(self, n_columns: int, *, fit_location: bool) -> int:
        """Count where the derivatives of the statistics are not zero, at rows inside the domain."""
        first, _ = self._derivatives(self.domain.some_rows(20, n_columns, np.random.default_rng(0)))
        return int((first != 0).any(axis=0).sum(axis=1).max())

    def _derivatives(self, X: Array) -> tuple[Array, Array]:
        """d_j t_k and d_jj t_k, each of shape (n, m, r); some rows may not be finite, but fewer than half of them."""
        n, m = X.shape
        r = self._n_statistics(X[0])
        if self.derivatives is None:
            first, second = derivatives_along_columns(self.t, X, "t")
        else:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                first, second = (np.asarray(function(X), dtype=float) for function in self.derivatives)
        for what, values in (("first", first), ("second", second)):
            if values.shape != (n, m, r):
                raise ValueError(
                    f"The {what} derivatives of t must have shape (rows, columns, statistics) = {(n, m, r)}; got "
                    f"{values.shape}."
                )
            wrong = ~np.isfinite(values)
            if 2 * np.count_nonzero(wrong.any(axis=(1, 2))) >= n:
                i, j, k = np.argwhere(wrong)[0]
                raise ValueError(
                    f"Statistic {k} has no finite {what} derivative in column {j} where x = "
                    f"{np.array2string(X[i], precision=4, threshold=5)}, and half of the rows or more are like that: t "
                    f"must be twice differentiable inside {self.domain!r}. Change t or the domain."
                )
        if self.derivatives is not None:
            self._check_by_hand(X, first, second)
        return first, second

    def _n_statistics(self, x: Array) -> int:
        with double_precision(), np.errstate(all="ignore"):
            values = np.asarray(self.t(x))
        if values.ndim != 1 or values.size == 0 or np.iscomplexobj(values):
            raise ValueError(
                f"t must give a one-dimensional array of real statistics for one row of {x.size} columns; got shape "
                f"{values.shape}{' of complex numbers' if np.iscomplexobj(values) else ''}."
            )
        return values.size

    def _check_by_hand(self, X: Array, first: Array, second: Array) -> None:
        """Raise where derivatives by hand are not those of t, at a few rows where they are finite."""
        assert self.derivatives is not None
        finite = np.flatnonzero(np.isfinite(first).all(axis=(1, 2)) & np.isfinite(second).all(axis=(1, 2)))[:3]
        room = self.domain.nearest(X[finite]).distance
        for i, space in zip(finite, room, strict=True):
            for j in range(X.shape[1]):
                if space[j] > 0:
                    self._check_one_by_hand(X[[i]], j, first[i, j], second[i, j], float(space[j]))

    def _check_one_by_hand(self, x: Array, j: int, first: Array, second: Array, room: float) -> None:
        """Raise where derivatives by hand in one column are wrong at one row x, shape (1, m)."""

        def moved(value: float) -> Array:
            return self.domain.replaced(x, j, np.array([value]))

        slopes, base, base_slope = (self.derivatives or (None,))[0], self.base, self.base_derivative
        at, where = float(x[0, j]), f"in column {j}"
        check_derivative(lambda v: self.t(moved(v)[0]), at, first, room, f"first {where}")
        if slopes is not None:
            check_derivative(lambda v: np.asarray(slopes(moved(v)))[0, j], at, second, room, f"second {where}")
        if base is not None and base_slope is not None:
            claimed = np.asarray(base_slope(x), dtype=float)[0, [j]]
            check_derivative(lambda v: np.atleast_1d(base(moved(v)[0])), at, claimed, room, f"base_derivative {where}")

    def _base_derivative(self, X: Array) -> Array:
        if self.base_derivative is not None:
            values = np.asarray(self.base_derivative(X), dtype=float)
        else:
            values = derivatives_along_columns(self.base, X, "base")[0]  # type: ignore[arg-type]
        if values.shape != X.shape:
            raise ValueError(
                f"base must give one number per row: derivatives of shape {X.shape} in all; got {values.shape}."
            )
        return values


def weights_and_slopes(domain: Domain, boundary: Boundary, X: Array) -> tuple[Array, Array]:
    """h_j and d_j h_j of every entry of X, shape (n, m); 1 and 0 where there is no boundary."""
    near = domain.nearest(X)
    bounded = np.isfinite(near.distance)
    distance = np.where(bounded, near.distance, 1.0)
    h = np.where(bounded, boundary.value(distance), 1.0)
    return h, np.where(bounded, near.slope * boundary.derivative(distance), 0.0)


def _describe_dependence(derivatives: Array) -> str | None:
    """Say which statistics are redundant where their derivatives, shape (places, r), lack full rank; else None."""
    size = np.sqrt((derivatives**2).sum(axis=0))
    if not (size > 0).all():
        return f"Statistic {int(np.argmin(size))} is constant, so its parameter cannot be estimated: leave it out."
    values = np.linalg.svd(derivatives / size, compute_uv=False)
    rank = int(np.count_nonzero(values > 1e-9 * values[0]))
    if rank == size.size:
        return None
    return f"The {size.size} statistics are linearly dependent (rank {rank}), whatever the data: leave some out."


class Pairwise(_CustomStatistics):
    """Pairwise interactions through statistics of your own, with the minus signs of the paper's (4.1).

    Parameters
    ----------
    t_pair : callable
        Symmetric function (x, y) of the values of two columns, the statistic of K_ij. A positive K_ij makes large
        values of it rare, so with a t_pair that is large where x and y agree, such as x * y, a negative K_ij is
        positive association, as in the other families.
    t_single : callable
        Function of one column's value, the statistic of eta_j.
    t_self : callable, optional
        The statistic of K_jj; by default t_pair(x, x).
    derivatives : dict, optional
        By hand, for arrays of values: ``{"pair": (first, second), "single": (first, second), "self": (...)}``, where
        those of the pair are derivatives of t_pair(x, y) in y. Without them JAX is used, and the functions must be
        written with ``jax.numpy`` or plain operators.
    domain : domain, default Real()
    boundary : Boundary, optional
        Weight h of the distance to the boundary, d^2 by default, 1 where there is no boundary.

    All statistics must be twice differentiable inside the domain and work on arrays. Holds n m^2 numbers for n rows of
    m columns, where the power families hold n m. Use ``def`` rather than ``lambda`` if an estimator is to be pickled.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> bounded = rs.families.Pairwise(
    ...     lambda x, y: np.tanh(x) * np.tanh(y),
    ...     lambda x: -x,
    ...     t_self=lambda x: x**2 / 2,
    ...     derivatives={
    ...         "pair": (
    ...             lambda x, y: np.tanh(x) / np.cosh(y) ** 2,
    ...             lambda x, y: -2 * np.tanh(x) * np.tanh(y) / np.cosh(y) ** 2,
    ...         ),
    ...         "single": (lambda x: -np.ones_like(x), np.zeros_like),
    ...         "self": (lambda x: x, np.ones_like),
    ...     },
    ... )
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> rs.RobustGraph(bounded, n_edges=2).fit(X).interaction_.shape
    (4, 4)
    """

    def __init__(
        self,
        t_pair: Function,
        t_single: Function,
        *,
        t_self: Function | None = None,
        derivatives: dict[str, tuple[Function, Function]] | None = None,
        domain: Domain | None = None,
        boundary: Boundary | None = None,
    ) -> None:
        for name, function in (("t_pair", t_pair), ("t_single", t_single), ("t_self", t_self)):
            if not (callable(function) or (function is None and name == "t_self")):
                raise TypeError(f"{name}={function!r} must be a function.")
        if derivatives is None:
            _check_jax("derivatives= for 'pair', 'single' and 'self'")
        if derivatives is not None and set(derivatives) != {"pair", "single", "self"}:
            raise ValueError(f"derivatives must have the keys 'pair', 'single' and 'self'; got {sorted(derivatives)}.")
        self.t_pair, self.t_single, self.t_self, self.derivatives = t_pair, t_single, t_self, derivatives
        super().__init__(domain=domain, boundary=boundary)

    def __repr__(self) -> str:
        return self._shown_as(self.t_pair)

    def elements(self, X: Array) -> NodeElements:
        """Gradients, boundary weights and g of every row, node by node."""
        n, m = X.shape
        self._check_symmetric(X)
        first, second = np.empty((n, m, m + 1)), np.empty((n, m, m + 1))
        j, k = np.nonzero(~np.eye(m, dtype=bool))
        if m > 1:
            first[:, j, k], second[:, j, k] = self._of_pair(X[:, k], X[:, j])
        node = np.arange(m)
        first[:, node, node], second[:, node, node] = self._of_one("self", X)
        first[:, :, m], second[:, :, m] = self._of_one("single", X)
        if self.derivatives is not None:
            self._check_by_hand(X)
        h, slope = weights_and_slopes(self.domain, self.boundary, X)
        with np.errstate(over="ignore", invalid="ignore"):
            g = slope[:, :, None] * first + h[:, :, None] * second
        return NodeElements(X, -first, h, g)

    def _of_pair(self, x: Array, y: Array) -> tuple[Array, Array]:
        """First and second derivatives of t_pair(x, y) in y, entry by entry."""
        if self.derivatives is not None:
            return self._by_hand("pair", x, y)
        stacked = np.column_stack([x.ravel(), y.ravel()])
        derivatives = derivatives_along_columns(self._functions["pair"], stacked, "t_pair", columns=slice(1, 2))
        return self._checked("pair", list(derivatives), y)

    def _of_one(self, name: str, X: Array) -> tuple[Array, Array]:
        """First and second derivatives of t_self or t_single, entry by entry."""
        if self.derivatives is not None:
            return self._by_hand(name, X)
        derivatives = derivatives_along_columns(self._functions[name], X.reshape(-1, 1), f"t_{name}")
        return self._checked(name, list(derivatives), X)

    def _by_hand(self, name: str, *at: Array) -> tuple[Array, Array]:
        """The user's derivatives of one kind of statistic, in the last of its arguments."""
        assert self.derivatives is not None
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return self._checked(name, [f(*at) for f in self.derivatives[name]], at[-1])

    @cached_property
    def _functions(self) -> dict[str, Function]:
        """The statistics as functions of one row, kept so that JAX compiles each once."""
        return {
            "pair": lambda row: self.t_pair(row[0], row[1]),
            "single": lambda row: self.t_single(row[0]),
            "self": lambda row: self._own(row[0]),
        }

    def __getstate__(self) -> dict[str, Any]:  # compiled functions cannot be pickled, and are made anew
        return {name: value for name, value in self.__dict__.items() if name != "_functions"}

    def _own(self, x: Any) -> Any:
        return self.t_pair(x, x) if self.t_self is None else self.t_self(x)

    def _checked(self, name: str, derivatives: list[Any], at: Array) -> tuple[Array, Array]:
        """Derivatives in the shape of their values; some rows may not be finite, but fewer than half of them."""
        first, second = (np.asarray(values, dtype=float) for values in derivatives)
        for what, values in (("first", first), ("second", second)):
            if values.size != at.size:
                raise ValueError(
                    f"t_{name} and its derivatives must give one number for each value; got {values.shape}."
                )
            wrong = ~np.isfinite(values.reshape(at.shape))
            if 2 * np.count_nonzero(wrong.any(axis=1)) >= len(at):
                raise ValueError(
                    f"t_{name} has no finite {what} derivative at {at[wrong][0]:.6g}, and half of the rows or more are "
                    f"like that: it must be twice differentiable inside {self.domain!r}. Change the statistic or the "
                    "domain."
                )
        return first.reshape(at.shape), second.reshape(at.shape)

    def _check_symmetric(self, X: Array) -> None:
        for x, y in X[:3, :2] if X.shape[1] > 1 else []:
            with double_precision():
                one, other = (np.asarray(value, dtype=float) for value in (self.t_pair(x, y), self.t_pair(y, x)))
            if one.ndim or other.ndim:
                raise ValueError(f"t_pair must give one number for two values; got an array of shape {one.shape}.")
            if not np.isclose(one, other, rtol=1e-6, atol=1e-9, equal_nan=True):
                raise ValueError(
                    f"t_pair must be symmetric, but t_pair({x:.4g}, {y:.4g}) = {one:.6g} and "
                    f"t_pair({y:.4g}, {x:.4g}) = {other:.6g}."
                )

    def _check_by_hand(self, X: Array) -> None:
        """Raise where derivatives by hand are not those of the statistics, at a few values."""
        assert self.derivatives is not None
        room = self.domain.nearest(X[:3]).distance
        for row, space in zip(X[:3], room, strict=True):
            other = row[1:2] if row.size > 1 else row[:1]
            kinds: dict[str, tuple[Function, Function, Function]] = {
                "single": (self.t_single, *self.derivatives["single"]),
                "self": (self._own, *self.derivatives["self"]),
            }
            if row.size > 1:
                first, second = self.derivatives["pair"]
                kinds["pair"] = (
                    lambda y, x=other: self.t_pair(x, y),
                    lambda y, x=other, f=first: f(x, y),
                    lambda y, x=other, f=second: f(x, y),
                )
            if not space[0] > 0:
                continue
            for name, functions in kinds.items():
                for what, (lower, upper) in zip(("first", "second"), pairwise(functions), strict=True):
                    with np.errstate(all="ignore"):
                        claimed = np.asarray(upper(row[:1]), dtype=float)
                    if np.isfinite(claimed).all():
                        check_derivative(
                            lambda v, f=lower: f(np.array([v])), float(row[0]), claimed, space[0], f"{what} of t_{name}"
                        )

    def dependence(self, n_columns: int, *, fit_location: bool) -> str | None:
        """Say whether t_self, t_single and the pair statistics of a column are linearly dependent."""
        X = self.domain.some_rows(60, n_columns, np.random.default_rng(0))
        v = self.elements(X).rows.v[:, 0, : n_columns + fit_location]
        words = _describe_dependence(v[np.isfinite(v).all(axis=1)])
        return words and words.replace("statistics", "statistics of a column (t_pair, t_self, t_single)")

    def log_density(self, X: Array, *parameters: Array) -> Array:
        """Logarithm of the density at rows X, shape (n,), up to a constant."""
        K, eta = parameters
        m = X.shape[1]
        total = np.zeros(len(X))
        try:
            with double_precision():
                for j in range(m):
                    total -= K[j, j] * np.asarray(self._own(X[:, j])) + eta[..., j] * np.asarray(self.t_single(X[:, j]))
                    for i in np.flatnonzero(K[:j, j]):
                        total -= K[i, j] * np.asarray(self.t_pair(X[:, i], X[:, j]))
        except TypeError as error:
            raise ValueError(f"The statistics must work on arrays, as numpy's functions do ({error}).") from None
        return total

    def check_parameters(self, interaction: Array, location: Array) -> None:
        """Accept all parameters: only the statistics can say whether there is a density."""
