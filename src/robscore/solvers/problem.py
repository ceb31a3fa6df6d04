"""The penalised problem of Definition 4.1 as a quadratic in coordinates with an l1 weight each.

    minimise  sum_j 1/2 z_j' Q_j z_j - l_j' z_j + alpha * sum_c w_c |theta_c|

The free parameters theta_c are K_ij (one for both K_ij and K_ji when symmetric), K_jj and, if penalised,
eta_j. A location that is free is profiled out in closed form first: with s = Gamma_eta,eta and t = Gamma_K,eta,

    Q_j = Gamma_KK - t t' / s,      l_j = g_K - t g_eta / s,      eta_j = (g_eta - t' K_j) / s

On the simplex, where the last node is coupled with all others by z_j' L_j z_m, the same change of variables
eta~_j = eta_j + t' K_j / s is made and eta~_j stays a free coordinate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.linalg import lstsq
from scipy.sparse import csc_array

from robscore._tools.arguments import check_number
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.losses.quadratic import QuadraticLoss, StatisticLoss, assemble_hessian

_LONG = 0.1  # share of its length that a solution may still gain while the number of sweeps doubles
_VARIES = 1e-13  # what must be left of a diagonal entry when the location is profiled out
_SINGULAR = 1e-11  # least eigenvalue of a block with unit diagonal
_FLAT = 5e-5  # curvature along a long move, relative to the sum of its coordinates' own

Rule: TypeAlias = Literal["symmetric", "and", "or"]


class HardlyVaryError(ValueError):
    """Columns that say nothing once the location is profiled out."""

    def __init__(self, columns: list[int], names: Sequence[str] | None = None) -> None:
        self.columns = columns
        listed = columns if names is None else ", ".join(repr(names[k]) for k in columns[:5])
        super().__init__(
            f"Columns {listed} hardly vary, compared with their size, over the rows that count; drop or centre them, "
            "use fewer blocks, or pass fit_location=False."
        )


class Blocks(NamedTuple):
    """The symmetric blocks Q_j, one after the other; each node has as many entries of z as its block has rows.

    Attributes
    ----------
    Q : flat array
    starts : integer array, one a node: where its block begins in Q (all may share one)
    firsts, sizes : integer arrays, one a node: its part of z
    owners : integer array of the length of z: the node of each entry
    """

    Q: Array
    starts: IntArray
    firsts: IntArray
    sizes: IntArray
    owners: IntArray

    @classmethod
    def stacked(cls, blocks: Array, n_nodes: int) -> Blocks:
        """From an array of shape (nodes, p, p), or (1, p, p) if all share one."""
        p, nodes = blocks.shape[1], np.arange(n_nodes)
        starts = nodes * p * p if len(blocks) == n_nodes else np.zeros_like(nodes)
        return cls(np.ascontiguousarray(blocks).ravel(), starts, nodes * p, np.full_like(nodes, p), np.repeat(nodes, p))

    @classmethod
    def ragged(cls, blocks: Sequence[Array]) -> Blocks:
        """From one square array a node."""
        sizes = np.array([len(block) for block in blocks], dtype=np.intp)
        starts, firsts = (np.cumsum(lengths) - lengths for lengths in (sizes**2, sizes))
        Q = np.concatenate([block.ravel() for block in blocks])
        return cls(Q, starts, firsts, sizes, np.repeat(np.arange(sizes.size), sizes))

    def block(self, node: int) -> Array:
        """Q_j as a square array."""
        start, size = self.starts[node], self.sizes[node]
        return self.Q[start : start + size * size].reshape(size, size)


@dataclass(frozen=True)
class Problem:
    """Coordinates theta_c, each an entry of z = (z_1, ..., z_m), or two that are equal.

    Attributes
    ----------
    blocks : Blocks
    last : array of shape (m-1, p, p), L_j in the head of this file, or (0, p, p) where nothing is coupled
    linear : array of the length of z
    own, mirror : integer arrays of shape (C,)
        The entry of z that a coordinate is, and the other one, or -1.
    weights : array of shape (C,)
        l1 weight of each coordinate per unit of alpha; 0 is free, infinity is forbidden.
    curvature : array of shape (C,)
        Second derivative of the loss in each coordinate.
    slack : float
        How many times larger violations may be in K and eta than they are in these coordinates. A location that is
        profiled out is exactly optimal; one that stays a coordinate is so up to the tolerance, and its change of
        variables carries that over to K.
    """

    blocks: Blocks
    last: Array
    linear: Array
    own: IntArray
    mirror: IntArray
    weights: Array
    curvature: Array
    slack: float = 1.0

    @classmethod
    def of(
        cls,
        blocks: Blocks,
        linear: Array,
        own: IntArray,
        mirror: IntArray,
        weights: Array,
        last: Array | None = None,
        slack: float = 1.0,
    ) -> Problem:
        """With the curvature that follows from the blocks."""
        diagonal = np.concatenate([blocks.block(node).diagonal() for node in range(blocks.sizes.size)])
        curvature = diagonal[own].copy()
        both = mirror >= 0
        curvature[both] += diagonal[mirror[both]]
        last = np.zeros((0, 0, 0)) if last is None else last
        if last.size:
            p, m = last.shape[1], blocks.sizes.size
            nodes, rows = blocks.owners[own], own - blocks.firsts[blocks.owners[own]]
            coupled = np.flatnonzero(both & (nodes == m - 1))
            curvature[coupled] += 2 * last[rows[coupled], min(m - 1, p - 1), rows[coupled]]
        return cls(blocks, last, linear, own, mirror, weights, curvature, slack)

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
        """The blocks, L, and L with its blocks transposed, as the kernels take them."""
        return *self.blocks, self.last, np.ascontiguousarray(self.last.transpose(0, 2, 1))

    def image(self, z: Array) -> Array:
        """R = Q z."""
        from robscore.solvers.kernels import refresh

        R = np.empty_like(z)
        refresh(*self.quadratic, z, R)
        return R

    def gradient(self, R: Array) -> Array:
        """Derivative of the loss in every coordinate, from R = Q z."""
        residual = R - self.linear
        total: Array = residual[self.own]
        total[self.mirrored] += residual[self.mirror[self.mirrored]]
        return total

    def values(self, z: Array) -> Array:
        """The coordinates of z."""
        return z[self.own]

    def violations(self, z: Array, R: Array, alpha: float) -> Array:
        """Distance of the gradient to the subdifferential, coordinate by coordinate; 0 for forbidden ones."""
        theta, gradient = self.values(z), self.gradient(R)
        threshold = alpha * self.finite_weights
        distance = np.maximum(np.abs(gradient) - threshold, 0.0)
        away = theta != 0
        distance[away] = np.abs(gradient[away] + np.sign(theta[away]) * threshold[away])
        distance[self.forbidden] = 0.0
        return distance

    def objective(self, z: Array, R: Array, alpha: float) -> float:
        """Loss plus penalty at z, up to a constant, given R = Q z."""
        return float(z @ (0.5 * R - self.linear) + alpha * self._norm(z))

    def _norm(self, z: Array) -> float:
        return float(self.finite_weights @ np.abs(self.values(z)))

    def falls_forever(self, before: Array, after: Array, alpha: float) -> bool:
        """Whether the iterates run away, because the objective has no minimum.

        With fewer rows than columns the loss is flat in some directions, and -l' z may fall along them faster
        than the penalty rises: a move over many sweeps is still long, has next to none of the curvature that
        its coordinates have one by one, and pays. Blocks that are merely ill-conditioned have a minimum.
        """
        if not self.singular:
            return False
        move = after - before
        own_curvature = self.curvature @ self.values(move) ** 2
        if own_curvature < _LONG**2 * (self.curvature @ self.values(after) ** 2):
            return False
        pays = alpha * self._norm(move) < self.linear @ move
        return bool(pays and move @ self.image(move) < _FLAT * own_curvature)

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
        """The part of some neighbouring nodes, where nothing couples nodes."""
        Q, starts, firsts, sizes, owners = self.blocks
        first, last = int(firsts[nodes][0]), int(firsts[nodes][-1] + sizes[nodes][-1])
        low, high = int(starts[nodes].min()), int((starts[nodes] + sizes[nodes] ** 2).max())
        mine = np.flatnonzero((self.own >= first) & (self.own < last))
        blocks = Blocks(
            Q[low:high], starts[nodes] - low, firsts[nodes] - first, sizes[nodes], owners[first:last] - nodes.start
        )
        return Problem.of(
            blocks, self.linear[first:last], self.own[mine] - first, self.mirror[mine], self.weights[mine]
        )

    def null_solution(self) -> Array:
        """Z with every penalised parameter zero and the free ones optimal."""
        free = np.flatnonzero(self.weights == 0)
        owners = self.blocks.owners[self.own[free]]
        alone = np.unique(owners).size == free.size and (self.mirror[free] < 0).all()
        if alone and not self.last.size:  # one a node: nothing couples them
            return self.entries(free, self.linear_by_coordinate[free] / self.curvature[free])
        return self.entries(free, lstsq(self.hessian_on(free), self.linear_by_coordinate[free])[0])

    def hessian_on(self, coordinates: IntArray) -> Array:
        """Second derivatives of the loss in d coordinates, shape (d, d)."""
        position = np.full(self.linear.size, -1, dtype=np.intp)
        position[self.own[coordinates]] = np.arange(coordinates.size)
        both = np.flatnonzero(self.mirror[coordinates] >= 0)
        position[self.mirror[coordinates[both]]] = both
        by_node = [position[first : first + size] for first, size in zip(*self.blocks[2:4], strict=True)]
        return assemble_hessian(self._block, by_node, coordinates.size, self.last if self.last.size else None)

    def _block(self, node: int, rows: IntArray, columns: IntArray) -> Array:
        return self.blocks.block(node)[np.ix_(rows, columns)]

    def entries(self, coordinates: IntArray, theta: Array) -> Array:
        """Z with these values in some coordinates and zero elsewhere."""
        z = np.zeros_like(self.linear)
        z[self.own[coordinates]] = theta
        both = self.mirror[coordinates] >= 0
        z[self.mirror[coordinates[both]]] = theta[both]
        return z

    @cached_property
    def linear_by_coordinate(self) -> Array:
        """Coefficient of each coordinate in the linear part of the loss, shape (C,)."""
        return -self.gradient(np.zeros_like(self.linear))


@dataclass(frozen=True)
class Penalty:
    """The penalised problem of a loss before it is written in coordinates; arguments as of ``rs.solve_path``, checked.

    Attributes
    ----------
    loss : QuadraticLoss
    weights : array of shape (m, m), location_weights : array of shape (m,), per unit of alpha
    symmetric, penalize_diagonal, fit_location : bool
    diagonal_multiplier : float
    shifted : bool
        Whether eta is free, and profiled out.
    """

    loss: QuadraticLoss
    weights: Array
    location_weights: Array
    symmetric: bool
    penalize_diagonal: bool
    fit_location: bool
    diagonal_multiplier: float
    shifted: bool

    @classmethod
    def of(cls, loss: QuadraticLoss, *, rule: Rule, location_ratio: float, **options: Any) -> Penalty:
        """Check the options."""
        W, w = check_options(loss.n_columns, rule=rule, location_ratio=location_ratio, **options)
        if loss.zero_sums and options["penalize_diagonal"]:
            raise ValueError("penalize_diagonal=True: with zero sums the diagonal is minus the rest of its column.")
        return cls(
            loss=loss,
            weights=W,
            location_weights=w / location_ratio,
            symmetric=rule == "symmetric",
            penalize_diagonal=options["penalize_diagonal"],
            fit_location=options["fit_location"],
            diagonal_multiplier=options["diagonal_multiplier"],
            shifted=options["fit_location"] and bool(np.isinf(location_ratio)),
        )

    def parameters(self, K: Array | csc_array, eta: Array | None) -> Array:
        """eta, shape (m,), that belongs to K, or to the coordinates of a location that is not profiled out."""
        m = self.loss.n_columns
        if not self.fit_location:
            return np.zeros(m)
        if not self.shifted:
            assert eta is not None
            return eta
        t, s = self.loss.coupling()
        eta = self.loss.g[:, m] / s if eta is None else eta
        return np.asarray(eta - _column_dots(t, K) / s)


def _column_dots(t: Array, K: Array | csc_array) -> Array:
    """t_j' K_j for every column j of K, with t of shape (m, m) or (1, m), rows t_j."""
    if isinstance(K, csc_array):
        return np.asarray(K.multiply(np.broadcast_to(t, K.shape).T).sum(axis=0)).ravel()
    return np.einsum("jk,kj->j", np.broadcast_to(t, K.shape), K)


