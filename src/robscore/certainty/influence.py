"""How sure an interaction is: standard errors, intervals and tests of "no edge".

The estimate is the one without a penalty over all pairs that are allowed, with the row weights of the fit: no edge has
been selected, so nothing has to be corrected for selection. It is what the debiased lasso comes to when the Hessian
can be inverted. With too few rows for that the rows are split: one half chooses the graph, the other half estimates
its edges, and says nothing about the rest.

Standard errors are sandwiches. With psi_i what row i adds to the gradient of the weighted loss, and H its Hessian, the
influence of the row is -H^-1 psi_i, and the covariance of the estimate is the sum of the squares of influences (of
blocks of rows, where neighbours depend on each other). A taper's own parameters need no correction: its gradient has
mean zero whatever they are (:mod:`robscore.weighting.taper`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from scipy.special import stdtr, stdtrit

from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.elements import PairwiseElements
from robscore.losses.quadratic import QuadraticLoss
from robscore.solvers.refit import Refit, refit
from robscore.weighting.row_weights import RowWeights
from robscore.weighting.taper import Taper, pull

_PIECE_BYTES = 4e6  # of influences at a time


@dataclass(frozen=True)
class Weighting:
    """What every row counts in a loss: the weights of blocks, or a taper.

    Attributes
    ----------
    elements : of n rows
    weights : two arrays of shape (n,), for Gamma and g
    slopes : array of shape (n,)
        Of the taper, over the sum of its weights; zero without one.
    pulled_by : the parameters that go with the slopes
    """

    elements: PairwiseElements
    weights: RowWeights
    slopes: Array
    pulled_by: tuple[Array, Array] | None

    @classmethod
    def of(cls, elements: PairwiseElements, weights: RowWeights, taper: Taper | None) -> Weighting:
        """From what a fit has kept."""
        if taper is None:
            return cls(elements, weights, np.zeros(elements.n_rows), None)
        total = taper.weights.sum()
        share = taper.weights / total
        interaction, location = taper.parameters
        return cls(elements, RowWeights(share, share), taper.slopes / total, (interaction, location))

    def loss(self) -> QuadraticLoss:
        """The weighted loss."""
        loss = self.elements.average(*self.weights)
        if self.pulled_by is not None:
            pull(loss, self.elements, self.slopes, self.pulled_by)
        return loss

    def row_gradients(self, solution: Refit) -> Array:
        """What every row adds to the gradient at a refit, shape (n, d); they sum to zero.

        From gradients of plain losses at z, 2 z and z + z0: Gamma z, g and Gamma z0 of every row.
        """
        z = solution.interaction, solution.location

        def gradients(interaction: Array, location: Array) -> Array:
            return self.elements.row_gradients(
                interaction, location, solution.rows, solution.nodes, symmetric=solution.symmetric
            )

        at_once, at_twice = gradients(*z), gradients(2 * z[0], 2 * z[1])
        gamma_weights, g_weights = (weights[:, None] for weights in self.weights)
        total: Array = gamma_weights * (at_twice - at_once) - g_weights * (at_twice - 2 * at_once)
        bent = np.flatnonzero(self.slopes)
        if self.pulled_by is not None and bent.size:
            both = gradients(z[0] + self.pulled_by[0], z[1] + self.pulled_by[1])
            total[bent] -= self.slopes[bent, None] * (both - at_once)[bent]
        total[self.elements.overflow] = 0.0
        return total


@dataclass(frozen=True)
class Influence:
    """An estimate of K and what every row, or block of rows, does to it.

    Attributes
    ----------
    interaction : array of shape (m, m)
    pairs : two integer arrays of shape (p,)
        The pairs i < j that were estimated.
    on_pairs : array of shape (n, p)
        Influence on K_ij; its sum of squares is the variance.
    on_diagonal : array of shape (n, m)
    """

    interaction: Array
    pairs: tuple[IntArray, IntArray]
    on_pairs: Array
    on_diagonal: Array

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
    pulled_by : parameters that go with the slopes of a taper, or None
    """

    solution: Refit
    zero_sums: bool
    stretch: float
    pulled_by: tuple[Array, Array] | None

    def influence(self, weighting: Weighting) -> Influence:
        """Of rows that were in the estimate, some or all."""
        solution, m = self.solution, len(self.solution.interaction)
        whitened = solution.factor.whiten(weighting.row_gradients(solution))
        rows = -solution.factor.unwhiten(whitened) * self.stretch
        i, j, order = self._ordered
        on_pairs = rows[:, order]
        own = np.flatnonzero((i == j) & (solution.rows < m))
        on_diagonal = np.zeros((len(rows), m))
        on_diagonal[:, i[own]] = rows[:, own]
        if self.zero_sums:
            for ends in self.pairs:
                for k in range(m):
                    on_diagonal[:, k] -= on_pairs[:, ends == k].sum(axis=1)
        return Influence(solution.interaction, self.pairs, on_pairs, on_diagonal)

    @property
    def pairs(self) -> tuple[IntArray, IntArray]:
        """The pairs i < j that were estimated, two integer arrays of shape (p,)."""
        i, j, order = self._ordered
        return i[order], j[order]

    @cached_property
    def _ordered(self) -> tuple[IntArray, IntArray, IntArray]:
        """The two ends of every parameter, and those that are pairs, in order."""
        rows, nodes = self.solution.rows, self.solution.nodes
        i, j = np.minimum(rows, nodes), np.maximum(rows, nodes)
        is_pair = np.flatnonzero((i != j) & (j < len(self.solution.interaction)))
        return i, j, is_pair[np.lexsort((j[is_pair], i[is_pair]))]

    def standard_errors(self, weighting: Weighting, block_size: int) -> tuple[Array, Array]:
        """Of K_ij and of the associations, shape (p,) each: roots of sums of squared influences of blocks of rows."""
        n = weighting.elements.n_rows
        pairs = max(1, self.solution.rows.size)
        sums = weighting.elements.total(
            partial(_squares, solved=self, block_size=block_size),
            *weighting.weights,
            weighting.slopes,
            length=max(1, int(_PIECE_BYTES / (8 * pairs))),
            starts=np.arange(0, n, block_size),
        )
        n_blocks = -(-n // block_size)
        on_pairs, on_association = (np.sqrt(squares * n_blocks / max(n_blocks - 1, 1)) for squares in sums)
        return on_pairs, on_association


def _squares(
    elements: PairwiseElements,
    gamma_weights: Array,
    g_weights: Array,
    slopes: Array,
    *,
    solved: Solved,
    block_size: int,
) -> list[Array]:
    """What some rows add to the sums of squares."""
    weighting = Weighting(elements, RowWeights(gamma_weights, g_weights), slopes, solved.pulled_by)
    found = solved.influence(weighting)
    blocks = [summed_in_blocks(rows, block_size) for rows in (found.on_pairs, found.on_association())]
    return [np.einsum("ij,ij->j", rows, rows) for rows in blocks]


def solve(weighting: Weighting, allowed: BoolArray, *, fit_location: bool) -> Solved:
    """Estimate K without a penalty over the allowed pairs, a boolean array of shape (m, m).

    Raises
    ------
    SingularLossError
        If the rows do not determine all of it.
    """
    loss = weighting.loss()
    n = weighting.elements.n_rows
    solution = refit(loss, allowed, np.full(loss.n_columns, fit_location), symmetric=True)
    # Gradients at the estimate are smaller than at the truth, by as many numbers as a column has free.
    stretch = np.sqrt(n / max(n - free_a_column(allowed, fit_location=fit_location), 1))
    return Solved(solution, loss.zero_sums, float(stretch), weighting.pulled_by)


def free_a_column(allowed: BoolArray, *, fit_location: bool) -> int:
    """The most parameters that one column has: its pairs among those allowed, its diagonal, its location."""
    return int(allowed.sum(axis=0).max(initial=0)) + 1 + fit_location


def summed_in_blocks(rows: Array, block_size: int) -> Array:
    """Sums of the influences, shape (n, p), of neighbouring rows, so many at a time."""
    return rows if block_size == 1 else np.add.reduceat(rows, np.arange(0, len(rows), block_size), axis=0)


def two_sided_p_values(estimate: Array, error: Array, n_blocks: int) -> Array:
    """Of the t test that a parameter is zero, its error from so many blocks."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(2 * stdtr(n_blocks - 1, -np.abs(estimate / error)))


def t_quantile(level: float, n_blocks: int) -> float:
    """How many standard errors, from so many blocks, an interval of that level reaches to either side."""
    return float(stdtrit(n_blocks - 1, 0.5 + level / 2))


def q_values(p_values: Array) -> Array:
    """The least false discovery rate at which each test rejects (Benjamini and Hochberg, 1995).

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.certainty.influence import q_values
    >>> q_values(np.array([0.01, 0.04, 0.03, 0.5])).round(3).tolist()
    [0.04, 0.053, 0.053, 0.5]
    """
    n = p_values.size
    order = np.argsort(p_values)
    steps = p_values[order] * n / np.arange(1, n + 1)
    result = np.empty(n)
    result[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    return result
