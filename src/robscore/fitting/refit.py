"""Last stage: parameters without shrinkage, on the support of a graph; rows are judged by them."""

from __future__ import annotations

import numpy as np

from robscore._tools.typing import BoolArray, IntArray
from robscore.families.family import Parameters
from robscore.fitting.settings import GraphSettings
from robscore.losses.quadratic import QuadraticLoss
from robscore.solvers.path import joined_interaction, joined_support, solve_quietly
from robscore.solvers.unpenalised import refit

# The fits that rows are judged by: a short, rough path.
RIDGE = 1e-4  # of the diagonal of the Hessian, on the scaled columns
_PILOT_ALPHAS, _LARGEST_RATIO, _PILOT_TOL, _PILOT_SWEEPS, _PILOT_RIDGE = 6, 0.5, 1e-4, 200, 0.02


def refit_like(loss: QuadraticLoss, parameters: Parameters, settings: GraphSettings) -> Parameters:
    """The minimum of a loss over the parameters that are not zero in those given."""
    interaction, location = parameters
    return refitted(loss, joined_support(interaction, "symmetric"), location != 0, settings)


def pilot_fit(loss: QuadraticLoss, n_rows: int, columns: IntArray, settings: GraphSettings) -> Parameters:
    """K and eta to judge rows by: a lasso with a fixed share of the largest penalty, a continuous function of the data.

    No graph is chosen, for a choice jumps; a little ridge keeps columns that are nearly dependent in bounds.
    """
    m = loss.n_columns
    weights = settings.penalty_weights
    ratio = min(_LARGEST_RATIO, np.sqrt(np.log(max(m, 3)) / n_rows * (1 + m / n_rows)))
    path = solve_quietly(
        loss,
        _PILOT_ALPHAS,
        rule="symmetric",
        alpha_min_ratio=float(ratio),
        tol=_PILOT_TOL,
        max_iter=_PILOT_SWEEPS,
        diagonal_multiplier=0.0 if loss.zero_sums else _PILOT_RIDGE,
        penalize_diagonal=False,
        fit_location=settings.fit_location,
        location_ratio=np.inf,
        penalty_weights=None if weights is None else np.asarray(weights, dtype=float)[np.ix_(columns, columns)],
        location_weights=None,
    )
    return np.asarray(path.interactions[-1]), path.locations[-1]


def refitted(loss: QuadraticLoss, edges: BoolArray, locations: BoolArray, settings: GraphSettings) -> Parameters:
    """K and eta without a penalty on a support; a little ridge keeps nearly dependent columns in bounds."""
    solution = refit(loss, edges, locations, symmetric=settings.rule == "symmetric", ridge=RIDGE)
    return loss.completed(joined_interaction(solution.interaction, settings.rule)), solution.location