def build_problem(penalty: Penalty) -> Problem:
    """All coordinates of a penalised problem, from blocks that are held."""
    loss, m = penalty.loss, penalty.loss.n_columns
    shifted, symmetric = penalty.shifted, penalty.symmetric
    blocks, g, last = _shift_location(loss) if shifted else (loss.blocks.copy(), loss.g, loss.gamma_last)
    with_location = penalty.fit_location and not (shifted and last is None)
    p = m + with_location
    blocks, g = blocks[:, :p, :p], g[:, :p]
    diagonal = np.arange(m)
    blocks[:, diagonal, diagonal] += penalty.diagonal_multiplier * loss.blocks[:, diagonal, diagonal]
    if shifted:
        check_variation(loss, np.einsum("jkk->jk", blocks)[:, :m])
    if symmetric:
        nodes, rows = np.tril_indices(m)
    else:
        nodes, rows = np.divmod(np.arange(m * m), m)
    off_diagonal = rows != nodes
    weights = np.where(off_diagonal, penalty.weights[rows, nodes] * (2.0 if symmetric else 1.0), 0.0)
    if loss.zero_sums:
        weights[~off_diagonal] = np.inf  # the rest of the column determines it
    elif penalty.penalize_diagonal:
        weights[~off_diagonal] = penalty.weights[diagonal, diagonal][nodes[~off_diagonal]]
    if with_location:
        rows, nodes = np.append(rows, np.full(m, m)), np.append(nodes, diagonal)
        weights = np.append(weights, penalty.location_weights)
    mirror = np.where((rows < m) & (rows != nodes) & symmetric, rows * p + nodes, -1)
    slack = 1.0
    if shifted and last is not None:
        t, s = loss.coupling()
        slack += 2.0 * float(np.abs(t / s[:, None]).max())
    return Problem.of(
        Blocks.stacked(blocks, m),
        np.ascontiguousarray(g).ravel(),
        nodes * p + rows,
        mirror,
        weights,
        None if last is None else np.ascontiguousarray(last[:, :p, :p]),
        slack,
    )


