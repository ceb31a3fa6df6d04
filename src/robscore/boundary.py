"""Boundary weights h(d): functions of the distance d to the nearest boundary.

Score matching on a domain with a boundary weighs coordinate j by h(d_j), so that the boundary terms
of its integration by parts vanish. Where the boundary is x = 0, powers of x multiply powers of d = x;
:meth:`Boundary.combined` adds their exponents before evaluating, so that exact zeros stay exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from robscore._typing import Array


class Boundary(ABC):
    """A weight h(d) >= 0 of the distance d >= 0, with its derivative."""

    @abstractmethod
    def value(self, d: Array) -> Array:
        """h(d)."""

    @abstractmethod
    def derivative(self, d: Array) -> Array:
        """h'(d)."""

    def combined(self, d: Array, power: float, value: float, derivative: float) -> Array:
        """``value * h(d) d^power + derivative * h'(d) d^(power + 1)``, for any real power."""
        total = np.zeros_like(d)
        if value:
            total += value * self.value(d) * d**power
        if derivative:
            total += derivative * self.derivative(d) * d ** (power + 1)
        return total


@dataclass(frozen=True)
class Power(Boundary):
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

    def __post_init__(self) -> None:
        _check_exponent(self.p)

    def value(self, d: Array) -> Array:
        """d^p."""
        return d**self.p

    def derivative(self, d: Array) -> Array:
        """The derivative p d^(p - 1)."""
        return self.p * d ** (self.p - 1) if self.p else np.zeros_like(d)

    def combined(self, d: Array, power: float, value: float, derivative: float) -> Array:
        """(value + p derivative) d^(p + power): exact at d = 0 where the joint power is not negative."""
        factor = value + self.p * derivative
        return factor * d ** (self.p + power) if factor else np.zeros_like(d)


@dataclass(frozen=True)
class CappedPower(Boundary):
    """h(d) = min(d, cap)^p, with derivative 0 beyond the cap.

    Parameters
    ----------
    p : float
        Exponent, at least 0.
    cap : float
        Positive; in the units of the columns after scaling.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.boundary.CappedPower(1.5, cap=4.0).value(np.array([1.0, 4.0, 9.0]))
    array([1., 8., 8.])
    """

    p: float
    cap: float

    def __post_init__(self) -> None:
        _check_exponent(self.p)
        if not (np.isfinite(self.cap) and self.cap > 0):
            raise ValueError(f"cap={self.cap!r} must be a positive number.")

    def value(self, d: Array) -> Array:
        """min(d, cap)^p."""
        return np.minimum(d, self.cap) ** self.p

    def derivative(self, d: Array) -> Array:
        """The derivative: p d^(p - 1) up to the cap, 0 beyond."""
        below = Power(self.p).derivative(np.minimum(d, self.cap))
        return np.where(d > self.cap, 0.0, below)

    def combined(self, d: Array, power: float, value: float, derivative: float) -> Array:
        """Powers joined below the cap; beyond it d is positive and ``value cap^p d^power`` is finite."""
        near = np.minimum(d, self.cap)
        below = Power(self.p).combined(near, power, value, derivative)
        beyond = value * self.cap**self.p * np.maximum(d, self.cap) ** power
        return np.where(d > self.cap, beyond, below)


def _check_exponent(p: float) -> None:
    if not (np.isfinite(p) and p >= 0):
        raise ValueError(f"p={p!r} must be a number of at least 0: h must stay finite at the boundary.")
