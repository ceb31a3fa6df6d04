"""Standard errors with filled-in cells: the filling moves with the estimate, and that is accounted for.

The estimate solves  sum_i E_theta[psi(x_i, theta) | observed cells of row i] = 0.  Its derivative in theta is the
Hessian of the averaged loss plus what the filling adds (Louis, 1982):

    B = H + sum_i Cov_theta(psi(x_i), t(x_i) | observed),      log p = theta' t(x) + ...

so that the influence of a row is -B^-1 times its mean gradient over completions. Cells are drawn here by the estimate
of all pairs, not by the chosen graph, which would make other pairs look less linked than they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robscore._tools.errors import UsageError
from robscore._tools.progress import announce, stage
from robscore._tools.typing import Array, BoolArray
from robscore.certainty.influence import Influence, Solved, free_a_column, gradients_at, solve, summed_in_blocks
from robscore.elements import Elements
from robscore.elements.streamed import elements_of
from robscore.families.family import Family, Parameters
from robscore.fitting.filling import Filler
from robscore.fitting.fit import Fit, GraphFit
from robscore.fitting.weigh import weights_of_copies
from robscore.losses.quadratic import QuadraticLoss
from robscore.rows.arrays import ArrayRows
from robscore.weighting.row_weights import RowWeights
from robscore.weighting.simulation import proper
from robscore.weighting.weighted_rows import WeightedRows

_ROUNDS, _KEPT = 30, 20  # of draws, and how many of them the estimate is made of
_MOST_PARAMETERS = 4000


def filled_influence(fit: Fit, allowed: BoolArray) -> tuple[Solved, Influence]:
    """The estimate over the allowed pairs, and what every row does to it, shape (n, p)."""
    filling, family = fit.prepared.filling, fit.prepared.preparation.scaled_family
    assert filling is not None
    n_parameters = np.count_nonzero(np.triu(allowed)) + 2 * len(fit.names)
    if n_parameters > _MOST_PARAMETERS:
        raise UsageError(
            f"Intervals after filling in cells are for at most {_MOST_PARAMETERS} parameters, not {n_parameters}; fit "
            "fewer columns, or leave out incomplete rows."
        )
    filler = Filler.going_on(family, filling, fit.settings.seed)
    copies: list[Array] = []
    with stage("filling in cells for all pairs"):
        for number in range(_ROUNDS + 1):
            stack = np.stack(copies[-_KEPT:]) if copies else filler.copies
            now = replace(fit.prepared, filling=replace(filling, copies=stack))
            rows = ArrayRows(stack.reshape(-1, stack.shape[2]))
            elements = elements_of(family, rows, fit.settings.memory)
            weights = weights_of_copies(now, fit.weighed, elements, rows)
            solved = solve(elements, weights, allowed, fit_location=fit.settings.fit_location)
            if number < _ROUNDS:
                loss = weights.loss(elements)
                filler.draw(proper(family, loss, (solved.solution.interaction, solved.solution.location)))
                copies.append(filler.copies[-1])
            announce("filling in cells for all pairs", number, _ROUNDS)
    assert isinstance(fit.loss, QuadraticLoss)
    n, free = len(filling.holes), free_a_column(fit.loss, allowed, fit_location=fit.settings.fit_location)
    stretch = np.sqrt(n / max(n - free, 1))
    return solved, _influence(replace(solved, stretch=float(stretch)), family, elements, weights, stack)


def _influence(solved: Solved, family: Family, elements: Elements, weights: RowWeights, stack: Array) -> Influence:
    """Of rows, from gradients of all their completions."""
    count, n, _ = stack.shape
    gradients = gradients_at(solved.solution, WeightedRows.of(elements, weights)).reshape(count, n, -1)
    statistics = _statistics(solved, family, stack.reshape(count * n, -1)).reshape(count, n, -1)
    within = statistics - statistics.mean(axis=0)
    added = np.einsum("rip,riq->pq", gradients, within, optimize=True) * (count / max(count - 1, 1))
    d = gradients.shape[2]
    factor = solved.solution.factor
    # B = H + added, so B^-1 = (I + H^-1 added)^-1 H^-1.
    inverse_added = factor.unwhiten(factor.whiten(added.T)).T
    whole = factor.unwhiten(factor.whiten(gradients.sum(axis=0)))
    rows = np.asarray(-np.linalg.solve(np.eye(d) + inverse_added, whole.T).T * solved.stretch, dtype=float)
    return solved.arranged(rows)


def _statistics(solved: Solved, family: Family, X: Array) -> Array:
    """t(x) of every free parameter, shape (n, d): what the log density changes by, per unit of it."""
    m = len(solved.solution.interaction)
    nothing: Parameters = np.zeros((m, m)), np.zeros_like(solved.solution.location)

    def density(parameters: Parameters) -> Array:
        base, own, at = family.at(X, *parameters)
        with np.errstate(all="ignore"):
            return base.log_density(own, *at)

    least = density(nothing)
    found = np.empty((len(X), solved.solution.rows.size))
    for k, (row, node) in enumerate(zip(solved.solution.rows.tolist(), solved.solution.nodes.tolist(), strict=True)):
        K, eta = (part.copy() for part in nothing)
        if row < m:
            K[row, node] = K[node, row] = 1.0
        elif eta.ndim == 1:
            eta[node] = 1.0
        else:
            eta[node, row - m] = 1.0
        found[:, k] = density((K, eta)) - least
    return np.nan_to_num(found)


def filled_errors(fit: GraphFit, allowed: BoolArray, block_size: int) -> tuple[Solved, Array, Array]:
    """The estimate, and standard errors of K_ij and of associations, shape (p,) each."""
    solved, influence = filled_influence(fit, allowed)
    blocks = [summed_in_blocks(part, block_size) for part in (influence.on_pairs, influence.on_association())]
    count = len(blocks[0])
    pairs, association = (np.sqrt(np.einsum("ij,ij->j", part, part) * count / max(count - 1, 1)) for part in blocks)
    return solved, pairs, association
