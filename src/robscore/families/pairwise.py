"""The paper's general pairwise interaction model (4.1), for pair statistics that a user writes down.

    p(x) ~ exp( -sum_{i<j} K_ij t_pair(x_i, x_j) - sum_j K_jj t_self(x_j) - sum_j eta_j t_single(x_j) )

In the extended parametrisation (K a full square matrix) node j owns z_j = (K_1j, ..., K_mj, eta_j) and

    v_j = -( d_2 t_pair(x_1, x_j), ..., t_self'(x_j), ..., d_2 t_pair(x_m, x_j), t_single'(x_j) )
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from robscore import boundary as boundaries
from robscore._autodiff import Function, derivatives_along_columns, double_precision, have_jax
from robscore._typing import Array
from robscore.boundary import Boundary
from robscore.domains import Domain, Real
from robscore.elements import NodeElements
from robscore.families.base import Family, check_boundary, check_domain
from robscore.families.exponential import weights_and_slopes


class Pairwise(Family):
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
        return f"Pairwise({name}, domain={self.domain!r})"

    def resolved(self, X: Array) -> Pairwise:
        """The same family with a boundary weight that no longer depends on data."""
        fixed = copy(self)
        fixed.boundary = self.boundary.resolved(self.domain.nearest(X).distance)
        return fixed

    def elements(self, X: Array) -> NodeElements:
        """Gradients, weights and g of every row, node by node."""
        n, m = X.shape
        self._check_symmetric(X)
        first, second = np.empty((n, m, m + 1)), np.empty((n, m, m + 1))
        own_first, own_second = self._of_one("self", X)
        single_first, single_second = self._of_one("single", X)
        for j in range(m):
            others = np.arange(m) != j
            x, y = X[:, others], np.repeat(X[:, [j]], m - 1, axis=1)
            if m > 1:
                first[:, j, :m][:, others], second[:, j, :m][:, others] = self._of_pair(x, y)
            first[:, j, j], second[:, j, j] = own_first[:, j], own_second[:, j]
            first[:, j, m], second[:, j, m] = single_first[:, j], single_second[:, j]
        h, slope = weights_and_slopes(self.domain, self.boundary, X)
        with np.errstate(over="ignore", invalid="ignore"):
            g = slope[:, :, None] * first + h[:, :, None] * second
        return NodeElements(X, -first, h, g)

    def _of_pair(self, x: Array, y: Array) -> tuple[Array, Array]:
        """First and second derivatives of t_pair(x, y) in y, entry by entry."""
        if self.derivatives is not None:
            return self._checked("pair", [f(x, y) for f in self.derivatives["pair"]], y)
        stacked = np.column_stack([x.ravel(), y.ravel()])
        first, second = derivatives_along_columns(lambda row: self.t_pair(row[0], row[1]), stacked, "t_pair")
        return self._checked("pair", [first[..., 1].reshape(y.shape), second[..., 1].reshape(y.shape)], y)

    def _of_one(self, name: str, X: Array) -> tuple[Array, Array]:
        """First and second derivatives of t_self or t_single, entry by entry."""
        if self.derivatives is not None:
            return self._checked(name, [f(X) for f in self.derivatives[name]], X)
        function: Callable[[Any], Any] = self.t_single if name == "single" else self._own
        first, second = derivatives_along_columns(lambda row: function(row[0]), X.reshape(-1, 1), f"t_{name}")
        return self._checked(name, [first.reshape(X.shape), second.reshape(X.shape)], X)

    def _own(self, x: Any) -> Any:
        return self.t_pair(x, x) if self.t_self is None else self.t_self(x)

    def _checked(self, name: str, derivatives: list[Any], at: Array) -> tuple[Array, Array]:
        """Finite derivatives of the right shape that are not all zero, or an error."""
        first, second = (np.asarray(values, dtype=float) for values in derivatives)
        for what, values in (("first", first), ("second", second)):
            if values.shape != at.shape:
                raise ValueError(
                    f"The {what} derivative of t_{name} must give one number for each value, shape {at.shape}; got "
                    f"{values.shape}."
                )
            wrong = np.argwhere(~np.isfinite(values))
            if wrong.size:
                raise ValueError(
                    f"t_{name} has no finite {what} derivative at {at[tuple(wrong[0])]:.6g} (row {wrong[0][0]}): it "
                    f"must be smooth inside {self.domain!r}. Drop such rows, or change the statistic or the domain."
                )
        if not first.any():
            raise ValueError(f"t_{name} is constant on these data, so its parameter cannot be estimated.")
        return first, second

    def _check_symmetric(self, X: Array) -> None:
        if X.shape[1] == 1:
            return
        x, y = X[0, 0], X[0, 1]
        with double_precision():
            one, other = (np.asarray(value, dtype=float) for value in (self.t_pair(x, y), self.t_pair(y, x)))
        if one.ndim or other.ndim:
            raise ValueError(f"t_pair must give one number for two values; got an array of shape {one.shape}.")
        if not np.isclose(one, other, rtol=1e-6, atol=1e-9, equal_nan=True):
            raise ValueError(
                f"t_pair must be symmetric, but t_pair({x:.4g}, {y:.4g}) = {one:.6g} and t_pair({y:.4g}, {x:.4g}) = "
                f"{other:.6g}."
            )

    def log_density(self, X: Array, *parameters: Array) -> Array:
        """Logarithm of the density at rows X, shape (n,), up to a constant."""
        K, eta = parameters
        m = X.shape[1]
        total = np.zeros(len(X))
        with double_precision():
            for j in range(m):
                total -= K[j, j] * np.asarray(self._own(X[:, j])) + eta[j] * np.asarray(self.t_single(X[:, j]))
                for i in np.flatnonzero(K[:j, j]):
                    total -= K[i, j] * np.asarray(self.t_pair(X[:, i], X[:, j]))
        return total

    def check_parameters(self, interaction: Array) -> None:
        """Whether there is a density only the statistics can tell."""
