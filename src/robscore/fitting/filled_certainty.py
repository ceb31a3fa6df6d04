"""How far pairs stand out where cells were filled in: the standard errors of one completion are not those of many."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from robscore._tools.typing import Array
from robscore.cells.draw_cells import without_covariates
from robscore.elements import PairwiseElements
from robscore.families.family import Family, Parameters
from robscore.fitting.prepare import Prepared
from robscore.fitting.settings import Settings
from robscore.fitting.weigh import Weighed
from robscore.losses.quadratic import QuadraticLoss
from robscore.selection.standard_errors import profile_out_node_parameters

_FEWEST_COPIES, _N_IMPUTATION_PAIRS = 12, 6  # completions of several rounds; how many pairs of them are compared
_LEAST_NOISE = 0.05  # of the noise of one completion

Factors: TypeAlias = tuple[Array, Array]


def certainty_of_pairs(prepared: Prepared, loss: QuadraticLoss, weighed: Weighed, settings: Settings) -> Array | None:
    """How many times as many standard errors a pair stands out as a completed table says, shape (m, m).

    The loss is an average over many completions, standard errors are those of one. What a completion draws differs
    from the next, and averages out; what rows add to a derivative in all completions stays. So with g and g' the
    gradients of a row in two completions the noise of the average is

        sum g g'  over  sum g^2

    of that of one. Where the same cells are missing in all, and are drawn without an edge, that is the share of the
    rows in which both cells of a pair were observed (:attr:`robscore.cells.filled_cells.FilledCells.certainty`). Wrong
    cells are others in every round, each as often as it is likely to be wrong. Most of them are large, and weigh more
    than their number suggests. None where no cells were filled in. Shape ((1 + Q) m, m) with moderators: what is filled
    in is taken to be as certain in every group.
    """
    filling = prepared.filling
    if filling is None:
        return None
    has_covariates = loss.n_locations > 1
    is_free = filling.bounds is None and (filling.suspects is None or has_covariates)
    count = loss.parts.count
    is_known = filling.bounds is None and len(filling.copies) < _FEWEST_COPIES  # by which cells were observed
    if is_free or is_known:
        return np.tile(filling.certainty, (count, 1))
    m, family, weights = loss.n_columns, prepared.preparation.scaled_family, weighed.weights.gamma_weights
    none = np.zeros((count * m, m)), np.zeros(loss.location_shape)
    K, eta = profile_out_node_parameters(loss, *none, fit_location=settings.fit_location)
    z = family.common(K), eta if eta.ndim == 1 else np.zeros(m)
    half = len(filling.copies) // 2
    pairs: list[tuple[Factors, Factors]] = []
    for first in np.unique(np.linspace(0, half - 1, _N_IMPUTATION_PAIRS).astype(np.intp)):
        one, other = (_factors(family, filling.copies[k], z, weights) for k in (first, first + half))
        if one is None or other is None:
            return np.tile(filling.certainty, (count, 1))
        pairs.append((one, other))
    root = np.sqrt(shared_noise(pairs))
    return np.tile(
        np.where(filling.linked, filling.certainty if filling.bounds is None else root, 1 / root), (count, 1)
    )


def _factors(family: Family, X: Array, z: Parameters, weights: Array) -> Factors | None:
    """U and T with means of zero, which the parameters of single columns adapt to; rows count as they do in the fit.

    So do effects of covariates: of normal columns what these leave is looked at.
    """
    own = without_covariates(family)
    m = family.own_columns(X.shape[1])
    if m < X.shape[1]:
        root = np.sqrt(weights)[:, None]
        design = np.column_stack([np.ones(len(X)), X[:, m:]])
        X = X[:, :m] - design @ np.linalg.lstsq(root * design, root * X[:, :m])[0]
    elements = own.elements(X)
    assert isinstance(elements, PairwiseElements)
    found = elements.gradient_factors(*z)
    if found is None:
        return None
    u, T = found[0], weights[:, None] * found[1]
    return u - weights @ u / weights.sum(), T - T.mean(axis=0)


def shared_noise(pairs: Iterable[tuple[Factors, Factors]]) -> Array:
    """Sum g g' over sum g^2 for every pair, shape (m, m), from u and T of two completions at a time.

    The gradient of a row in K_jk is u_k T_j + u_j T_k.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.fitting.filled_certainty import shared_noise
    >>> rng = np.random.default_rng(0)
    >>> X, drawn, missing = rng.normal(size=(5000, 2)), rng.normal(size=(5000, 2)), rng.random((5000, 2)) < 0.2
    >>> one, other = np.where(missing, drawn, X), np.where(missing, rng.normal(size=(5000, 2)), X)
    >>> round(float(shared_noise([((one, one), (other, other))])[0, 1]), 1)  # both were observed in 64 of 100 rows
    0.6
    """
    across: Array | float = 0.0
    alone: Array | float = 0.0
    for one, other in pairs:
        across = across + 2 * _products(one, other)
        alone = alone + _products(one, one) + _products(other, other)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.clip(np.nan_to_num(across / alone, nan=1.0), _LEAST_NOISE, 1.0)


def _products(one: Factors, other: Factors) -> Array:
    """Sum g g' of every pair, shape (m, m)."""
    (u, T), (v, S) = one, other
    same, mixed = (T * S).T @ (u * v), (T * v).T @ (u * S)
    return np.asarray(same + same.T + mixed + mixed.T)
