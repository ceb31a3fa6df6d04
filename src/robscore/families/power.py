"""The power or a-b families, whose interactions are those of powers of the columns; the named ones are at the end.

    p(x) ~ exp( -1/(2a) (x^a)' K (x^a) + 1/b eta' x^b ),     with log x in place of x^0 / 0

    Gaussian            a = b = 1      on the real line        no boundary weight
    TruncatedGaussian   a = b = 1      on [0, inf) or boxes    h = d
    SquareRoot          a = b = 1/2    on [0, inf)             h = d^(3/2)
    Gamma               a = 1/2, b = 0 on (0, inf)             h = log(1 + d)^2
    LogLog              a = b = 0      on (0, inf)             h = d^2
    Power(a, b)         any a, b >= 0

On one row, with u = x^a (log x when a = 0), the gradient of log p in x_j is v_j' z_j for
z_j = (K_1j, ..., K_mj, eta_j) and v_j = (-x_j^(a-1) u, x_j^(b-1)). Hence

    Gamma_j = h_j v_j v_j'       through  A = h x^(2a-2),  B = h x^(a+b-2),  C = h x^(2b-2)
    g_j     = alpha_j u + beta_j e_j + gamma_j e_eta
    alpha   = h' x^(a-1) + (a-1) h x^(a-2),   beta = h x^(a-1) u',   gamma = -h' x^(b-1) - (b-1) h x^(b-2)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from robscore import boundary as boundaries
from robscore._tools.messages import ArgumentError
from robscore._tools.sparse import quadratic_forms
from robscore._tools.typing import AnyArray, Array, BoolArray
from robscore.boundary import Boundary
from robscore.domains import Domain, Intervals, Nearest, NonNegative, Real
from robscore.elements import PowerElements
from robscore.elements.power_elements import PowerRows, largest_norm
from robscore.families.family import (
    Parameters,
    Scaling,
    WeightedFamily,
    linear_part,
    register,
    robust_scaling,
)
from robscore.families.samplers.gibbs import PowerSampler
from robscore.families.samplers.normal import NormalSampler
from robscore.families.samplers.sampler import Sampler
from robscore.families.samplers.truncated_normal import draw_truncated_normal
from robscore.medians.clouds import LARGEST_SQUARED_NORM
from robscore.rows.row_source import Rows


class PowerFamily(WeightedFamily):
    """What all a-b families share; a member defines its a and b (and its domain, if not the orthant).

    Parameters
    ----------
    boundary : Boundary, optional
        Weight h of the distance to the boundary; by default the power max(2-a, 2-b, 0), which makes
        the boundary terms of score matching vanish (at least the power 1 where a boundary is not 0).
        With b = 0 < a that power is more than the interactions need, and far from the boundary it would
        let the largest values decide everything: there h(d) = log(1 + d)^2, which is like d^2 at the boundary only.
        A column without a boundary has weight 1.
    domain : domain, optional
        Where each column lives. Values below zero need whole numbers a, b >= 1.
    """

    a: float
    b: float
    default_domain: Domain = NonNegative()

    def __init__(self, *, boundary: Boundary | None = None, domain: Domain | None = None) -> None:
        super().__init__(domain=domain, boundary=boundary)
        if not self.domain.is_non_negative and not all(power >= 1 and power % 1 == 0 for power in (self.a, self.b)):
            raise ValueError(
                f"{self.domain!r} admits negative values, for which x^{self.a:g} or x^{self.b:g} is not defined; "
                "use domain=NonNegative(), or the Gaussian family."
            )

    def _default_boundary(self) -> Boundary:
        if self.domain.is_real_line:
            return boundaries.Power(0.0)
        if self.domain.only_boundary_is_zero and self.b == 0 < self.a:
            return boundaries.LogPower(2.0)
        least = 0.0 if self.domain.only_boundary_is_zero else 1.0
        return boundaries.Power(max(2.0 - self.a, 2.0 - self.b, least))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), self.a, self.b, self.domain, self.boundary))

    def problem(self, X: Array) -> tuple[BoolArray, str]:
        """Entries outside the domain; then exact zeros, where the statistics or the weights are infinite."""
        outside, reason = super().problem(X)
        if outside.any():
            return outside, reason
        zero = X == 0
        if zero.any() and self.a > 0 and self.b > 0:
            # All that matters at zero is how fast h vanishes there.
            at_boundary = self._changed(boundary=boundaries.Power(self.boundary.leading[1]))
            origin = np.zeros((1, X.shape[1]))
            with np.errstate(divide="ignore", invalid="ignore"):
                values = at_boundary._coefficients(origin, self.domain.nearest(origin))
            zero &= ~np.logical_and.reduce([np.isfinite(value).all(axis=0) for value in values])
        return zero, f"are exact zeros, which {self!r} excludes"

    def elements(self, X: Array) -> PowerElements:
        """The design u, which all nodes share, and the coefficient arrays of every row: O(n m) numbers."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            u = self._design(X)
            if self._shares_gamma:  # h is 1
                A = B = C = np.ones((len(X), 1))
                beta, alpha = np.ones(X.shape), np.broadcast_to(0.0, X.shape)
                gamma = alpha
            else:
                A, B, C, alpha, gamma = self._coefficients(X, self.domain.nearest(X), u)
                beta = (self.a or 1.0) * A
            elements = PowerElements(u, A, B, C, alpha, beta, gamma, bound=self._norm_bound(X))
        elements.by_column = isinstance(self.domain, Intervals)
        return elements

    def _design(self, X: AnyArray) -> AnyArray:
        """U of the rows X, shape (n, m): x^a, or log x."""
        return X**self.a if self.a else np.log(X)

    def overflow(self, X: Array) -> BoolArray:
        """Which rows overflow, shape (n,); the ends of the columns may show that none can, which is quick."""
        return super().overflow(X) if self._norm_bound(X) is None else np.zeros(len(X), dtype=bool)

    def _norm_bound(self, X: Array) -> float | None:
        """A bound on squared norms of rows, by the ends of columns; None where it does not rule out overflow."""
        if not self._only_powers:
            return None
        ends = np.stack([X.min(axis=0), X.max(axis=0)])
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            A, B, C, alpha, gamma = self._coefficients(ends, self.domain.nearest(ends))
            u, beta = self._design(ends), (self.a or 1.0) * A
            parts = u, A, B, C, alpha, beta, gamma, np.zeros((2, 0))
            bound = largest_norm(PowerRows(*(np.abs(part).max(axis=0, keepdims=True) for part in parts)))
        return bound if bound <= LARGEST_SQUARED_NORM / 8 else None

    @property
    def _only_powers(self) -> bool:
        """Whether all coefficients are powers of x, so that they are largest at the ends of a column."""
        return isinstance(self.boundary, boundaries.Power) and self.domain.only_boundary_is_zero

    @property
    def _shares_gamma(self) -> bool:
        """Whether h is constant, so that all nodes have the same block of Gamma."""
        return self.domain.is_real_line and self.a == self.b == 1

    def numbers_of_gamma(self, n_columns: int) -> int:
        """Gamma has one block per node, or one for all nodes."""
        return (1 if self._shares_gamma else n_columns) * (n_columns + 1) ** 2

    def numbers_a_row(self, n_columns: int) -> int:
        """A row has the design, A, alpha, beta and gamma; with another power for the location B and C too."""
        return (5 if self.a == self.b else 7) * n_columns

    def _coefficients(
        self, X: Array, near: Nearest, u: Array | None = None
    ) -> tuple[Array, Array, Array, Array, Array]:
        """A, B, C, alpha and gamma. Where the design u is known and A is the same power of x, A is not computed."""
        a, b = self.a, self.b
        same = u is not None and a > 0 and self._only_powers and self.boundary.leading[1] + 2 * a - 2 == a
        A = u if u is not None and same else self._weighted_power(X, near, 2 * a - 2, 1.0, 0.0)
        B = A if a == b else self._weighted_power(X, near, a + b - 2, 1.0, 0.0)
        C = A if a == b else self._weighted_power(X, near, 2 * b - 2, 1.0, 0.0)
        alpha = self._weighted_power(X, near, a - 2, a - 1, 1.0)
        gamma = self._weighted_power(X, near, b - 2, 1 - b, -1.0)
        return A, B, C, alpha, gamma

    def _weighted_power(self, X: Array, near: Nearest, power: float, value: float, derivative: float) -> Array:
        """``value h x^power + derivative h' x^(power+1)``.

        Where the boundary is x = 0 the powers of h and x are joined, since each alone may be infinite there.
        """
        if near.from_zero.all():
            return self.boundary.combined(near.distance, power, value, derivative)
        total = np.zeros_like(X)
        bounded = np.isfinite(near.distance)  # elsewhere h is 1
        if not bounded.any():
            return value * X**power if value else total
        if value:
            total += value * np.where(bounded, self.boundary.value(near.distance), 1.0) * X**power
        if derivative:
            slope = np.where(bounded, near.slope * self.boundary.derivative(near.distance), 0.0)
            total += derivative * slope * X ** (power + 1)
        joined = self.boundary.combined(np.where(near.from_zero, near.distance, 1.0), power, value, derivative)
        return np.where(near.from_zero, joined, total)

    def redundancy(self, *, fit_location: bool) -> str | None:
        """With b = 2a > 0, the statistic x^b of the location is x^2a, which is that of K's diagonal."""
        if not fit_location or not 0 < self.b == 2 * self.a:
            return None
        return (
            f"In {self!r} the location's x^{self.b:g} is the same statistic as a column's interaction with itself; "
            "pass fit_location=False, or choose another b."
        )

    def scaling(self, X: Array | Rows, *, fit_location: bool) -> Scaling | None:
        """Scale by the median of positive entries; where negative values live, by 1.4826 times the median deviation.

        Columns are centred at the median only on the whole real line with a = b = 1 and a free location: elsewhere a
        shift would leave the family. With a = 0 < b, with a = b = 0 and no location, and on domains that do not move, a
        change of scale would leave it, too, so that columns stay as they are.
        """
        if not self.domain.moves or (self.a == 0 and (self.b > 0 or not fit_location)):
            return None
        return robust_scaling(X, self.domain, centred=self.a == self.b == 1 and fit_location)

    def scaled(self, scaling: Scaling) -> PowerFamily:
        """The same a, b and boundary weight on the domain that the scaling moves the old one to."""
        return self._changed(domain=self.domain.moved(scaling.centre, scaling.scale))

    def unscale(self, parameters: Parameters, scaling: Scaling) -> Parameters:
        """K_ij = K~_ij / (s_i s_j)^a;  eta = eta~ / s^b, plus K log s where a = b = 0, plus K c for the centre c."""
        s, (interaction, location) = scaling.scale, parameters
        if self.a == 0:
            return interaction, location + interaction @ np.log(s)
        K = interaction / s[:, None] ** self.a / s**self.a  # one by one: their product may overflow
        K = (K + K.T) / 2  # exactly symmetric, whatever the rounding
        return K, location / s**self.b + K @ scaling.centre

    def check_parameters(self, interaction: Array, location: Array) -> None:
        """Raise unless K is positive definite (or the domain bounded) and the density integrable at zero."""
        super().check_parameters(interaction, location)
        at_zero = bool(self.domain.nearest(np.full((1, len(location)), 1e-3)).from_zero.any())
        low = np.flatnonzero(location <= -1)
        if self.a > 0 and self.b == 0 and at_zero and low.size:
            raise ValueError(
                f"location[{low[0]}]={location[low[0]]:g} must exceed -1, or the model has no density at 0."
            )

    def log_density(self, X: Array, *parameters: Array) -> Array:
        """-1/(2a) (x^a)' K (x^a) + 1/b eta' x^b at rows X, shape (n,), up to a constant."""
        K, eta = parameters
        u, linear = self._statistics(X)
        return np.asarray(linear_part(linear, eta) - quadratic_forms(u, K) / (2 * (self.a or 1.0)))

    def least_log_density(self, X: Array, *parameters: Array) -> Array:
        """The log density in single precision, less the largest error that this may have.

        Sums of m products are off by at most eps (m + 2) times the norms of what is multiplied, and entries of x^a by
        (a + 2) eps (1 + x^a).
        """
        K, eta = (array.astype(np.float32) for array in parameters)
        u, linear = (array.T for array in self._statistics(X.astype(np.float32)))
        product = K.T @ u
        m, squares, scale = len(u), np.einsum("ji,ji->i", u, u), 2 * (self.a or 1.0)
        in_form = np.abs(K).sum(axis=0).max() * (squares + m) / scale
        in_linear = np.linalg.norm(eta) * np.sqrt(np.einsum("ji,ji->i", linear, linear) + m)
        off = (2 * m + 16 + 4 * max(self.a, self.b)) * np.finfo(np.float32).eps * (in_form + in_linear)
        return np.asarray(eta @ linear - np.einsum("ji,ji->i", product, u) / scale - off)

    def _statistics(self, X: AnyArray) -> tuple[AnyArray, AnyArray]:
        """The statistics of the rows X, shape (n, m) each: x^a and x^b / b, or logarithms."""
        u = self._design(X)
        return u, (u if self.b == self.a else X**self.b) / self.b if self.b else np.log(X)

    def conditional(self, X: Array, j: int, *parameters: Array) -> Callable[[Array], Array]:
        """-(K_jj x^2a + 2 c x^a) / (2a) + eta_j x^b / b, with c = sum_{k != j} K_jk x_k^a."""
        K, eta = parameters
        a, b = self.a, self.b
        coupling = self._rest(X, j, K)

        def log_density(x: Array) -> Array:
            power = x**a / a if a else np.log(x)
            value = -(0.5 * (a or 1.0) * K[j, j] * power + coupling) * power
            return value + eta[..., j] * (x**b / b if b else np.log(x))

        return log_density

    def symmetric(self, X: Array) -> Array:
        """x^(a/2), or log x, where no value is negative."""
        if not self.domain.is_non_negative:
            return X
        if 0 < self.a <= 1:
            return np.sqrt(X**self.a)  # where a is 1/2 or 1, a fifth of the time of other powers
        return np.log(X) if self.a == 0 else np.asarray(X ** (self.a / 2))

    def roughly_symmetric(self, X: Array) -> AnyArray:
        """Take the map of rows in single precision, unless high powers would magnify its rounding."""
        return np.asarray(self.symmetric(X.astype(np.float32))) if self.a <= 4 else super().roughly_symmetric(X)

    def draw_conditional(
        self, X: Array, j: int, interaction: Array, location: Array, lower: Array, upper: Array, rng: Generator
    ) -> Array | None:
        """Draw as the sampler does on [0, inf); with a = b = 1 elsewhere from a normal within the intervals."""
        K = interaction
        if not K[j, j] > 0:
            return None
        sampler = self.sampler()
        if isinstance(sampler, PowerSampler):
            return sampler.draw_given(K[j, j], self._rest(X, j, K), location[..., j], rng)
        if not self.a == self.b == 1:
            return None
        mean = (location[..., j] - X @ K[:, j] + X[:, j] * K[j, j]) / K[j, j]
        return draw_truncated_normal(mean, K[j, j] ** -0.5, lower, upper, rng)

    def conditional_law(self, X: Array, j: int, x: Array, *parameters: Array) -> tuple[Array, Array] | None:
        """The law that the sampler knows in closed form."""
        K, eta = parameters
        return self.sampler().law_given(K[j, j], self._rest(X, j, K), eta[..., j], x) if K[j, j] > 0 else None

    def _rest(self, X: Array, j: int, K: Array) -> Array:
        """The sum of K_jk u_k over the columns k other than j, shape (n,)."""
        u = self._design(X)
        return np.asarray(u @ K[:, j] - u[:, j] * K[j, j])

    def sampler(self) -> Sampler:
        """Draw by exact conditionals where these are known, on [0, inf) with b = a or b = 0; else by slices."""
        if self.domain.only_boundary_is_zero and self.a > 0 and self.b in (self.a, 0.0):
            return PowerSampler(self.a, self.b)
        return super().sampler()


