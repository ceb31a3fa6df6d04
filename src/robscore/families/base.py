"""What a family must provide, and how to add one.

To add a family, write a subclass of :class:`Family` in a file of its own with

* ``elements(X)``: the score-matching elements of rows that lie in the domain, usually a
  :class:`~robscore.elements.PairwiseElements` filled from a few formulas;
* ``problem(X)``: a boolean array of the entries the family excludes, with the reason in words;
* ``scaling(X, fit_location)`` and ``unscale(...)``: a robust scale for the columns and the map of
  fitted parameters back to the given units, or ``None`` where the family does not scale;

and give it a name with ``@register("name")``. Nothing else in the package needs to change.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from robscore._typing import Array, BoolArray
from robscore.domains import Domain

if TYPE_CHECKING:
    from robscore.elements import PairwiseElements


@dataclass(frozen=True)
class Scaling:
    """The columns y = (x - centre) / scale; both arrays have shape (m,)."""

    centre: Array
    scale: Array

    def apply(self, X: Array) -> Array:
        """Scaled rows; a value beyond the largest float stays at the largest float."""
        largest = np.finfo(float).max
        with np.errstate(over="ignore"):
            return np.clip((X - self.centre) / self.scale, -largest, largest)


class Family(ABC):
    """A family of distributions on rows x of m columns."""

    domain: Domain

    @abstractmethod
    def elements(self, X: Array) -> PairwiseElements:
        """Score-matching elements of the rows X, shape (n, m), all inside the domain."""

    def problem(self, X: Array) -> tuple[BoolArray, str]:
        """Entries of X, shape (n, m), that the family excludes, and why."""
        return ~self.domain.contains(X), f"lie outside the domain {self.domain!r}"

    def redundancy(self, *, fit_location: bool) -> str | None:
        """Why the statistics determine each other whatever the data, in words; None where they do not."""
        return None

    def resolved(self, X: Array) -> Family:
        """The family with whatever it takes from the rows X, shape (n, m), fixed."""
        return self

    def scaling(self, X: Array, *, fit_location: bool) -> Scaling | None:
        """Robust centre and scale of the columns, or None where the family does not scale."""
        return None

    def scaled(self, scaling: Scaling) -> Family:
        """The same family for scaled columns: the domain's bounds move with the data."""
        raise TypeError(f"{self!r} does not scale.")

    def unscale(self, interaction: Array, location: Array, scaling: Scaling) -> tuple[Array, Array]:
        """Parameters (K, eta) of the given columns from those of the scaled ones."""
        raise TypeError(f"{self!r} does not scale.")


_REGISTRY: dict[str, Callable[[], Family]] = {}
_F = TypeVar("_F", bound=type[Family])


def register(name: str) -> Callable[[_F], _F]:
    """Make a family known by name, with its default arguments."""

    def add(family: _F) -> _F:
        _REGISTRY[name] = family
        return family

    return add


def get_family(family: str | Family) -> Family:
    """The family itself, or the one known by that name.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.families.get_family("sqrt")
    SquareRoot()
    """
    if isinstance(family, Family):
        return family
    if isinstance(family, str) and family in _REGISTRY:
        return _REGISTRY[family]()
    names = ", ".join(repr(name) for name in sorted(_REGISTRY))
    raise ValueError(f"family={family!r} is not known; use one of {names}, or an object of rs.families.")
