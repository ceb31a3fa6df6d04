"""Distributions of one column as plain exponential families: statistics x^p, with log x for p = 0.

Their method ``parameters(theta)`` turns natural parameters into the usual ones, such as mean and variance.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

import numpy as np

from robscore import boundary as boundaries
from robscore._tools.messages import ArgumentError, Setting, UsageError
from robscore._tools.numbers import check_number
from robscore._tools.typing import Array, BoolArray
from robscore.boundary import Boundary
from robscore.domains import Domain, NonNegative, Real
from robscore.families.custom_statistics import ExponentialFamily
from robscore.families.family import Parameters, Scaling, WeightedFamily, check_domain, robust_scaling
from robscore.rows.row_source import Rows

__all__ = ["Exponential", "Normal", "TruncatedNormal", "UnivariateGamma", "Weibull"]


class Univariate(ExponentialFamily):
    """Log density theta' (x^p_1, ..., x^p_r) + c log x of one column; a member defines its powers p and its c."""

    powers: tuple[float, ...]
    base_power: float = 0.0
    default_domain: Domain = NonNegative()
    default_boundary: Boundary = boundaries.Power(1.0)

    def __init__(self, *, domain: Domain | None = None, boundary: Boundary | None = None) -> None:
        whole = all(power >= 1 and power % 1 == 0 for power in self.powers) and not self.base_power
        if domain is not None and not (whole or check_domain(domain).is_non_negative):
            needs = f"{type(self).__name__} needs values above zero; "
            raise UsageError(needs, Setting("domain", domain), " admits others.")
        super().__init__(
            self._statistics,
            derivatives=(self._first, self._second),
            base=self._log if self.base_power else None,
            base_derivative=self._log_derivative if self.base_power else None,
            domain=domain,
            boundary=boundary,
        )

    __repr__ = WeightedFamily.__repr__

    def _default_boundary(self) -> Boundary:
        return self.default_boundary

    def problem(self, X: Array) -> tuple[BoolArray, str]:
        """Entries outside the domain; then exact zeros, where a statistic has no derivative."""
        outside, reason = super().problem(X)
        if outside.any() or (min(self.powers) >= 1 and not self.base_power):
            return outside, reason
        return X == 0, f"are exact zeros, which {self!r} excludes"

    def check_columns(self, n_columns: int) -> None:
        """Raise unless there is one column."""
        if n_columns != 1:
            raise ValueError(f"{self!r} is a distribution of one column; the data have {n_columns}.")

    def _statistics(self, x: Array) -> Array:
        return np.array([x[0] ** p if p else np.log(x[0]) for p in self.powers])

    def _first(self, X: Array) -> Array:
        with np.errstate(divide="ignore", over="ignore"):
            return np.stack([(p or 1.0) * X ** (p - 1) for p in self.powers], axis=-1)

    def _second(self, X: Array) -> Array:
        factors = [(p or 1.0) * (p - 1) for p in self.powers]
        with np.errstate(divide="ignore", over="ignore"):
            return np.stack(
                [f * X ** (p - 2) if f else np.zeros_like(X) for f, p in zip(factors, self.powers, strict=True)],
                axis=-1,
            )

    def _log(self, x: Array) -> Array:
        return np.asarray(self.base_power * np.log(x[0]))

    def _log_derivative(self, X: Array) -> Array:
        with np.errstate(divide="ignore", over="ignore"):
            return self.base_power / X

    def scaling(self, X: Array | Rows, *, fit_location: bool) -> Scaling | None:
        """Scale as the pairwise families do: by the median, centred only on the whole real line."""
        return robust_scaling(X, self.domain, centred=True) if self.domain.moves else None

    def scaled(self, scaling: Scaling) -> Self:
        """The same statistics on the domain that the scaling moves the old one to."""
        return self._changed(domain=self.domain.moved(scaling.centre, scaling.scale))

    def unscale(self, parameters: Parameters, scaling: Scaling) -> Parameters:
        """Divide theta_k by s^p_k."""
        (theta,) = parameters
        return (theta / scaling.scale[0] ** np.array(self.powers),)

    @abstractmethod
    def parameters(self, theta: Array) -> dict[str, float]:
        """The usual parameters of the distribution, by name."""


