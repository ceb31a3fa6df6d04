"""Intervals and tests for the edges of a fitted graph, as one table."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from joblib import Parallel, delayed

from robscore._tools.arguments import check_number, check_whole
from robscore._tools.randomness import as_generator
from robscore._tools.threads import on_one_thread, one_thread
from robscore._tools.typing import AnyData, Array, BoolArray, IntArray, RandomState
from robscore.certainty.influence import Weighting, q_values, solve, t_quantile, two_sided_p_values
from robscore.rows.tables import Kind, as_table
from robscore.solvers.factor import SingularLossError

if TYPE_CHECKING:
    from robscore.estimators import RobustGraph

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
    model: RobustGraph,
    *,
    level: float,
    fdr: float,
    method: Method,
    estimate: Estimate,
    block_size: int,
    random_state: RandomState,
    n_jobs: int | None,
) -> AnyData:
    """The table of :meth:`robscore.RobustGraph.edge_intervals`."""
    for name, value in (("level", level), ("fdr", fdr)):
        check_number(name, value)
        if not 0 < value < 1:
            raise ValueError(f"{name}={value!r} must lie between 0 and 1.")
    if method not in ("sandwich", "subsampling"):
        raise ValueError(f"method={method!r} is not known; use 'sandwich' or 'subsampling'.")
    if estimate not in ("auto", "full", "split"):
        raise ValueError(f"estimate={estimate!r} is not known; use 'auto', 'full' or 'split'.")
    check_whole("block_size", block_size, at_least=1)
    if model._taper is None and model.n_blocks_ > 1 and not model._preparation.family.domain.is_real_line:
        words = (
            f"The weights of {model.n_blocks_} blocks bias the estimate on skewed data, which these intervals and "
            "tests leave out; fit without n_blocks and contamination, or with n_blocks=1."
        )
        warnings.warn(words, UserWarning, stacklevel=3)
    weighting = model._weighting()
    n, m = weighting.elements.n_rows, weighting.elements.n_columns
    if estimate == "auto":
        effective = 1.0 / float(np.sum(weighting.weights.gamma_weights**2))
        estimate = "full" if effective >= _ROWS_A_PARAMETER * (m + 1) else "split"
    rng = as_generator(random_state)
    rows = np.arange(n)
    allowed = model._allowed_pairs()
    if estimate == "split":
        blocks = -(-n // block_size)
        chosen = np.zeros(blocks, dtype=bool)
        chosen[rng.permutation(blocks)[: blocks // 2]] = True
        half = np.repeat(chosen, block_size)[:n]
        allowed &= model._graph_of(np.flatnonzero(half))
        rows = np.flatnonzero(~half)
    n_blocks = -(-rows.size // block_size)
    if n_blocks < _FEWEST_BLOCKS:
        raise ValueError(
            f"block_size={block_size!r} leaves {n_blocks} blocks of {rows.size} rows; standard errors need at least "
            f"{_FEWEST_BLOCKS}. Use smaller blocks, or more rows."
        )
    try:
        found = _estimated(model._weighting(rows), allowed, fit_location=model.fit_location, block_size=block_size)
        if method == "subsampling":
            errors = _by_subsampling(model, rows, allowed, block_size, rng, n_jobs)
            found = Estimated(found.pairs, found.interaction, errors[0], found.association, errors[1])
    except SingularLossError as error:
        remedy = "pass estimate='split'" if estimate == "full" else "fit with a larger penalty or fewer edges"
        raise ValueError(
            f"The rows do not determine all {np.count_nonzero(allowed) // 2} pairs ({error}); {remedy}, or use more "
            "rows."
        ) from None
    return _table(model, found, level, fdr, n_blocks)


def _estimated(weighting: Weighting, allowed: BoolArray, *, fit_location: bool, block_size: int) -> Estimated:
    solved = solve(weighting, allowed, fit_location=fit_location)
    errors = solved.standard_errors(weighting, block_size)
    interaction, (i, j) = solved.solution.interaction, solved.pairs
    diagonal = np.diagonal(interaction)
    with np.errstate(divide="ignore", invalid="ignore"):
        association = -interaction[i, j] / np.sqrt(np.abs(diagonal[i] * diagonal[j]))
    return Estimated((i, j), interaction[i, j], errors[0], association, errors[1])


def _by_subsampling(
    model: RobustGraph,
    rows: IntArray,
    allowed: BoolArray,
    block_size: int,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> tuple[Array, Array]:
    """Standard errors from estimates on halves of the rows, which differ from the whole as it does from the truth."""
    blocks = [rows[start : start + block_size] for start in range(0, rows.size, block_size)]
    halves = [
        np.concatenate([blocks[k] for k in np.sort(rng.permutation(len(blocks))[: len(blocks) // 2])])
        for _ in range(_HALVES)
    ]

    def estimates(half: IntArray) -> tuple[Array, Array]:
        found = _estimated(model._weighting(half), allowed, fit_location=model.fit_location, block_size=1)
        return found.interaction, found.association

    with one_thread():
        calls: Any = (delayed(on_one_thread)(estimates, half) for half in halves)
        values = list(Parallel(n_jobs=n_jobs, prefer="threads")(calls))
    share = np.mean([half.size for half in halves]) / rows.size
    factor = np.sqrt(share / (1 - share))
    interactions, associations = (np.array(part) for part in zip(*values, strict=True))
    return interactions.std(axis=0, ddof=1) * factor, associations.std(axis=0, ddof=1) * factor


def _table(model: RobustGraph, found: Estimated, level: float, fdr: float, n_blocks: int) -> AnyData:
    reach = t_quantile(level, n_blocks)
    p_value = two_sided_p_values(found.interaction, found.interaction_error, n_blocks)
    q_value = q_values(p_value) if p_value.size else p_value
    i, j = found.pairs
    factor = model._unit_factors()[i, j]
    interaction, error = found.interaction * factor, found.interaction_error * factor
    order = np.lexsort((-np.abs(found.association), p_value))
    names = model.graph_.names
    columns: dict[str, tuple[Kind, Any]] = {
        "source": (str, [names[k] for k in i[order]]),
        "target": (str, [names[k] for k in j[order]]),
        "interaction": (float, interaction[order]),
        "interaction_error": (float, error[order]),
        "interaction_low": (float, (interaction - reach * error)[order]),
        "interaction_high": (float, (interaction + reach * error)[order]),
        "association": (float, found.association[order]),
        "association_low": (float, (found.association - reach * found.association_error)[order]),
        "association_high": (float, (found.association + reach * found.association_error)[order]),
        "p_value": (float, p_value[order]),
        "q_value": (float, q_value[order]),
        "significant": (bool, (q_value <= fdr)[order]),
        "in_graph": (bool, model.graph_.adjacency[i, j][order]),
    }
    model._significant = (int(np.count_nonzero(q_value <= fdr)), fdr)
    return as_table(columns, model._frame)
