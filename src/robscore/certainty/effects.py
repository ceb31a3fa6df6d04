"""What do covariates and moderators change? Effects on columns and differences between graphs, with tests of "none".

The estimate is the one without a penalty over all pairs, with the row weights of the fit. The effect of a covariate on
a column is what one unit of it adds to eta_j. A difference between groups g and h is K_h - K_g, that of a number is
what one unit of it adds to K. All of these are linear in the parameters, so their standard errors are roots of sums of
squared influences of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array, hstack

from robscore._tools.messages import ArgumentError, UsageError, first_few, quoted
from robscore._tools.typing import AnyData, Array, IntArray
from robscore.certainty.contrasts import (
    Column,
    Tested,
    Unpenalised,
    allowed_pairs,
    blocks_for,
    check_arguments,
    interaction_units,
)
from robscore.certainty.influence import Solved, unit_parameters
from robscore.families.given_covariates import Moderated
from robscore.fitting.fit_result import Fit
from robscore.fitting.moderator_units import Placed
from robscore.losses.interaction_parts import matrices
from robscore.solvers.unpenalised import Refit, SingularLossError


def effects(fit: Fit, *, level: float, fdr: float, block_size: int | Literal["auto"]) -> AnyData:
    """The table of ``effects()`` of the estimators, in the units of the data."""
    check_arguments(level, fdr, block_size)
    preparation = fit.prepared.preparation
    if not preparation.given:
        raise UsageError("The fit had no covariates, so there are no effects; pass covariates= to fit.")
    if preparation.has_margins and preparation.moderators:
        raise UsageError(
            "Effects on latent numbers have no common unit where groups differ in how much these vary; for effects, "
            f"pass {preparation.moderators[0].moderator.name!r} as a covariate."
        )
    found = _estimate_of_all(fit, block_size)
    effect, error = (_effects_with_moderators if preparation.moderators else _effects)(fit, found)
    tested = Tested(effect, error, found.n_blocks, level, fdr)
    columns: dict[str, Column] = {
        "column": (str, [name for name in fit.names for _ in preparation.given]),
        "covariate": (str, [*preparation.given] * len(fit.names)),
        **tested.interval("effect"),
        **tested.tests(),
    }
    return tested.table(columns, fit.frame)


def differences(fit: Fit, *, level: float, fdr: float, against: Any, block_size: int | Literal["auto"]) -> AnyData:
    """The table of ``differences()`` of the estimators: every contrast of every pair."""
    check_arguments(level, fdr, block_size)
    moderators = fit.prepared.preparation.moderators
    if not moderators:
        raise UsageError("The fit had no moderators, so nothing changes; pass moderators= to fit.")
    if fit.prepared.preparation.has_margins and len(moderators) > 1:
        names = quoted([own.moderator.name for own in moderators])
        raise UsageError(
            f"Associations of latent numbers differ by {names} together; for differences between groups join these "
            "columns into one, or fit with one of them."
        )
    contrasts = contrasts_of(moderators, against)
    found = _estimate_of_all(fit, block_size)
    i, j = np.nonzero(np.triu(allowed_pairs(fit), k=1))
    if fit.prepared.preparation.has_margins:
        difference, functional = _of_associations(found.solved.solution, contrasts, (i, j))
    else:
        functional = _functional(found.solved, contrasts, (i, j), interaction_units(fit)[i, j])
        solution = found.solved.solution
        n_rows = len(solution.interaction)
        values = solution.interaction[np.minimum(solution.rows, n_rows - 1), solution.nodes]
        difference = np.asarray(functional.T @ np.where(solution.rows < n_rows, values, 0.0))
    error = found.errors_of(functional, _stretch_of_groups(fit, found.solved))
    tested = Tested(difference, error, found.n_blocks, level, fdr)
    columns: dict[str, Column] = {
        "source": (str, [fit.names[k] for _ in contrasts for k in i]),
        "target": (str, [fit.names[k] for _ in contrasts for k in j]),
        "moderator": (str, [contrast.moderator for contrast in contrasts for _ in i]),
        "of": (str, [contrast.of for contrast in contrasts for _ in i]),
        "against": (str, [contrast.against for contrast in contrasts for _ in i]),
        **tested.interval("difference"),
        **tested.tests(),
    }
    return tested.table(columns, fit.frame)


def _estimate_of_all(fit: Fit, block_size: int | Literal["auto"]) -> Unpenalised:
    """The estimate of all pairs and of what changes them and the columns."""
    allowed = allowed_pairs(fit)
    try:
        return Unpenalised.of(fit, allowed, blocks_for(fit, allowed, block_size))
    except SingularLossError as error:
        moderated = bool(fit.prepared.preparation.moderators)
        what, fewer = ("what changes them", "columns or groups") if moderated else ("effects", "columns")
        raise UsageError(
            f"The rows do not determine all pairs and {what} without a penalty ({error}); use more rows, or fewer "
            f"{fewer}."
        ) from None


def _effects(fit: Fit, found: Unpenalised) -> tuple[Array, Array]:
    """Effects and their standard errors, shape (m q,) each, one column after the other."""
    preparation, m = fit.prepared.preparation, len(fit.names)
    units = preparation.unscale((np.zeros((m, m)), np.ones(preparation.location_shape)))[1][:, 1:]
    errors = found.standard_errors()[2].reshape(-1, m).T[:, 1:]
    return (found.solved.solution.location[:, 1:] * units).ravel(), (errors * np.abs(units)).ravel()


def _effects_with_moderators(fit: Fit, found: Unpenalised) -> tuple[Array, Array]:
    """The same where interactions change too: on centred columns, what moderators do to K is part of their effects."""
    unscale, solution = fit.prepared.preparation.unscale, found.solved.solution
    effects = unscale((solution.interaction, solution.location))[1][:, 1:].ravel()
    functional = np.stack([unscale(one)[1][:, 1:].ravel() for one in unit_parameters(solution)])
    return effects, found.errors_of(csr_array(functional))


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
    """The differences of every two groups, or of all from one of them, and what one unit of each number changes."""
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


def _functional(
    solved: Solved, contrasts: list[Contrast], pairs: tuple[IntArray, IntArray], factor: Array
) -> csr_array:
    """The factor of every parameter in every contrast of every pair, shape (d, contrasts * pairs)."""
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
            estimated = np.flatnonzero(position >= 0)  # first levels have no parameters: K_0 is theirs
            parameters.append(position[estimated])
            targets.append(k * factor.size + estimated)
            data.append(times * factor[estimated])
    shape = (rows.size, len(contrasts) * factor.size)
    return csr_array((np.concatenate(data), (np.concatenate(parameters), np.concatenate(targets))), shape=shape)


def _of_associations(
    solution: Refit, contrasts: list[Contrast], pairs: tuple[IntArray, IntArray]
) -> tuple[Array, csr_array]:
    """Differences of K_ij / sqrt(K_ii K_jj) between groups, and their derivatives in all parameters, (d, contrasts p).

    How much a latent number varies in a group need not be known, as of two values; this does not depend on it.
    """
    m, free = solution.interaction.shape[1], np.flatnonzero(solution.rows < len(solution.interaction))
    part, entry = np.divmod(solution.rows[free], m)
    at = np.full((len(solution.interaction) // m, m, m), -1, dtype=np.intp)
    at[part, entry, solution.nodes[free]] = at[part, solution.nodes[free], entry] = free
    found: dict[int, tuple[Array, csr_array]] = {}
    (i, j), columns = pairs, np.arange(pairs[0].size)
    for own, factor in {(own, abs(factor)) for contrast in contrasts for own, factor in contrast.parts}:
        K = matrices(solution.interaction)
        K = K[0] + factor * K[own]
        size = np.sqrt(K[i, i] * K[j, j])
        relative = K[i, j] / size
        slopes = ((i, j, 1 / size), (i, i, -relative / (2 * K[i, i])), (j, j, -relative / (2 * K[j, j])))
        entries = [(at[q, a, b], times * slope) for q, times in ((0, 1.0), (own, factor)) for a, b, slope in slopes]
        kept = [(place[place >= 0], columns[place >= 0], values[place >= 0]) for place, values in entries]
        rows, targets, data = (np.concatenate(parts) for parts in zip(*kept, strict=True))
        found[own] = relative, csr_array((data, (rows, targets)), shape=(solution.rows.size, i.size))
    ends = [[own for own, _ in sorted(contrast.parts, key=lambda part: -part[1])] for contrast in contrasts]
    difference = np.concatenate([found[of][0] - found[base][0] for of, base in ends])
    return difference, csr_array(hstack([found[of][1] - found[base][1] for of, base in ends]))


def _stretch_of_groups(fit: Fit, solved: Solved) -> Array | float:
    """What influences of every row are multiplied by, beyond solved.stretch, shape (n,).

    With one categorical moderator each group has its own K_.j and eta_j, as if it were fitted alone: an estimate
    follows the rows of a small group more closely than those of a large one.
    """
    preparation = fit.prepared.preparation
    family = preparation.scaled_family
    assert isinstance(family, Moderated)
    if len(preparation.moderators) > 1 or not preparation.moderators[0].moderator.levels:
        return 1.0
    w: Array = fit.prepared.rows.gather(partial(_moderators, family))
    group, frequency = np.argmax(w, axis=1), fit.weights.frequency
    counted = (fit.weights.gamma_weights > 0) * (1.0 if frequency is None else frequency)
    sizes = np.bincount(group, weights=counted, minlength=w.shape[1])
    free = len(fit.names) + 1
    stretch = np.sqrt(sizes / np.maximum(sizes - free, 1))
    return np.asarray(stretch[group] / solved.stretch)


def _moderators(family: Moderated, X: Array) -> Array:
    return family.moderators(X)
