"""The minimum of the quadratic loss without a penalty, over all parameters or on a support.

    theta-hat = (D' Gamma D)^-1 D' g,    D the duplication of the free parameters into z_1..z_m

Over all parameters this is theta-hat(K) of the paper's section 3.2; on the support of a penalised solution it is
what the graph explains once shrinkage is removed.

The Hessian H = D' Gamma D is factored as H = S U'U S with S = diag(scale), in one piece, or node by node where columns
are many: parameters that belong to one node only, K_jj and eta_j, meet only that node's edges, so they are eliminated
node by node, and what is left to factor has one row per edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.lapack import dpocon

from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.losses.interaction_parts import matrices, mirrored
from robscore.losses.quadratic import MANY_COLUMNS, Loss, QuadraticLoss, as_location, assemble_hessian, location_rows

SMALLEST_RCOND = 1e-13  # guards rounding: reciprocal condition number below which a matrix is singular


class SingularLossError(ValueError):
    """The quadratic loss has no unique minimum."""


@dataclass(frozen=True)
class Factor:
    """The Cholesky factor U (upper) of the whole Hessian."""

    root: Array
    scale: Array

    def whiten(self, gradients: Array) -> Array:
        """Apply H^(-1/2) to gradients of shape (n, d); gives shape (d, n)."""
        if not self.scale.size:
            return gradients.T
        whitened: Array = solve_triangular(self.root, _divided(gradients, self.scale).T, trans="T", check_finite=False)
        return whitened

    def unwhiten(self, whitened: Array) -> Array:
        """Apply H^-1 to gradients that were whitened, shape (d, n); gives shape (n, d)."""
        if not self.scale.size:
            return whitened.T
        return _divided(solve_triangular(self.root, whitened, check_finite=False).T, self.scale)


class NodePart(NamedTuple):
    """A node's elimination: its own parameters, those it shares, the root of its own block, and the block across."""

    own: IntArray
    shared: IntArray
    root: Array
    across: Array


@dataclass(frozen=True)
class NodeFactor:
    """A square root of the Hessian with the parameters of single nodes eliminated first."""

    parts: list[NodePart]
    shared: IntArray
    root: Array
    scale: Array

    def whiten(self, gradients: Array) -> Array:
        """Apply H^(-1/2) to gradients of shape (n, d); gives shape (d, n)."""
        whitened = np.ascontiguousarray(_divided(gradients, self.scale).T)
        for own, shared, root, across in self.parts:
            whitened[own] = solve_triangular(root, whitened[own], trans="T", check_finite=False)
            whitened[shared] -= across.T @ whitened[own]
        if self.shared.size:
            whitened[self.shared] = solve_triangular(self.root, whitened[self.shared], trans="T", check_finite=False)
        return whitened

    def unwhiten(self, whitened: Array) -> Array:
        """Apply H^-1 to gradients that were whitened, shape (d, n); gives shape (n, d)."""
        solved = whitened.copy()
        if self.shared.size:
            solved[self.shared] = solve_triangular(self.root, solved[self.shared], check_finite=False)
        for own, shared, root, across in self.parts:
            solved[own] = solve_triangular(root, solved[own] - across @ solved[shared], check_finite=False)
        return _divided(solved.T, self.scale)


