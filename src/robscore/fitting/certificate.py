"""Evidence from a fresh sample of rows about a graph that others chose: errors of its edges, and missing pairs.

With psi_i what row i adds to the gradient at the estimate, which all rows have determined:

- the error of an edge is the root of the sum of squares of its influences -H^-1 psi_i, for as many rows as there are;
- the gradient in a pair that was left out has mean zero if it has no edge; its error is the root of the sum of its
  squares, since a fresh sample is so small beside all rows that the estimate is as good as known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import false_discovery_control, norm

from robscore._tools.memory import chunks, rows_within
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.elements import PairwiseElements
from robscore.families.family import Parameters
from robscore.fitting.prepare import Prepared
from robscore.rows.row_source import added
from robscore.solvers.unpenalised import Refit
from robscore.weighting.row_weights import RowWeights, WeightedRows

FDR = 0.1
_PIECE_BYTES = 20e6  # of elements, or of gradients, at a time


@dataclass(frozen=True, eq=False)
class Certificate:
    """What a fresh sample says.

    Attributes
    ----------
    n_rows : int
        How many rows the sample has.
    errors : array of shape (m, m)
        Standard errors of K on the scaled columns, from all rows; NaN where nothing was estimated.
    pairs : two integer arrays of shape (p,)
        The pairs i < j that were left out and may have an edge, most certain first.
    gradient, gradient_error : arrays of shape (p,)
        The mean gradient of the loss in K_ij, and its standard error.
    p_value, q_value : arrays of shape (p,)
        Of "no edge", alone and among all pairs left out (Benjamini-Hochberg).
    """

    n_rows: int
    errors: Array
    pairs: tuple[IntArray, IntArray]
    gradient: Array
    gradient_error: Array
    p_value: Array
    q_value: Array

    @property
    def n_missed(self) -> int:
        """Pairs left out that may be edges, at a false discovery rate of 10 %."""
        return int(np.count_nonzero(self.q_value <= FDR))


def certify(
    prepared: Prepared,
    weights: RowWeights,
    solution: Refit | None,
    scaled: Parameters,
    allowed: BoolArray,
    sample: IntArray,
    rng: np.random.Generator,
    there: Array | None = None,
) -> Certificate:
    """Of rows other than those that chose the graph, as many as these; of all rows where no others are left.

    Parameters
    ----------
    prepared : all rows
    weights : what they count
    solution : the refit on the graph, where its parameters are pairs
    scaled : K and eta
    allowed : boolean array of shape (m, m)
        Pairs that may have an edge.
    sample : integer array
        The rows that chose it.
    there : array of shape (m, m), or None
        Share of the rows in which both cells of a pair were observed, where the others were drawn: those add nothing.
    """
    less = 1.0 if there is None else 1 / np.sqrt(np.maximum(there, 1 / prepared.rows.n_rows))
    fresh = prepared.rows.sample(min(sample.size, prepared.rows.n_rows), rng)
    fresh = np.setdiff1d(fresh, sample) if sample.size < prepared.rows.n_rows else fresh
    own = weights.some(fresh)
    gradient, (squares, across), influences = _sums(prepared, fresh, own, solution, scaled)
    m = len(scaled[0])
    errors = np.full((m, m), np.nan)
    if solution is not None:
        smaller = np.sqrt(own.effective_rows[0] / weights.effective_rows[0])
        free = solution.rows < m
        errors[solution.rows[free], solution.nodes[free]] = (np.sqrt(influences) * smaller)[free]
        errors = np.fmax(errors, errors.T) * less
    with np.errstate(invalid="ignore"):
        error = np.sqrt(squares + squares.T + 2 * across) * less
    i, j = np.nonzero(np.triu(allowed & (scaled[0] == 0) & (error > 0), 1))
    p_value = 2 * norm.sf(np.abs(gradient[i, j]) / error[i, j])
    order = np.argsort(p_value, kind="stable")
    i, j, p_value = i[order], j[order], p_value[order]
    q_value = false_discovery_control(p_value) if p_value.size else p_value
    return Certificate(fresh.size, errors, (i, j), gradient[i, j], error[i, j], p_value, q_value)


def _sums(
    prepared: Prepared, some: IntArray, weights: RowWeights, solution: Refit | None, z: Parameters
) -> tuple[Array, Array, Array]:
    """Over some rows, a piece at a time: gradients, shape (m, m), their squares, (2, m, m), and squared influences."""
    family, X = prepared.preparation.scaled_family, prepared.rows.take(some)
    numbers = max(family.numbers_a_row(X.shape[1]), 0 if solution is None else solution.rows.size)
    total = None
    for piece in chunks(len(X), rows_within(_PIECE_BYTES, numbers)):
        often = None if weights.frequency is None else weights.frequency[piece]
        counts = weights.gamma_weights[piece], weights.g_weights[piece], weights.pulls[piece]
        elements = family.elements(X[piece])
        assert isinstance(elements, PairwiseElements)
        part, m = WeightedRows(elements, *counts, weights.parameters, often), len(z[0])
        squares = part.pair_squares(z, np.zeros((1 + elements.n_locations, m, m)))
        found = _gradient(part, z), squares, _squared_influences(solution, part)
        total = found if total is None else added(total, found)
    assert total is not None
    return total


def _gradient(weighted: WeightedRows, z: Parameters) -> Array:
    """Of the weighted loss in every K_ij, both of its entries together, shape (m, m)."""
    elements, m = weighted.elements, len(z[0])
    total = elements.gamma_times(weighted.gamma_weights, *z)
    total -= elements.mean_g(weighted.g_weights)
    if weighted.pulls.any():
        total -= elements.gamma_times(weighted.pulls, *weighted.parameters)
    return np.asarray(total[:, :m] + total[:, :m].T)


def _squared_influences(solution: Refit | None, weighted: WeightedRows) -> Array:
    """Of rows on all free parameters, added up, shape (d,)."""
    if solution is None:
        return np.zeros(0)
    z = solution.interaction, solution.location
    gradients = weighted.gradients(z, solution.rows, solution.nodes, symmetric=solution.symmetric)
    if weighted.frequency is not None:
        gradients /= np.sqrt(weighted.frequency)[:, None]
    influence = solution.factor.unwhiten(solution.factor.whiten(gradients))
    return np.einsum("ij,ij->j", influence, influence)
