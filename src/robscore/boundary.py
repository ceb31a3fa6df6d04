"""Boundary weights h(d): functions of the distance d to the nearest boundary.

Score matching on a domain with a boundary weighs coordinate j by h(d_j), so that the boundary terms of its integration
by parts vanish. Which weight to use is best left to the family. Near a boundary h must vanish at least as fast as the
family's default power (unless the density itself vanishes there), or the estimate may be biased or have an infinite
variance. Far from it, a weight that levels off (a cap, MCP, SCAD, tanh, truncated sine) gives large values less
influence than a growing one.

Where the boundary is x = 0, powers of x multiply powers of d = x; :meth:`Boundary.combined` adds their exponents before
evaluating, so that exact zeros stay exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from robscore._tools.messages import ArgumentError
from robscore._tools.typing import Array
from robscore.rows.quantiles import column_quantiles
from robscore.rows.row_source import Rows, as_rows


class Boundary(ABC):
    """A weight h(d) >= 0 of the distance d >= 0, with its derivative.

    Near the boundary h(d) is ``coefficient * d^exponent``, the pair that ``leading`` gives.
    """

    @abstractmethod
    def value(self, d: Array) -> Array:
        """h(d)."""

    @abstractmethod
    def derivative(self, d: Array) -> Array:
        """h'(d)."""

    @property
    @abstractmethod
    def leading(self) -> tuple[float, float]:
        """Coefficient and exponent of h at the boundary."""

    def combined(self, d: Array, power: float, value: float, derivative: float) -> Array:
        """Return ``value * h(d) d^power + derivative * h'(d) d^(power + 1)``, for any power; its limit at d = 0."""
        coefficient, exponent = self.leading
        with np.errstate(divide="ignore"):  # infinite where the model excludes zero, which callers check
            at_boundary = coefficient * Power(exponent).combined(np.zeros(()), power, value, derivative)
        inside = np.where(d > 0, d, 1.0)
        total = np.zeros_like(d)
        if value:
            total += value * self.value(inside) * inside**power
        if derivative:
            total += derivative * self.derivative(inside) * inside ** (power + 1)
        return np.where(d > 0, total, at_boundary)

    def resolved(self, distances: Array | Rows) -> Boundary:
        """Return the weight with all that it takes from the data, distances of shape (n, m), fixed."""
        return self

    def stretched(self, scales: Array) -> Boundary:
        """Return r^p h(d / r), with p the exponent at the boundary, for scales r of every distance.

        A power is its own stretched weight. Weights with constants that cannot be stretched stay as they are.
        """
        return self


@dataclass(frozen=True)
class _PowerAtBoundary(Boundary):
    """A weight that is d^p at the boundary."""

    p: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.p) and self.p >= 0):
            raise ArgumentError("p", self.p, "must be a number of at least 0: h must stay finite at the boundary.")

    @property
    def leading(self) -> tuple[float, float]:
        """d^p."""
        return 1.0, self.p


@dataclass(frozen=True)
class Power(_PowerAtBoundary):
    """h(d) = d^p.

    Parameters
    ----------
    p : float
        Exponent, at least 0; ``Power(0)`` is the constant 1.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.boundary.Power(1.5).value(np.array([0.0, 4.0]))
    array([0., 8.])
    """

    p: float

    def value(self, d: Array) -> Array:
        """d^p."""
        return d**self.p

    def derivative(self, d: Array) -> Array:
        """The derivative p d^(p - 1)."""
        return self.p * d ** (self.p - 1) if self.p else np.zeros_like(d)

    def combined(self, d: Array, power: float, value: float, derivative: float) -> Array:
        """(value + p derivative) d^(p + power): exact at d = 0 where the joint power is not negative."""
        factor, exponent = value + self.p * derivative, self.p + power
        if not factor or exponent == 0:
            return np.full_like(d, factor)
        raised = d**exponent
        return raised if factor == 1 else factor * raised


