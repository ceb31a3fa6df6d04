"""Parameters that have a density, near those of a fit that need not have one."""

from __future__ import annotations

import numpy as np

from robscore._tools.typing import Array
from robscore.families.family import Family, NoDensityError, Parameters
from robscore.families.given_covariates import Moderated
from robscore.losses.interaction_parts import matrices
from robscore.losses.quadratic import Loss, QuadraticLoss, as_location

_LEAST_DIAGONAL = 0.05  # of K, relative to its median
_LEAST_EIGENVALUE = 0.02  # of K with unit diagonal
_STEP, _LEAST_SHARE = 0.8, 0.02  # by which changes of K are made smaller, and where they are left out
_LEAST_LOCATIONS = (-0.95, -0.9)  # that have a density at 0; on the simplex


def proper(family: Family, loss: Loss, parameters: Parameters) -> Parameters:
    """The parameters, interactions shrunk as far as a density needs it, with the location that suits them.

    Raises
    ------
    NoDensityError
        If they are not finite.
    """
    if not all(np.isfinite(part).all() for part in parameters):
        raise NoDensityError(
            "A fit of the rows has no finite parameters: columns are too large or too small for floating-point numbers."
        )
    if not isinstance(loss, QuadraticLoss):
        return parameters
    interaction, location = parameters
    if isinstance(family, Moderated):
        return _proper_at_all(family, loss, interaction, location)
    if loss.gamma_last is not None:  # compositions: K may be singular, and its columns may sum to zero
        values, vectors = np.linalg.eigh(loss.completed(interaction))
        return (vectors * np.maximum(values, 0.0)) @ vectors.T, _at_least(location, _LEAST_LOCATIONS[1])
    K, shrink = _shrunk(interaction)
    if shrink < 1.0 and location.any():
        location = as_location(loss.best_location(loss.g[:, loss.n_columns :] - loss.pulls_of(K)))
    try:
        family.check_parameters(K, location)
    except ValueError:
        location = _at_least(location, _LEAST_LOCATIONS[0])
    return K, location


def _shrunk(interaction: Array) -> tuple[Array, float]:
    """K, shape (m, m), with a diagonal and a least eigenvalue that are not too small, and what its edges are times."""
    diagonal = interaction.diagonal()
    diagonal = np.maximum(diagonal, _LEAST_DIAGONAL * max(float(np.median(diagonal)), 1e-8))
    size = np.sqrt(diagonal)
    off = interaction / np.multiply.outer(size, size)
    np.fill_diagonal(off, 0.0)
    shrink = min(1.0, (1 - _LEAST_EIGENVALUE) / max(-float(np.linalg.eigvalsh(off)[0]), 1e-12))
    off *= shrink
    np.fill_diagonal(off, 1.0)
    return off * np.multiply.outer(size, size), shrink


def _proper_at_all(family: Moderated, loss: QuadraticLoss, stacked: Array, location: Array) -> Parameters:
    """The same with moderators: what changes with them is shrunk until there is a density at all that were seen."""
    means = family.moderation.means
    average, shrink = _shrunk(family.interaction_at(stacked, means))
    changes = np.tensordot(family.moderation.seen - means, matrices(stacked)[1:], axes=1)
    size = np.sqrt(average.diagonal())
    unit, changes = (part / np.multiply.outer(size, size) for part in (average, changes))
    share = 1.0
    while share > _LEAST_SHARE and np.linalg.eigvalsh(unit + share * changes).min() < _LEAST_EIGENVALUE:
        share *= _STEP
    share = share if share > _LEAST_SHARE else 0.0
    K = np.concatenate([average, share * stacked[loss.n_columns :]])
    K[: loss.n_columns] -= np.tensordot(means, matrices(K)[1:], axes=1)
    if min(share, shrink) < 1.0:
        location = as_location(loss.best_location(loss.g[:, loss.n_interactions :] - loss.pulls_of(K)))
    try:
        family.check_parameters(K, location)
    except ValueError:
        location = _at_least(location, _LEAST_LOCATIONS[0])
    return K, location


def _at_least(location: Array, least: float) -> Array:
    """The location where covariates are zero, raised to what has a density; their effects stay."""
    if location.ndim == 1:
        return np.maximum(location, least)
    return np.column_stack([np.maximum(location[:, 0], least), location[:, 1:]])
