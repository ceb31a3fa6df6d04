"""Domains given by a distance of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robscore._tools.typing import Array, BoolArray
from robscore.domains.base import Domain, Nearest


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
        """As given."""
        return self.non_negative

    def segments(self, X: Array) -> tuple[Array, Array]:
        """Not known."""
        raise TypeError("A Custom domain has a distance only; it cannot be joined with others or sampled on.")

    def contains(self, X: ArrayLike) -> BoolArray:
        """Which entries of X, shape (n, m), lie inside."""
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
