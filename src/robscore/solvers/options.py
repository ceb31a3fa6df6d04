"""Options of the penalised problem, checked before any work."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from robscore._tools.arguments import check_number
from robscore._tools.messages import ArgumentError
from robscore._tools.numbers import as_numbers
from robscore._tools.typing import Array

Rule: TypeAlias = Literal["symmetric", "and", "or"]


def check_options(
    m: int,
    *,
    rule: str,
    diagonal_multiplier: float,
    penalize_diagonal: bool,
    fit_location: bool,
    location_ratio: float,
    penalty_weights: Array | None,
    location_weights: Array | None,
    effect_ratio: float = np.inf,
) -> tuple[Array, Array]:
    """The penalty weights of K, shape (m, m), and of eta, shape (m,); raise on invalid options."""
    if rule not in ("symmetric", "and", "or"):
        raise ArgumentError("rule", rule, "is not known; use 'symmetric', 'and' or 'or'.")
    check_number("diagonal_multiplier", diagonal_multiplier, at_least=0.0)
    check_number("location_ratio", location_ratio, finite=False)
    if not location_ratio > 0:
        raise ArgumentError("location_ratio", location_ratio, "must be positive; inf leaves the location free.")
    check_number("effect_ratio", effect_ratio, finite=False)
    if not effect_ratio > 0:
        raise ArgumentError("effect_ratio", effect_ratio, "must be positive; inf leaves effects of covariates free.")
    W = numbers_or_ones("penalty_weights", penalty_weights, (m, m))
    if W.shape != (m, m):
        raise ValueError(f"penalty_weights must have shape ({m}, {m}), one weight per pair; got {W.shape}.")
    off = ~np.eye(m, dtype=bool)
    read = np.ones((m, m), dtype=bool) if penalize_diagonal else off
    if np.isnan(W[read]).any() or (W[read] < 0).any():
        raise ValueError("penalty_weights must not be negative or NaN: 0 leaves an edge free, inf forbids it.")
    if not np.array_equal(W[off], W.T[off]):
        i, j = np.argwhere((W != W.T) & off)[0]
        raise ValueError(f"penalty_weights must be symmetric, but [{i}, {j}] is {W[i, j]} and [{j}, {i}] is {W[j, i]}.")
    w = numbers_or_ones("location_weights", location_weights, (m,))
    if location_weights is not None and not (fit_location and np.isfinite(location_ratio)):
        raise ValueError("location_weights need a penalised location: fit_location=True and a finite location_ratio.")
    if w.shape != (m,) or np.isnan(w).any() or (w < 0).any():
        raise ValueError(f"location_weights must be {m} numbers of at least 0 (inf sets a location to zero).")
    return W, w


def numbers_or_ones(name: str, values: Array | None, shape: tuple[int, ...]) -> Array:
    """An optional array argument as floats; ones by default."""
    return np.ones(shape) if values is None else as_numbers(name, values)
