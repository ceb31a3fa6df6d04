"""A penalised loss written in coordinates, from blocks that are held whole."""

from __future__ import annotations

import numpy as np

from robscore._tools.arguments import check_number
from robscore._tools.typing import Array
from robscore.losses.parts import mirrored
from robscore.losses.quadratic import StatisticLoss, location_rows
from robscore.solvers.blocks import Blocks
from robscore.solvers.location import check_variation, shift_location, slopes_of
from robscore.solvers.options import numbers_or_ones
from robscore.solvers.penalised import PenalisedLoss
from robscore.solvers.penalties import Penalty, check_penalty
from robscore.solvers.problem import Problem


def build_problem(penalised: PenalisedLoss) -> Problem:
    """All coordinates of a penalised problem, from blocks that are held."""
    loss, m, M = penalised.loss, penalised.loss.n_columns, penalised.loss.n_interactions
    shifted, symmetric = penalised.shifted, penalised.symmetric
    blocks, g, last = shift_location(loss) if shifted else (loss.blocks.copy(), loss.g, loss.gamma_last)
    with_location = penalised.fit_location and not (shifted and last is None)
    L = loss.n_locations
    p = M + L * with_location
    blocks, g = blocks[:, :p, :p], g[:, :p]
    diagonal = np.arange(M)
    blocks[:, diagonal, diagonal] += penalised.diagonal_multiplier * loss.blocks[:, diagonal, diagonal]
    if shifted:
        check_variation(loss, np.einsum("jkk->jk", blocks)[:, :M])
    if symmetric:
        nodes, rows = np.tril_indices(m)
    else:
        nodes, rows = np.divmod(np.arange(m * m), m)
    parts = np.repeat(np.arange(loss.parts.count), rows.size)
    nodes, rows = np.tile(nodes, loss.parts.count), np.tile(rows, loss.parts.count) + parts * m
    off_diagonal = rows % m != nodes
    weights = np.where(off_diagonal, penalised.weights[rows, nodes] * (2.0 if symmetric else 1.0), 0.0)
    if loss.zero_sums:
        weights[~off_diagonal] = np.inf  # the rest of the column determines it
    elif penalised.penalize_diagonal:
        weights[~off_diagonal] = penalised.weights[rows, nodes][~off_diagonal]
    weights[~off_diagonal & ~np.isin(parts, loss.parts.with_diagonal)] = np.inf  # other levels say the same
    if with_location:
        rows, nodes = np.append(rows, np.repeat(np.arange(M, p), m)), np.append(nodes, np.tile(np.arange(m), L))
        weights = np.append(weights, location_rows(penalised.location_weights))
    entries, others = mirrored(rows, nodes, m)
    mirror = np.where((rows < M) & (others != nodes) & symmetric, others * p + entries, -1)
    slack = 1.0
    if shifted and last is not None:
        slack += 2.0 * float(np.abs(slopes_of(loss.blocks[:, M:, M:], loss.blocks[:, :M, M:])).max())
    return Problem.of(
        Blocks.stacked(blocks, m),
        np.ascontiguousarray(g).ravel(),
        nodes * p + rows,
        mirror,
        weights,
        penalised.penalty,
        None if last is None else np.ascontiguousarray(last[:, :p, :p]),
        slack,
    )


def build_statistic_problem(
    loss: StatisticLoss, diagonal_multiplier: float, penalty_weights: Array | None, penalty: Penalty | None = None
) -> Problem:
    """The penalised problem of an exponential family: one node that owns every statistic."""
    check_number("diagonal_multiplier", diagonal_multiplier, at_least=0.0)
    r = loss.g.size
    gamma = loss.gamma + diagonal_multiplier * np.diag(loss.gamma.diagonal())
    weights = numbers_or_ones("penalty_weights", penalty_weights, (r,))
    if weights.shape != (r,) or np.isnan(weights).any() or (weights < 0).any():
        raise ValueError(
            f"penalty_weights must be {r} numbers of at least 0, one per statistic; got {penalty_weights!r}."
        )
    blocks, every = Blocks.stacked(gamma[None], 1), np.arange(r)
    return Problem.of(blocks, loss.g.copy(), every, np.full(r, -1), weights, check_penalty(penalty))