class Power(PowerFamily):
    """p(x) ~ exp( -1/(2a) (x^a)' K (x^a) + 1/b eta' x^b ), for any a, b >= 0.

    Parameters
    ----------
    a, b : float
        Exponents of the interactions and of the location part, at least 0; 0 stands for the logarithm.
    boundary, domain : optional
        As for every power family.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.families.Power(1.5, 0.5).boundary
    Power(p=1.5)
    """

    def __init__(self, a: float, b: float, *, boundary: Boundary | None = None, domain: Domain | None = None) -> None:
        for name, exponent in (("a", a), ("b", b)):
            if not (np.isfinite(exponent) and exponent >= 0):
                raise ArgumentError(name, exponent, "must be a number of at least 0 (0 is the logarithm).")
        self.a, self.b = float(a), float(b)
        super().__init__(boundary=boundary, domain=domain)

    def _arguments(self) -> list[str]:
        return [f"{self.a:g}", f"{self.b:g}"]


@register("gaussian")
class Gaussian(PowerFamily):
    """p(x) ~ exp( -x' K x / 2 + eta' x ): K is the precision matrix and the mean is K^-1 eta.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.families.Gaussian().domain
    Real()
    """

    a, b = 1.0, 1.0
    default_domain: Domain = Real()

    def sampler(self) -> Sampler:
        """Draw independent rows on the whole line."""
        return NormalSampler() if self.domain.is_real_line else super().sampler()


