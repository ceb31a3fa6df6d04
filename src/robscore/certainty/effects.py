"""What covariates do to the columns, with intervals and tests of "no effect", as one table."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.stats import false_discovery_control

from robscore._tools.errors import UsageError
from robscore._tools.typing import AnyData
from robscore.certainty.influence import count_blocks, solve, t_quantile, two_sided_p_values
from robscore.certainty.intervals import check_arguments
from robscore.certainty.time_blocks import TimeBlocks, find_time_blocks, n_free_of
from robscore.fitting.fit import Fit
from robscore.fitting.settings import GraphSettings
from robscore.rows.tables import Kind, as_table
from robscore.solvers.factor import SingularLossError
from robscore.weighting.weighted_rows import WeightedRows


def effects(fit: Fit, *, level: float, fdr: float, block_size: int | Literal["auto"]) -> AnyData:
    """The table of ``effects()`` of the estimators: from the estimate without a penalty, by sandwich errors.

    The effect of covariate k on column j is what one unit of it adds to eta_j, in the units of the data.
    """
    check_arguments(level, fdr, block_size)
    preparation = fit.prepared.preparation
    m, q = len(fit.names), fit.n_given
    if not q:
        raise UsageError("The fit had no covariates, so there are no effects; pass covariates= to fit.")
    settings = fit.settings
    allowed = settings.allowed_pairs(m) if isinstance(settings, GraphSettings) else ~np.eye(m, dtype=bool)
    elements, weights = fit.elements(), fit.weights.some(np.arange(fit.prepared.rows.n_rows))
    try:
        solved = solve(elements, weights, allowed, fit_location=True)
    except SingularLossError as error:
        raise UsageError(
            f"The rows do not determine all pairs and effects without a penalty ({error}); use more rows, or fewer "
            "columns."
        ) from None
    blocks = find_time_blocks(fit, allowed) if block_size == "auto" else TimeBlocks(block_size)
    solved, block_size = blocks.stretched(solved, weights.n_rows, n_free_of(fit, allowed)), blocks.size
    errors = solved.standard_errors(WeightedRows.of(elements, weights), block_size)[2].reshape(1 + q, m).T[:, 1:]
    ones = np.ones(preparation.location_shape)
    factor = preparation.unscale((np.zeros((m, m)), ones))[1][:, 1:]
    found, deviation = (solved.solution.location[:, 1:] * factor).ravel(), (errors * np.abs(factor)).ravel()
    n_blocks = count_blocks(fit.prepared.rows.n_rows, fit.weights.frequency, block_size)
    reach = t_quantile(level, n_blocks)
    p_value = two_sided_p_values(found, deviation, n_blocks)
    q_value = false_discovery_control(p_value)
    order = np.argsort(p_value, kind="stable")
    node, term = np.divmod(order, q)
    columns: dict[str, tuple[Kind, Any]] = {
        "column": (str, [fit.names[j] for j in node]),
        "covariate": (str, [preparation.given[k] for k in term]),
        "effect": (float, found[order]),
        "effect_error": (float, deviation[order]),
        "effect_low": (float, (found - reach * deviation)[order]),
        "effect_high": (float, (found + reach * deviation)[order]),
        "p_value": (float, p_value[order]),
        "q_value": (float, q_value[order]),
        "significant": (bool, (q_value <= fdr)[order]),
    }
    return as_table(columns, fit.frame)