def _by_nodes(loss: QuadraticLoss, position: IntArray, size: int, ridge: float, least_rcond: float) -> NodeFactor:
    """Factor D' Gamma D for the free parameters at ``position``, shape (m, m+1), node by node; raise when singular."""
    filled = position >= 0
    diagonal = np.bincount(position[filled], weights=loss.diagonal()[filled], minlength=size).astype(float)
    scale = np.sqrt(_positive(diagonal))
    times = np.bincount(position[filled], minlength=size)
    shared = np.flatnonzero(times > 1)
    place = np.full(size, -1)
    place[shared] = np.arange(shared.size)
    rest, sums = np.zeros((shared.size, shared.size)), np.zeros(size)
    parts = []
    for node, own_position in enumerate(position):
        entries = np.flatnonzero(own_position >= 0)
        at = own_position[entries]
        block = loss.block(node, entries, entries) / np.multiply.outer(scale[at], scale[at])
        sums[at] += np.abs(block).sum(axis=0)
        alone = times[at] == 1
        mine, theirs = np.flatnonzero(alone), np.flatnonzero(~alone)
        left = block[np.ix_(theirs, theirs)]
        if mine.size:
            root = _root(block[np.ix_(mine, mine)] + ridge * np.eye(mine.size))
            across = solve_triangular(root, block[np.ix_(mine, theirs)], trans="T", check_finite=False)
            left = left - across.T @ across
            parts.append(NodePart(at[mine], at[theirs], root, across))
        rest[np.ix_(place[at[theirs]], place[at[theirs]])] += left
    norm = float(sums.max(initial=1.0))
    rest[np.diag_indices(shared.size)] += ridge
    root = _root(rest) if shared.size else rest
    for factor in (root, *(part.root for part in parts)):
        _check_condition(factor, norm, least_rcond)
    return NodeFactor(parts, shared, root, scale)


def _divided(values: Array, scale: Array) -> Array:
    """Divide values by the scale of their columns; callers report what becomes infinite."""
    with np.errstate(over="ignore"):
        return np.asarray(values / scale)


def factor_positive_definite(matrix: Array, least_rcond: float = SMALLEST_RCOND) -> tuple[Array, Array]:
    """Give the upper Cholesky factor U and scale s with matrix = diag(s) U'U diag(s); raise when singular."""
    diagonal = matrix.diagonal()
    if not diagonal.size:
        return np.zeros((0, 0)), np.zeros(0)
    scale = np.sqrt(_positive(diagonal))
    matrix = matrix / np.multiply.outer(scale, scale)
    norm = float(np.abs(matrix).sum(axis=0).max())
    root = _root(matrix)
    _check_condition(root, norm, least_rcond)
    return root, scale


def _positive(diagonal: Array) -> Array:
    if not (diagonal > 0).all():
        raise SingularLossError("a parameter does not enter the loss at all")
    return diagonal


def _root(matrix: Array) -> Array:
    try:
        return np.asarray(cholesky(matrix, lower=False, overwrite_a=True))
    except np.linalg.LinAlgError:
        raise SingularLossError("the matrix is not positive definite") from None


def _check_condition(root: Array, norm: float, least_rcond: float) -> None:
    if not root.size:
        return
    rcond, _ = dpocon(root, norm)
    if rcond < least_rcond:
        raise SingularLossError(f"its reciprocal condition number is {rcond:.1e}")


@dataclass(frozen=True)
class Refit:
    """Minimum of the loss over the parameters that a support leaves free.

    Attributes
    ----------
    interaction : array of shape (m, m)
        Symmetric, or with column j from node j when refitted node by node.
    location : array of shape (m,), or with q covariates (m, 1 + q)
    loss : float
    rows, nodes : integer arrays of shape (d,)
        Free parameter c is entry rows[c] of z_nodes[c] (entries from m on are eta); mirrored if symmetric.
    symmetric : bool
    factor : a square root of the Hessian

    The parameters of single columns, K_jj and eta_j, come first: whitened by the factor, those of edges are what is
    left of them once these have adapted.
    """

    interaction: Array
    location: Array
    loss: float
    rows: IntArray
    nodes: IntArray
    symmetric: bool
    factor: Factor | NodeFactor

    @property
    def is_edge(self) -> BoolArray:
        """Which of the free parameters belong to edges, shape (d,)."""
        n_rows, m = self.interaction.shape
        return (self.rows % m != self.nodes) & (self.rows < n_rows)


