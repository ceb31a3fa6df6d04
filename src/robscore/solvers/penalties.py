"""Penalties: what is added to the loss for every coordinate that is not zero.

    P(theta) = sum_c rho(theta_c; strength_c),      strength_c = alpha w_c

To add a penalty, write one class as :class:`Penalty` describes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from robscore._tools.messages import ArgumentError
from robscore._tools.typing import Array, BoolArray

_ROUNDING = 1e-14  # guards rounding: gradients are differences, and below this share of their terms nothing else
_LIGHT = 1e-3  # weights below this share of the median do not decide where a path starts


class Penalty(ABC):
    """A penalty that is a sum over coordinates, each with a kink at zero, which makes solutions sparse.

    How to add one
    --------------
    Write one class with the members below and pass an instance to ``rs.solve_path(penalty=)``; nothing else needs to
    change. With strength = alpha w_c, rho is even, rises from rho(0) = 0, and is 0 everywhere where the strength is 0.
    An edge of a symmetric K is one coordinate for two entries, with w_c = 2 W_ij.

    - :meth:`value`, :meth:`slope`, :meth:`kink` and :meth:`growth`: P, its derivative away from zero, half the jump
      of the derivative at zero, and how fast P rises far out. In NumPy, over coordinates; :meth:`bend`, the second
      derivative, if it has one.
    - :meth:`prox` and :meth:`violation`: one step of coordinate descent, and how far a coordinate is from optimal. They
      are compiled by numba into the inner loop, so they take numbers, use no more than arithmetic, and are static.
    - :attr:`parameters`: the numbers besides the strength that these two need, if any.

    Weights are finite: those of coordinates that are free are 0, and coordinates with an infinite one are never moved.
    A penalty that is not convex gives stationary points, each started from the solution at the penalty before.
    """

    @property
    def parameters(self) -> tuple[float, ...]:
        """The numbers that :meth:`prox` and :meth:`violation` get as an array; none by default."""
        return ()

    @abstractmethod
    def value(self, theta: Array, weights: Array, alpha: float) -> float:
        """P(theta), for arrays of shape (C,)."""

    @abstractmethod
    def slope(self, theta: Array, weights: Array, alpha: float) -> Array:
        """rho'(theta_c), shape (C,), 0 where theta_c is."""

    def bend(self, theta: Array, weights: Array, alpha: float) -> Array:
        """rho''(theta_c) away from zero, shape (C,); 0 by default."""
        return np.zeros_like(theta)

    @abstractmethod
    def kink(self, weights: Array, alpha: float) -> Array:
        """rho'(0+), shape (C,): zero is optimal up to gradients of this size. Proportional to alpha."""

    @abstractmethod
    def growth(self, direction: Array, weights: Array, alpha: float) -> float:
        """P(s direction) / s for s to infinity: a loss that falls faster than that has no minimum."""

    @staticmethod
    @abstractmethod
    def prox(target: float, curvature: float, strength: float, parameters: Array) -> float:
        """The theta_c that minimises curvature / 2 theta_c^2 - target theta_c + rho(theta_c; strength)."""

    @staticmethod
    @abstractmethod
    def violation(theta: float, gradient: float, strength: float, parameters: Array) -> float:
        """Distance of minus the gradient to the subdifferential of rho at theta_c, negative inside of it."""

    def distances(self, theta: Array, gradient: Array, weights: Array, alpha: float) -> Array:
        """Distance of minus the gradient to the subdifferential, coordinate by coordinate, shape (C,)."""
        distance: Array = np.maximum(np.abs(gradient) - self.kink(weights, alpha), 0.0)
        away = theta != 0
        distance[away] = np.abs(gradient[away] + self.slope(theta[away], weights[away], alpha))
        return distance

    def alpha_max(self, gradient: Array, weights: Array, size: float) -> float:
        """max_c |gradient_c| / rho'(0+; w_c) over what is penalised, at the solution with all of that zero.

        Weights may be infinite here. Gradients are differences of numbers of about this ``size``. Weights far below
        the others are left out: they would stretch the path to where nothing else can be seen.
        """
        penalised = (weights > 0) & np.isfinite(weights)
        if penalised.any():
            penalised &= weights >= _LIGHT * np.median(weights[penalised])
        left = np.abs(gradient[penalised])
        left[left <= _ROUNDING * size] = 0.0
        return float((left / self.kink(weights[penalised], 1.0)).max(initial=0.0))

    def outside(self, gradient: Array, weights: Array, alpha: float, previous: float) -> BoolArray:
        """The strong rule: coordinates that may leave zero on the way from the previous alpha to this one.

        Gradients seldom move by more than the kink does.
        """
        return np.asarray(np.abs(gradient) >= self.kink(weights, 2 * alpha - previous))


@dataclass(frozen=True)
class L1(Penalty):
    """P(theta) = alpha sum_c w_c |theta_c|."""

    def value(self, theta: Array, weights: Array, alpha: float) -> float:
        """P(theta)."""
        return alpha * float(weights @ np.abs(theta))

    def slope(self, theta: Array, weights: Array, alpha: float) -> Array:
        """The derivative, alpha w_c sign(theta_c)."""
        return np.asarray(alpha * weights * np.sign(theta))

    def kink(self, weights: Array, alpha: float) -> Array:
        """rho'(0+) = alpha w_c."""
        return alpha * weights

    def growth(self, direction: Array, weights: Array, alpha: float) -> float:
        """P(direction), since P is a norm."""
        return self.value(direction, weights, alpha)

    @staticmethod
    def prox(target: float, curvature: float, strength: float, parameters: Array) -> float:
        """Soft thresholding."""
        if target > strength:
            return (target - strength) / curvature
        if target < -strength:
            return (target + strength) / curvature
        return 0.0

    @staticmethod
    def violation(theta: float, gradient: float, strength: float, parameters: Array) -> float:
        """|gradient + strength sign(theta)|; at zero, how much larger than the strength the gradient is."""
        if theta > 0.0:
            return abs(gradient + strength)
        if theta < 0.0:
            return abs(gradient - strength)
        return abs(gradient) - strength


def check_penalty(penalty: object) -> Penalty:
    """Pass on the penalty requested, l1 by default; raise on anything else."""
    if penalty is None:
        return L1()
    if not isinstance(penalty, Penalty):
        raise ArgumentError("penalty", penalty, "is not an instance of robscore.solvers.penalties.Penalty.")
    return penalty