class Normal(Univariate):
    """The normal distribution: statistics x and x^2.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> X = np.random.default_rng(0).normal(5.0, 2.0, size=(1000, 1))
    >>> X[:20] = 1e6
    >>> family = rs.families.univariate.Normal()
    >>> found = family.parameters(rs.RobustScoreMatching(family).fit(X).theta_)
    >>> abs(found["mean"] - 5) < 0.2, 3.2 < found["variance"] < 4.8
    (True, True)
    """

    powers = (1.0, 2.0)
    default_domain: Domain = Real()

    def unscale(self, parameters: Parameters, scaling: Scaling) -> Parameters:
        """With x = c + s y they are (theta_1 / s - 2 theta_2 c / s^2, theta_2 / s^2)."""
        ((linear, quadratic),) = super().unscale(parameters, scaling)
        return (np.array([linear - 2 * quadratic * scaling.centre[0], quadratic]),)

    def parameters(self, theta: Array) -> dict[str, float]:
        """Mean and variance; on a domain with boundaries, those of the normal before truncation."""
        variance = -0.5 / theta[1]
        return {"mean": float(theta[0] * variance), "variance": float(variance)}


class TruncatedNormal(Normal):
    """A normal distribution seen on x >= 0, or on another domain: mean and variance are those before truncation.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.families.univariate.TruncatedNormal().parameters(np.array([1.0, -0.5]))
    {'mean': 1.0, 'variance': 1.0}
    """

    default_domain: Domain = NonNegative()


class UnivariateGamma(Univariate):
    """The gamma distribution: statistics log x and x. ``rs.families.Gamma`` is the family of many columns.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.families.univariate.UnivariateGamma().parameters(np.array([1.0, -3.0]))
    {'shape': 2.0, 'rate': 3.0}
    """

    powers = (0.0, 1.0)
    default_boundary: Boundary = boundaries.LogPower(2.0)

    def parameters(self, theta: Array) -> dict[str, float]:
        """The shape and the rate."""
        return {"shape": float(theta[0] + 1), "rate": float(-theta[1])}


class Exponential(Univariate):
    """The exponential distribution: statistic x.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.families.univariate.Exponential().parameters(np.array([-2.0]))
    {'rate': 2.0}
    """

    powers = (1.0,)

    def parameters(self, theta: Array) -> dict[str, float]:
        """The rate."""
        return {"rate": float(-theta[0])}


class Weibull(Univariate):
    """The Weibull distribution of a known shape k: statistic x^k and base density x^(k-1).

    Parameters
    ----------
    shape : float
        k, positive.
    domain, boundary : optional

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.families.univariate.Weibull(2.0).parameters(np.array([-0.25]))
    {'shape': 2.0, 'scale': 2.0}
    """

    def __init__(self, shape: float, *, domain: Domain | None = None, boundary: Boundary | None = None) -> None:
        check_number("shape", shape)
        if not shape > 0:
            raise ArgumentError("shape", shape, "must be positive.")
        self.powers, self.base_power = (float(shape),), float(shape) - 1.0
        super().__init__(domain=domain, boundary=boundary)

    def _arguments(self) -> list[str]:
        return [f"{self.powers[0]:g}"]

    def _default_boundary(self) -> Boundary:
        return boundaries.Power(max(2.0 - self.powers[0], 1.0))

    def parameters(self, theta: Array) -> dict[str, float]:
        """The shape, as it was given, and the scale."""
        shape = self.powers[0]
        return {"shape": shape, "scale": float((-theta[0]) ** (-1 / shape))}
