"""Intervals and tests for the edges of a fitted graph, as one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import false_discovery_control

from robscore._tools.arguments import check_number, check_whole
from robscore._tools.messages import ArgumentError, Message, Remark, Setting, UsageError
from robscore._tools.randomness import as_generator
from robscore._tools.threads import on_one_thread, one_thread
from robscore._tools.typing import AnyData, Array, BoolArray, IntArray, RandomState
from robscore.certainty.influence import (
    count_blocks,
    filled_errors,
    find_time_blocks,
    n_free_of,
    solve,
    stretched,
    t_quantile,
    two_sided_p_values,
)
from robscore.elements import PairwiseElements
from robscore.fitting.fit import GraphFit
from robscore.fitting.solve import solve as solve_path
from robscore.graph import pair_associations
from robscore.losses.quadratic import QuadraticLoss
from robscore.rows.partition import halves
from robscore.rows.row_source import some_of
from robscore.rows.tables import Kind, as_table
from robscore.selection.candidates import least
from robscore.selection.ebic import ebic, support
from robscore.solvers.unpenalised import SingularLossError
from robscore.weighting.row_weights import WeightedRows
from robscore.weighting.time_blocks import TimeBlocks

Method: TypeAlias = Literal["sandwich", "subsampling"]
Estimate: TypeAlias = Literal["auto", "full", "split"]

_ROWS_A_PARAMETER = 3  # rows for every parameter of a column, at least, for the estimate of all pairs
_HALVES = 100
_FEWEST_BLOCKS = 10


@dataclass(frozen=True)
class Estimated:
    """Interactions and associations of some pairs with their standard errors, all of shape (p,)."""

    pairs: tuple[IntArray, IntArray]
    interaction: Array
    interaction_error: Array
    association: Array
    association_error: Array


def edge_intervals(
    fit: GraphFit,
    *,
    level: float,
    fdr: float,
    method: Method,
    estimate: Estimate,
    block_size: int | Literal["auto"],
    random_state: RandomState,
    n_jobs: int | None,
) -> tuple[AnyData, list[Remark]]:
    """The table of :meth:`robscore.RobustGraph.edge_intervals`, and what to warn about."""
    check_arguments(level, fdr, block_size)
    _check_choices(method, estimate)
    check_one_graph(fit, "edge_intervals")
    n, m = fit.prepared.rows.n_rows, len(fit.names)
    if estimate == "auto":
        estimate = "full" if fit.weights.effective_rows[0] >= _ROWS_A_PARAMETER * (m + 1 + fit.n_given) else "split"
    blocks = TimeBlocks() if block_size == "auto" else TimeBlocks(block_size)
    if block_size == "auto":
        pairs = fit.settings.allowed_pairs(m)
        blocks = find_time_blocks(fit, pairs if estimate == "full" else pairs & fit.graph.adjacency)
    block_size = blocks.size
    if fit.prepared.filling is not None and (method, estimate) != ("sandwich", "full"):
        raise UsageError(
            "After cells are filled in, intervals need method='sandwich' and estimate='full', "
            f"and {_ROWS_A_PARAMETER} rows for every parameter of a column. Use more rows, or fewer columns."
        )
    _check_blocks(n, block_size, estimate)
    often = fit.weights.frequency
    rng = as_generator(random_state)
    rows = np.arange(n)
    allowed = fit.settings.allowed_pairs(m)
    if estimate == "split":
        chooses, rows = halves(n, block_size, rng)
        allowed &= _graph_of(fit, chooses, blocks.tau)
    n_blocks = count_blocks(rows.size, some_of(often, rows), block_size)
    try:
        found = _estimated(fit, rows, allowed, blocks)
        if method == "subsampling":
            errors = _by_subsampling(fit, rows, allowed, block_size, rng, n_jobs)
            found = Estimated(found.pairs, found.interaction, errors[0], found.association, errors[1])
    except SingularLossError as error:
        remedy = "pass estimate='split'" if estimate == "full" else "fit with a larger penalty or fewer edges"
        raise UsageError(
            f"The rows do not determine all {np.count_nonzero(allowed) // 2} pairs ({error}); {remedy}, or use more "
            "rows."
        ) from None
    return _table(fit, found, level, fdr, n_blocks), _remarks_on_bias(fit)


def check_arguments(level: float, fdr: float, block_size: int | str) -> None:
    """Raise on invalid arguments of intervals."""
    if isinstance(block_size, str) and block_size != "auto":
        raise ArgumentError("block_size", block_size, "is not known; use 'auto' or a number of rows.")
    if block_size != "auto":
        check_whole("block_size", block_size, at_least=1)
    for name, value in (("level", level), ("fdr", fdr)):
        check_number(name, value)
        if not 0 < value < 1:
            raise ArgumentError(name, value, "must lie between 0 and 1.")


def check_one_graph(fit: GraphFit, asked: str) -> None:
    """Raise where moderators change the graph, so that it is not one."""
    if fit.prepared.preparation.moderators:
        name = fit.prepared.preparation.moderators[0].moderator.name
        raise UsageError(
            f"{asked} is of one graph, and {name!r} changes it: differences() tests what. For one group, fit "
            f"its rows alone; for all rows together, pass {name!r} as a covariate only."
        )


def _check_choices(method: str, estimate: str) -> None:
    if method not in ("sandwich", "subsampling"):
        raise ArgumentError("method", method, "is not known; use 'sandwich' or 'subsampling'.")
    if estimate not in ("auto", "full", "split"):
        raise ArgumentError("estimate", estimate, "is not known; use 'auto', 'full' or 'split'.")


def _check_blocks(n_rows: int, block_size: int, estimate: str) -> None:
    """Raise if the rows that pairs are estimated from give too few blocks for standard errors."""
    blocks = -(-n_rows // block_size)
    left = blocks if estimate == "full" else blocks - blocks // 2
    if left >= _FEWEST_BLOCKS:
        return
    of = f"{n_rows} rows" if estimate == "full" else f"half of {n_rows} rows, the other half choosing the graph"
    needed = f"standard errors need at least {_FEWEST_BLOCKS}."
    if block_size == 1:
        raise UsageError(f"There are {left} rows to estimate from ({of}); {needed} Use more rows.")
    raise ArgumentError(
        "block_size", block_size, f"leaves {left} blocks of {of}; {needed}", "Use smaller blocks, or more rows."
    )


def _remarks_on_bias(fit: GraphFit) -> list[Remark]:
    family, n_blocks = fit.prepared.preparation.family, fit.weighed.n_blocks
    if fit.weights.is_tapered or n_blocks == 1 or family.domain.is_real_line:
        return []
    words = Message(
        f"The weights of {n_blocks} blocks bias the estimate on skewed data, which these intervals and tests leave "
        "out; fit without ",
        Setting("n_blocks"),
        " and ",
        Setting("contamination"),
        ", or with ",
        Setting("n_blocks", 1),
        ".",
    )
    return [Remark(words, UserWarning)]


def _graph_of(fit: GraphFit, rows: IntArray, tau: float) -> BoolArray:
    """The graph that some rows lead to, as many as ``tau`` of them counting as one, by eBIC."""
    elements, weights = fit.elements(rows), fit.weights.some(rows)
    loss = weights.loss(elements)
    assert isinstance(elements, PairwiseElements)
    assert isinstance(loss, QuadraticLoss)
    path = solve_path(loss, fit.settings, fit.settings.alphas)
    criterion = ebic(loss, path, n_rows=weights.effective_rows[0] / tau, elements=elements, weights=weights)
    return support(path, least(criterion, path))[0]


def _estimated(fit: GraphFit, rows: IntArray, allowed: BoolArray, blocks: TimeBlocks) -> Estimated:
    if fit.prepared.filling is not None:
        filled, *of_filled = filled_errors(fit, allowed, blocks.size)
        interaction, (i, j) = filled.solution.interaction, filled.pairs
        associations = pair_associations(interaction, i, j)
        return Estimated((i, j), interaction[i, j], of_filled[0], associations, of_filled[1])
    elements, weights = fit.elements(rows), fit.weights.some(rows)
    solved = solve(elements, weights, allowed, fit_location=fit.settings.fit_location)
    solved = stretched(solved, blocks, rows.size, n_free_of(fit, allowed))
    errors = solved.standard_errors(WeightedRows.of(elements, weights), blocks.size)
    interaction, (i, j) = solved.solution.interaction, solved.pairs
    return Estimated((i, j), interaction[i, j], errors[0], pair_associations(interaction, i, j), errors[1])


def _by_subsampling(
    fit: GraphFit,
    rows: IntArray,
    allowed: BoolArray,
    block_size: int,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> tuple[Array, Array]:
    """Standard errors from estimates on halves of the rows, which differ from the whole as it does from the truth."""
    parts = [rows[halves(rows.size, block_size, rng)[0]] for _ in range(_HALVES)]

    def estimates(half: IntArray) -> tuple[Array, Array]:
        found = _estimated(fit, half, allowed, TimeBlocks())
        return found.interaction, found.association

    with one_thread():
        calls: Any = (delayed(on_one_thread)(estimates, half) for half in parts)
        values = list(Parallel(n_jobs=n_jobs, prefer="threads")(calls))
    often = np.ones(fit.prepared.rows.n_rows) if fit.weights.frequency is None else fit.weights.frequency
    share = np.mean([often[half].sum() for half in parts]) / often[rows].sum()
    factor = np.sqrt(share / (1 - share))
    interactions, associations = (np.array(part) for part in zip(*values, strict=True))
    return interactions.std(axis=0, ddof=1) * factor, associations.std(axis=0, ddof=1) * factor


def association_interval(association: Array, error: Array, reach: float) -> tuple[Array, Array]:
    """Intervals of associations r with standard errors s, all of shape (p,), that lie between -1 and 1 as they do.

    Fisher's transformation: tanh(artanh(r) ± reach s / (1 - r^2)); where K is not positive definite, and r not within
    the limits, r ± reach s.
    """
    inside = np.abs(association) < 1
    r = np.where(inside, association, 0.0)
    middle, side = np.arctanh(r), reach * error / (1 - r**2)
    low, high = (
        np.where(inside, np.tanh(middle + sign * side), association + sign * reach * error) for sign in (-1, 1)
    )
    return np.asarray(low), np.asarray(high)


def _table(fit: GraphFit, found: Estimated, level: float, fdr: float, n_blocks: float) -> AnyData:
    reach = t_quantile(level, n_blocks)
    p_value = two_sided_p_values(found.interaction, found.interaction_error, n_blocks)
    q_value = false_discovery_control(p_value) if p_value.size else p_value
    i, j = found.pairs
    m = len(fit.names)
    preparation = fit.prepared.preparation
    factor = preparation.unscale((np.ones((m, m)), np.zeros(preparation.location_shape)))[0][i, j]
    interaction, error = found.interaction * factor, found.interaction_error * factor
    low, high = association_interval(found.association, found.association_error, reach)
    order = np.lexsort((-np.abs(found.association), p_value))
    columns: dict[str, tuple[Kind, Any]] = {
        "source": (str, [fit.names[k] for k in i[order]]),
        "target": (str, [fit.names[k] for k in j[order]]),
        "interaction": (float, interaction[order]),
        "interaction_error": (float, error[order]),
        "interaction_low": (float, (interaction - reach * error)[order]),
        "interaction_high": (float, (interaction + reach * error)[order]),
        "association": (float, found.association[order]),
        "association_low": (float, low[order]),
        "association_high": (float, high[order]),
        "p_value": (float, p_value[order]),
        "q_value": (float, q_value[order]),
        "significant": (bool, (q_value <= fdr)[order]),
        "in_graph": (bool, fit.graph.adjacency[i, j][order]),
    }
    return as_table(columns, fit.frame)
