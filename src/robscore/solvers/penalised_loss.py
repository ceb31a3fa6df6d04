"""A loss with its penalties, checked, before it is written in coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.sparse import csc_array

from robscore._tools.arguments import check_number
from robscore._tools.messages import ArgumentError
from robscore._tools.numbers import as_numbers
from robscore._tools.typing import Array
from robscore.losses.quadratic import QuadraticLoss
from robscore.solvers.penalties import Penalty, check_penalty
from robscore.solvers.profiled_location import unshift_location


@dataclass(frozen=True)
class PenalisedLoss:
    """A loss and how K and eta are penalised; arguments as of ``rs.solve_path``, checked.

    Attributes
    ----------
    loss : QuadraticLoss
    weights, location_weights : arrays of the shapes of K and of eta
        Penalties per unit of alpha.
    symmetric, penalize_diagonal, fit_location : bool
    diagonal_multiplier : float
    shifted : bool
        Whether eta is free, and profiled out.
    penalty : Penalty
    """

    loss: QuadraticLoss
    weights: Array
    location_weights: Array
    symmetric: bool
    penalize_diagonal: bool
    fit_location: bool
    diagonal_multiplier: float
    shifted: bool
    penalty: Penalty

    @classmethod
    def of(
        cls, loss: QuadraticLoss, *, rule: Rule, location_ratio: float, penalty: Penalty | None = None, **options: Any
    ) -> PenalisedLoss:
        """Check the options."""
        W, w = check_options(loss.n_columns, rule=rule, location_ratio=location_ratio, **options)
        w, effect_ratio = w / location_ratio, options.get("effect_ratio", np.inf)
        if loss.n_locations > 1:
            w = np.column_stack([w, *[np.full(w.size, 1 / effect_ratio)] * (loss.n_locations - 1)])
        is_free = np.isinf(location_ratio) and (loss.n_locations == 1 or np.isinf(effect_ratio))
        if loss.zero_sums and options["penalize_diagonal"]:
            problem = ": with zero sums the diagonal is minus the rest of its column."
            raise ArgumentError("penalize_diagonal", options["penalize_diagonal"], problem)
        return cls(
            loss=loss,
            weights=loss.parts.weights(W),
            location_weights=w,
            symmetric=rule == "symmetric",
            penalize_diagonal=options["penalize_diagonal"],
            fit_location=options["fit_location"],
            diagonal_multiplier=options["diagonal_multiplier"],
            shifted=options["fit_location"] and bool(is_free),
            penalty=check_penalty(penalty),
        )

    def location(self, K: Array | csc_array, eta: Array | None) -> Array:
        """Find the eta, shape (m,), of a K, or of the coordinates of a location that is not profiled out."""
        if not self.fit_location:
            return np.zeros(self.loss.location_shape)
        if self.shifted:
            return unshift_location(self.loss, K, eta)
        assert eta is not None
        return eta


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
    """Give the penalty weights of K, shape (m, m), and of eta, shape (m,); raise on invalid options before any work."""
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
    """Convert an optional array argument to floats; ones by default."""
    return np.ones(shape) if values is None else as_numbers(name, values)
