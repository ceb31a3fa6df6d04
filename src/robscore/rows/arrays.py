"""Rows of an array, in memory or mapped from a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from robscore._tools.typing import AnyData, Array, IntArray
from robscore.rows.base import Rows, some_of


class ArrayRows(Rows):
    """The rows of an array of shape (n, m), which may be a memory map.

    Parameters
    ----------
    values : array of shape (n, m)
    names : list of str, optional
    whole : bool, default True
        Take all rows as one piece, and keep what is computed from them; otherwise piece by piece, as if they were on
        disk.
    """

    def __init__(self, values: AnyData, names: list[str] | None = None, *, whole: bool = True) -> None:
        self.values, self.names, self.whole = values, names, whole
        self.n_rows, self.n_columns = values.shape

    @property
    def length(self) -> int:
        """All rows, or as many as are read at a time."""
        return self.n_rows if self.whole else super().length

    def pieces(self, bounds: IntArray) -> Iterator[Array]:
        """Slices."""
        for low, high in pairwise(bounds.tolist()):
            yield np.asarray(self.values[low:high], dtype=float)

    def take(self, index: IntArray) -> Array:
        """Some rows, at once."""
        return np.asarray(self.values[index], dtype=float)

    def mapped(self, change: Callable[[Array], Array], n_columns: int | None = None) -> Rows:
        """Changed here and now, if they are held as a whole."""
        if not self.whole:
            return super().mapped(change, n_columns)
        return ArrayRows(change(np.asarray(self.values, dtype=float)), self.names).counted(self.frequency)

    def selected(self, index: IntArray) -> Rows:
        """A copy of some rows, if they are held as a whole."""
        if not self.whole or index.size == self.n_rows:
            return super().selected(index)
        return ArrayRows(self.values[index], self.names).counted(some_of(self.frequency, index))


def as_rows(X: Array | Rows) -> Rows:
    """An array of shape (n, m) as rows that are held; rows as they are."""
    return X if isinstance(X, Rows) else ArrayRows(X)
