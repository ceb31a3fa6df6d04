"""Rows with more columns beside them, which are held in memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from robscore._tools.messages import RowAt
from robscore._tools.typing import AnyArray, Array, IntArray
from robscore.rows.base import Rows, Work, some_of


class JoinedRows(Rows):
    """Rows, wherever they are, each with more numbers at its end; names are those of the first columns.

    Parameters
    ----------
    rows : Rows
    more : array of shape (n, q)
    """

    def __init__(self, rows: Rows, more: Array) -> None:
        self.rows, self.more = rows, more
        self.n_rows, self.n_columns = rows.n_rows, rows.n_columns + more.shape[1]
        self.names, self.is_remote, self.frequency = rows.names, rows.is_remote, rows.frequency

    def place(self, row: int) -> str:
        """Where the row is."""
        return self.rows.place(row)

    def at(self, row: int) -> RowAt:
        """The row itself."""
        return self.rows.at(row)

    def pieces(self, bounds: IntArray) -> Iterator[Array]:
        """Joined one by one."""
        for (low, high), piece in zip(pairwise(bounds.tolist()), self.rows.pieces(bounds), strict=True):
            yield np.concatenate([piece, self.more[low:high]], axis=1)

    def each(
        self, work: Work, *along: AnyArray, length: int | None = None, starts: IntArray | None = None
    ) -> Iterator[tuple[int, Any]]:
        """As of the rows themselves, wherever they are."""
        return self.rows.each(partial(_joined, work), self.more, *along, length=length, starts=starts)

    def total(
        self,
        work: Work,
        *along: AnyArray,
        length: int | None = None,
        starts: IntArray | None = None,
        onto: Any = None,
    ) -> Any:
        """As of the rows themselves, wherever they are."""
        return self.rows.total(partial(_joined, work), self.more, *along, length=length, starts=starts, onto=onto)

    def sample(self, size: int, rng: np.random.Generator) -> IntArray:
        """As of the rows themselves."""
        return self.rows.sample(size, rng)

    def take(self, index: IntArray) -> Array:
        """Joined after they are taken."""
        return np.concatenate([self.rows.take(index), self.more[index]], axis=1)

    def selected(self, index: IntArray) -> Rows:
        """Selected before they are joined."""
        some = JoinedRows(self.rows.selected(index), self.more[index])
        return some.counted(some_of(self.frequency, index))


def _joined(work: Work, rows: Array, more: Array, *along: AnyArray) -> Any:
    return work(np.concatenate([rows, more], axis=1), *along)
