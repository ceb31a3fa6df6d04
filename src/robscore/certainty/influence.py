"""How much does every row move the estimate? Influences, and the standard errors that follow from them.

The estimate is the one without a penalty over all pairs that are allowed, with the row weights of the fit: no edge has
been selected, so nothing has to be corrected for selection. It is what the debiased lasso becomes when the Hessian
can be inverted.

With psi_i what row i adds to the gradient of the weighted loss, and H its Hessian, the influence of the row is
-H^-1 psi_i, and the covariance of the estimate is the sum of the squares of influences: the sandwich estimate. Where
neighbouring rows depend on each other, influences are first summed over blocks of rows, whose size follows from how
long the dependence lasts. A taper's own parameters need no correction: its gradient has mean zero whatever they are
(:mod:`robscore.weighting.row_weights`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from scipy.sparse import csr_array

from robscore._tools.memory import rows_within
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.elements import Elements, PairwiseElements
from robscore.families.family import Parameters
from robscore.fitting.fit_result import Fit
from robscore.losses.interaction_parts import mirrored
from robscore.losses.quadratic import Loss, QuadraticLoss
from robscore.solvers.unpenalised import Refit, SingularLossError, refit
from robscore.weighting.row_weights import RowWeights, WeightedRows
from robscore.weighting.time_blocks import TimeBlocks

_PIECE_BYTES = 4e6  # of influences at a time: it guards memory
# The dependence of neighbouring rows is looked for in the first rows: it guards memory.
_MOST_INFLUENCES, _MOST_SERIES_ROWS = 5_000_000, 5_000


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
    on_all : array of shape (n, d)
        Influence on all free parameters, as they were estimated.
    """

    interaction: Array
    pairs: tuple[IntArray, IntArray]
    on_pairs: Array
    on_diagonal: Array
    on_locations: Array
    on_all: Array

    def on_association(self) -> Array:
        """Influence on -K_ij / sqrt(K_ii K_jj), shape (n, p), by its derivatives."""
        i, j = self.pairs
        diagonal = np.diagonal(self.interaction)
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.sqrt(np.abs(diagonal[i] * diagonal[j]))
            relative = self.on_diagonal / diagonal
            own: Array = self.interaction[i, j] * (relative[:, i] + relative[:, j]) / 2
            return (own - self.on_pairs) / scale

    def kinds(self) -> tuple[Array, Array, Array]:
        """Influences on K_ij, on the associations and on the locations."""
        return self.on_pairs, self.on_association(), self.on_locations


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
        """The influence of rows that were in the estimate, some or all, for fits without moderators."""
        return self.arranged(self.influences(weighted))

    def arranged(self, rows: Array) -> Influence:
        """Influences on all free parameters, shape (n, d), sorted by what these are; K is K_0 with moderators."""
        solution, m = self.solution, self.solution.interaction.shape[1]
        i, j, order = self._ordered
        on_pairs = rows[:, order]
        own = np.flatnonzero((i == j) & (solution.rows < m))
        on_diagonal = np.zeros((len(rows), m))
        on_diagonal[:, i[own]] = rows[:, own]
        if self.zero_sums:
            for ends in self.pairs:
                for k in range(m):
                    on_diagonal[:, k] -= on_pairs[:, ends == k].sum(axis=1)
        at_location = solution.rows >= len(solution.interaction)
        return Influence(solution.interaction, self.pairs, on_pairs, on_diagonal, rows[:, at_location], rows)

    def influences(self, weighted: WeightedRows) -> Array:
        """Influences of rows that were in the estimate on all its free parameters, shape (n, d)."""
        solution = self.solution
        whitened = solution.factor.whiten(gradients_at(solution, weighted))
        rows = -solution.factor.unwhiten(whitened) * self.stretch
        return rows if weighted.frequency is None else rows / np.sqrt(weighted.frequency)[:, None]

    def with_filling(self, gradients: Array, added: Array) -> Array:
        """Influences -B^-1 times gradients, shape (n, d), where the filling of cells adds to the Hessian: B = H + A."""
        factor = self.solution.factor
        # B^-1 = (I + H^-1 A)^-1 H^-1.
        whole = factor.unwhiten(factor.whiten(gradients))
        return np.asarray(-np.linalg.solve(self.damping(added), whole.T).T * self.stretch, dtype=float)

    def damping(self, added: Array) -> Array:
        """I + H^-1 A, shape (d, d): the part of a step that is left once what is filled in has followed it."""
        factor = self.solution.factor
        return np.eye(len(added)) + factor.unwhiten(factor.whiten(added.T)).T

    def on_pairs(self, weighted: WeightedRows) -> Array:
        """Influences of rows that were in the estimate on the interactions of all pairs, shape (n, p)."""
        return self.influences(weighted)[:, self._ordered[2]]

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
        """Standard errors of K_ij and of the associations, shape (p,) each, and of locations."""
        pairs, associations, locations = self._errors(self._by_kind, weighted, block_size, self.solution.rows.size)
        return pairs, associations, locations

    def errors_of(self, functional: csr_array, weighted: WeightedRows, block_size: int) -> Array:
        """Standard errors of what is linear in the free parameters, with factors of shape (d, k), as (k,)."""
        (errors,) = self._errors(partial(_linear, functional), weighted, block_size, max(functional.shape))
        return errors

    def _by_kind(self, rows: Array) -> tuple[Array, ...]:
        return self.arranged(rows).kinds()

    def _errors(
        self, change: Callable[[Array], tuple[Array, ...]], weighted: WeightedRows, block_size: int, width: int
    ) -> list[Array]:
        """Roots of sums over blocks of rows of the squares of what ``change`` makes of their influences.

        Influences are computed for so many rows at a time that arrays with ``width`` columns do not fill the memory.
        """
        n, frequency = weighted.elements.n_rows, weighted.frequency
        squares = weighted.elements.total(
            partial(_squares, solved=self, parameters=weighted.parameters, change=change, block_size=block_size),
            weighted.gamma_weights,
            weighted.g_weights,
            weighted.pulls,
            *(() if frequency is None else (frequency,)),
            length=rows_within(_PIECE_BYTES, max(1, width), at_least=1),
            starts=np.arange(0, n, block_size),
        )
        n_blocks = count_blocks(n, frequency, block_size)
        return [roots_of(own, n_blocks) for own in squares]


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
    change: Callable[[Array], tuple[Array, ...]],
    block_size: int,
) -> list[Array]:
    """What some rows add to the sums of squares."""
    own = frequency if block_size == 1 else None  # within a block all copies of a row belong together
    rows = solved.influences(WeightedRows(elements, gamma_weights, g_weights, pulls, parameters, own))
    return squares_in_blocks(change(rows), block_size)


