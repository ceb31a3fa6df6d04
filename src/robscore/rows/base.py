"""Rows that may be too many to hold: read a piece at a time, in order, as often as it takes.

Everything that looks at all rows is one of three verbs: ``each`` (a result a piece), ``gather`` (results joined) and
``total`` (results added up). Where the rows are is known here and nowhere else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from copy import copy
from functools import partial
from itertools import pairwise
from typing import Any, Self, TypeAlias

import numpy as np

from robscore._tools.memory import rows_within
from robscore._tools.messages import RowAt
from robscore._tools.progress import announce
from robscore._tools.threads import in_threads
from robscore._tools.typing import AnyArray, Array, IntArray

Work: TypeAlias = Callable[..., Any]

PIECE_BYTES = 4e6


class Rows(ABC):
    """n rows of m numbers, in double precision when they are read; what is missing is NaN.

    Attributes
    ----------
    n_rows, n_columns : int
    names : list of str, or None
        Names of the columns, where they have some.
    is_remote : bool
        Whether the work is done where the rows are, on other machines.
    frequency : array of shape (n,), or None
        How often every row counts, larger than 0; None where each counts once.
    """

    n_rows: int
    n_columns: int
    names: list[str] | None = None
    is_remote: bool = False
    frequency: Array | None = None

    @abstractmethod
    def pieces(self, bounds: IntArray) -> Iterator[Array]:
        """The rows between neighbouring bounds, 0 the first and n the last, one piece after the other."""

    def place(self, row: int) -> str:
        """Where a row is, in words."""
        return f"row {row}"

    def at(self, row: int) -> RowAt:
        """A row for messages: its number among all, and where it is."""
        return RowAt(row, self.place(row))

    @property
    def length(self) -> int:
        """Rows of a piece by default."""
        return rows_within(PIECE_BYTES, self.n_columns, at_least=1)

    def each(
        self, work: Work, *along: AnyArray, length: int | None = None, starts: IntArray | None = None
    ) -> Iterator[tuple[int, Any]]:
        """The first row of every piece and ``work(rows, *pieces)``, in order.

        Parameters
        ----------
        work : callable
            Is given the rows of a piece, shape (r, m), and what belongs to them of the arrays ``along``.
        along : arrays of shape (n, ...)
        length : int, optional
            Rows of a piece, at most.
        starts : integer array, optional
            Ascending, from 0: rows that pieces may start with. A stretch between two of them is never cut, however
            long.
        """
        bounds = cut(self.n_rows, length or self.length, starts)
        spans = _pairs(bounds)

        def at_work(piece: tuple[tuple[int, int], Array]) -> Any:
            (low, high), rows = piece
            return work(rows, *(array[low:high] for array in along))

        pieces = zip(spans, self.pieces(bounds), strict=True)
        if len(spans) > 1:
            announce("reading rows", 0, self.n_rows)
        with closing(in_threads(at_work, pieces, at_once=len(spans) == 1)) as results:
            for (low, high), result in zip(spans, results, strict=True):
                yield low, result
                if len(spans) > 1:
                    announce("reading rows", high, self.n_rows)

    def gather(self, work: Work, *along: AnyArray, length: int | None = None, starts: IntArray | None = None) -> Any:
        """What ``work`` makes of all pieces, joined along the first axis; for tuples, of every part."""
        whole: list[AnyArray] = []  # filled in as results come, where they have one entry per row
        results = []
        for low, result in self.each(work, *along, length=length, starts=starts):
            parts = result if isinstance(result, tuple) else (result,)
            if low == 0 and starts is None and len(parts[0]) < self.n_rows:
                whole = [_room_for(part, len(parts[0]), self.n_rows) for part in parts]
            if not whole:
                results.append(result)
            for room, part in zip(whole, parts, strict=False):
                room[low : low + len(part)] = part
        if not whole:
            return joined(results)
        return tuple(whole) if isinstance(result, tuple) else whole[0]

    def total(
        self,
        work: Work,
        *along: AnyArray,
        length: int | None = None,
        starts: IntArray | None = None,
        onto: Any = None,
    ) -> Any:
        """What ``work`` makes of all pieces, added up; added to ``onto`` in place, if that is given."""
        for _, result in self.each(work, *along, length=length, starts=starts):
            onto = result if onto is None else added(onto, result)
        return onto

    def counted(self, frequency: Array | None) -> Self:
        """The same rows, each there as often as its frequency, shape (n,), says."""
        same = copy(self)
        same.frequency = frequency
        return same

    def sample(self, size: int, rng: np.random.Generator) -> IntArray:
        """Positions of so many rows, drawn at random, ascending."""
        return np.sort(rng.choice(self.n_rows, size=size, replace=False, shuffle=False))

    def take(self, index: IntArray) -> Array:
        """Some rows, in the order of the index, shape (index, m)."""
        order = np.argsort(index, kind="stable")
        wanted, result = index[order], np.empty((index.size, self.n_columns))
        bounds = cut(self.n_rows, self.length)
        for (low, high), rows in zip(_pairs(bounds), self.pieces(bounds), strict=True):
            first, last = np.searchsorted(wanted, [low, high])
            result[order[first:last]] = rows[wanted[first:last] - low]
        return result

    def mapped(self, change: Callable[[Array], Array], n_columns: int | None = None) -> Rows:
        """The rows as ``change`` makes them, piece by piece; say so if it leaves other columns."""
        return MappedRows(self, change, n_columns)

    def selected(self, index: IntArray) -> Rows:
        """Some rows, by an ascending index."""
        return self if index.size == self.n_rows else SelectedRows(self, index)


class MappedRows(Rows):
    """Rows that are changed as they are read; ``change`` keeps their number and order."""

    def __init__(self, rows: Rows, change: Callable[[Array], Array], n_columns: int | None = None) -> None:
        self.rows, self.change = rows, change
        self.n_rows, self.n_columns, self.names = rows.n_rows, n_columns or rows.n_columns, rows.names
        self.is_remote, self.frequency = rows.is_remote, rows.frequency

    def place(self, row: int) -> str:
        """Where the row was."""
        return self.rows.place(row)

    def at(self, row: int) -> RowAt:
        """The row before it was changed."""
        return self.rows.at(row)

    def pieces(self, bounds: IntArray) -> Iterator[Array]:
        """Changed one by one."""
        return map(self.change, self.rows.pieces(bounds))

    def each(
        self, work: Work, *along: AnyArray, length: int | None = None, starts: IntArray | None = None
    ) -> Iterator[tuple[int, Any]]:
        """As of the rows themselves, wherever they are."""
        return self.rows.each(partial(_changed, self.change, work), *along, length=length, starts=starts)

    def total(
        self,
        work: Work,
        *along: AnyArray,
        length: int | None = None,
        starts: IntArray | None = None,
        onto: Any = None,
    ) -> Any:
        """As of the rows themselves, wherever they are."""
        changed = partial(_changed, self.change, work)
        return self.rows.total(changed, *along, length=length, starts=starts, onto=onto)

    def sample(self, size: int, rng: np.random.Generator) -> IntArray:
        """As of the rows themselves."""
        return self.rows.sample(size, rng)

    def take(self, index: IntArray) -> Array:
        """Changed after they are taken."""
        return self.change(self.rows.take(index))

    def selected(self, index: IntArray) -> Rows:
        """Selected before they are changed."""
        some = MappedRows(self.rows.selected(index), self.change, self.n_columns)
        return some.counted(some_of(self.frequency, index))


class SelectedRows(Rows):
    """Some rows of others, by an ascending index."""

    def __init__(self, rows: Rows, index: IntArray) -> None:
        self.rows, self.index = rows, index
        self.n_rows, self.n_columns, self.names = index.size, rows.n_columns, rows.names
        self.is_remote, self.frequency = rows.is_remote, some_of(rows.frequency, index)

    def place(self, row: int) -> str:
        """Where the row was before it was selected."""
        return self.rows.place(int(self.index[row]))

    def at(self, row: int) -> RowAt:
        """The row before it was selected."""
        return self.rows.at(int(self.index[row]))

    def pieces(self, bounds: IntArray) -> Iterator[Array]:
        """Read over all rows, keep those selected."""
        inner = cut(self.rows.n_rows, self.rows.length)
        among = np.searchsorted(self.index, inner)

        def kept() -> Iterator[Array]:
            for position, rows in enumerate(self.rows.pieces(inner)):
                own = self.index[among[position] : among[position + 1]] - inner[position]
                if own.size:
                    yield rows[own]

        return repieced(kept(), bounds)

    def selected(self, index: IntArray) -> Rows:
        """Some of these."""
        return self.rows.selected(self.index[index]).counted(some_of(self.frequency, index))


def some_of(array: Array | None, index: IntArray) -> Array | None:
    """Some entries of an array that may not be there."""
    return None if array is None else array[index]


def cut(n: int, length: int, starts: IntArray | None = None) -> IntArray:
    """Bounds of pieces of at most so many of n rows, from 0 to n; with ``starts`` only there, however long they are.

    Examples
    --------
    >>> from robscore.rows.base import cut
    >>> cut(10, 4).tolist(), cut(10, 4, starts=[0, 3, 6, 9]).tolist()
    ([0, 4, 8, 10], [0, 3, 6, 10])
    """
    if starts is None:
        return np.append(np.arange(0, n, length), n)
    ends = np.append(starts, n)
    bounds = [0]
    while bounds[-1] < n:
        low = bounds[-1]
        within = ends[np.searchsorted(ends, low + length, side="right") - 1]
        bounds.append(int(within if within > low else ends[np.searchsorted(ends, low, side="right")]))
    return np.array(bounds)


def repieced(arrays: Iterable[Array], bounds: IntArray) -> Iterator[Array]:
    """Rows that come in arrays of any length, cut at the bounds instead."""
    incoming, left = iter(arrays), np.empty((0, 0))  # what is left of the last array
    for low, high in _pairs(bounds):
        parts, missing = [], high - low
        while missing > len(left):
            parts.append(left)
            missing -= len(left)
            more = next(incoming, None)
            if more is None:
                raise ValueError(f"There are fewer rows than the {bounds[-1]} expected.")
            left = more
        parts = [part for part in (*parts, left[:missing]) if len(part)]
        left = left[missing:]
        yield parts[0] if len(parts) == 1 else np.concatenate(parts)


def joined(results: list[Any]) -> Any:
    """Arrays, or tuples of arrays, one after the other."""
    if isinstance(results[0], tuple):
        return tuple(joined(list(parts)) for parts in zip(*results, strict=True))
    return results[0] if len(results) == 1 else np.concatenate(results)


def added(total: Any, more: Any) -> Any:
    """The sum of two results, in place where it can be; of lists and tuples, of every part."""
    if isinstance(total, list | tuple):
        return type(total)(added(a, b) for a, b in zip(total, more, strict=True))
    total += more
    return total


def _room_for(part: AnyArray, own: int, n_rows: int) -> AnyArray:
    """For all that is to come; nothing where a part is nothing."""
    return np.empty((n_rows if len(part) == own else 0, *part.shape[1:]), dtype=part.dtype)


def _pairs(bounds: IntArray) -> list[tuple[int, int]]:
    return list(pairwise(bounds.tolist()))


def _changed(change: Callable[[Array], Array], work: Work, rows: Array, *along: AnyArray) -> Any:
    return work(change(rows), *along)
