"""Rows that may be too many to hold: a source of them is read a piece at a time, in order, as often as needed.

Whatever looks at all rows does so by one of three methods: ``each`` (one result per piece), ``gather`` (results joined)
and ``total`` (results added up). Where the rows are is known to the source alone: in an array or a memory map
(:class:`ArrayRows`), in files, in a stream of Arrow, on a Dask cluster; or they are made of another source as they are
read: changed row by row (:class:`MappedRows`), or only some of them (:class:`SelectedRows`).
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
from robscore._tools.typing import AnyArray, AnyData, Array, IntArray

Work: TypeAlias = Callable[..., Any]

PIECE_BYTES = 4e6  # of rows that are read at a time; guards memory, and decides nothing


class Rows(ABC):
    """n rows of m numbers, in double precision when they are read; missing numbers are NaN.

    Attributes
    ----------
    n_rows, n_columns : int
    names : list of str, or None
        Names of the columns, where they have some.
    is_remote : bool
        Whether the work is done where the rows are, on other machines.
    frequency : array of shape (n,), or None
        How many times every row counts, larger than 0; None where each counts once.
    """

    n_rows: int
    n_columns: int
    names: list[str] | None = None
    is_remote: bool = False
    frequency: Array | None = None

    @abstractmethod
    def pieces(self, bounds: IntArray) -> Iterator[Array]:
        """Yield the rows between neighbouring bounds, of which 0 is the first and n the last, piece by piece."""

    def place(self, row: int) -> str:
        """Describe where a row is."""
        return f"row {row}"

    def at(self, row: int) -> RowAt:
        """Return a row for messages: its number among all, and where it is."""
        return RowAt(row, self.place(row))

    @property
    def n_repeated(self) -> int:
        """How many rows there are if each is repeated by its frequency."""
        return self.n_rows if self.frequency is None else round(float(self.frequency.sum()))

    @property
    def length(self) -> int:
        """The number of rows that a piece has by default."""
        return rows_within(PIECE_BYTES, self.n_columns, at_least=1)

    def each(
        self, work: Work, *along: AnyArray, length: int | None = None, starts: IntArray | None = None
    ) -> Iterator[tuple[int, Any]]:
        """Yield the number of the first row of every piece and ``work(rows, *pieces)``, in order.

        Parameters
        ----------
        work : callable
            Is given the rows of a piece, shape (r, m), and what belongs to them of the arrays ``along``.
        along : arrays of shape (n, ...)
        length : int, optional
            The largest number of rows of a piece.
        starts : integer array, optional
            Ascending, from 0: rows that pieces may start with. The rows between two of them are never cut, however
            many they are.
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
        """Join the results of ``work`` for all pieces along the first axis; for tuples, every part of them."""
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
        self, work: Work, *along: AnyArray, length: int | None = None, starts: IntArray | None = None, onto: Any = None
    ) -> Any:
        """Add up the results of ``work`` for all pieces; in place onto ``onto``, if that is given."""
        for _, result in self.each(work, *along, length=length, starts=starts):
            onto = result if onto is None else added(onto, result)
        return onto

    def counted(self, frequency: Array | None) -> Self:
        """Return the same rows with a frequency, shape (n,): how many times each counts."""
        same = copy(self)
        same.frequency = frequency
        return same

    def sample(self, size: int, rng: np.random.Generator) -> IntArray:
        """Draw the positions of so many rows at random, ascending."""
        return np.sort(rng.choice(self.n_rows, size=size, replace=False, shuffle=False))

    def take(self, index: IntArray) -> Array:
        """Return some rows, in the order of the index, shape (index, m)."""
        order = np.argsort(index, kind="stable")
        wanted, result = index[order], np.empty((index.size, self.n_columns))
        bounds = cut(self.n_rows, self.length)
        for (low, high), rows in zip(_pairs(bounds), self.pieces(bounds), strict=True):
            first, last = np.searchsorted(wanted, [low, high])
            result[order[first:last]] = rows[wanted[first:last] - low]
        return result

    def mapped(self, change: Callable[[Array], Array], n_columns: int | None = None) -> Rows:
        """Return the rows as ``change`` makes them, piece by piece; with ``n_columns`` columns, if these are others."""
        return MappedRows(self, change, n_columns=n_columns)

    def selected(self, index: IntArray) -> Rows:
        """Return some rows, by an ascending index."""
        return self if index.size == self.n_rows else SelectedRows(self, index)


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
        """Yield slices of the array."""
        for low, high in _pairs(bounds):
            yield np.asarray(self.values[low:high], dtype=float)

    def take(self, index: IntArray) -> Array:
        """Return some rows, at once."""
        return np.asarray(self.values[index], dtype=float)

    def mapped(self, change: Callable[[Array], Array], n_columns: int | None = None) -> Rows:
        """Change the rows here and now, if they are held as a whole."""
        if not self.whole:
            return super().mapped(change, n_columns)
        return ArrayRows(change(np.asarray(self.values, dtype=float)), self.names).counted(self.frequency)

    def selected(self, index: IntArray) -> Rows:
        """Copy some rows, if they are held as a whole."""
        if not self.whole or index.size == self.n_rows:
            return super().selected(index)
        return ArrayRows(self.values[index], self.names).counted(some_of(self.frequency, index))