def check_variation(loss: QuadraticLoss, left: Array) -> None:
    """Raise where next to nothing is left of the diagonals, shape (m or 1, m), once the location is profiled out."""
    m = loss.n_columns
    kept = left > _VARIES * loss.diagonal()[: len(left), :m]
    if loss.zero_sums:
        kept |= np.eye(m, dtype=bool)
    if not kept.all():
        nodes = ~kept.any(axis=1) if len(kept) == m else np.zeros(m, dtype=bool)
        raise HardlyVaryError(np.flatnonzero(nodes if nodes.any() else ~kept.all(axis=0)).tolist())


def build_statistic_problem(loss: StatisticLoss, diagonal_multiplier: float, penalty_weights: Array | None) -> Problem:
    """The l1 penalised problem of an exponential family: one node that owns every statistic."""
    check_number("diagonal_multiplier", diagonal_multiplier, at_least=0.0)
    r = loss.g.size
    gamma = loss.gamma + diagonal_multiplier * np.diag(loss.gamma.diagonal())
    weights = _numbers("penalty_weights", penalty_weights, (r,))
    if weights.shape != (r,) or np.isnan(weights).any() or (weights < 0).any():
        raise ValueError(
            f"penalty_weights must be {r} numbers of at least 0, one a statistic; got {penalty_weights!r}."
        )
    return Problem.of(Blocks.stacked(gamma[None], 1), loss.g.copy(), np.arange(r), np.full(r, -1), weights)