@dataclass(frozen=True)
class CappedPower(_PowerAtBoundary):
    """h(d) = min(d, cap)^p, with derivative 0 beyond the cap.

    Parameters
    ----------
    p : float
        Exponent, at least 0.
    cap : float, or one per column
        Positive; in the units of the columns after scaling.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.boundary.CappedPower(1.5, cap=4.0).value(np.array([1.0, 4.0, 9.0]))
    array([1., 8., 8.])
    """

    p: float
    cap: float | tuple[float, ...] | Array

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (np.isfinite(self.cap).all() and (np.asarray(self.cap) > 0).all()):
            raise ArgumentError("cap", self.cap, "must be a positive number, or one per column.")

    def value(self, d: Array) -> Array:
        """min(d, cap)^p."""
        return np.minimum(d, self.cap) ** self.p

    def derivative(self, d: Array) -> Array:
        """The derivative: p d^(p - 1) up to the cap, 0 beyond."""
        below = Power(self.p).derivative(np.minimum(d, self.cap))
        return np.where(d > self.cap, 0.0, below)

    def stretched(self, scales: Array) -> Boundary:
        """Return the weight with caps r times as large."""
        return CappedPower(self.p, self.cap * scales)

    def combined(self, d: Array, power: float, value: float, derivative: float) -> Array:
        """Powers joined below the cap; beyond it d is positive and ``value cap^p d^power`` is finite."""
        below = Power(self.p).combined(np.minimum(d, self.cap), power, value, derivative)
        beyond = value * np.power(self.cap, self.p) * np.maximum(d, self.cap) ** power
        return np.where(d > self.cap, beyond, below)


@dataclass(frozen=True)
class QuantileCappedPower(_PowerAtBoundary):
    """h(d) = min(d, cap)^p, the cap of each column being a quantile of its distances in the data.

    Parameters
    ----------
    p : float
        Exponent, at least 0.
    quantile : float, default 0.9
        Between 0 and 1.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.boundary.QuantileCappedPower(1.5, 0.5).resolved(np.array([[1.0], [2.0], [9.0]]))
    CappedPower(p=1.5, cap=(2.0,))
    """

    p: float
    quantile: float = 0.9

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.quantile <= 1:
            raise ArgumentError("quantile", self.quantile, "must lie between 0 and 1.")

    def resolved(self, distances: Array | Rows) -> Boundary:
        """Return a capped power with the caps that these distances, shape (n, m), give."""
        rows = as_rows(distances)
        caps = np.zeros(1) if rows.total(_unbounded) else column_quantiles(rows, self.quantile)
        if not (caps > 0).all():
            raise ValueError(f"{self!r} finds no positive, finite cap in the data; choose another quantile or weight.")
        return CappedPower(self.p, tuple(float(cap) for cap in caps))

    def value(self, d: Array) -> Array:
        """Raise, because the cap comes from data: call ``resolved`` first."""
        raise ValueError(f"{self!r} takes its cap from data; call resolved(distances) first.")

    derivative = value


@dataclass(frozen=True)
class LogPower(_PowerAtBoundary):
    """h(d) = (s log(1 + d / s))^p: a power at the boundary that grows slowly from about d = s on.

    Parameters
    ----------
    p : float
        Exponent, at least 0.
    scale : float, default 1
        s: positive; in the units of the columns after scaling.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.boundary.LogPower(2.0).value(np.array([0.0, np.e - 1]))
    array([0., 1.])
    """

    p: float
    scale: float | Array = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (np.isfinite(self.scale).all() and (np.asarray(self.scale) > 0).all()):
            raise ArgumentError("scale", self.scale, "must be a positive number.")

    def value(self, d: Array) -> Array:
        """(s log(1 + d / s))^p."""
        return (self.scale * np.log1p(d / self.scale)) ** self.p

    def derivative(self, d: Array) -> Array:
        """The derivative p (s log(1 + d / s))^(p - 1) / (1 + d / s)."""
        return Power(self.p).derivative(self.scale * np.log1p(d / self.scale)) / (1 + d / self.scale)

    def stretched(self, scales: Array) -> Boundary:
        """Return the weight with scales r times as large."""
        return LogPower(self.p, self.scale * scales)

    def combined(self, d: Array, power: float, value: float, derivative: float) -> Array:
        """Return (value r^p + derivative p r^(p-1) / (1 + t)) d^(p + power), r = log(1 + t) / t at t = d / s."""
        t = d / self.scale
        r = np.divide(np.log1p(t), t, out=np.ones_like(t), where=t > 0)
        factor = r ** (self.p - 1) * (value * r + derivative * self.p / (1 + t))
        return np.asarray(factor * Power(self.p).combined(d, power, 1.0, 0.0))


@dataclass(frozen=True)
class MCP(Boundary):
    """h(d) = lam d - d^2 / (2 c) up to d = c lam, constant beyond: the minimax concave function.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.boundary.MCP(lam=1.0, c=2.0).value(np.array([0.0, 1.0, 5.0]))
    array([0.  , 0.75, 1.  ])
    """

    lam: float = 1.0
    c: float = 2.0

    def __post_init__(self) -> None:
        _check_positive(lam=self.lam, c=self.c)

    @property
    def leading(self) -> tuple[float, float]:
        """The line lam d."""
        return self.lam, 1.0

    def value(self, d: Array) -> Array:
        """The parabola lam d - d^2 / (2 c) at min(d, c lam)."""
        near = np.minimum(d, self.c * self.lam)
        return self.lam * near - near**2 / (2 * self.c)

    def derivative(self, d: Array) -> Array:
        """max(lam - d / c, 0)."""
        return np.maximum(self.lam - d / self.c, 0.0)


