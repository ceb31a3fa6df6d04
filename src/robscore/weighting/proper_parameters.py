"""Parameters that have a density, near those of a fit that need not have one.

Score matching has a minimum where the density cannot be integrated, for example at a K with a negative eigenvalue.
To simulate rows, or to judge them, interactions are shrunk as far as a density needs it:

    K = D^1/2 (I + s R) D^1/2,      D the diagonal of K, R the rest of D^-1/2 K D^-1/2,      s <= 1 as large as possible

and the location is the one that suits this K.
"""

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
    """Shrink interactions as far as a density needs it, and take the location that suits them.

    Raises
    ------
    NoDensityError
        If the parameters are not finite.
    """
    if not all(np.isfinite(part).all() for part in parameters):
        raise NoDensityError(
            "A fit of the rows has no finite parameters: columns are too large or too small for floating-point numbers."
        )
    if not isinstance(loss, QuadraticLoss):
        return parameters
    interaction, location = parameters
    if loss.gamma_last is not None and not isinstance(family, Moderated):
        # Compositions have a density even where K is singular, as it is where its columns sum to zero.
        values, vectors = np.linalg.eigh(loss.completed(interaction))
        return (vectors * np.maximum(values, 0.0)) @ vectors.T, _at_least(location, _LEAST_LOCATIONS[1])
    if isinstance(family, Moderated):
        K, is_shrunk = _shrunk_at_moderators(family, loss, interaction)
    else:
        K, shrink = _shrunk(interaction)
        is_shrunk = shrink < 1.0 and bool(location.any())
    if is_shrunk:
        location = as_location(loss.best_location(loss.g[:, loss.n_interactions :] - loss.pulls_of(K)))
    try:
        family.check_parameters(K, location)
    except ValueError:
        location = _at_least(location, _LEAST_LOCATIONS[0])
    return K, location


def _shrunk(interaction: Array) -> tuple[Array, float]:
    """Shrink K, shape (m, m), until diagonal and least eigenvalue are not too small; also give the factor s."""
    diagonal = interaction.diagonal()
    diagonal = np.maximum(diagonal, _LEAST_DIAGONAL * max(float(np.median(diagonal)), 1e-8))
    size = np.sqrt(diagonal)
    off = interaction / np.multiply.outer(size, size)
    np.fill_diagonal(off, 0.0)
    shrink = min(1.0, (1 - _LEAST_EIGENVALUE) / max(-float(np.linalg.eigvalsh(off)[0]), 1e-12))
    off *= shrink
    np.fill_diagonal(off, 1.0)
    return off * np.multiply.outer(size, size), shrink


def _shrunk_at_moderators(family: Moderated, loss: QuadraticLoss, stacked: Array) -> tuple[Array, bool]:
    """Shrink what changes with moderators until there is a density at all that were seen; whether it was needed."""
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
    return K, min(share, shrink) < 1.0


def _at_least(location: Array, least: float) -> Array:
    """Raise the location where covariates are zero to what has a density; their effects stay."""
    if location.ndim == 1:
        return np.maximum(location, least)
    return np.column_stack([np.maximum(location[:, 0], least), location[:, 1:]])
