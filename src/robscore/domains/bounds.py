"""Bounds of domains: one number for all columns, or one per column."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from robscore._tools.typing import Array

if TYPE_CHECKING:
    from robscore.domains.base import Domain

Bound: TypeAlias = "float | tuple[float, ...]"


def as_bound(bound: Array) -> Bound:
    """An array of no or one dimension as something that can be compared and hashed."""
    if bound.ndim > 1:
        raise ValueError(f"A bound is a number, or one number per column; got shape {bound.shape}.")
    return float(bound) if bound.ndim == 0 else tuple(float(value) for value in bound)


def check_count(domain: Domain, numbers: Array, n_columns: int) -> None:
    """Raise unless numbers given by column are as many as the columns."""
    if numbers.ndim and numbers.size != n_columns:
        raise ValueError(f"{domain!r} has {numbers.size} bounds, but the data have {n_columns} columns.")


def show(bound: Array) -> str:
    """A bound in words."""
    return str(as_bound(bound))