@dataclass(frozen=True)
class SCAD(Boundary):
    """h' = lam up to d = lam, then falls linearly to 0 at d = c lam, c > 1: smoothly clipped.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.boundary.SCAD(lam=1.0, c=3.0).value(np.array([0.0, 1.0, 5.0]))
    array([0., 1., 2.])
    """

    lam: float = 1.0
    c: float = 3.7

    def __post_init__(self) -> None:
        _check_positive(lam=self.lam, c=self.c)
        if not self.c > 1:
            raise ArgumentError("c", self.c, "must be greater than 1.")

    @property
    def leading(self) -> tuple[float, float]:
        """The line lam d."""
        return self.lam, 1.0

    def value(self, d: Array) -> Array:
        """The integral of the derivative from 0."""
        lam, c = self.lam, self.c
        near = np.minimum(d, c * lam)
        bent = (2 * c * lam * near - near**2 - lam**2) / (2 * (c - 1))
        return np.where(near <= lam, lam * near, bent)

    def derivative(self, d: Array) -> Array:
        """The slope lam, then (c lam - d) / (c - 1), then 0."""
        return np.where(d <= self.lam, self.lam, np.maximum(self.c * self.lam - d, 0.0) / (self.c - 1))


@dataclass(frozen=True)
class Tanh(Boundary):
    """h(d) = tanh(d): linear at the boundary, 1 far from it.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.boundary.Tanh().value(np.array([0.0, 50.0]))
    array([0., 1.])
    """

    leading = (1.0, 1.0)

    def value(self, d: Array) -> Array:
        """tanh(d)."""
        return np.tanh(d)

    def derivative(self, d: Array) -> Array:
        """1 - tanh(d)^2."""
        return 1 - np.tanh(d) ** 2


@dataclass(frozen=True)
class Asinh(Boundary):
    """h(d) = asinh(d): linear at the boundary, logarithmic far from it.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.boundary.Asinh().derivative(np.array([0.0]))
    array([1.])
    """

    leading = (1.0, 1.0)

    def value(self, d: Array) -> Array:
        """asinh(d)."""
        return np.arcsinh(d)

    def derivative(self, d: Array) -> Array:
        """1 / sqrt(1 + d^2)."""
        return 1 / np.hypot(1.0, d)


@dataclass(frozen=True)
class Softplus(Boundary):
    """h(d) = log((1 + e^d) / 2): linear at the boundary, with a slope from 1/2 to 1.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.boundary.Softplus().derivative(np.array([0.0]))
    array([0.5])
    """

    leading = (0.5, 1.0)

    def value(self, d: Array) -> Array:
        """log(1 + e^d) - log 2."""
        return np.logaddexp(0.0, d) - np.log(2.0)

    def derivative(self, d: Array) -> Array:
        """1 / (1 + e^-d)."""
        return 1 / (1 + np.exp(-d))


@dataclass(frozen=True)
class TruncatedSine(Boundary):
    """h(d) = sin(d) up to d = pi / 2, 1 beyond.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.boundary.TruncatedSine().value(np.array([0.0, 3.0]))
    array([0., 1.])
    """

    leading = (1.0, 1.0)

    def value(self, d: Array) -> Array:
        """sin(min(d, pi / 2))."""
        return np.sin(np.minimum(d, np.pi / 2))

    def derivative(self, d: Array) -> Array:
        """cos(d), 0 beyond pi / 2."""
        return np.where(d < np.pi / 2, np.cos(np.minimum(d, np.pi / 2)), 0.0)


@dataclass(frozen=True)
class Constant(Boundary):
    """h = 1: no weight, right only where the density vanishes at the boundary or there is none.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.boundary.Constant().value(np.array([0.0, 3.0]))
    array([1., 1.])
    """

    leading = (1.0, 0.0)

    def value(self, d: Array) -> Array:
        """1."""
        return np.ones_like(d)

    def derivative(self, d: Array) -> Array:
        """0."""
        return np.zeros_like(d)


def _check_positive(**numbers: float) -> None:
    for name, number in numbers.items():
        if not (np.isfinite(number) and number > 0):
            raise ArgumentError(name, number, "must be a positive number.")


def _unbounded(distances: Array) -> int:
    """Count the distances that are infinite."""
    return int(np.count_nonzero(~np.isfinite(distances)))
