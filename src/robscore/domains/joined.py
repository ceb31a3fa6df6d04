"""Domains joined by ``&`` and ``|``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robscore._tools.typing import Array, BoolArray
from robscore.domains.base import Domain


@dataclass(frozen=True)
class _Joined(Domain):
    """Two domains joined into one."""

    left: Domain
    right: Domain

    def candidates(self, n_rows: int, n_columns: int, rng: np.random.Generator) -> Array:
        """Those of both, and the general ones."""
        some = [Domain.candidates(self, n_rows // 3 + 1, n_columns, rng)]
        some += [side.candidates(n_rows // 3 + 1, n_columns, rng) for side in (self.left, self.right)]
        return np.concatenate(some)

    def check_columns(self, n_columns: int) -> None:
        """Raise unless both fit so many columns."""
        self.left.check_columns(n_columns)
        self.right.check_columns(n_columns)


@dataclass(frozen=True, repr=False)
class Both(_Joined):
    """Rows in both of two domains: ``left & right``.

    Examples
    --------
    >>> import robscore as rs
    >>> ring = rs.domains.Inequality(1.0, ">=", 1.0, power=2) & rs.domains.Inequality(1.0, "<=", 4.0, power=2)
    >>> ring.contains([[1.0, 1.0], [0.1, 0.1]])
    array([[ True,  True],
           [False, False]])
    """

    @property
    def is_bounded(self) -> bool:  # type: ignore[override]
        """Whether one of the two is, or one caps a positive sum and the other admits no negative value."""
        pairs = ((self.left, self.right), (self.right, self.left))
        capped = any(a.is_non_negative and b.caps_positive for a, b in pairs)
        return self.left.is_bounded or self.right.is_bounded or capped

    @property
    def is_non_negative(self) -> bool:  # type: ignore[override]
        """Whether one of the two admits no negative value."""
        return self.left.is_non_negative or self.right.is_non_negative

    def others_inside(self, X: Array) -> BoolArray:
        """Whether both have what they ask of the other entries."""
        return self.left.others_inside(X) & self.right.others_inside(X)

    def segments(self, X: Array) -> tuple[Array, Array]:
        """Every interval of one with every interval of the other."""
        (a, b), (c, d) = self.left.segments(X), self.right.segments(X)
        shape = (*X.shape, -1)
        lower = np.maximum(a[..., :, None], c[..., None, :]).reshape(shape)
        return lower, np.minimum(b[..., :, None], d[..., None, :]).reshape(shape)

    def __repr__(self) -> str:
        return f"({self.left!r} & {self.right!r})"


@dataclass(frozen=True, repr=False)
class Either(_Joined):
    """Rows in at least one of two domains: ``left | right``.

    Examples
    --------
    >>> import robscore as rs
    >>> either = rs.domains.Box(0, 1) | rs.domains.Box(2, 3)
    >>> either.contains([[0.5, 0.7], [0.5, 2.5]])  # the second row lies in neither
    array([[ True,  True],
           [False, False]])
    """

    @property
    def is_bounded(self) -> bool:  # type: ignore[override]
        """Whether both are."""
        return self.left.is_bounded and self.right.is_bounded

    @property
    def is_non_negative(self) -> bool:  # type: ignore[override]
        """Whether neither admits a negative value."""
        return self.left.is_non_negative and self.right.is_non_negative

    def segments(self, X: Array) -> tuple[Array, Array]:
        """The intervals of both, each where the rest of the row lies in that one."""
        lower, upper = [], []
        for side in (self.left, self.right):
            low, high = side.segments(X)
            possible = side.others_inside(X)[..., None]
            lower.append(np.where(possible, low, np.inf))
            upper.append(np.where(possible, high, -np.inf))
        return np.concatenate(lower, axis=-1), np.concatenate(upper, axis=-1)

    def __repr__(self) -> str:
        return f"({self.left!r} | {self.right!r})"