def _shift_location(loss: QuadraticLoss) -> tuple[Array, Array, Array | None]:
    """Blocks, linear part and coupling after eta~_j = eta_j + t' K_j / s, which no longer meets K within its block."""
    m = loss.n_columns
    s, t = loss.blocks[:, m, m], loss.blocks[:, :m, m]
    check_location(s)
    slope = t / s[:, None]
    blocks = np.empty_like(loss.blocks)
    np.multiply(slope[:, :, None], t[:, None, :], out=blocks[:, :m, :m])
    np.subtract(loss.blocks[:, :m, :m], blocks[:, :m, :m], out=blocks[:, :m, :m])
    blocks[:, :m, m] = blocks[:, m, :m] = 0.0
    blocks[:, m, m] = s
    g = loss.g.copy()
    g[:, :m] -= slope * loss.g[:, [m]]
    if loss.gamma_last is None:
        return blocks, g, None
    last = loss.gamma_last.copy()
    last[:, :m] -= slope[:-1, :, None] * last[:, m:]
    last[:, :, :m] -= last[:, :, m:] * slope[-1]
    return blocks, g, last


def check_location(s: Array) -> None:
    """Raise unless every eta_j enters the loss."""
    if not (s > 0).all():
        raise ValueError("The location does not enter the loss of some column; pass fit_location=False.")


