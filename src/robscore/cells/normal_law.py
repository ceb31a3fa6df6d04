"""The holes of normal rows given their other cells: normal, with precision K_MM and a mean of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from robscore._tools.typing import Array, BoolArray, IntArray


class Given(NamedTuple):
    """Of rows that have the same number q of holes.

    Attributes
    ----------
    rows : integer array of shape (k,)
    holes : integer array of shape (k, q)
        Columns of their holes, ascending.
    root : array of shape (k, q, q)
        L', of the Cholesky factor L L' = K_MM.
    pull : array of shape (k, q)
        Their mean is L'^-1 pull; and L'^-1 (pull + e) are draws, where e is noise of unit variance.
    """

    rows: IntArray
    holes: IntArray
    root: Array
    pull: Array


def given_the_rest(X: Array, holes: BoolArray, K: Array, eta: Array) -> Iterator[Given]:
    """The law of the holes of the rows X, shape (n, m), one number of holes after the other.

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
    >>> from robscore.cells.normal_law import given_the_rest
    >>> K = np.array([[2.0, -1.0], [-1.0, 2.0]])
    >>> (law,) = given_the_rest(np.array([[1.0, 0.0]]), np.array([[False, True]]), K, np.zeros(2))
    >>> (law.pull / law.root[:, 0]).round(6).tolist(), law.holes.tolist()
    ([[0.5]], [[1]])
    """
    counts = np.count_nonzero(holes, axis=1)
    pull = eta - np.where(holes, 0.0, X) @ K
    for count in np.unique(counts[counts > 0]).tolist():
        rows = np.flatnonzero(counts == count)
        missing = np.nonzero(holes[rows])[1].reshape(rows.size, count)
        lower = np.linalg.cholesky(K[missing[:, :, None], missing[:, None]])
        half = np.linalg.solve(lower, pull[rows[:, None], missing][:, :, None])[:, :, 0]
        yield Given(rows, missing, np.asarray(lower.transpose(0, 2, 1)), half)
