"""Last stage: parameters without shrinkage, on the support of a graph; rows are judged by them."""

from __future__ import annotations

import numpy as np

from robscore._tools.typing import BoolArray
from robscore.elements import PairwiseElements
from robscore.families.base import Parameters
from robscore.fitting.settings import GraphSettings
from robscore.losses.quadratic import QuadraticLoss
from robscore.selection.choice import least
from robscore.selection.ebic import ebic, support
from robscore.solvers.path import joined_interaction, joined_support, solve_quietly
from robscore.solvers.refit import refit

# The fits that rows are judged by: a short, rough path.
_FIRST_ALPHAS, _FIRST_RATIO, _FIRST_TOL = 30, 0.03, 1e-3
_ROWS_AN_EDGE = 5


def refit_like(loss: QuadraticLoss, parameters: Parameters, settings: GraphSettings) -> Parameters:
    """The minimum of a loss over the parameters that are not zero in those given."""
    interaction, location = parameters
    return refitted(loss, joined_support(interaction, "symmetric"), location != 0, settings)


def first_graph(loss: QuadraticLoss, elements: PairwiseElements, settings: GraphSettings) -> Parameters:
    """The graph that eBIC chooses on a short path, refitted without a penalty; of no more edges than rows allow."""
    most = max(elements.n_columns, elements.n_rows // _ROWS_AN_EDGE)
    path = solve_quietly(
        loss,
        _FIRST_ALPHAS,
        alpha_min_ratio=_FIRST_RATIO,
        max_edges=most + 1,
        tol=_FIRST_TOL,
        max_iter=200,
        **settings.problem,
    )
    most = max(most, int(path.n_edges[0]))
    path = path.pick(np.flatnonzero(path.n_edges <= most))
    criterion = ebic(loss, path, n_rows=elements.n_rows, elements=elements, patience=3)
    if not np.isfinite(criterion).any():
        return joined_interaction(path.interactions[0], settings.rule), path.locations[0]
    return refitted(loss, *support(path, least(criterion, path)), settings)


def refitted(loss: QuadraticLoss, edges: BoolArray, locations: BoolArray, settings: GraphSettings) -> Parameters:
    """K and eta without a penalty on a support."""
    solution = refit(loss, edges, locations, symmetric=settings.rule == "symmetric")
    return loss.completed(joined_interaction(solution.interaction, settings.rule)), solution.location
