"""The common loss of rows with holes, by the cells that were observed.

What a row counts, phi, needs all of its cells. They are drawn from a normal distribution of columns that were made
symmetric, the one that phi is made of, and not from a fit: no family is judged by cells that it filled in itself, and
all families by the same. Entries of the loss are averaged over the rows in which their cells were observed.
"""

from __future__ import annotations

import numpy as np

from robscore._tools.typing import Array, BoolArray
from robscore.cells.draw_cells import DrawingOrder, initial_values, redrawn
from robscore.domains import Real
from robscore.elements.observed_entries import ObservedElements, Shares, counts_of
from robscore.elements.power_elements import PowerElements
from robscore.families.power import Gaussian, PowerFamily
from robscore.family_choice.common_loss import CommonWeight, DistanceWeight
from robscore.losses.quadratic import QuadraticLoss

_ROUNDS, _SWEEPS = 3, 10  # in which what is drawn, and what it is drawn by, come to agree


def completed(t: Array, *, is_real: bool) -> Array:
    """Rows t, shape (n, m), with something in every hole, as likely as the other rows make it."""
    if not np.isnan(t).any():
        return t
    whole = initial_values(t, Real(), [f"x{j}" for j in range(t.shape[1])], DrawingOrder.of(t), 0)
    for _ in range(_ROUNDS):
        whole = drawn_by(DistanceWeight.of(whole, is_real=is_real), t)
    return whole


def drawn_by(weight: DistanceWeight, t: Array) -> Array:
    """Rows t, shape (n, m), with what the normal distribution behind a weight draws in their holes."""
    holes = np.isnan(t)
    if not holes.any():
        return t
    z = np.where(holes, weight.scatter.mean, weight.standard(t))
    parameters = weight.scatter.precision, weight.scatter.precision @ weight.scatter.mean
    order, rng = DrawingOrder.of(t), np.random.default_rng(0)
    z = redrawn(Gaussian(), z, holes, parameters, order=order, sweeps=_SWEEPS, rng=rng)
    return np.where(holes, weight.undone(z), t)


def observed_loss(family: PowerFamily, weight: CommonWeight, there: BoolArray, counts: Array) -> QuadraticLoss | None:
    """The common loss of rows that are there so often, entry by entry; None where it overflows.

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
    share = counts * weight.phi
    marks = counts_of(there.astype(float), share / share.sum(), 0, shared=False)
    if not marks.blocks.all():
        return None
    weights = counts / share.sum()
    return ObservedElements(whole, there, Shares(marks.blocks, marks.g)).average(weights, weights)