def check_options(
    m: int,
    *,
    rule: str,
    diagonal_multiplier: float,
    penalize_diagonal: bool,
    fit_location: bool,
    location_ratio: float,
    penalty_weights: Array | None,
    location_weights: Array | None,
) -> tuple[Array, Array]:
    """The penalty weights of K, shape (m, m), and of eta, shape (m,); raise on options that make no sense."""
    if rule not in ("symmetric", "and", "or"):
        raise ValueError(f"rule={rule!r} is not known; use 'symmetric', 'and' or 'or'.")
    check_number("diagonal_multiplier", diagonal_multiplier, at_least=0.0)
    check_number("location_ratio", location_ratio, finite=False)
    if not location_ratio > 0:
        raise ValueError(f"location_ratio={location_ratio!r} must be positive; inf leaves the location free.")
    W = _numbers("penalty_weights", penalty_weights, (m, m))
    if W.shape != (m, m):
        raise ValueError(f"penalty_weights must have shape ({m}, {m}), one weight a pair; got {W.shape}.")
    off = ~np.eye(m, dtype=bool)
    read = np.ones((m, m), dtype=bool) if penalize_diagonal else off
    if np.isnan(W[read]).any() or (W[read] < 0).any():
        raise ValueError("penalty_weights must not be negative or NaN: 0 leaves an edge free, inf forbids it.")
    if not np.array_equal(W[off], W.T[off]):
        i, j = np.argwhere((W != W.T) & off)[0]
        raise ValueError(f"penalty_weights must be symmetric, but [{i}, {j}] is {W[i, j]} and [{j}, {i}] is {W[j, i]}.")
    w = _numbers("location_weights", location_weights, (m,))
    if location_weights is not None and not (fit_location and np.isfinite(location_ratio)):
        raise ValueError("location_weights need a penalised location: fit_location=True and a finite location_ratio.")
    if w.shape != (m,) or np.isnan(w).any() or (w < 0).any():
        raise ValueError(f"location_weights must be {m} numbers of at least 0 (inf sets a location to zero).")
    return W, w


def _numbers(name: str, values: Array | None, shape: tuple[int, ...]) -> Array:
    """An optional array argument as floats; ones by default."""
    try:
        return np.ones(shape) if values is None else np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of numbers; got {values!r}.") from None
