"""The minimum of the quadratic loss without a penalty, over all parameters or on a support.

    theta-hat = (D' Gamma D)^-1 D' g,    D the duplication of the free parameters into z_1..z_m

Over all parameters this is theta-hat(K) of the paper's section 3.2; on the support of a penalised solution it is
what the graph explains once shrinkage is removed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.losses.parts import matrices, mirrored
from robscore.losses.quadratic import Loss, QuadraticLoss, as_location, location_rows
from robscore.solvers.factor import SMALLEST_RCOND, Factor, NodeFactor, factor_hessian, factor_positive_definite


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
    factor = factor_hessian(loss, position, rows.size, ridge, least_rcond)
    whitened = factor.whiten(right[None])
    theta = factor.unwhiten(whitened)[0]
    z = np.zeros(position.shape)
    z[filled] = theta[position[filled]]
    K = loss.completed(z[:, :M].T.copy())
    return Refit(K, as_location(z[:, M:]), -0.5 * float(np.sum(whitened**2)), rows, nodes, symmetric, factor)


def minimise(loss: Loss, *, fit_location: bool = True) -> tuple[Array, ...]:
    """The parameters that minimise a loss: (K, eta), or (theta,) of an exponential family.

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
    >>> from robscore.solvers.refit import solve_unpenalised
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> K, eta = solve_unpenalised(rs.score_elements("gaussian", X).average())
    >>> bool(np.allclose(K, np.linalg.inv(np.cov(X.T, bias=True))))
    True
    """
    locations = np.full(loss.location_shape, fit_location)
    solution = refit(loss, np.ones((loss.n_interactions, loss.n_columns), dtype=bool), locations, symmetric=True)
    return solution.interaction, solution.location


def dependent_columns(loss: QuadraticLoss) -> IntArray:
    """Columns that take part in the flattest direction of any node's block, for a message."""
    flattest, columns = np.inf, np.arange(loss.n_columns)
    for given in loss.blocks:
        block = given + np.diag(given.diagonal() == 0)  # where columns sum to zero, one entry is not there
        root = np.sqrt(np.maximum(block.diagonal(), np.finfo(float).tiny))
        values, vectors = np.linalg.eigh(block / np.multiply.outer(root, root))
        if values[0] < flattest:
            flattest = float(values[0])
            columns = np.unique(np.flatnonzero(np.abs(vectors[: loss.n_interactions, 0]) > 0.1) % loss.n_columns)
    return columns
