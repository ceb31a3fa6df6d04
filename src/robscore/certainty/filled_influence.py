"""How much does every row move an estimate if cells were filled in? Missing ones, and those known to an interval.

The filling moves with the estimate, which solves

    sum_i w_i E_theta[psi(x_i, theta) | what is known of row i] = 0

Its derivative in theta is the Hessian of the averaged loss plus what the filling adds (Louis, 1982):

    B = H + sum_i w_i Cov_theta[psi(x_i), t(x_i) | known],      log p = theta' t(x) + ...

so that the influence of a row is -B^-1 times its mean gradient over completions. For this, cells are drawn by the
estimate of all pairs: draws by the chosen graph would make other pairs look less linked than they are. What is known to
an interval, by margins that are estimated too, is in :mod:`robscore.certainty.latent_influence`.
"""

from __future__ import annotations

import numpy as np

from robscore._tools.memory import describe
from robscore._tools.messages import Setting, UsageError
from robscore._tools.progress import announce, stage
from robscore._tools.typing import Array, BoolArray
from robscore.certainty.influence import Influence, Solved, gradients_at, solve, solve_loss, unit_parameters
from robscore.certainty.latent_influence import FilledInfluence, latent_influence, loss_of
from robscore.elements import Elements
from robscore.families.family import Family, Parameters
from robscore.fitting.fit_result import Fit, GraphFit
from robscore.fitting.imputing import Filler
from robscore.solvers.unpenalised import SingularLossError
from robscore.weighting.proper_parameters import proper
from robscore.weighting.row_weights import RowWeights, WeightedRows

_N_ROUNDS, _N_KEPT = 30, 20  # of draws of missing cells, and of the last of them that make the estimate
_MOST_PARAMETERS = 4000  # of an estimate with filled-in cells, whose Hessian is held: it guards memory


def filled_influence(fit: Fit, allowed: BoolArray, block_size: int) -> FilledInfluence:
    """The estimate over the allowed pairs, and the influence of every row on it, shape (n, p).

    Raises
    ------
    SingularLossError
        If the rows do not determine all of it.
    """
    filling, family = fit.prepared.filling, fit.prepared.preparation.scaled_family
    assert filling is not None
    n_parameters = np.count_nonzero(np.triu(allowed)) + 2 * len(fit.names)
    if n_parameters > _MOST_PARAMETERS:
        raise UsageError(
            f"Intervals after filling in cells are for at most {_MOST_PARAMETERS} parameters, not {n_parameters}; fit "
            "fewer columns, or leave out incomplete rows."
        )
    filler = Filler.going_on(family, filling, fit.settings.seed)
    n_rounds = _N_ROUNDS if filler.filled.any() else 0
    copies: list[Array] = []
    with stage("filling in cells for all pairs"):
        for number in range(n_rounds + 1):
            stack = np.stack(copies[-_N_KEPT:]) if copies else filler.copies
            loss, elements, weights = loss_of(fit, stack)
            solved = solve_loss(loss, fit.prepared.rows.n_repeated, allowed, fit_location=fit.settings.fit_location)
            parameters = proper(family, loss, (solved.solution.interaction, solved.solution.location))
            if number < n_rounds:
                filler.draw(parameters)
                copies.append(filler.copies[-1])
            announce("filling in cells for all pairs", number, n_rounds)
    frequency = fit.weights.frequency if block_size == 1 else None  # within a block all copies of a row belong together
    if filling.has_margins and not fit.prepared.preparation.moderators:
        return latent_influence(fit, filler, parameters, allowed, frequency)
    influence = _influence(solved, family, elements, weights, stack)
    influence = influence if frequency is None else influence / np.sqrt(frequency)[:, None]
    return FilledInfluence(solved, solved.arranged(influence))


def _influence(solved: Solved, family: Family, elements: Elements, weights: RowWeights, stack: Array) -> Array:
    """The influence of every row on all free parameters, shape (n, d), from the gradients of all its completions."""
    count, n, _ = stack.shape
    gradients = gradients_at(solved.solution, WeightedRows.of(elements, weights)).reshape(count, n, -1)
    statistics = _statistics(solved, family, stack.reshape(count * n, -1)).reshape(count, n, -1)
    within = statistics - statistics.mean(axis=0)
    added = np.einsum("rip,riq->pq", gradients, within, optimize=True) * (count / max(count - 1, 1))
    return solved.with_filling(gradients.sum(axis=0), added)


def _statistics(solved: Solved, family: Family, X: Array) -> Array:
    """t(x) of every free parameter, shape (n, d): what the log density changes by, per unit of it."""
    solution = solved.solution

    def density(parameters: Parameters) -> Array:
        with np.errstate(all="ignore"):
            return family.log_density(X, *parameters)

    without = density((np.zeros_like(solution.interaction), np.zeros_like(solution.location)))
    return np.nan_to_num(np.stack([density(one) - without for one in unit_parameters(solution)], axis=1))


def influence_of_rows(fit: GraphFit) -> Influence:
    """The estimate of K on the scaled columns, without a penalty, and the influence of every row of a fit on it."""
    m, n = len(fit.names), fit.prepared.rows.n_rows
    allowed, elements, weights = fit.settings.allowed_pairs(m), fit.elements(), fit.weights.some(np.arange(n))
    needed = 8.0 * n * np.count_nonzero(allowed)
    if elements.streams and needed > fit.settings.memory:
        raise UsageError(
            f"The influence of {n} rows on {np.count_nonzero(allowed) // 2} pairs takes {describe(needed)}, more than ",
            Setting("max_memory", fit.settings.max_memory),
            ". Raise it, or fit some of the rows instead.",
        )
    filling = fit.prepared.filling
    try:
        if filling is not None and filling.has_margins:
            return filled_influence(fit, allowed, 1).influence
        solved = solve(elements, weights, allowed, fit_location=fit.settings.fit_location)
    except SingularLossError as error:
        raise UsageError(
            f"The rows do not determine all {np.count_nonzero(allowed) // 2} pairs ({error}), so the influence of "
            "each row on them is not defined; use more rows, or forbid pairs with ",
            Setting("penalty_weights"),
            ".",
        ) from None
    return solved.influence(WeightedRows.of(elements, weights))