class MappedRows(Rows):
    """Rows of another source that are changed as they are read; their number and order stay.

    Parameters
    ----------
    rows : Rows
    change : callable
        Is given the rows of a piece, shape (r, m), and what belongs to them of the arrays ``along``.
    along : arrays of shape (n, ...)
    n_columns : int, optional
        The number of columns, if the change leaves another one.
    """

    def __init__(
        self, rows: Rows, change: Callable[..., Array], *along: AnyArray, n_columns: int | None = None
    ) -> None:
        self.rows, self.change, self.along = rows, change, along
        self.n_rows, self.n_columns, self.names = rows.n_rows, n_columns or rows.n_columns, rows.names
        self.is_remote, self.frequency = rows.is_remote, rows.frequency

    def place(self, row: int) -> str:
        """Describe where the row is in the other source."""
        return self.rows.place(row)

    def at(self, row: int) -> RowAt:
        """Return the row before it was changed."""
        return self.rows.at(row)

    def pieces(self, bounds: IntArray) -> Iterator[Array]:
        """Change the pieces of the other source one by one."""
        for (low, high), piece in zip(_pairs(bounds), self.rows.pieces(bounds), strict=True):
            yield self.change(piece, *(array[low:high] for array in self.along))

    def each(self, work: Work, *along: AnyArray, **how: Any) -> Iterator[tuple[int, Any]]:
        """Work on the changed rows wherever the other source has its rows."""
        return self.rows.each(self._on_changed(work), *self.along, *along, **how)

    def total(self, work: Work, *along: AnyArray, **how: Any) -> Any:
        """Add up wherever the other source has its rows."""
        return self.rows.total(self._on_changed(work), *self.along, *along, **how)

    def _on_changed(self, work: Work) -> Work:
        return partial(_on_changed, self.change, len(self.along), work)

    def sample(self, size: int, rng: np.random.Generator) -> IntArray:
        """Draw as the other source does."""
        return self.rows.sample(size, rng)

    def take(self, index: IntArray) -> Array:
        """Change rows after they are taken."""
        return self.change(self.rows.take(index), *(array[index] for array in self.along))

    def selected(self, index: IntArray) -> Rows:
        """Select rows before they are changed."""
        along = (array[index] for array in self.along)
        some = MappedRows(self.rows.selected(index), self.change, *along, n_columns=self.n_columns)
        return some.counted(some_of(self.frequency, index))


class SelectedRows(Rows):
    """Some rows of another source, by an ascending index."""

    def __init__(self, rows: Rows, index: IntArray) -> None:
        self.rows, self.index = rows, index
        self.n_rows, self.n_columns, self.names = index.size, rows.n_columns, rows.names
        self.is_remote, self.frequency = rows.is_remote, some_of(rows.frequency, index)

    def place(self, row: int) -> str:
        """Describe where the row was before it was selected."""
        return self.rows.place(int(self.index[row]))

    def at(self, row: int) -> RowAt:
        """Return the row before it was selected."""
        return self.rows.at(int(self.index[row]))

    def pieces(self, bounds: IntArray) -> Iterator[Array]:
        """Read over all rows of the other source, and keep those selected."""
        inner = cut(self.rows.n_rows, self.rows.length)
        among = np.searchsorted(self.index, inner)

        def kept() -> Iterator[Array]:
            for position, rows in enumerate(self.rows.pieces(inner)):
                own = self.index[among[position] : among[position + 1]] - inner[position]
                if own.size:
                    yield rows[own]

        return repieced(kept(), bounds)

    def selected(self, index: IntArray) -> Rows:
        """Return some of these rows."""
        return self.rows.selected(self.index[index]).counted(some_of(self.frequency, index))


def as_rows(X: Array | Rows) -> Rows:
    """Return an array of shape (n, m) as rows that are held; rows as they are."""
    return X if isinstance(X, Rows) else ArrayRows(X)


def with_columns(rows: Rows, more: Array) -> Rows:
    """Return the rows, wherever they are, each with more numbers at its end, shape (n, q), which are held in memory.

    The names stay those of the first columns.
    """
    return MappedRows(rows, _beside, more, n_columns=rows.n_columns + more.shape[1])


def _beside(rows: Array, more: Array) -> Array:
    return np.concatenate([rows, more], axis=1)


def _on_changed(change: Callable[..., Array], n_along: int, work: Work, rows: Array, *along: AnyArray) -> Any:
    return work(change(rows, *along[:n_along]), *along[n_along:])


def some_of(array: Array | None, index: IntArray) -> Array | None:
    """Return some entries of an array; None for None."""
    return None if array is None else array[index]


def cut(n: int, length: int, starts: IntArray | None = None) -> IntArray:
    """Return bounds of pieces of at most ``length`` of n rows, from 0 to n; with ``starts`` among these alone.

    Examples
    --------
    >>> from robscore.rows.row_source import cut
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
    """Yield rows that come in arrays of any length, cut at the bounds instead."""
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
    """Join arrays, or tuples of arrays, one after the other."""
    if isinstance(results[0], tuple):
        return tuple(joined(list(parts)) for parts in zip(*results, strict=True))
    return results[0] if len(results) == 1 else np.concatenate(results)


def added(total: Any, more: Any) -> Any:
    """Return the sum of two results, in place where that is possible; of lists and tuples, the sum of every part."""
    if isinstance(total, list | tuple):
        return type(total)(added(a, b) for a, b in zip(total, more, strict=True))
    total += more
    return total


def _room_for(part: AnyArray, own: int, n_rows: int) -> AnyArray:
    """Return an array for the parts of all pieces; an empty one where this part has no entry for each of its rows."""
    return np.empty((n_rows if len(part) == own else 0, *part.shape[1:]), dtype=part.dtype)


def _pairs(bounds: IntArray) -> list[tuple[int, int]]:
    return list(pairwise(bounds.tolist()))
