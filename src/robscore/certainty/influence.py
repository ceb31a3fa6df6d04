"""How certain an interaction is: standard errors, intervals and tests of "no edge".

The estimate is the one without a penalty over all pairs that are allowed, with the row weights of the fit: no edge has
been selected, so nothing has to be corrected for selection. It is what the debiased lasso becomes when the Hessian
can be inverted. With too few rows for that the rows are split: one half chooses the graph, the other half estimates
its edges, and says nothing about the rest.

Standard errors are sandwich estimates. With psi_i what row i adds to the gradient of the weighted loss, and H its
Hessian, the influence of the row is -H^-1 psi_i, and the covariance of the estimate is the sum of the squares of
influences (of blocks of rows, where neighbours depend on each other). A taper's own parameters need no correction: its
gradient has mean zero whatever they are (:mod:`robscore.weighting.row_weights`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from scipy.sparse import csr_array
from scipy.special import stdtr, stdtrit

from robscore._tools.arguments import describe
from robscore._tools.errors import UsageError
from robscore._tools.pieces import rows_within
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore._tools.words import Setting
from robscore.elements import Elements, PairwiseElements
from robscore.families.family import Parameters
from robscore.fitting.fit import GraphFit
from robscore.losses.quadratic import QuadraticLoss
from robscore.solvers.factor import SingularLossError
from robscore.solvers.refit import Refit, refit
from robscore.weighting.row_weights import RowWeights
from robscore.weighting.weighted_rows import WeightedRows

_PIECE_BYTES = 4e6  # of influences at a time


@dataclass(frozen=True)
class Influence:
    """An estimate of K and what every row, or block of rows, does to it.

    Attributes
    ----------
    interaction : array of shape (m, m)
    pairs : two integer arrays of shape (p,)
        The pairs i < j that were estimated.
    on_pairs : array of shape (n, p)
        Influence on K_ij; its sum of squares is the variance. Of a row of frequency f, that of all its copies
        over the root of f.
    on_diagonal : array of shape (n, m)
    on_locations : array of shape (n, m L)
        Influence on the free locations: of all columns, then of their effects, one covariate after the other.
    """

    interaction: Array
    pairs: tuple[IntArray, IntArray]
    on_pairs: Array
    on_diagonal: Array
    on_locations: Array

    def on_association(self) -> Array:
        """Influence on -K_ij / sqrt(K_ii K_jj), shape (n, p), by its derivatives."""
        i, j = self.pairs
        diagonal = np.diagonal(self.interaction)
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.sqrt(np.abs(diagonal[i] * diagonal[j]))
            relative = self.on_diagonal / diagonal
            own: Array = self.interaction[i, j] * (relative[:, i] + relative[:, j]) / 2
            return (own - self.on_pairs) / scale


@dataclass(frozen=True)
class Solved:
    """An estimate of K without a penalty over some pairs, and how rows move it.

    Attributes
    ----------
    solution : Refit
    zero_sums : bool
        Whether columns of K sum to zero.
    stretch : float
        What influences are multiplied by: gradients at the estimate are smaller than at the truth.
    """

    solution: Refit
    zero_sums: bool
    stretch: float

    def influence(self, weighted: WeightedRows) -> Influence:
        """Of rows that were in the estimate, some or all; of fits without moderators."""
        return self.arranged(self.influences(weighted))

    def arranged(self, rows: Array) -> Influence:
        """Influences on all free parameters, shape (n, d), by what these are."""
        solution, m = self.solution, len(self.solution.interaction)
        i, j, order = self._ordered
        on_pairs = rows[:, order]
        own = np.flatnonzero((i == j) & (solution.rows < m))
        on_diagonal = np.zeros((len(rows), m))
        on_diagonal[:, i[own]] = rows[:, own]
        if self.zero_sums:
            for ends in self.pairs:
                for k in range(m):
                    on_diagonal[:, k] -= on_pairs[:, ends == k].sum(axis=1)
        return Influence(solution.interaction, self.pairs, on_pairs, on_diagonal, rows[:, solution.rows >= m])

    def influences(self, weighted: WeightedRows) -> Array:
        """Of rows that were in the estimate on all its free parameters, shape (n, d)."""
        solution = self.solution
        whitened = solution.factor.whiten(gradients_at(solution, weighted))
        rows = -solution.factor.unwhiten(whitened) * self.stretch
        return rows if weighted.frequency is None else rows / np.sqrt(weighted.frequency)[:, None]

    def on_pairs(self, weighted: WeightedRows) -> Array:
        """Of rows that were in the estimate on the interactions of all pairs, shape (n, p)."""
        return self.influences(weighted)[:, self._ordered[2]]

    def errors_of(self, functional: csr_array, weighted: WeightedRows, block_size: int) -> Array:
        """Standard errors of what is linear in the free parameters, with factors of shape (d, f), as (f,)."""
        n, often = weighted.elements.n_rows, weighted.frequency
        squares = weighted.elements.total(
            partial(
                _functional_squares,
                solved=self,
                parameters=weighted.parameters,
                block_size=block_size,
                functional=functional,
            ),
            weighted.gamma_weights,
            weighted.g_weights,
            weighted.pulls,
            *(() if often is None else (often,)),
            length=rows_within(_PIECE_BYTES, max(functional.shape), at_least=1),
            starts=np.arange(0, n, block_size),
        )
        n_blocks = count_blocks(n, often, block_size)
        return np.asarray(np.sqrt(squares * n_blocks / max(n_blocks - 1, 1)))

    @property
    def pairs(self) -> tuple[IntArray, IntArray]:
        """The pairs i < j that were estimated, two integer arrays of shape (p,)."""
        i, j, order = self._ordered
        return i[order], j[order]

    @cached_property
    def _ordered(self) -> tuple[IntArray, IntArray, IntArray]:
        """The two ends of every parameter, and those that are pairs, in order."""
        rows, nodes = self.solution.rows, self.solution.nodes
        n_rows, m = self.solution.interaction.shape
        at = np.where(rows < n_rows, rows % m, rows)  # with moderators, of every part
        i, j = np.minimum(at, nodes) + (rows - at), np.maximum(at, nodes)
        is_pair = np.flatnonzero(self.solution.is_edge)
        return i, j, is_pair[np.lexsort((j[is_pair], i[is_pair]))]

    def standard_errors(self, weighted: WeightedRows, block_size: int) -> tuple[Array, Array, Array]:
        """Of K_ij and of the associations, shape (p,) each, and of locations: roots of sums of squared influences.

        Of blocks of rows.
        """
        n = weighted.elements.n_rows
        pairs = max(1, self.solution.rows.size)
        often = weighted.frequency
        sums = weighted.elements.total(
            partial(_squares, solved=self, parameters=weighted.parameters, block_size=block_size),
            weighted.gamma_weights,
            weighted.g_weights,
            weighted.pulls,
            *(() if often is None else (often,)),
            length=rows_within(_PIECE_BYTES, pairs, at_least=1),
            starts=np.arange(0, n, block_size),
        )
        n_blocks = count_blocks(n, often, block_size)
        on_pairs, on_association, on_locations = (
            np.sqrt(squares * n_blocks / max(n_blocks - 1, 1)) for squares in sums
        )
        return on_pairs, on_association, on_locations


def gradients_at(solution: Refit, weighted: WeightedRows) -> Array:
    """What every row adds to the gradient at a refit in its free parameters, shape (n, d); they sum to zero."""
    z = solution.interaction, solution.location
    return weighted.gradients(z, solution.rows, solution.nodes, symmetric=solution.symmetric)


def _squares(
    elements: PairwiseElements,
    gamma_weights: Array,
    g_weights: Array,
    pulls: Array,
    frequency: Array | None = None,
    *,
    solved: Solved,
    parameters: Parameters,
    block_size: int,
) -> list[Array]:
    """What some rows add to the sums of squares; within blocks all copies of a row belong together."""
    often = frequency if block_size == 1 else None
    found = solved.influence(WeightedRows(elements, gamma_weights, g_weights, pulls, parameters, often))
    kinds = found.on_pairs, found.on_association(), found.on_locations
    blocks = [summed_in_blocks(rows, block_size) for rows in kinds]
    return [np.einsum("ij,ij->j", rows, rows) for rows in blocks]


def _functional_squares(
    elements: PairwiseElements,
    gamma_weights: Array,
    g_weights: Array,
    pulls: Array,
    frequency: Array | None = None,
    *,
    solved: Solved,
    parameters: Parameters,
    block_size: int,
    functional: csr_array,
) -> Array:
    """What some rows add to sums of squares of what is linear in the parameters."""
    often = frequency if block_size == 1 else None
    rows = solved.influences(WeightedRows(elements, gamma_weights, g_weights, pulls, parameters, often))
    blocks = summed_in_blocks(np.asarray(rows @ functional), block_size)
    return np.asarray(np.einsum("ij,ij->j", blocks, blocks))


def solve(elements: Elements, weights: RowWeights, allowed: BoolArray, *, fit_location: bool) -> Solved:
    """Estimate K without a penalty over the allowed pairs, a boolean array of shape (m, m).

    Raises
    ------
    SingularLossError
        If the rows do not determine all of it.
    """
    loss = weights.loss(elements)
    assert isinstance(loss, QuadraticLoss)
    n = elements.n_rows if weights.frequency is None else float(weights.frequency.sum())
    solution = refit(loss, loss.parts.tiled(allowed), np.full(loss.location_shape, fit_location), symmetric=True)
    # Gradients at the estimate are smaller than at the truth, by as many numbers as a column has free.
    stretch = np.sqrt(n / max(n - free_a_column(loss, allowed, fit_location=fit_location), 1))
    return Solved(solution, loss.zero_sums, float(stretch))


def influence_of_rows(fit: GraphFit) -> Influence:
    """The estimate of K on the scaled columns, without a penalty, and the influence of every row of a fit on it."""
    m, n = len(fit.names), fit.prepared.rows.n_rows
    allowed, elements, weights = fit.settings.allowed_pairs(m), fit.elements(), fit.weights.some(np.arange(n))
    needed = 8.0 * n * np.count_nonzero(allowed)
    if elements.streams and needed > fit.settings.memory:
        raise UsageError(
            f"The influence of {n} rows on {np.count_nonzero(allowed) // 2} pairs takes {describe(needed)}, more than ",
            Setting("max_memory", fit.settings.max_memory),
            ". Raise it, or fit some of the rows instead.",
        )
    try:
        solved = solve(elements, weights, allowed, fit_location=fit.settings.fit_location)
    except SingularLossError as error:
        raise UsageError(
            f"The rows do not determine all {np.count_nonzero(allowed) // 2} pairs ({error}), so the influence of "
            "each row on them is not defined; use more rows, or forbid pairs with ",
            Setting("penalty_weights"),
            ".",
        ) from None
    return solved.influence(WeightedRows.of(elements, weights))


def count_blocks(n_rows: int, frequency: Array | None, block_size: int) -> float:
    """Blocks that standard errors are taken from; blocks of one row are there as often as the row is."""
    if frequency is not None and block_size == 1:
        return float(frequency.sum())
    return -(-n_rows // block_size)


def free_a_column(loss: QuadraticLoss, allowed: BoolArray, *, fit_location: bool) -> int:
    """The most parameters that one column has: its pairs among those allowed, its diagonals, its locations."""
    pairs = int(loss.parts.distinct(loss.parts.tiled(allowed)).sum(axis=0).max(initial=0))
    return pairs + len(loss.parts.with_diagonal) + loss.n_locations * fit_location


def summed_in_blocks(rows: Array, block_size: int) -> Array:
    """Sums of the influences, shape (n, p), of neighbouring rows, so many at a time."""
    return rows if block_size == 1 else np.add.reduceat(rows, np.arange(0, len(rows), block_size), axis=0)


def two_sided_p_values(estimate: Array, error: Array, n_blocks: float) -> Array:
    """Of the t test that a parameter is zero, its error from so many blocks."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(2 * stdtr(n_blocks - 1, -np.abs(estimate / error)))


def t_quantile(level: float, n_blocks: float) -> float:
    """How many standard errors, from so many blocks, an interval of that level reaches to either side."""
    return float(stdtrit(n_blocks - 1, 0.5 + level / 2))
