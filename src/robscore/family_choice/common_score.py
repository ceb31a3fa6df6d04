"""The common score: losses of rows at a fit, with one row weight for all families, so that families can be compared.

Where cells are missing, entries of the loss are averaged over the rows in which their cells were observed. The row
weight phi needs all cells of a row. They are drawn from a normal distribution of columns that were made symmetric, the
one that phi is made of, and not from a fit: no family is judged by cells that it filled in itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from robscore._tools.numbers import evenly_spread
from robscore._tools.typing import Array, BoolArray
from robscore.cells.draw_cells import DrawingOrder, initial_values, redrawn
from robscore.domains import Real
from robscore.elements.observed_entries import ObservedElements, Shares, counts_of
from robscore.elements.power_elements import PowerElements
from robscore.families.family import Parameters
from robscore.families.power import Gaussian, PowerFamily
from robscore.family_choice.common_loss import CommonWeight, Coordinates, DistanceWeight
from robscore.losses.quadratic import QuadraticLoss
from robscore.rows.row_source import Rows

_MOST_ROWS = 10_000  # that the row weight is learnt from
_ROUNDS, _SWEEPS = 3, 10  # in which the cells that are drawn, and the distribution they are drawn from, come to agree


@dataclass(frozen=True)
class CommonScore:
    """How rows are scored, whatever the family: by coordinates and row weights learnt from the rows of the fit.

    Attributes
    ----------
    coordinates : Coordinates
    weight : DistanceWeight
    """

    coordinates: Coordinates
    weight: DistanceWeight

    @classmethod
    def of(cls, rows: Rows, *, is_real: bool) -> CommonScore:
        """Learn from rows as given, which may have missing cells."""
        coordinates = Coordinates.of(rows, is_real=is_real)
        t = coordinates(rows.take(evenly_spread(np.arange(rows.n_rows), _MOST_ROWS, rows.frequency)))
        t = t[~np.isnan(t).all(axis=1)]
        return cls(coordinates, DistanceWeight.of(completed(t, is_real=is_real), is_real=is_real))

    def score(self, family: PowerFamily, given: Parameters, rows: Rows, frequency: Array) -> float:
        """Minus the mean loss of rows with these frequencies, shape (n,); minus infinity where all weights are zero."""
        if not rows.total(_count_missing):
            losses, phi = self.losses(family, given, rows)
            used = (frequency > 0) & (phi > 0)
            frequency, losses, phi = frequency[used], losses[used], phi[used]
            return -float(frequency @ losses / (frequency @ phi)) if used.any() else -np.inf
        t = self.coordinates(rows.gather(np.asarray))
        observed = ~np.isnan(t)
        whole = _with_drawn_cells(self.weight, t)
        phi, slope = self.weight(whole)
        kept = np.flatnonzero((frequency > 0) & (phi > 0) & observed.any(axis=1))
        if not kept.size:
            return -np.inf
        is_real = self.coordinates.is_real
        weight = CommonWeight.weighted(whole[kept], phi[kept], slope[kept], is_real=is_real)
        loss = observed_loss(family, weight, observed[kept], frequency[kept])
        value = np.inf if loss is None else loss.value(*self.coordinates.parameters(family, given))
        return -float(value) if np.isfinite(value) else -np.inf

    def losses(self, family: PowerFamily, given: Parameters, rows: Rows) -> tuple[Array, Array]:
        """Weighted losses of rows as given, and their row weights, shape (n,) each."""
        parameters = self.coordinates.parameters(family, given)
        losses, phi = rows.gather(partial(_weighted_losses, self, family, parameters))
        return losses, phi


def _weighted_losses(score: CommonScore, family: PowerFamily, parameters: Parameters, X: Array) -> tuple[Array, Array]:
    t = score.coordinates(X)
    phi, slope = score.weight(t)
    losses, used = np.zeros(len(t)), np.flatnonzero(phi)
    weight = CommonWeight.weighted(t[used], phi[used], slope[used], is_real=score.coordinates.is_real)
    losses[used] = losses_of(family, parameters, weight)
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


def completed(t: Array, *, is_real: bool) -> Array:
    """Rows t, shape (n, m), with draws in their missing cells, as likely as the other rows make them."""
    if not np.isnan(t).any():
        return t
    whole = initial_values(t, Real(), [f"x{j}" for j in range(t.shape[1])], DrawingOrder.of(t), 0)
    for _ in range(_ROUNDS):
        whole = _with_drawn_cells(DistanceWeight.of(whole, is_real=is_real), t)
    return whole


def _with_drawn_cells(weight: DistanceWeight, t: Array) -> Array:
    """Rows t, shape (n, m), with missing cells drawn from the normal distribution behind a row weight."""
    missing = np.isnan(t)
    if not missing.any():
        return t
    z = np.where(missing, weight.scatter.mean, weight.standard(t))
    parameters = weight.scatter.precision, weight.scatter.precision @ weight.scatter.mean
    order, rng = DrawingOrder.of(t), np.random.default_rng(0)
    z = redrawn(Gaussian(), z, missing, parameters, order=order, sweeps=_SWEEPS, rng=rng)
    return np.where(missing, weight.undone(z), t)


def observed_loss(
    family: PowerFamily, weight: CommonWeight, observed: BoolArray, frequency: Array
) -> QuadraticLoss | None:
    """The common loss, entry by entry, of rows with these frequencies, shape (n,); None where it overflows.

    With V_j = (-p u, l) and W_j = ((1 - a) p u - p^2 u'/p e_j, (b - 1) l), p = t_j^a and l = t_j^b (see
    :mod:`robscore.family_choice.common_loss`), Gamma_j = H_j V_j V_j' and g_j = -(H1_j V_j + H_j W_j).
    """
    a, b, t, H, H1 = family.a, family.b, weight.t, weight.H, weight.H1
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if weight.is_real:
            whole = PowerElements(t, H, H, H, H1, H, -H1)
        else:
            p, at = (t**a if a else np.ones_like(t)), (t**b if b else np.ones_like(t))
            u, own = (p, a * p) if a else (np.log(t), p)
            whole = PowerElements(
                u, H * p * p, H * p * at, H * at * at, (H1 - (1 - a) * H) * p, H * p * own, -(H1 + (b - 1) * H) * at
            )
    if whole.overflow.any():
        return None
    share = frequency * weight.phi
    marks = counts_of(observed.astype(float), share / share.sum(), 0, shared=False)
    if not marks.blocks.all():
        return None
    weights = frequency / share.sum()
    return ObservedElements(whole, observed, Shares(marks.blocks, marks.g)).average(weights, weights)
