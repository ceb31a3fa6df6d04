"""The penalised problem of Definition 4.1 as a quadratic in coordinates with a penalty each.

    minimise  sum_j 1/2 z_j' Q_j z_j - l_j' z_j + P(theta),     P(theta) = alpha sum_c w_c |theta_c| for the l1 penalty

The free parameters theta_c are K_ij (one for both K_ij and K_ji when symmetric), K_jj and, if penalised,
eta_j. A location that is free is profiled out in closed form first: with s = Gamma_eta,eta and t = Gamma_K,eta,

    Q_j = Gamma_KK - t t' / s,      l_j = g_K - t g_eta / s,      eta_j = (g_eta - t' K_j) / s

On the simplex, where the last node is coupled with all others by z_j' L_j z_m, the same change of variables
eta~_j = eta_j + t' K_j / s is made and eta~_j stays a free coordinate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import lstsq

from robscore._tools.numbers import check_number
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.losses.interaction_parts import mirrored
from robscore.losses.quadratic import StatisticLoss, assemble_hessian, location_rows
from robscore.solvers.penalised_loss import PenalisedLoss, check_variation, numbers_or_ones, shift_location, slopes_of
from robscore.solvers.penalties import Penalty, check_penalty
from robscore.solvers.unsolvable_columns import BeyondNumbersError

_LEAST, _LARGEST = 1e-290, 1e290  # guard rounding: curvatures beyond which digits are lost
_LONG = 0.1  # share of its length that a solution may still gain while the number of sweeps doubles
_NOT_SHORT = 1e-3  # the same share, of a move along which there is no curvature but rounding
_SINGULAR = 1e-11  # least eigenvalue of a block with unit diagonal
_FEW_COORDINATES = 1000  # guards memory: up to which all second derivatives are kept
_FLAT = 5e-5  # curvature along a long move, relative to the sum of its coordinates' own


@dataclass(frozen=True)
class Problem:
    """Coordinates theta_c, each an entry of z = (z_1, ..., z_m), or two that are equal.

    Attributes
    ----------
    blocks : Blocks
        The Q_j.
    linear : array of the length of z
        The l_j.
    own, mirror : integer arrays of shape (C,)
        The entry of z that a coordinate is, and the other one, or -1.
    weights : array of shape (C,)
        Penalty of each coordinate per unit of alpha; 0 is free, infinity is forbidden.
    penalty : Penalty
    last : array of shape (m-1, p, p)
        The L_j of the module's head; empty where nothing is coupled.
    slack : float
        How many times larger violations may be in K and eta than they are in these coordinates. A location that is
        profiled out is exactly optimal; one that stays a coordinate is so up to the tolerance, and its change of
        variables carries that over to K.
    """

    blocks: Blocks
    linear: Array
    own: IntArray
    mirror: IntArray
    weights: Array
    penalty: Penalty
    last: Array = field(default_factory=lambda: np.zeros((0, 0, 0)))
    slack: float = 1.0

    @cached_property
    def curvature(self) -> Array:
        """Second derivative of the loss in each coordinate, shape (C,)."""
        blocks, own = self.blocks, self.own
        diagonal = np.concatenate([blocks.block(node).diagonal() for node in range(blocks.sizes.size)])
        curvature = diagonal[own].copy()
        both = self.mirror >= 0
        curvature[both] += diagonal[self.mirror[both]]
        if self.last.size:
            p, m = self.last.shape[1], blocks.sizes.size
            nodes, rows = blocks.owners[own], own - blocks.firsts[blocks.owners[own]]
            coupled = np.flatnonzero(both & (nodes == m - 1))
            curvature[coupled] += 2 * self.last[rows[coupled], min(m - 1, p - 1), rows[coupled]]
        return np.asarray(curvature)

    @cached_property
    def penalised(self) -> BoolArray:
        """Coordinates with a penalty that is neither zero nor infinite."""
        return (self.weights > 0) & np.isfinite(self.weights)

    @cached_property
    def forbidden(self) -> BoolArray:
        """Coordinates that must be zero."""
        return np.isinf(self.weights)

    @cached_property
    def finite_weights(self) -> Array:
        """The l1 weights, with 0 for forbidden coordinates."""
        return np.where(self.penalised, self.weights, 0.0)

    @cached_property
    def mirrored(self) -> IntArray:
        """Coordinates that stand for two entries."""
        return np.flatnonzero(self.mirror >= 0)

    @cached_property
    def quadratic(self) -> tuple[Array, IntArray, IntArray, IntArray, IntArray, Array, Array]:
        """The blocks, L, and L with its blocks transposed, as compiled functions take them."""
        return *self.blocks, self.last, np.ascontiguousarray(self.last.transpose(0, 2, 1))

    def image(self, z: Array) -> Array:
        """Compute R = Q z."""
        from robscore.solvers.descent_kernels import refresh

        R = np.empty_like(z)
        refresh(*self.quadratic, z, R)
        return R

    def gradient(self, R: Array) -> Array:
        """Differentiate the loss in every coordinate, given R = Q z: entry R - l of z, or the sum of two."""
        residual = R - self.linear
        total: Array = residual[self.own]
        total[self.mirrored] += residual[self.mirror[self.mirrored]]
        return total

    def values(self, z: Array) -> Array:
        """Read the coordinates from z."""
        return z[self.own]

    def violations(self, z: Array, R: Array, alpha: float) -> Array:
        """Measure how far the gradient is from the subdifferential, by coordinate; 0 for forbidden ones."""
        theta, gradient = self.values(z), self.gradient(R)
        distance = self.penalty.distances(theta, gradient, self.finite_weights, alpha)
        distance[self.forbidden] = 0.0
        return distance

    def objective(self, z: Array, R: Array, alpha: float) -> float:
        """Compute loss plus penalty at z, up to a constant, given R = Q z."""
        return float(z @ (0.5 * R - self.linear) + self.penalty.value(self.values(z), self.finite_weights, alpha))

    def alpha_max(self, R: Array) -> float:
        """Find the smallest alpha at which every penalised coordinate is zero, from R at the null solution."""
        return self.penalty.alpha_max(self.gradient(R), self.weights, float(np.abs(self.linear).max()))

    def is_unbounded_below(self, before: Array, after: Array, alpha: float) -> bool:
        """Whether the iterates run away, because the objective has no minimum.

        With fewer rows than columns the loss is flat in some directions, and -l' z may fall along them faster
        than the penalty rises: a move over many sweeps is still long, has next to none of the curvature that
        its coordinates have one by one, and pays. A shorter move says the same where all of its curvature is
        rounding. Blocks that are merely ill-conditioned have a minimum.
        """
        if not self.singular:
            return False
        move = after - before
        own_curvature = self.curvature @ self.values(move) ** 2
        whole = self.curvature @ self.values(after) ** 2
        if own_curvature < _NOT_SHORT**2 * whole:
            return False
        pays = self.penalty.growth(self.values(move), self.finite_weights, alpha) < self.linear @ move
        is_long = own_curvature >= _LONG**2 * whole
        return bool(pays and (self._is_flat(move, _FLAT) if is_long else self.is_level(move)))

    def is_level(self, move: Array) -> bool:
        """Whether all of the curvature along a move is rounding, so that no minimum is known to lie on its way."""
        return self._is_flat(move, _SINGULAR) and self.singular

    def _is_flat(self, move: Array, share: float) -> bool:
        """Whether the loss has less than that share of the curvature along a move that its coordinates have alone."""
        return bool(move @ self.image(move) < share * (self.curvature @ self.values(move) ** 2))

    @cached_property
    def singular(self) -> bool:
        """Whether a block has no full rank to working precision, so that the loss may have no minimum."""
        if self.last.size:
            return True  # the rank of the blocks says little about the whole
        for node in np.unique(self.blocks.starts, return_index=True)[1]:
            block = self.blocks.block(node)
            root = np.sqrt(np.maximum(block.diagonal(), np.finfo(float).tiny))
            if len(block) and np.linalg.eigvalsh(block / np.multiply.outer(root, root))[0] < _SINGULAR:
                return True
        return False

    def of_nodes(self, nodes: slice) -> Problem:
        """Take the part of some neighbouring nodes, where nothing couples nodes."""
        Q, starts, firsts, sizes, owners = self.blocks
        first, last = int(firsts[nodes][0]), int(firsts[nodes][-1] + sizes[nodes][-1])
        low, high = int(starts[nodes].min()), int((starts[nodes] + sizes[nodes] ** 2).max())
        mine = np.flatnonzero((self.own >= first) & (self.own < last))
        blocks = Blocks(
            Q[low:high], starts[nodes] - low, firsts[nodes] - first, sizes[nodes], owners[first:last] - nodes.start
        )
        linear, own = self.linear[first:last], self.own[mine] - first
        return Problem(blocks, linear, own, self.mirror[mine], self.weights[mine], self.penalty)

    def null_solution(self) -> Array:
        """Solve for the free parameters, with every penalised one zero; gives z.

        Raises, naming nodes, where the loss is flat in what is free, or beyond floating-point range.
        """
        is_free = self.weights == 0
        with np.errstate(all="ignore"):
            usable = np.isfinite(self.linear_by_coordinate) & (np.abs(self.curvature) < _LARGEST)
            alone = self.linear_by_coordinate / self.curvature
        usable[is_free] &= (self.curvature[is_free] > _LEAST) & np.isfinite(alone[is_free])
        if not usable.all():
            raise BeyondNumbersError(np.unique(self.blocks.owners[self.own[~usable]]).tolist())
        free = np.flatnonzero(is_free)
        owners = self.blocks.owners[self.own[free]]
        one_each = np.unique(owners).size == free.size and (self.mirror[free] < 0).all()
        if one_each and not self.last.size:  # then nothing couples them
            return self.entries(free, alone[free])
        return self.entries(free, lstsq(self.hessian_on(free), self.linear_by_coordinate[free])[0])

    def hessian_on(self, coordinates: IntArray) -> Array:
        """Give the second derivatives of the loss in d coordinates, shape (d, d)."""
        if self.own.size <= _FEW_COORDINATES:
            return self._hessian.take(coordinates, axis=0)[:, coordinates]
        return self._assembled(coordinates)

    @cached_property
    def _hessian(self) -> Array:
        """All second derivatives, shape (C, C), kept since many supports are asked for along a path."""
        return self._assembled(np.arange(self.own.size))

    def _assembled(self, coordinates: IntArray) -> Array:
        position = np.full(self.linear.size, -1, dtype=np.intp)
        position[self.own[coordinates]] = np.arange(coordinates.size)
        both = np.flatnonzero(self.mirror[coordinates] >= 0)
        position[self.mirror[coordinates[both]]] = both
        by_node = [position[first : first + size] for first, size in zip(*self.blocks[2:4], strict=True)]
        return assemble_hessian(self._block, by_node, coordinates.size, self.last if self.last.size else None)

    def _block(self, node: int, rows: IntArray, columns: IntArray) -> Array:
        return self.blocks.block(node)[rows[:, None], columns]

    def entries(self, coordinates: IntArray, theta: Array) -> Array:
        """Give the z that has these values in some coordinates and zero elsewhere."""
        z = np.zeros_like(self.linear)
        z[self.own[coordinates]] = theta
        both = self.mirror[coordinates] >= 0
        z[self.mirror[coordinates[both]]] = theta[both]
        return z

    @cached_property
    def linear_by_coordinate(self) -> Array:
        """Coefficient of each coordinate in the linear part of the loss, shape (C,)."""
        return -self.gradient(np.zeros_like(self.linear))


class Blocks(NamedTuple):
    """The symmetric blocks Q_j of a quadratic in z = (z_1, ..., z_m), one after the other, as compiled code takes them.

    Each node has as many entries of z as its block has rows.

    Attributes
    ----------
    Q : flat array
    starts : integer array of shape (m,)
        Where the block of each node begins in Q; all may share one.
    firsts, sizes : integer arrays of shape (m,)
        Where the part of each node in z begins, and how long it is.
    owners : integer array of the length of z
        The node of each entry.
    """

    Q: Array
    starts: IntArray
    firsts: IntArray
    sizes: IntArray
    owners: IntArray

    @classmethod
    def stacked(cls, blocks: Array, n_nodes: int) -> Blocks:
        """Take them from an array of shape (nodes, p, p), or (1, p, p) if all share one."""
        p, nodes = blocks.shape[1], np.arange(n_nodes)
        starts = nodes * p * p if len(blocks) == n_nodes else np.zeros_like(nodes)
        return cls(np.ascontiguousarray(blocks).ravel(), starts, nodes * p, np.full_like(nodes, p), np.repeat(nodes, p))

    @classmethod
    def ragged(cls, blocks: Sequence[Array]) -> Blocks:
        """Take them from one square array per node."""
        sizes = np.array([len(block) for block in blocks], dtype=np.intp)
        starts, firsts = (np.cumsum(lengths) - lengths for lengths in (sizes**2, sizes))
        Q = np.concatenate([block.ravel() for block in blocks])
        return cls(Q, starts, firsts, sizes, np.repeat(np.arange(sizes.size), sizes))

    def block(self, node: int) -> Array:
        """Give Q_j as a square array."""
        start, size = self.starts[node], self.sizes[node]
        return self.Q[start : start + size * size].reshape(size, size)


def build_problem(penalised: PenalisedLoss) -> Problem:
    """Write a penalised loss in coordinates, all of them, from blocks that are held whole."""
    loss, m, M = penalised.loss, penalised.loss.n_columns, penalised.loss.n_interactions
    shifted, symmetric = penalised.shifted, penalised.symmetric
    blocks, g, last = shift_location(loss) if shifted else (loss.blocks.copy(), loss.g, loss.gamma_last)
    with_location = penalised.fit_location and not (shifted and last is None)
    L = loss.n_locations
    p = M + L * with_location
    blocks, g = blocks[:, :p, :p], g[:, :p]
    diagonal = np.arange(M)
    blocks[:, diagonal, diagonal] += penalised.diagonal_multiplier * loss.blocks[:, diagonal, diagonal]
    if shifted:
        check_variation(loss, np.einsum("jkk->jk", blocks)[:, :M])
    if symmetric:
        nodes, rows = np.tril_indices(m)
    else:
        nodes, rows = np.divmod(np.arange(m * m), m)
    parts = np.repeat(np.arange(loss.parts.count), rows.size)
    nodes, rows = np.tile(nodes, loss.parts.count), np.tile(rows, loss.parts.count) + parts * m
    off_diagonal = rows % m != nodes
    weights = np.where(off_diagonal, penalised.weights[rows, nodes] * (2.0 if symmetric else 1.0), 0.0)
    if loss.zero_sums:
        weights[~off_diagonal] = np.inf  # the rest of the column determines it
    elif penalised.penalize_diagonal:
        weights[~off_diagonal] = penalised.weights[rows, nodes][~off_diagonal]
    weights[~off_diagonal & ~np.isin(parts, loss.parts.with_diagonal)] = np.inf  # parts without a diagonal
    if with_location:
        rows, nodes = np.append(rows, np.repeat(np.arange(M, p), m)), np.append(nodes, np.tile(np.arange(m), L))
        weights = np.append(weights, location_rows(penalised.location_weights))
    entries, others = mirrored(rows, nodes, m)
    mirror = np.where((rows < M) & (others != nodes) & symmetric, others * p + entries, -1)
    slack = 1.0
    if shifted and last is not None:
        slack += 2.0 * float(np.abs(slopes_of(loss.blocks[:, M:, M:], loss.blocks[:, :M, M:])).max())
    last = np.zeros((0, 0, 0)) if last is None else np.ascontiguousarray(last[:, :p, :p])
    linear = np.ascontiguousarray(g).ravel()
    return Problem(Blocks.stacked(blocks, m), linear, nodes * p + rows, mirror, weights, penalised.penalty, last, slack)


def build_statistic_problem(
    loss: StatisticLoss, diagonal_multiplier: float, penalty_weights: Array | None, penalty: Penalty | None = None
) -> Problem:
    """Write the penalised loss of an exponential family in coordinates: one node owns every statistic."""
    check_number("diagonal_multiplier", diagonal_multiplier, at_least=0.0)
    r = loss.g.size
    gamma = loss.gamma + diagonal_multiplier * np.diag(loss.gamma.diagonal())
    weights = numbers_or_ones("penalty_weights", penalty_weights, (r,))
    if weights.shape != (r,) or np.isnan(weights).any() or (weights < 0).any():
        raise ValueError(
            f"penalty_weights must be {r} numbers of at least 0, one per statistic; got {penalty_weights!r}."
        )
    blocks, every = Blocks.stacked(gamma[None], 1), np.arange(r)
    return Problem(blocks, loss.g.copy(), every, np.full(r, -1), weights, check_penalty(penalty))
