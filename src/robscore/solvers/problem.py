"""The penalised problem of Definition 4.1 as a quadratic in coordinates with an l1 weight each.

    minimise  sum_j 1/2 z_j' Q_j z_j - l_j' z_j + alpha * sum_c w_c |theta_c|

The free parameters theta_c are K_ij (one for both K_ij and K_ji when symmetric), K_jj and, if penalised,
eta_j. A location that is free is profiled out in closed form first: with s = Gamma_eta,eta and t = Gamma_K,eta,

    Q_j = Gamma_KK - t t' / s,      l_j = g_K - t g_eta / s,      eta_j = (g_eta - t' K_j) / s

On the simplex, where the last node is coupled with all others by z_j' L_j z_m, the same change of variables
eta~_j = eta_j + t' K_j / s is made and eta~_j stays a free coordinate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from scipy.linalg import lstsq

from robscore._typing import Array, BoolArray, IntArray
from robscore._validation import check_number
from robscore.solvers.loss import QuadraticLoss, StatisticLoss, assemble_hessian

_LONG = 0.1  # share of its length that a solution may still gain while the number of sweeps doubles
_VARIES = 1e-13  # what must be left of a diagonal entry when the location is profiled out
_SINGULAR = 1e-11  # least eigenvalue of a block with unit diagonal
_FLAT = 5e-5  # curvature along a long move, relative to the sum of its coordinates' own

Rule: TypeAlias = Literal["symmetric", "and", "or"]


@dataclass(frozen=True)
class Problem:
    """Coordinates c = (row, node): theta_c is entry ``row`` of z_node (and, if symmetric, the mirrored one).

    Attributes
    ----------
    Q : array of shape (m or 1, p, p), p = m, or m + 1 with a location that is not profiled out
    last : array of shape (m-1, p, p), L_j in the head of this file, or (0, p, p) where nothing is coupled
    linear : array of shape (m, p)
    rows, nodes : integer arrays of shape (C,)
    weights : array of shape (C,)
        l1 weight of each coordinate per unit of alpha; 0 is free, infinity is forbidden.
    curvature : array of shape (C,)
        Second derivative of the loss in each coordinate.
    symmetric : bool
    loss, fit_location, shifted : what is needed to give back K and eta; shifted: eta is free.
    """

    Q: Array
    last: Array
    linear: Array
    rows: IntArray
    nodes: IntArray
    weights: Array
    curvature: Array
    symmetric: bool
    loss: QuadraticLoss | None
    fit_location: bool
    shifted: bool

    @cached_property
    def mirrored(self) -> BoolArray:
        """Coordinates that stand for two entries."""
        return (self.rows < len(self.linear)) & (self.rows != self.nodes) & self.symmetric

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
    def _places(self) -> tuple[IntArray, IntArray, IntArray]:
        """Flat positions of all coordinates, which of them are mirrored, and the mirrored flat positions."""
        width = self.linear.shape[1]
        mirrored = np.flatnonzero(self.mirrored)
        return self.nodes * width + self.rows, mirrored, self.rows[mirrored] * width + self.nodes[mirrored]

    @cached_property
    def slack(self) -> float:
        """How many times larger violations may be in K and eta than they are in these coordinates.

        A location that is profiled out is exactly optimal; one that stays a coordinate is so up to the tolerance,
        and its change of variables carries that over to K.
        """
        if self.loss is None or not self.shifted or not self.last.size:
            return 1.0
        blocks, m = self.loss.blocks, self.loss.n_columns
        return 1.0 + 2.0 * float(np.abs(blocks[:, :m, m] / blocks[:, m, m, None]).max())

    @cached_property
    def quadratic(self) -> tuple[Array, Array, Array]:
        """Q, L and L with its blocks transposed, as the kernels take them."""
        return self.Q, self.last, np.ascontiguousarray(self.last.transpose(0, 2, 1))

    def image(self, Z: Array) -> Array:
        """R = Q z, shape (m, p)."""
        from robscore.solvers.kernels import refresh

        R = np.empty_like(Z)
        refresh(*self.quadratic, Z, R)
        return R

    def gradient(self, R: Array) -> Array:
        """Derivative of the loss in every coordinate, from R = Q z."""
        residual = (R - self.linear).ravel()
        own, mirrored, mirror = self._places
        total: Array = residual[own]
        total[mirrored] += residual[mirror]
        return total

    def values(self, Z: Array) -> Array:
        """Coordinates of Z, shape (m, p) with rows z_j."""
        values: Array = Z.ravel()[self._places[0]]
        return values

    def violations(self, Z: Array, R: Array, alpha: float) -> Array:
        """Distance of the gradient to the subdifferential, coordinate by coordinate; 0 for forbidden ones."""
        theta, gradient = self.values(Z), self.gradient(R)
        threshold = alpha * self.finite_weights
        distance = np.maximum(np.abs(gradient) - threshold, 0.0)
        away = theta != 0
        distance[away] = np.abs(gradient[away] + np.sign(theta[away]) * threshold[away])
        distance[self.forbidden] = 0.0
        return distance

    def objective(self, Z: Array, R: Array, alpha: float) -> float:
        """Loss plus penalty at Z, up to a constant, given R = Q z."""
        return float(np.sum(Z * (0.5 * R - self.linear)) + alpha * self._norm(Z))

    def _norm(self, Z: Array) -> float:
        return float(self.finite_weights @ np.abs(self.values(Z)))

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
        pays = alpha * self._norm(move) < np.sum(self.linear * move)
        return bool(pays and np.sum(move * self.image(move)) < _FLAT * own_curvature)

    @cached_property
    def singular(self) -> bool:
        """Whether a block has no full rank to working precision, so that the loss may have no minimum."""
        if self.last.size:
            return True  # the rank of the blocks says little about the whole
        for block in self.Q:
            root = np.sqrt(np.maximum(block.diagonal(), np.finfo(float).tiny))
            if np.linalg.eigvalsh(block / np.multiply.outer(root, root))[0] < _SINGULAR:
                return True
        return False

    def null_solution(self) -> Array:
        """z_1..z_m, shape (m, p), with every penalised parameter zero and the free ones optimal."""
        free = np.flatnonzero(self.weights == 0)
        if (self.rows[free] == self.nodes[free]).all() and not self.last.size:  # one a node: nothing couples them
            return self.entries(free, self.linear_by_coordinate[free] / self.curvature[free])
        return self.entries(free, lstsq(self.hessian_on(free), self.linear_by_coordinate[free])[0])

    def hessian_on(self, coordinates: IntArray) -> Array:
        """Second derivatives of the loss in d coordinates, shape (d, d)."""
        position = np.full(self.linear.shape, -1, dtype=np.intp)
        position[self.nodes[coordinates], self.rows[coordinates]] = np.arange(coordinates.size)
        both = self.mirrored[coordinates]
        position[self.rows[coordinates[both]], self.nodes[coordinates[both]]] = np.flatnonzero(both)
        return assemble_hessian(self.Q, position, coordinates.size, self.last if self.last.size else None)

    def entries(self, coordinates: IntArray, theta: Array) -> Array:
        """z_1..z_m, shape (m, p), with these values in some coordinates and zero elsewhere."""
        Z = np.zeros_like(self.linear)
        Z[self.nodes[coordinates], self.rows[coordinates]] = theta
        both = self.mirrored[coordinates]
        Z[self.rows[coordinates[both]], self.nodes[coordinates[both]]] = theta[both]
        return Z

    @cached_property
    def linear_by_coordinate(self) -> Array:
        """Coefficient of each coordinate in the linear part of the loss, shape (C,)."""
        return -self.gradient(np.zeros_like(self.linear))

    def parameters(self, Z: Array) -> tuple[Array, Array]:
        """K, shape (m, m) with column j from node j, and eta, shape (m,)."""
        assert self.loss is not None
        m = self.loss.n_columns
        K = self.loss.completed(Z[:, :m].T.copy())
        if not self.fit_location:
            return K, np.zeros(m)
        blocks = self.loss.blocks
        eta = Z[:, m].copy() if Z.shape[1] > m else self.loss.g[:, m] / blocks[:, m, m]
        return K, eta - np.sum(blocks[:, :m, m] * K.T, axis=1) / blocks[:, m, m] if self.shifted else eta


def build_problem(
    loss: QuadraticLoss,
    *,
    rule: Rule,
    diagonal_multiplier: float,
    penalize_diagonal: bool,
    fit_location: bool,
    location_ratio: float,
    penalty_weights: Array | None,
    location_weights: Array | None,
) -> Problem:
    """Reduce a loss and the options of :func:`robscore.solve_path` to coordinates."""
    m = loss.n_columns
    W, eta_weights = check_options(
        m,
        rule=rule,
        diagonal_multiplier=diagonal_multiplier,
        penalize_diagonal=penalize_diagonal,
        fit_location=fit_location,
        location_ratio=location_ratio,
        penalty_weights=penalty_weights,
        location_weights=location_weights,
    )
    shifted = fit_location and bool(np.isinf(location_ratio))
    blocks, g, last = _shift_location(loss) if shifted else (loss.blocks.copy(), loss.g, loss.gamma_last)
    with_location = fit_location and not (shifted and last is None)
    p = m + with_location
    blocks, g = blocks[:, :p, :p], g[:, :p]
    last = np.zeros((0, p, p)) if last is None else np.ascontiguousarray(last[:, :p, :p])
    diagonal = np.arange(m)
    blocks[:, diagonal, diagonal] += diagonal_multiplier * loss.blocks[:, diagonal, diagonal]
    symmetric = rule == "symmetric"
    if symmetric:
        nodes, rows = np.tril_indices(m)
    else:
        nodes, rows = np.divmod(np.arange(m * m), m)
    off_diagonal = rows != nodes
    weights = np.where(off_diagonal, W[rows, nodes] * (2.0 if symmetric else 1.0), 0.0)
    if loss.zero_sums and penalize_diagonal:
        raise ValueError("penalize_diagonal=True: with zero sums the diagonal is minus the rest of its column.")
    if loss.zero_sums:
        weights[~off_diagonal] = np.inf  # the rest of the column determines it
    elif penalize_diagonal:
        weights[~off_diagonal] = W[diagonal, diagonal][nodes[~off_diagonal]]
    if with_location:
        rows, nodes = np.append(rows, np.full(m, m)), np.append(nodes, diagonal)
        weights = np.append(weights, eta_weights / location_ratio)
    Q = np.ascontiguousarray(blocks)
    block_diagonal = np.broadcast_to(np.einsum("jkk->jk", Q), g.shape)
    curvature = block_diagonal[nodes, rows].copy()
    problem = Problem(
        Q=Q,
        last=last,
        linear=np.ascontiguousarray(g),
        rows=rows,
        nodes=nodes,
        weights=weights,
        curvature=curvature,
        symmetric=symmetric,
        loss=loss,
        fit_location=fit_location,
        shifted=shifted,
    )
    mirrored = problem.mirrored
    curvature[mirrored] += block_diagonal[rows[mirrored], nodes[mirrored]]
    if last.size:
        both = np.flatnonzero(mirrored & (nodes == m - 1))
        curvature[both] += 2 * last[rows[both], m - 1, rows[both]]
    if shifted:
        own = np.einsum("jkk->jk", loss.blocks)[:, :m]
        kept = np.einsum("jkk->jk", Q)[:, :m] > _VARIES * own
        if loss.zero_sums:
            kept |= np.eye(m, dtype=bool)
        if not kept.all():
            raise ValueError(
                f"Columns {np.flatnonzero(~kept.all(axis=0)).tolist()} hardly vary, compared with their size, over the "
                "rows that count; drop or centre them, use fewer blocks, or pass fit_location=False."
            )
    return problem


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
    return Problem(
        Q=gamma[None],
        last=np.zeros((0, r, r)),
        linear=loss.g[None].copy(),
        rows=np.arange(r),
        nodes=np.zeros(r, dtype=np.intp),
        weights=weights,
        curvature=gamma.diagonal().copy(),
        symmetric=False,
        loss=None,
        fit_location=False,
        shifted=False,
    )


def _shift_location(loss: QuadraticLoss) -> tuple[Array, Array, Array | None]:
    """Blocks, linear part and coupling after eta~_j = eta_j + t' K_j / s, which no longer meets K within its block."""
    m = loss.n_columns
    s, t = loss.blocks[:, m, m], loss.blocks[:, :m, m]
    if not (s > 0).all():
        raise ValueError("The location does not enter the loss of some column; pass fit_location=False.")
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
