"""Effects of covariates on the columns, with intervals and tests of "no effect", as one table."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import false_discovery_control

from robscore._tools.messages import UsageError
from robscore._tools.typing import AnyData, Array, BoolArray
from robscore.certainty.differences import solve_all
from robscore.certainty.edge_intervals import check_arguments
from robscore.certainty.influence import (
    Solved,
    count_blocks,
    filled_influence,
    find_time_blocks,
    n_free_of,
    solve,
    stretched,
    summed_in_blocks,
    t_quantile,
    two_sided_p_values,
)
from robscore.fitting.fit import Fit
from robscore.fitting.settings import GraphSettings
from robscore.losses.interaction_parts import mirrored
from robscore.rows.tables import Kind, as_table
from robscore.solvers.unpenalised import SingularLossError
from robscore.weighting.row_weights import WeightedRows
from robscore.weighting.time_blocks import TimeBlocks


def effects(fit: Fit, *, level: float, fdr: float, block_size: int | Literal["auto"]) -> AnyData:
    """The table of ``effects()`` of the estimators: from the estimate without a penalty, by sandwich errors.

    The effect of covariate k on column j is what one unit of it adds to eta_j, in the units of the data.
    """
    check_arguments(level, fdr, block_size)
    preparation = fit.prepared.preparation
    m, q = len(fit.names), fit.n_given
    if not q:
        raise UsageError("The fit had no covariates, so there are no effects; pass covariates= to fit.")
    if preparation.moderators:
        found, deviation, size = _with_moderators(fit, block_size)
        return _table(fit, found, deviation, size, level, fdr)
    settings = fit.settings
    allowed = settings.allowed_pairs(m) if isinstance(settings, GraphSettings) else ~np.eye(m, dtype=bool)
    try:
        solved, errors, block_size = _solved(fit, allowed, block_size)
    except SingularLossError as error:
        raise UsageError(
            f"The rows do not determine all pairs and effects without a penalty ({error}); use more rows, or fewer "
            "columns."
        ) from None
    errors = errors.reshape(1 + q, m).T[:, 1:]
    ones = np.ones(preparation.location_shape)
    factor = preparation.unscale((np.zeros((m, m)), ones))[1][:, 1:]
    found, deviation = (solved.solution.location[:, 1:] * factor).ravel(), (errors * np.abs(factor)).ravel()
    return _table(fit, found, deviation, block_size, level, fdr)


def _solved(fit: Fit, allowed: BoolArray, block_size: int | Literal["auto"]) -> tuple[Solved, Array, int]:
    """The estimate without a penalty, errors of all locations, shape (m (1 + q),), and the size of blocks."""
    blocks = find_time_blocks(fit, allowed) if block_size == "auto" else TimeBlocks(block_size)
    if fit.prepared.filling is not None:
        solved, influence = filled_influence(fit, allowed)
        sums = summed_in_blocks(influence.on_locations, blocks.size)
        count = len(sums)
        return solved, np.sqrt(np.einsum("ij,ij->j", sums, sums) * count / max(count - 1, 1)), blocks.size
    elements, weights = fit.elements(), fit.weights.some(np.arange(fit.prepared.rows.n_rows))
    solved = solve(elements, weights, allowed, fit_location=True)
    solved = stretched(solved, blocks, weights.n_rows, n_free_of(fit, allowed))
    return solved, solved.standard_errors(WeightedRows.of(elements, weights), blocks.size)[2], blocks.size


def _with_moderators(fit: Fit, block_size: int | Literal["auto"]) -> tuple[Array, Array, int]:
    """Effects and their errors, shape (m q,) each, where interactions change too, and the size of blocks.

    On columns that are centred, what moderators do to K is part of their effects.
    """
    preparation = fit.prepared.preparation
    solved, blocks = solve_all(fit, block_size)
    solution = solved.solution
    n_rows = len(solution.interaction)
    effects = preparation.unscale((solution.interaction, solution.location))[1][:, 1:].ravel()
    functional = np.zeros((solution.rows.size, effects.size))
    for k, (row, node) in enumerate(zip(solution.rows, solution.nodes, strict=True)):
        K, eta = np.zeros_like(solution.interaction), np.zeros_like(solution.location)
        if row < n_rows:
            (entry,), (other,) = mirrored(np.array([row]), np.array([node]), K.shape[1])
            K[row, node] = K[entry, other] = 1.0
        else:
            eta[node, row - n_rows] = 1.0
        functional[k] = preparation.unscale((K, eta))[1][:, 1:].ravel()
    weighted = WeightedRows.of(fit.elements(), fit.weights.some(np.arange(fit.prepared.rows.n_rows)))
    return effects, solved.errors_of(csr_array(functional), weighted, blocks.size), blocks.size


def _table(fit: Fit, found: Array, deviation: Array, block_size: int, level: float, fdr: float) -> AnyData:
    """Of effects and their errors, shape (m q,) each."""
    preparation, q = fit.prepared.preparation, fit.n_given
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
