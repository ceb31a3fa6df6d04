"""The paper's general pairwise interaction model (4.1), for pair statistics that a user writes down.

    p(x) ~ exp( -sum_{i<j} K_ij t_pair(x_i, x_j) - sum_j K_jj t_self(x_j) - sum_j eta_j t_single(x_j) )

In the extended parametrisation (K a full square matrix) node j owns z_j = (K_1j, ..., K_mj, eta_j) and

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
from robscore.elements import NodeElements
from robscore.families.base import WeightedFamily, check_boundary, check_domain
from robscore.families.exponential import dependence_in_words, weights_and_slopes


class Pairwise(WeightedFamily):
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
        if derivatives is None and not have_jax():
            raise ImportError(
                "The derivatives of your statistics are not known: either install JAX with pip install "
                "'robscore[autodiff]', or give derivatives= for 'pair', 'single' and 'self'."
            )
        if derivatives is not None and set(derivatives) != {"pair", "single", "self"}:
            raise ValueError(f"derivatives must have the keys 'pair', 'single' and 'self'; got {sorted(derivatives)}.")
        self.t_pair, self.t_single, self.t_self, self.derivatives = t_pair, t_single, t_self, derivatives
        self.domain = Real() if domain is None else check_domain(domain)
        self.boundary = boundaries.Power(2.0) if boundary is None else check_boundary(boundary)

    def __repr__(self) -> str:
        name = getattr(self.t_pair, "__name__", type(self.t_pair).__name__)
        weight = "" if self.boundary == boundaries.Power(2.0) else f", boundary={self.boundary!r}"
        return f"Pairwise({name}, domain={self.domain!r}{weight})"

    def elements(self, X: Array) -> NodeElements:
        """Gradients, weights and g of every row, node by node."""
        n, m = X.shape
        self._check_symmetric(X)
        first, second = np.empty((n, m, m + 1)), np.empty((n, m, m + 1))
        j, k = np.nonzero(~np.eye(m, dtype=bool))
        if m > 1:
            first[:, j, k], second[:, j, k] = self._of_pair(X[:, k], X[:, j])
        own, node = np.arange(m), np.arange(m)
        first[:, node, own], second[:, node, own] = self._of_one("self", X)
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
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                return self._checked("pair", [f(x, y) for f in self.derivatives["pair"]], y)
        stacked = np.column_stack([x.ravel(), y.ravel()])
        derivatives = derivatives_along_columns(self._functions["pair"], stacked, "t_pair", columns=slice(1, 2))
        return self._checked("pair", list(derivatives), y)

    def _of_one(self, name: str, X: Array) -> tuple[Array, Array]:
        """First and second derivatives of t_self or t_single, entry by entry."""
        if self.derivatives is not None:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                return self._checked(name, [f(X) for f in self.derivatives[name]], X)
        derivatives = derivatives_along_columns(self._functions[name], X.reshape(-1, 1), f"t_{name}")
        return self._checked(name, list(derivatives), X)

    @cached_property
    def _functions(self) -> dict[str, Function]:
        """The statistics as functions of one row, which are compiled once."""
        return {
            "pair": lambda row: self.t_pair(row[0], row[1]),
            "single": lambda row: self.t_single(row[0]),
            "self": lambda row: self._own(row[0]),
        }

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_functions"}

    def _own(self, x: Any) -> Any:
        return self.t_pair(x, x) if self.t_self is None else self.t_self(x)

    def _checked(self, name: str, derivatives: list[Any], at: Array) -> tuple[Array, Array]:
        """Derivatives of the right shape; not finite in some rows, perhaps, but not in half of them."""
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
        """Whether t_self, t_single and the pair statistics of a column are linearly dependent."""
        X = self.domain.some_rows(60, n_columns, np.random.default_rng(0))
        v = self.elements(X).rows.v[:, 0, : n_columns + fit_location]
        words = dependence_in_words(v[np.isfinite(v).all(axis=1)])
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
        """Only the statistics can tell whether there is a density."""
