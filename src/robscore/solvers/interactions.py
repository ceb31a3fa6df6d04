"""The K of every penalty on a path, kept sparse and given back dense."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, overload

import numpy as np
from scipy.sparse import csc_array, issparse

from robscore._tools.typing import Array, IntArray


class Interactions:
    """A sequence of k matrices of shape (m, m); ``interactions[k]`` is dense, ``np.asarray(interactions)`` all of them.

    Examples
    --------
    >>> import numpy as np
    >>> kept = Interactions.of([np.eye(2), np.zeros((2, 2))], 2)
    >>> kept.shape, kept[0].tolist(), len(kept[[1]])
    ((2, 2, 2), [[1.0, 0.0], [0.0, 1.0]], 1)
    """

    def __init__(self, solutions: list[csc_array], n_columns: int) -> None:
        self.solutions, self.n_columns = solutions, n_columns

    @classmethod
    def of(cls, matrices: Iterable[Array | csc_array], n_columns: int) -> Interactions:
        """From dense or sparse matrices."""
        return cls([as_sparse(K) for K in matrices], n_columns)

    @property
    def shape(self) -> tuple[int, int, int]:
        """(k, m, m); with moderators, whose parts are stacked, (k, (1 + Q) m, m)."""
        n_rows = self.solutions[0].shape[0] if self.solutions else self.n_columns
        return len(self.solutions), n_rows, self.n_columns

    def __len__(self) -> int:
        return len(self.solutions)

    @overload
    def __getitem__(self, which: int | np.integer[Any]) -> Array: ...

    @overload
    def __getitem__(self, which: slice | IntArray | list[int]) -> Interactions: ...

    @overload
    def __getitem__(self, which: tuple[Any, ...]) -> Array: ...

    def __getitem__(self, which: Any) -> Array | Interactions:
        if isinstance(which, int | np.integer):
            return np.asarray(self.solutions[which].toarray())
        if isinstance(which, tuple):
            return np.asarray(self)[which]
        return Interactions([self.solutions[k] for k in np.arange(len(self))[which]], self.n_columns)

    def __iter__(self) -> Iterator[Array]:
        return (self[k] for k in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:  # noqa: FBT001 - NumPy's signature
        whole = np.zeros(self.shape)
        for k, K in enumerate(self.solutions):
            whole[k] = K.toarray()
        return whole if dtype is None else whole.astype(dtype)

    def joined(self, other: Interactions) -> Interactions:
        """These and others after them."""
        return Interactions([*self.solutions, *other.solutions], self.n_columns)


def as_sparse(K: Array | csc_array) -> csc_array:
    """A matrix by its columns; ten times as fast as SciPy's own way from a small dense one."""
    if issparse(K):
        return csc_array(K)
    columns, rows = np.nonzero(K.T)
    ends = np.searchsorted(columns, np.arange(K.shape[1] + 1))
    return csc_array((K[rows, columns], rows.astype(np.int32), ends.astype(np.int32)), shape=K.shape)
