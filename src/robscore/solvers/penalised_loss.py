"""A loss with its penalties, checked, before it is written in coordinates; a free location is profiled out.

    eta~_j = eta_j + t' K_j / s,    s = Gamma_eta,eta,  t = Gamma_K,eta

does not meet K_j within its block any more: eta~_j = g_eta / s at the optimum, and what is left of the block is

    Q_j = Gamma_KK - t t' / s,      l_j = g_K - t g_eta / s

With q covariates t has 1 + q columns and s is a matrix of that size: a small solve per node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.sparse import csc_array

from robscore._tools.messages import ArgumentError, Message, Setting
from robscore._tools.numbers import as_numbers, check_number
from robscore._tools.typing import Array
from robscore.losses.quadratic import QuadraticLoss, as_location, location_rows
from robscore.solvers.penalties import Penalty, check_penalty
from robscore.solvers.unsolvable_columns import ColumnsError

_VARIES = 1e-13  # guards rounding: the share of a diagonal entry that must be left


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
        if not self.shifted:
            assert eta is not None
            return eta
        # Back from eta~, which is the optimum unless it is given, to eta.
        loss = self.loss
        best = loss.best_location(loss.g[:, loss.n_interactions :]) if eta is None else location_rows(eta).T
        return as_location(best - loss.best_location(loss.pulls_of(K)))


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


OF_ZEROS = Message(
    "and what is left is too little for this family. Take ",
    Setting("family", "copula"),
    ", which takes zeros, or drop the columns with the most.",
)


class HardlyVaryError(ColumnsError):
    """Columns that determine nothing once the location is profiled out."""

    problem = Message(
        "hardly vary, compared with their size, in the rows that count: nothing can be said of what depends on such a "
        "column. Drop it, or take ",
        Setting("family", "copula"),
        ", which is for columns of any shape.",
    )
    of_zeros = OF_ZEROS


class NoLocationError(ColumnsError):
    """Columns of which no value counts in the loss."""

    problem = Message(
        "are zero in all rows that count, which says nothing in this family. Drop them, or take ",
        Setting("family", "copula"),
        ", which takes zeros.",
    )
    of_zeros = OF_ZEROS


def shift_location(loss: QuadraticLoss) -> tuple[Array, Array, Array | None]:
    """Change variables to eta~_j = eta_j + t' K_j / s: blocks, linear part, coupling; it meets no K_j any more."""
    m = loss.n_interactions
    s, t = loss.blocks[:, m:, m:], loss.blocks[:, :m, m:]
    check_location(np.einsum("jkk->jk", s))
    slope = slopes_of(s, t)
    blocks = np.empty_like(loss.blocks)
    np.matmul(slope, t.transpose(0, 2, 1), out=blocks[:, :m, :m])
    np.subtract(loss.blocks[:, :m, :m], blocks[:, :m, :m], out=blocks[:, :m, :m])
    blocks[:, :m, m:] = 0.0
    blocks[:, m:, :m] = 0.0
    blocks[:, m:, m:] = s
    g = loss.g.copy()
    g[:, :m] -= (slope * loss.g[:, None, m:]).sum(axis=2)
    if loss.gamma_last is None:
        return blocks, g, None
    last = loss.gamma_last.copy()
    last[:, :m] -= slope[:-1] @ last[:, m:]
    last[:, :, :m] -= last[:, :, m:] @ slope[-1].T
    return blocks, g, last


def slopes_of(s: Array, t: Array) -> Array:
    """Compute the products t s^-1 of every node, shape (nodes, m, L), from s, (nodes, L, L), and t, (nodes, m, L)."""
    if s.shape[-1] == 1:
        return t / s
    return np.asarray(np.linalg.solve(s, t.transpose(0, 2, 1)).transpose(0, 2, 1))


def check_location(s: Array) -> None:
    """Raise unless every eta_j enters the loss, by s of shape (m, L)."""
    if not (s > 0).all():
        raise NoLocationError(np.flatnonzero(~(s > 0).all(axis=1)).tolist())


def check_variation(loss: QuadraticLoss, left: Array) -> None:
    """Raise where next to nothing is left of the diagonals, shape (m or 1, m), once the location is profiled out."""
    m = loss.n_columns
    kept = left > _VARIES * loss.diagonal()[: len(left), : left.shape[1]]
    if loss.zero_sums:
        kept |= np.eye(m, dtype=bool)
    if not kept.all():
        nodes = ~kept.any(axis=1) if len(kept) == m else np.zeros(m, dtype=bool)
        columns = np.flatnonzero(nodes if nodes.any() else ~kept.all(axis=0)) % m
        raise HardlyVaryError(np.unique(columns).tolist())
