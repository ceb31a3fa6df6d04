"""How far pairs stand out where cells were filled in, relative to what a single completed table says of them.

The loss is an average over many completions, standard errors are those of one. What a completion draws differs from
the next, and averages out; what rows add to a derivative in all completions stays. So with g and g' the gradients of a
row in two completions the noise of the average is

    sum g g'  over  sum g^2

of that of one. Where the same cells are missing in all, and are drawn without an edge, that is the share of the rows in
which both cells of a pair are there (:attr:`robscore.cells.filled_cells.FilledCells.certainty`). Wrong cells are others
in every round, each as often as it is likely to be wrong. Most of them are large, and of more say than their number
tells.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from robscore._tools.typing import Array
from robscore.cells.filled_streams import typical_values
from robscore.elements import Elements, PairwiseElements
from robscore.elements.observed_entries import ObservedElements, ObservedEntries
from robscore.families.family import Parameters
from robscore.fitting.prepare import Prepared
from robscore.fitting.settings import Settings
from robscore.fitting.weigh import Weighed
from robscore.losses.quadratic import QuadraticLoss
from robscore.rows.row_source import ArrayRows
from robscore.selection.standard_errors import profile_out_node_parameters
from robscore.weighting.row_weights import RowWeights

_FEWEST_COPIES, _N_IMPUTATION_PAIRS = 12, 6  # completions of several rounds; how many twos of them are looked at
_LEAST = 0.05  # of the noise of one completion

Factors = tuple[Array, Array]


def certainty_of_pairs(prepared: Prepared, loss: QuadraticLoss, weighed: Weighed, settings: Settings) -> Array | None:
    """How many times as many standard errors a pair stands out as a completed table says, shape (m, m).

    None where no cells were filled in.
    """
    filling = prepared.filling
    if filling is None:
        return None
    has_covariates = loss.n_locations > 1
    if filling.suspects is None or len(filling.copies) < _FEWEST_COPIES or has_covariates:
        return filling.certainty
    m, family, weights = loss.n_columns, prepared.preparation.scaled_family, weighed.weights.gamma_weights
    z = profile_out_node_parameters(loss, np.zeros((m, m)), np.zeros(m), fit_location=settings.fit_location)
    half = len(filling.copies) // 2
    twos: list[tuple[Factors, Factors]] = []
    for first in np.unique(np.linspace(0, half - 1, _N_IMPUTATION_PAIRS).astype(np.intp)):
        one, other = (_factors(family.elements(filling.copies[k]), z, weights) for k in (first, first + half))
        if one is None or other is None:
            return filling.certainty
        twos.append((one, other))
    return np.where(filling.linked, filling.certainty, 1 / np.sqrt(shared_noise(twos)))


def observed_elements(prepared: Prepared, weights: RowWeights) -> ObservedElements:
    """Elements of the observed cells of rows, to judge fits by that filled the others in."""
    filling, names = prepared.filling, prepared.preparation.names
    assert filling is not None
    X = filling.observed.copy()
    X[:, : len(names)][filling.holes] = np.nan
    rows, family = ArrayRows(X), prepared.preparation.scaled_family
    entries = ObservedEntries.weighted(family, rows, typical_values(rows, names), names, *weights)
    return entries.elements(X)


def _factors(elements: Elements, z: Parameters, weights: Array) -> Factors | None:
    """U and T with means of zero, which the parameters of single columns adapt to; rows count as they do in the fit."""
    assert isinstance(elements, PairwiseElements)
    found = elements.gradient_factors(*z)
    if found is None:
        return None
    u, T = found[0], weights[:, None] * found[1]
    return u - weights @ u / weights.sum(), T - T.mean(axis=0)


def shared_noise(twos: Iterable[tuple[Factors, Factors]]) -> Array:
    """Sum g g' over sum g^2 for every pair, shape (m, m), from u and T of two completions at a time.

    The gradient of a row in K_jk is u_k T_j + u_j T_k.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.fitting.noise import shared_noise
    >>> rng = np.random.default_rng(0)
    >>> X, drawn, missing = rng.normal(size=(5000, 2)), rng.normal(size=(5000, 2)), rng.random((5000, 2)) < 0.2
    >>> one, other = np.where(missing, drawn, X), np.where(missing, rng.normal(size=(5000, 2)), X)
    >>> round(float(shared_noise([((one, one), (other, other))])[0, 1]), 1)  # both are there in 64 of 100 rows
    0.6
    """
    across: Array | float = 0.0
    alone: Array | float = 0.0
    for one, other in twos:
        across = across + 2 * _products(one, other)
        alone = alone + _products(one, one) + _products(other, other)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.clip(np.nan_to_num(across / alone, nan=1.0), _LEAST, 1.0)


def _products(one: Factors, other: Factors) -> Array:
    """Sum g g' of every pair, shape (m, m)."""
    (u, T), (v, S) = one, other
    same, mixed = (T * S).T @ (u * v), (T * v).T @ (u * S)
    return np.asarray(same + same.T + mixed + mixed.T)
