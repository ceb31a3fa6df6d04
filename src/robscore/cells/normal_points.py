"""Completions of normal rows that have exactly the moments of the missing cells: no draws are needed.

Given the observed cells, the q missing cells of a row are normal with precision K_MM. For an orthogonal Q x Q matrix
with rows v_k, Q >= q, the 2 Q points  mean +- sqrt(Q) L^-T v_k  (of v_k the first q entries; L L' = K_MM)  have that
mean and that covariance. Score-matching elements of the Gaussian family are quadratic, so their averages over these
points are their conditional expectations.
"""

from __future__ import annotations

import numpy as np
from scipy.fft import dct

from robscore._tools.typing import Array, BoolArray
from robscore.cells.normal_law import given_the_rest


def normal_points(X: Array, holes: BoolArray, K: Array, eta: Array) -> Array:
    """Completions of the rows X, shape (2 Q, n, m), Q the most holes of a row.

    Parameters
    ----------
    X : array of shape (n, m)
        What is in its holes does not matter.
    holes : boolean array of shape (n, m)
    K : array of shape (m, m), positive definite
    eta : array of shape (m,), or (n, m) with one for every row

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.cells.normal_points import normal_points
    >>> K = np.array([[2.0, -1.0], [-1.0, 2.0]])
    >>> points = normal_points(np.array([[1.0, 0.0]]), np.array([[False, True]]), K, np.zeros(2))
    >>> points[:, 0, 1].mean().round(6), points[:, 0, 1].var().round(6)
    (np.float64(0.5), np.float64(0.5))
    """
    size = max(int(np.count_nonzero(holes, axis=1).max(initial=0)), 1)
    frame = np.sqrt(size) * dct(np.eye(size), norm="ortho")
    points = np.repeat(X[None], 2 * size, axis=0)
    for rows, missing, root, pull in given_the_rest(X, holes, K, eta):
        away = np.broadcast_to(frame[:, : missing.shape[1]].T, (*missing.shape, size))
        solved = np.linalg.solve(root, np.concatenate([pull[:, :, None], away], axis=2))
        mean, away = solved[:, :, 0], solved[:, :, 1:]
        for k in range(size):
            points[k, rows[:, None], missing] = mean + away[:, :, k]
            points[size + k, rows[:, None], missing] = mean - away[:, :, k]
    return points
