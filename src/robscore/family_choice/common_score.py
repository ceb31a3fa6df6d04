"""Losses of single rows at a fit under one weight, the same for all families that can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from robscore._tools.typing import Array
from robscore.families.family import Parameters
from robscore.families.power import PowerFamily
from robscore.family_choice.common_loss import CommonWeight, Coordinates, DistanceWeight
from robscore.family_choice.observed import completed, drawn_by, observed_loss
from robscore.rows.row_source import Rows

_MOST_ROWS = 10_000  # that the weight is learnt from


@dataclass(frozen=True)
class Scoring:
    """How rows are scored: by what they are learnt from, whatever the family.

    Attributes
    ----------
    coordinates : Coordinates
    weight : what a row counts
    """

    coordinates: Coordinates
    weight: DistanceWeight

    @classmethod
    def of(cls, rows: Rows, *, is_real: bool) -> Scoring:
        """From rows as given, with or without holes."""
        coordinates = Coordinates.of(rows, is_real=is_real)
        some = np.linspace(0, rows.n_rows - 1, min(rows.n_rows, _MOST_ROWS)).astype(np.intp)
        t = coordinates(rows.take(some))
        t = t[~np.isnan(t).all(axis=1)]
        return cls(coordinates, DistanceWeight.of(completed(t, is_real=is_real), is_real=is_real))

    def score(self, family: PowerFamily, given: Parameters, rows: Rows, counts: Array) -> float:
        """Minus the mean loss of rows, each there so often, shape (n,); minus infinity where none counts.

        Where cells are missing, every entry of the loss by the rows in which its cells are there: what a row counts
        comes from completed rows, which no family has a say in.
        """
        if not rows.total(_count_missing):
            losses, phi = self.losses(family, given, rows)
            counted = (counts > 0) & (phi > 0)
            counts, losses, phi = counts[counted], losses[counted], phi[counted]
            return -float(counts @ losses / (counts @ phi)) if counted.any() else -np.inf
        t = self.coordinates(rows.gather(np.asarray))
        there = ~np.isnan(t)
        whole = drawn_by(self.weight, t)
        phi, slope = self.weight(whole)
        kept = np.flatnonzero((counts > 0) & (phi > 0) & there.any(axis=1))
        if not kept.size:
            return -np.inf
        is_real = self.coordinates.is_real
        weight = CommonWeight.weighted(whole[kept], phi[kept], slope[kept], is_real=is_real)
        loss = observed_loss(family, weight, there[kept], counts[kept])
        value = np.inf if loss is None else loss.value(*self.coordinates.parameters(family, given))
        return -float(value) if np.isfinite(value) else -np.inf

    def losses(self, family: PowerFamily, given: Parameters, rows: Rows) -> tuple[Array, Array]:
        """Weighted losses of rows as given, and the weights, shape (n,) each."""
        parameters = self.coordinates.parameters(family, given)
        losses, phi = rows.gather(partial(_weighted_losses, self, family, parameters))
        return losses, phi


def _weighted_losses(scoring: Scoring, family: PowerFamily, parameters: Parameters, X: Array) -> tuple[Array, Array]:
    t = scoring.coordinates(X)
    phi, slope = scoring.weight(t)
    losses, counted = np.zeros(len(t)), np.flatnonzero(phi)
    weight = CommonWeight.weighted(t[counted], phi[counted], slope[counted], is_real=scoring.coordinates.is_real)
    losses[counted] = losses_of(family, parameters, weight)
    return losses, phi


def losses_of(family: PowerFamily, parameters: Parameters, weight: CommonWeight) -> Array:
    """sum_j H_j (s_j^2 / 2 + W_j' z_j) + H1_j s_j of every row, shape (n,), with s_j = V_j' z_j."""
    (K, eta), t = parameters, weight.t
    a, b, own = family.a, family.b, K.diagonal()
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if weight.is_real:  # a = b = 1
            slopes, bends = eta - t @ K, np.broadcast_to(-own, t.shape)
        else:
            power, location = (t**a if a else np.ones_like(t)), (t**b if b else np.ones_like(t)) * eta
            coupled = power * ((t**a if a else np.log(t)) @ K)
            slopes = location - coupled
            bends = (1 - a) * coupled - power * (a * power if a else 1.0) * own + (b - 1) * location
        losses = np.sum(weight.H * (0.5 * slopes**2 + bends) + weight.H1 * slopes, axis=1)
    return np.asarray(np.where(np.isfinite(losses), losses, np.inf))


def _count_missing(X: Array) -> int:
    return int(np.count_nonzero(np.isnan(X)))
