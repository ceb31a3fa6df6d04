"""The held-out loss of a family, and the standard error of differences of such losses.

Rows are divided into G blocks. Each node is fitted without a penalty to all blocks but one, and the loss of that one is
taken: since losses are quadratic, sums over blocks of Gamma and g are all that is needed. That loss is too large by
what estimating the parameters costs, tr(H^-1 J) / 2n, which is more for a family of statistics with heavier tails: by
it alone a wrong family could win that is easier to fit. The loss of the rows that were fitted is too small by as much
(in-sample optimism), so the mean of both shows how near the family comes to the truth. The standard error is a
jackknife over blocks of all of this, fits and losses: where two families can both be right, a difference is due to the
fits alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from robscore._tools.typing import Array, IntArray
from robscore.families.power import PowerFamily
from robscore.family_choice.common_loss import CommonWeight
from robscore.weighting.column_scaling import canonical_order

_BLOCKS, _FEW_BLOCKS, _ROWS_A_BLOCK = 20, 10, 15  # the fewer blocks where they would have fewer rows than that
_MOST_NODES, _MOST_NEIGHBOURS = 40, 60  # that are fitted, and of each node: a bound on time
_ROWS_A_NEIGHBOUR = 8  # needed for each neighbour of a node
_RIDGE = 1e-6  # relative to the diagonal, so that equations of dependent columns can be solved


@dataclass(frozen=True)
class HeldOut:
    """The held-out loss of a family, less what estimating its parameters costs.

    Attributes
    ----------
    loss : float
        The mean over rows, with their weights, of the loss held out and the loss fitted.
    without : array of shape (G,)
        The same without one of the blocks, which is neither in a fit nor held out.
    """

    loss: float
    without: Array

    def difference(self, other: HeldOut) -> tuple[float, float]:
        """How much larger the loss is than another's, and the jackknife standard error of that difference."""
        apart, count = self.without - other.without, self.without.size
        return self.loss - other.loss, float(np.sqrt((count - 1) / count * np.sum((apart - apart.mean()) ** 2)))


@dataclass(frozen=True)
class HoldOutDesign:
    """What is the same for all families: which rows are held out together, which nodes are fitted, their neighbours.

    Attributes
    ----------
    weight : CommonWeight
        Rows in the order of their blocks.
    starts : integer array of shape (G,)
        Where blocks start.
    nodes : integer array
        The nodes that are fitted.
    neighbours : list of integer arrays, one per node
    """

    weight: CommonWeight
    starts: IntArray
    nodes: IntArray
    neighbours: list[IntArray]

    @classmethod
    def of(cls, t: Array, *, is_real: bool, seed: int) -> HoldOutDesign:
        """HoldOutDesign for rows t, shape (n, m), in common coordinates; the same for any order of rows and columns."""
        n, m = t.shape
        rng = np.random.default_rng(seed)
        blocks = _BLOCKS if n >= _BLOCKS * _ROWS_A_BLOCK else _FEW_BLOCKS
        weight = CommonWeight.of(t, is_real=is_real)
        columns, order = canonical_order(t)
        order = order[rng.permutation(n)]
        nodes = np.arange(m) if m <= _MOST_NODES else np.sort(rng.choice(columns, size=_MOST_NODES, replace=False))
        most = max(1, min(_MOST_NEIGHBOURS, n // _ROWS_A_NEIGHBOUR))
        starts = np.linspace(0, n, blocks, endpoint=False).round().astype(np.intp)
        return cls(weight.ordered(order), starts, nodes, _neighbours(t, nodes, most))

    def held_out(self, family: PowerFamily) -> HeldOut:
        """The loss of a family, summed over nodes."""
        rows = np.add.reduceat(self.weight.phi, self.starts)
        loss, without = 0.0, np.zeros(rows.size)
        for j, among in zip(self.nodes.tolist(), self.neighbours, strict=True):
            sums = self.weight.sums(family, j, among, self.starts)
            try:
                of_node = float(block_losses(*sums).sum()) + fitted_loss(*sums)
                without += losses_without_pairs(*sums).sum(axis=0) + fitted_losses_without(*sums)
                loss += of_node
            except np.linalg.LinAlgError:  # a column that is constant, or overflows: no family can be judged by it
                continue
        total = float(rows.sum())
        return HeldOut(loss / (2 * total), without / (2 * (total - rows)))


def _neighbours(t: Array, nodes: IntArray, most: int) -> list[IntArray]:
    """For every node, itself and the columns that have the strongest rank correlations with it."""
    m = t.shape[1]
    if m <= most:
        return [np.arange(m)] * nodes.size
    ranks = rankdata(t, axis=0)
    ranks -= ranks.mean(axis=0)
    ranks /= np.maximum(np.sqrt(np.einsum("ij,ij->j", ranks, ranks)), 1e-300)
    strength = np.abs(ranks.T @ ranks[:, nodes])
    strength[nodes, np.arange(nodes.size)] = np.inf
    return [np.sort(np.argsort(-column, kind="stable")[:most]) for column in strength.T]


def block_losses(gamma: Array, g: Array) -> Array:
    """Losses of every block at the fit to all others, shape (G,), from sums of Gamma and g over blocks."""
    total, sums = _steadied(gamma.sum(axis=0)), g.sum(axis=0)
    z = np.linalg.solve(total - gamma, (sums - g)[..., None])[..., 0]
    losses: Array = 0.5 * np.einsum("gp,gpq,gq->g", z, gamma, z) - np.einsum("gp,gp->g", g, z)
    return losses


def fitted_loss(gamma: Array, g: Array) -> float:
    """The loss of all blocks at their own fit, from sums of Gamma and g over blocks."""
    sums = g.sum(axis=0)
    return -0.5 * float(sums @ np.linalg.solve(_steadied(gamma.sum(axis=0)), sums))


def fitted_losses_without(gamma: Array, g: Array) -> Array:
    """The loss of all blocks but one at their own fit, shape (G,), for each block that is left out."""
    sums = g.sum(axis=0) - g
    z = np.linalg.solve(_steadied(gamma.sum(axis=0)) - gamma, sums[..., None])[..., 0]
    return np.asarray(-0.5 * np.einsum("gp,gp->g", sums, z))


def losses_without_pairs(gamma: Array, g: Array) -> Array:
    """The loss of block a at the fit without a and b, at [a, b], shape (G, G); zero on the diagonal."""
    count, total, sums = len(g), _steadied(gamma.sum(axis=0)), g.sum(axis=0)
    a, b = np.triu_indices(count, k=1)
    z = np.linalg.solve(total - gamma[a] - gamma[b], (sums - g[a] - g[b])[..., None])[..., 0]
    losses = np.zeros((count, count))
    for first, second in ((a, b), (b, a)):
        image = np.matmul(gamma[first], z[..., None])[..., 0]
        losses[first, second] = 0.5 * np.einsum("gp,gp->g", image, z) - np.einsum("gp,gp->g", g[first], z)
    return losses


def _steadied(gamma: Array) -> Array:
    """Gamma with a little more on the diagonal."""
    return gamma + np.diag(_RIDGE * np.maximum(np.diagonal(gamma), 1e-300))
