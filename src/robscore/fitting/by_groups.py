"""The penalty of groups: one graph with what changes, or every group by itself, whichever is expected to err less.

Unrelated groups would give each other false edges: what one of them has is half an edge of K_0 already. Without edges
of K_0 the loss falls apart into those of the groups. Then every group has a penalty of its own, and its columns count
as they do once the group is scaled by itself, so that its graph is the one that its rows have alone.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np

from robscore._tools.messages import Remark, first_few
from robscore._tools.typing import Array
from robscore.elements import PairwiseElements
from robscore.elements.streamed import elements_of
from robscore.families.given_covariates import Moderated
from robscore.fitting.choose import Chosen
from robscore.fitting.imputing import choose_imputed, loss_of_copies
from robscore.fitting.prepare import Prepared
from robscore.fitting.settings import GraphSettings
from robscore.fitting.solve import solve
from robscore.fitting.weigh import Weighed
from robscore.losses.quadratic import QuadraticLoss
from robscore.solvers.path import Path

LEAST_GAIN = 0.15  # of the expected errors, that a common graph of groups must save


def choose_together_or_apart(
    prepared: Prepared,
    loss: QuadraticLoss,
    path: Path,
    elements: PairwiseElements,
    weighed: Weighed,
    settings: GraphSettings,
) -> Chosen:
    """The path and the penalty; of groups, with a common graph only where more is expected of it."""
    together = choose_imputed(prepared, loss, path, elements, weighed, settings)
    if not (loss.parts.are_groups and settings.asked == ["f1"]):
        return together
    alone, elements = _on_own_scales(prepared, weighed, settings)
    groups = [
        choose_imputed(prepared, own, solve(own, settings), elements, weighed, settings)
        for own in (_penalised(alone, np.where(only, 1.0, np.inf)) for only in np.eye(loss.parts.count)[1:] > 0)
    ]
    errors = np.mean([group.criteria["f1"].min() for group in groups])
    if together.criteria["f1"].min() <= (1 - LEAST_GAIN) * errors:
        return together
    return _joined(alone, groups, prepared.preparation.moderators[0].moderator.levels, settings)


def _on_own_scales(
    prepared: Prepared, weighed: Weighed, settings: GraphSettings
) -> tuple[QuadraticLoss, PairwiseElements]:
    """The loss and the elements with every group on the scale of its own rows, unless columns are not to be scaled."""
    family = prepared.preparation.scaled_family
    assert isinstance(family, Moderated)
    if settings.scale == "median":
        family = family.on_own_scales(prepared.rows, fit_location=settings.fit_location)
    elements = elements_of(family, prepared.rows, settings.memory).stored_as(settings.loss_storage)
    if prepared.filling is None:
        loss = weighed.weights.loss(elements)
    else:
        on_own = replace(prepared.preparation, scaled_family=family)
        loss = loss_of_copies(replace(prepared, preparation=on_own), weighed, settings)
    assert isinstance(loss, QuadraticLoss)
    assert isinstance(elements, PairwiseElements)
    return loss, elements


def _penalised(loss: QuadraticLoss, factors: Array) -> QuadraticLoss:
    """The same loss with other penalties on its parts, shape (1 + Q,)."""
    other = copy(loss)
    other.parts = loss.parts.penalised(factors)
    return other


def _joined(loss: QuadraticLoss, groups: list[Chosen], levels: tuple[object, ...], settings: GraphSettings) -> Chosen:
    """One path of all groups, on which the penalties of groups keep the ratios of those that were chosen."""
    alphas = np.array([group.path.alphas[group.position] for group in groups])
    largest = alphas.max()
    shares = alphas / largest if largest > 0 else np.ones_like(alphas)
    joint = _penalised(loss, np.append(np.inf, shares))
    path = solve(joint, settings)
    if largest not in path.alphas:
        path, _ = path.merged(solve(joint, settings, np.array([largest])))
    position = int(np.flatnonzero(path.alphas == largest)[0])
    criterion = np.mean(
        [_along(group, path.alphas * share) for group, share in zip(groups, shares, strict=True)], axis=0
    )
    each = first_few([f"{level} {alpha:.3g}" for level, alpha in zip(levels, alphas, strict=True)])
    remarks: dict[str, Remark] = {str(remark.message): remark for group in groups for remark in group.remarks}
    return Chosen(
        path,
        position,
        f"the largest of those chosen by f1 for each group alone, without a common penalty of groups ({each})",
        {"f1": criterion},
        {"f1": position},
        list(remarks.values()),
        max(group.tau for group in groups),
    )


def _along(group: Chosen, alphas: Array) -> Array:
    """What the rule found at other penalties, from those next to them; infinite beyond those looked at."""
    looked_at = np.flatnonzero(np.isfinite(group.criteria["f1"]))[::-1]
    at, found = group.path.alphas[looked_at], group.criteria["f1"][looked_at]
    return np.interp(alphas, at, found, left=np.inf)
