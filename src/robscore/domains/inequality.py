"""Rows of which a weighted sum of powers is bounded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from robscore._tools.messages import ArgumentError, Message, Setting
from robscore._tools.typing import Array
from robscore.domains.base import Domain
from robscore.domains.bounds import Bound, as_bound, check_count


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
        """Whether it says that a sum with positive coefficients is at most something."""
        return self.relation in ("<=", "<") and bool((np.asarray(self.coefficients) > 0).all())

    @property
    def is_bounded(self) -> bool:  # type: ignore[override]
        """Whether it is a ball or the like."""
        return self.caps_positive and self.power % 2 == 0

    def check_columns(self, n_columns: int) -> None:
        """Raise unless coefficients given by column are as many as the columns."""
        check_count(self, np.asarray(self.coefficients), n_columns)

    def segments(self, X: Array) -> tuple[Array, Array]:
        """x_j^power against what the others leave of the bound."""
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
            # Even powers are symmetric about 0; other powers know no negative values, so their half is cut off.
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
