"""How sure an interaction is: standard errors, intervals and tests of "no edge".

The estimate is the one without a penalty over all pairs that are allowed, with the row weights of the fit: no edge has
been selected, so nothing has to be corrected for selection. It is what the debiased lasso comes to when the Hessian
can be inverted. With too few rows for that the rows are split: one half chooses the graph, the other half estimates
its edges, and says nothing about the rest.

Standard errors are sandwiches. With psi_i what row i adds to the gradient of the weighted loss, and H its Hessian, the
influence of the row is -H^-1 psi_i, and the covariance of the estimate is the sum of the squares of influences (of
blocks of rows, where neighbours depend on each other). A taper's own parameters need no correction: its gradient has
mean zero whatever they are (:mod:`robscore.taper`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from robscore._typing import Array, BoolArray, IntArray
from robscore.elements import PairwiseElements
from robscore.row_weights import RowWeights
from robscore.solvers.loss import QuadraticLoss
from robscore.solvers.refit import Refit, refit
from robscore.taper import Taper, pull


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


def influence(weighting: Weighting, allowed: BoolArray, *, fit_location: bool) -> Influence:
    """Estimate K without a penalty over the allowed pairs, a boolean array of shape (m, m), with all influences.

    Raises
    ------
    SingularLossError
        If the rows do not determine all of it.
    """
    loss = weighting.loss()
    m = loss.n_columns
    solution = refit(loss, allowed, np.full(m, fit_location), symmetric=True)
    n = weighting.elements.n_rows
    whitened = solution.factor.whiten(weighting.row_gradients(solution))
    rows = -solution.factor.unwhiten(whitened)
    # Gradients at the estimate are smaller than at the truth, by as many numbers as a column has free.
    rows *= np.sqrt(n / max(n - free_a_column(allowed, fit_location=fit_location), 1))
    i, j = np.minimum(solution.rows, solution.nodes), np.maximum(solution.rows, solution.nodes)
    is_pair, is_diagonal = (i != j) & (j < m) & (solution.rows < m), (i == j) & (solution.rows < m)
    on_diagonal = np.zeros((n, m))
    on_diagonal[:, i[is_diagonal]] = rows[:, is_diagonal]
    on_pairs, first, second = rows[:, is_pair], i[is_pair], j[is_pair]
    if loss.zero_sums:
        for ends in (first, second):
            for k in range(m):
                on_diagonal[:, k] -= on_pairs[:, ends == k].sum(axis=1)
    order = np.lexsort((second, first))
    return Influence(solution.interaction, (first[order], second[order]), on_pairs[:, order], on_diagonal)


def free_a_column(allowed: BoolArray, *, fit_location: bool) -> int:
    """The most parameters that one column has: its pairs among those allowed, its diagonal, its location."""
    return int(allowed.sum(axis=0).max(initial=0)) + 1 + fit_location


def summed_in_blocks(rows: Array, block_size: int) -> Array:
    """Sums of the influences, shape (n, p), of neighbouring rows, so many at a time."""
    return rows if block_size == 1 else np.add.reduceat(rows, np.arange(0, len(rows), block_size), axis=0)


def standard_errors(rows: Array, block_size: int) -> Array:
    """Root of the sum of squared influences, shape (p,)."""
    blocks = summed_in_blocks(rows, block_size)
    return np.sqrt(np.einsum("ij,ij->j", blocks, blocks) * len(blocks) / max(len(blocks) - 1, 1))


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
    >>> from robscore.inference import q_values
    >>> q_values(np.array([0.01, 0.04, 0.03, 0.5])).round(3).tolist()
    [0.04, 0.053, 0.053, 0.5]
    """
    n = p_values.size
    order = np.argsort(p_values)
    steps = p_values[order] * n / np.arange(1, n + 1)
    result = np.empty(n)
    result[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    return result