def _linear(functional: csr_array, rows: Array) -> tuple[Array, ...]:
    return (np.asarray(rows @ functional),)


def squares_in_blocks(kinds: tuple[Array, ...], block_size: int) -> list[Array]:
    """Sums over blocks of the squares of influences, shape (n, p) each, summed within blocks of so many rows."""
    starts = np.arange(0, len(kinds[0]), block_size)
    blocks = kinds if block_size == 1 else [np.add.reduceat(rows, starts, axis=0) for rows in kinds]
    return [np.asarray(np.einsum("ij,ij->j", rows, rows)) for rows in blocks]


def roots_of(squares: Array, n_blocks: float) -> Array:
    """Standard errors from sums of squares over so many blocks."""
    return np.asarray(np.sqrt(squares * n_blocks / max(n_blocks - 1, 1)))


def solve(elements: Elements, weights: RowWeights, allowed: BoolArray, *, fit_location: bool) -> Solved:
    """Estimate K without a penalty over the allowed pairs, a boolean array of shape (m, m).

    Raises
    ------
    SingularLossError
        If the rows do not determine all of it.
    """
    n = elements.n_rows if weights.frequency is None else float(weights.frequency.sum())
    return solve_loss(weights.loss(elements), n, allowed, fit_location=fit_location)


def solve_loss(loss: Loss, n_rows: float, allowed: BoolArray, *, fit_location: bool) -> Solved:
    """Do as :func:`solve` with the loss of so many rows."""
    assert isinstance(loss, QuadraticLoss)
    solution = refit(loss, loss.parts.tiled(allowed), np.full(loss.location_shape, fit_location), symmetric=True)
    # Gradients at the estimate are smaller than at the truth, by as many numbers as a column has free.
    free = n_parameters_of_a_column(loss, allowed, fit_location=fit_location)
    return Solved(solution, loss.zero_sums, float(np.sqrt(n_rows / max(n_rows - free, 1))))


def count_blocks(n_rows: int, frequency: Array | None, block_size: int) -> float:
    """How many blocks standard errors are taken from; a block of one row counts as often as the row."""
    if frequency is not None and block_size == 1:
        return float(frequency.sum())
    return -(-n_rows // block_size)


def n_parameters_of_a_column(loss: QuadraticLoss, allowed: BoolArray, *, fit_location: bool) -> int:
    """The most parameters that one column has: its pairs among those allowed, its diagonals, its locations."""
    pairs = int(loss.parts.distinct(loss.parts.tiled(allowed)).sum(axis=0).max(initial=0))
    return pairs + len(loss.parts.with_diagonal) + loss.n_locations * fit_location


def find_time_blocks(fit: Fit, allowed: BoolArray) -> TimeBlocks:
    """Blocks of rows by how long the influences of neighbours, on the pairs that are allowed, resemble each other."""
    if fit.weights.frequency is not None:
        return TimeBlocks()  # weighted rows are not a series
    n = fit.prepared.rows.n_rows
    elements: Elements = fit.elements()
    weights = fit.weights.some(np.arange(n))
    try:
        solved = solve(elements, weights, allowed, fit_location=fit.settings.fit_location)
    except SingularLossError:
        return TimeBlocks()
    looked_at = int(np.clip(_MOST_INFLUENCES // max(solved.solution.rows.size, 1), 200, _MOST_SERIES_ROWS))
    if looked_at < n:
        some = np.arange(looked_at)
        elements, weights = elements.subset(some), weights.some(some)
    found = TimeBlocks.of(solved.on_pairs(WeightedRows.of(elements, weights)))
    return found.for_rows(n)


def unit_parameters(solution: Refit) -> Iterator[Parameters]:
    """For every free parameter of an estimate, K and eta that have one there and zeros elsewhere."""
    n_rows, m = solution.interaction.shape
    for row, node in zip(solution.rows, solution.nodes, strict=True):
        K, eta = np.zeros_like(solution.interaction), np.zeros_like(solution.location)
        if row < n_rows:
            (entry,), (other,) = mirrored(np.array([row]), np.array([node]), m)
            K[row, node] = K[entry, other] = 1.0
        else:
            eta.reshape(m, -1)[node, row - n_rows] = 1.0
        yield K, eta
