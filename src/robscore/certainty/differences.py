"""What changes with moderators, pair by pair, with intervals and tests of "no change", as one table.

The estimate is the one without a penalty over all pairs, with the row weights of the fit. A difference between groups g
and h is K_h - K_g, that of a number is what one unit of it adds to K: both are linear in the parameters, so their
standard errors are roots of sums of squared influences of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import false_discovery_control

from robscore._tools.messages import ArgumentError, UsageError, first_few
from robscore._tools.typing import AnyData, Array, BoolArray, IntArray
from robscore.certainty.edge_intervals import check_arguments
from robscore.certainty.influence import (
    Solved,
    count_blocks,
    find_time_blocks,
    n_free_of,
    solve,
    stretched,
    t_quantile,
    two_sided_p_values,
)
from robscore.families.given_covariates import Moderated
from robscore.fitting.fit import Fit
from robscore.fitting.moderators import Placed
from robscore.fitting.settings import GraphSettings
from robscore.rows.tables import Kind, as_table
from robscore.solvers.unpenalised import SingularLossError
from robscore.weighting.row_weights import WeightedRows
from robscore.weighting.time_blocks import TimeBlocks


@dataclass(frozen=True)
class Contrast:
    """A difference of interactions: parts of K times their factors, added up.

    Attributes
    ----------
    moderator, of, against : str
    parts : tuple of (part, factor)
    """

    moderator: str
    of: str
    against: str
    parts: tuple[tuple[int, float], ...]


def contrasts_of(placed: Sequence[Placed], against: Any = None) -> list[Contrast]:
    """Every two groups of every category, or all with one of them; and each number."""
    found: list[Contrast] = []
    levels = [level for own in placed for level in own.moderator.levels]
    if against is not None and against not in levels:
        known = f"it knows {first_few([repr(level) for level in levels])}" if levels else "its moderators are numbers"
        raise ArgumentError("against", against, f"is not a group of the fit; {known}.")
    for own in placed:
        name, factors = own.moderator.name, [1 / float(spread) for spread in own.spread]
        if not own.moderator.levels:
            found.append(Contrast(name, "", "", ((own.first, factors[0]),)))
            continue
        for g, h in combinations(range(len(factors)), 2):
            if own.moderator.levels[h] == against:
                g, h = h, g
            elif against in own.moderator.levels and own.moderator.levels[g] != against:
                continue
            of, base = (str(own.moderator.levels[k]) for k in (h, g))
            found.append(Contrast(name, of, base, ((own.first + h, factors[h]), (own.first + g, -factors[g]))))
    return found


def differences(fit: Fit, *, level: float, fdr: float, against: Any, block_size: int | Literal["auto"]) -> AnyData:
    """The table of ``differences()`` of the estimators."""
    check_arguments(level, fdr, block_size)
    preparation, m = fit.prepared.preparation, len(fit.names)
    if not preparation.moderators:
        raise UsageError("The fit had no moderators, so nothing changes; pass moderators= to fit.")
    contrasts = contrasts_of(preparation.moderators, against)
    solved, blocks = solve_all(fit, block_size)
    factor = preparation.unscale((np.ones((m, m)), np.zeros(preparation.location_shape)))[0]
    i, j = np.nonzero(np.triu(_allowed(fit), k=1))
    functional = _functional(solved, contrasts, (i, j), factor[i, j])
    n = fit.prepared.rows.n_rows
    weighted = WeightedRows.of(fit.elements(), fit.weights.some(np.arange(n))).times(_stretch_of_groups(fit, solved))
    errors = solved.errors_of(functional, weighted, blocks.size)
    solution = solved.solution
    values = solution.interaction[np.minimum(solution.rows, len(solution.interaction) - 1), solution.nodes]
    found = np.asarray(functional.T @ np.where(solution.rows < len(solution.interaction), values, 0.0))
    n_blocks = count_blocks(n, fit.weights.frequency, blocks.size)
    reach, p_value = t_quantile(level, n_blocks), two_sided_p_values(found, errors, n_blocks)
    q_value = false_discovery_control(p_value) if p_value.size else p_value
    order = np.argsort(p_value, kind="stable")
    which, pair = np.divmod(order, max(i.size, 1))
    columns: dict[str, tuple[Kind, Any]] = {
        "source": (str, [fit.names[k] for k in i[pair]]),
        "target": (str, [fit.names[k] for k in j[pair]]),
        "moderator": (str, [contrasts[k].moderator for k in which]),
        "of": (str, [contrasts[k].of for k in which]),
        "against": (str, [contrasts[k].against for k in which]),
        "difference": (float, found[order]),
        "difference_error": (float, errors[order]),
        "difference_low": (float, (found - reach * errors)[order]),
        "difference_high": (float, (found + reach * errors)[order]),
        "p_value": (float, p_value[order]),
        "q_value": (float, q_value[order]),
        "significant": (bool, (q_value <= fdr)[order]),
    }
    return as_table(columns, fit.frame)


def _allowed(fit: Fit) -> BoolArray:
    """Pairs that may have an edge, shape (m, m)."""
    m = len(fit.names)
    settings = fit.settings
    return settings.allowed_pairs(m) if isinstance(settings, GraphSettings) else ~np.eye(m, dtype=bool)


def solve_all(fit: Fit, block_size: int | Literal["auto"]) -> tuple[Solved, TimeBlocks]:
    """The estimate of everything without a penalty, and how rows are grouped."""
    allowed = _allowed(fit)
    weights = fit.weights.some(np.arange(fit.prepared.rows.n_rows))
    try:
        solved = solve(fit.elements(), weights, allowed, fit_location=True)
    except SingularLossError as error:
        raise UsageError(
            f"The rows do not determine all pairs and what changes them without a penalty ({error}); use more rows, or "
            "fewer columns or groups."
        ) from None
    blocks = find_time_blocks(fit, allowed) if block_size == "auto" else TimeBlocks(block_size)
    return stretched(solved, blocks, weights.n_rows, n_free_of(fit, allowed)), blocks


def _functional(
    solved: Solved, contrasts: list[Contrast], pairs: tuple[IntArray, IntArray], factor: Array
) -> csr_array:
    """What every parameter counts in every difference of every pair, shape (d, contrasts * pairs)."""
    rows, nodes = solved.solution.rows, solved.solution.nodes
    n_rows, m = solved.solution.interaction.shape
    at = np.full((n_rows // m, m, m), -1, dtype=np.intp)
    edges = np.flatnonzero(solved.solution.is_edge)
    part, entry = np.divmod(rows[edges], m)
    at[part, np.minimum(entry, nodes[edges]), np.maximum(entry, nodes[edges])] = edges
    data, parameters, targets = [], [], []
    for k, contrast in enumerate(contrasts):
        for own, times in contrast.parts:
            position = at[own][pairs]
            there = np.flatnonzero(position >= 0)  # first levels have no parameters: they are what K_0 is
            parameters.append(position[there])
            targets.append(k * factor.size + there)
            data.append(times * factor[there])
    shape = (rows.size, len(contrasts) * factor.size)
    return csr_array((np.concatenate(data), (np.concatenate(parameters), np.concatenate(targets))), shape=shape)


def _stretch_of_groups(fit: Fit, solved: Solved) -> Array | float:
    """What influences of every row are to be multiplied by, over what they are: small groups fit themselves best.

    With one category each group has its own K_.j and eta_j, as if it were alone.
    """
    preparation = fit.prepared.preparation
    family = preparation.scaled_family
    assert isinstance(family, Moderated)
    if len(preparation.moderators) > 1 or not preparation.moderators[0].moderator.levels:
        return 1.0
    w: Array = fit.prepared.rows.gather(partial(_moderators, family))
    group, often = np.argmax(w, axis=1), fit.weights.frequency
    counted = (fit.weights.gamma_weights > 0) * (1.0 if often is None else often)
    sizes = np.bincount(group, weights=counted, minlength=w.shape[1])
    free = len(fit.names) + 1
    stretch = np.sqrt(sizes / np.maximum(sizes - free, 1))
    return np.asarray(stretch[group] / solved.stretch)


def _moderators(family: Moderated, X: Array) -> Array:
    return family.moderators(X)