@register("truncated-gaussian")
class TruncatedGaussian(PowerFamily):
    """p(x) ~ exp( -x' K x / 2 + eta' x ) on the domain.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.families.TruncatedGaussian().boundary
    Power(p=1.0)
    """

    a, b = 1.0, 1.0


@register("sqrt")
class SquareRoot(PowerFamily):
    """p(x) ~ exp( -(sqrt x)' K (sqrt x) + 2 eta' sqrt x ), x >= 0. The paper's Theta_ij is -K_ij off the diagonal.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.families.SquareRoot().boundary
    Power(p=1.5)
    """

    a, b = 0.5, 0.5


@register("gamma")
class Gamma(PowerFamily):
    """p(x) ~ exp( -(sqrt x)' K (sqrt x) + eta' log x ), x > 0.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.families.Gamma().boundary
    LogPower(p=2.0, scale=1.0)
    """

    a, b = 0.5, 0.0


@register("log-log")
class LogLog(PowerFamily):
    """p(x) ~ exp( -(log x)' K (log x) / 2 + eta' log x ), x > 0.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.families.LogLog().boundary
    Power(p=2.0)
    """

    a, b = 0.0, 0.0

    def sampler(self) -> Sampler:
        """Draw independent rows on the orthant: log x is normal, and the density of log x has 1 more in eta."""
        return NormalSampler(np.exp, shift=1.0) if self.domain.only_boundary_is_zero else super().sampler()
