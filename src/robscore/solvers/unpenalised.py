"""The minimum of the quadratic loss over symmetric K and eta: theta-hat(K) of the paper's section 3.2."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpocon

from robscore._typing import Array, IntArray
from robscore.solvers.loss import QuadraticLoss

_SMALLEST_RCOND = 1e-13


class SingularLossError(ValueError):
    """The quadratic loss has no unique minimum."""


def parameter_index(n_columns: int) -> IntArray:
    """Position of K_ij in the vector of free parameters, shape (m, m): the upper triangle row by row."""
    index = np.zeros((n_columns, n_columns), dtype=np.intp)
    rows, columns = np.triu_indices(n_columns)
    index[rows, columns] = index[columns, rows] = np.arange(rows.size)
    return index


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
    m = loss.n_columns
    index = parameter_index(m)
    n_pairs = m * (m + 1) // 2
    size = n_pairs + (m if fit_location else 0)
    hessian, right = np.zeros((size, size)), np.zeros(size)
    for j, (block, g) in enumerate(zip(loss.gamma, loss.g, strict=True)):
        own = np.append(index[:, j], n_pairs + j) if fit_location else index[:, j]
        hessian[np.ix_(own, own)] += block[: own.size, : own.size]
        right[own] += g[: own.size]
    theta = _solve_positive_definite(hessian, right)
    return theta[index], theta[n_pairs:] if fit_location else np.zeros(m)


def _solve_positive_definite(matrix: Array, right: Array) -> Array:
    """Solve after scaling to a unit diagonal; raise when singular."""
    diagonal = matrix.diagonal()
    if not (diagonal > 0).all():
        raise SingularLossError("a parameter does not enter the loss at all")
    root = np.sqrt(diagonal)
    matrix = matrix / np.multiply.outer(root, root)
    norm = float(np.abs(matrix).sum(axis=0).max())
    try:
        factor = cho_factor(matrix, lower=False, overwrite_a=True)
    except np.linalg.LinAlgError:
        raise SingularLossError("the matrix is not positive definite") from None
    rcond, _ = dpocon(factor[0], norm)
    if rcond < _SMALLEST_RCOND:
        raise SingularLossError(f"its reciprocal condition number is {rcond:.1e}")
    solution: Array = cho_solve(factor, right / root) / root
    return solution


def dependent_columns(loss: QuadraticLoss) -> IntArray:
    """Columns that take part in the flattest direction of any node's block, for a message."""
    flattest, columns = np.inf, np.arange(loss.n_columns)
    for block in loss.blocks:
        root = np.sqrt(np.maximum(block.diagonal(), np.finfo(float).tiny))
        values, vectors = np.linalg.eigh(block / np.multiply.outer(root, root))
        if values[0] < flattest:
            flattest = float(values[0])
            columns = np.flatnonzero(np.abs(vectors[:-1, 0]) > 0.1)
    return columns
