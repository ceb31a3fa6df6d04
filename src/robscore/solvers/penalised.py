"""A loss with its penalties, before it is written in coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from robscore._tools.messages import ArgumentError
from robscore._tools.typing import Array
from robscore.losses.quadratic import QuadraticLoss
from robscore.solvers.location import unshift_location
from robscore.solvers.options import Rule, check_options
from robscore.solvers.penalties import Penalty, check_penalty


@dataclass(frozen=True)
class PenalisedLoss:
    """A loss with what is to be penalised in K and eta; arguments as of ``rs.solve_path``, checked.

    Attributes
    ----------
    loss : QuadraticLoss
    weights : array of the shape of K, location_weights : array of the shape of eta, per unit of alpha
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
        """eta, shape (m,), that belongs to K, or to the coordinates of a location that is not profiled out."""
        if not self.fit_location:
            return np.zeros(self.loss.location_shape)
        if self.shifted:
            return unshift_location(self.loss, K, eta)
        assert eta is not None
        return eta