def refit(
    loss: QuadraticLoss,
    edges: BoolArray,
    locations: BoolArray,
    *,
    symmetric: bool,
    ridge: float = 0.0,
    least_rcond: float = SMALLEST_RCOND,
) -> Refit:
    """Minimise the loss over K with the given edges (of its shape), its diagonal, and the chosen eta (its own shape).

    With a ridge, the diagonal of the Hessian is multiplied by 1 + ridge, which keeps columns in bounds that nearly
    determine each other.

    Raises
    ------
    SingularLossError
        If the minimum is not unique, or the reciprocal condition number of the (scaled) Hessian too small.
    """
    m, M = loss.n_columns, loss.n_interactions
    off = ~np.eye(m, dtype=bool)
    parts, nodes, rows = np.nonzero(
        np.stack([np.tril(part, -1) if symmetric else part & off for part in matrices(loss.parts.distinct(edges))])
    )
    own, (which, at) = np.arange(0 if loss.zero_sums else m), np.nonzero(location_rows(locations))
    diagonals = [own + part * m for part in loss.parts.with_diagonal]
    nodes = np.concatenate([np.tile(own, len(diagonals)), at, nodes])
    rows = np.concatenate([*diagonals, M + which, rows + parts * m])
    position = np.full(loss.g.shape, -1, dtype=np.intp)
    position[nodes, rows] = np.arange(rows.size)
    if symmetric:
        inside = rows < M
        entries, others = mirrored(rows[inside], nodes[inside], m)
        position[others, entries] = position[nodes[inside], rows[inside]]
    filled = position >= 0
    right: Array = np.bincount(position[filled], weights=loss.g[filled], minlength=rows.size).astype(float)
    factor: Factor | NodeFactor
    if loss.n_columns >= MANY_COLUMNS and loss.gamma_last is None:
        factor = _by_nodes(loss, position, rows.size, ridge, least_rcond)
    else:
        hessian = assemble_hessian(loss.block, position, rows.size, loss.gamma_last, loss.reference)
        hessian[np.diag_indices(rows.size)] *= 1 + ridge
        factor = Factor(*factor_positive_definite(hessian, least_rcond))
    whitened = factor.whiten(right[None])
    theta = factor.unwhiten(whitened)[0]
    z = np.zeros(position.shape)
    z[filled] = theta[position[filled]]
    K = loss.completed(z[:, :M].T.copy())
    return Refit(K, as_location(z[:, M:]), -0.5 * float(np.sum(whitened**2)), rows, nodes, symmetric, factor)


def minimise(loss: Loss, *, fit_location: bool = True) -> tuple[Array, ...]:
    """Find the parameters that minimise a loss: (K, eta), or (theta,) of an exponential family.

    Raises
    ------
    SingularLossError
        If the minimum is not unique.
    """
    if isinstance(loss, QuadraticLoss):
        return solve_unpenalised(loss, fit_location=fit_location)
    factor = Factor(*factor_positive_definite(loss.gamma))
    return (factor.unwhiten(factor.whiten(loss.g[None]))[0],)


def solve_unpenalised(loss: QuadraticLoss, *, fit_location: bool = True) -> tuple[Array, Array]:
    """Minimise the loss over symmetric K, shape (m, m), and eta, shape (m,) (zero if not fitted).

    With D the duplication of free parameters into z_1..z_m, solves D' Gamma D theta = D' g.

    Raises
    ------
    SingularLossError
        If D' Gamma D is singular to working precision.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> from robscore.solvers.unpenalised import solve_unpenalised
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> K, eta = solve_unpenalised(rs.score_elements("gaussian", X).average())
    >>> bool(np.allclose(K, np.linalg.inv(np.cov(X.T, bias=True))))
    True
    """
    locations = np.full(loss.location_shape, fit_location)
    solution = refit(loss, np.ones((loss.n_interactions, loss.n_columns), dtype=bool), locations, symmetric=True)
    return solution.interaction, solution.location


def dependent_columns(loss: QuadraticLoss) -> IntArray:
    """Find the columns that take part in the flattest direction of any node's block, for a message."""
    flattest, columns = np.inf, np.arange(loss.n_columns)
    for given in loss.blocks:
        block = given + np.diag(given.diagonal() == 0)  # where columns sum to zero, one entry is missing
        root = np.sqrt(np.maximum(block.diagonal(), np.finfo(float).tiny))
        values, vectors = np.linalg.eigh(block / np.multiply.outer(root, root))
        if values[0] < flattest:
            flattest = float(values[0])
            columns = np.unique(np.flatnonzero(np.abs(vectors[: loss.n_interactions, 0]) > 0.1) % loss.n_columns)
    return columns
