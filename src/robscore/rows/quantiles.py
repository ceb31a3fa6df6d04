"""Exact quantiles of columns whose rows are read a piece at a time.

A double precision number and its bits, read as an integer, are in the same order. So the first bits of a quantile are
found by counting in one pass over the rows, and the numbers that share them, a small part, are sorted in the next.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robscore._tools.typing import Array
from robscore.rows.row_source import ArrayRows, Rows

_COUNTERS = 2**21  # in all columns together; guards memory
_HELD = 4_000_000  # numbers that may be held and sorted; guards memory
_BITS = 64
_ROUNDING = 1e-9  # of sums of frequencies
_SIGN = np.uint64(1 << 63)


def column_quantiles(rows: Array | Rows, q: float) -> Array:
    """Compute the q-quantile of every column, shape (m,), by linear interpolation as NumPy does; NaN is left out.

    The quantile is NaN where a column has nothing else. A row counts as many times as its frequency says.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.rows import ArrayRows
    >>> from robscore.rows.quantiles import column_quantiles
    >>> X = np.array([[1.0, 5.0], [2.0, np.nan], [4.0, 7.0]])
    >>> column_quantiles(ArrayRows(X, whole=False), 0.5).tolist()
    [2.0, 6.0]
    """
    if isinstance(rows, ArrayRows) and rows.whole and rows.frequency is None:
        rows = rows.values
    if not isinstance(rows, Rows):
        return np.array([_quantile(np.sort(column[~np.isnan(column)]), q) for column in np.asarray(rows).T])
    along = () if rows.frequency is None else (rows.frequency,)
    counted = rows.total(_count, *along)
    below = np.zeros(rows.n_columns, dtype=counted.dtype)  # entries smaller than all with the known bits
    prefix, known = np.zeros(rows.n_columns, dtype=np.uint64), 0  # the known bits of every quantile, and how many
    inside = counted.copy()  # entries with the known bits
    step = max(1, int(np.log2(_COUNTERS / rows.n_columns)))
    rank = np.maximum(q * (counted - 1), 0)
    low = np.floor(rank + _ROUNDING).astype(np.int64)
    while inside.sum() > _HELD and known < _BITS:
        bits = min(step, _BITS - known)
        counts = rows.total(partial(_histogram, prefix=prefix, known=known, bits=bits), *along)
        upto = below[:, None] + np.cumsum(counts, axis=1)
        chosen = np.minimum((upto <= low[:, None] + _ROUNDING).sum(axis=1), counts.shape[1] - 1)
        each = np.arange(rows.n_columns)
        inside = counts[each, chosen]
        below = upto[each, chosen] - inside
        prefix, known = (prefix << np.uint64(bits)) | chosen.astype(np.uint64), known + bits
    # The value at the lower rank and the next one, which have the known bits; or the smallest above those.
    found = rows.total(partial(_inside, prefix=prefix, known=known), *along)
    result = np.full(rows.n_columns, np.nan)
    for j in np.flatnonzero(counted):
        value, following = found[j].next_two(float(low[j] - below[j]), inside[j])
        following = following if low[j] + 1 + _ROUNDING < counted[j] else value
        result[j] = _between(value, following, max(float(rank[j] - low[j]), 0.0))
    return result


class _Found:
    """The numbers of a column that have the known bits, their frequencies, and the smallest number above all these.

    Where all bits are known the numbers are not listed, since all are equal to the first.
    """

    def __init__(self, values: list[Array], frequencies: list[Array], first: Array, above: float) -> None:
        self.values, self.frequencies, self.first, self.above = values, frequencies, first, above

    def __iadd__(self, more: _Found) -> _Found:
        first = self.first if self.first.size else more.first
        frequencies = self.frequencies + more.frequencies
        return _Found(self.values + more.values, frequencies, first, min(self.above, more.above))

    def next_two(self, rank: float, in_all: float) -> tuple[float, float]:
        """Return the number at a rank among those with the known bits, ``in_all`` together, and the next one."""
        if not self.values:
            return float(self.first[0]), float(self.first[0]) if rank + 1 + _ROUNDING < in_all else self.above
        values = np.concatenate(self.values)
        order = np.argsort(values, kind="stable")
        held = values[order]
        if self.frequencies:
            reached = np.cumsum(np.concatenate(self.frequencies)[order]) - _ROUNDING
            at, after = np.searchsorted(reached, [rank, rank + 1], side="right").tolist()
        else:
            at, after = int(rank), int(rank) + 1
        return float(held[min(at, held.size - 1)]), float(held[after]) if after < held.size else self.above


def _count(rows: Array, frequency: Array | None = None) -> NDArray[Any]:
    present = ~np.isnan(rows)
    return np.count_nonzero(present, axis=0) if frequency is None else frequency @ present


def _keys(column: Array) -> NDArray[np.uint64]:
    """Return integers that are in the order of the numbers."""
    bits = (column + 0.0).view(np.uint64)  # -0 becomes 0
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _histogram(
    rows: Array, frequency: Array | None = None, *, prefix: NDArray[np.uint64], known: int, bits: int
) -> NDArray[Any]:
    """Count how many times each value of the next bits follows the known ones, shape (m, 2^bits)."""
    counts = np.zeros((rows.shape[1], 2**bits), dtype=np.int64 if frequency is None else float)
    for j, column in enumerate(rows.T):
        present = ~np.isnan(column)
        keys, weights = _keys(column[present]), None if frequency is None else frequency[present]
        if known:
            same = keys >> np.uint64(_BITS - known) == prefix[j]
            keys, weights = keys[same], None if weights is None else weights[same]
        following = (keys >> np.uint64(_BITS - known - bits)) & np.uint64(2**bits - 1)
        counts[j] = np.bincount(following.astype(np.intp), weights=weights, minlength=2**bits)
    return counts


def _inside(rows: Array, frequency: Array | None = None, *, prefix: NDArray[np.uint64], known: int) -> list[_Found]:
    """Find the numbers of every column with the known bits."""
    found = []
    for j, column in enumerate(rows.T):
        present = ~np.isnan(column)
        numbers, frequencies = column[present], [] if frequency is None else [frequency[present]]
        if not known:
            found.append(_Found([numbers], frequencies, numbers[:1], np.inf))
            continue
        own = _keys(numbers) >> np.uint64(_BITS - known)
        same = own == prefix[j]
        values = numbers[same]
        all_known = known == _BITS  # then all values are equal
        kept = [] if all_known else [values]
        frequencies = [] if all_known else [part[same] for part in frequencies]
        found.append(_Found(kept, frequencies, values[:1], numbers[own > prefix[j]].min(initial=np.inf)))
    return found


def _quantile(ordered: Array, q: float) -> float:
    if not ordered.size:
        return np.nan
    rank = q * (ordered.size - 1)
    low = int(rank)
    return _between(ordered[low], ordered[min(low + 1, ordered.size - 1)], rank - low)


def _between(low: float, high: float, share: float) -> float:
    """Return the median as NumPy does; other quantiles by their share of the way; never beyond the two numbers."""
    if share == 0 or low == high or np.isinf(low):
        return float(low)
    with np.errstate(over="ignore"):
        whole, way = low + high, high - low
    if share == 0.5:
        return float(whole) / 2 if np.isfinite(whole) else low / 2 + high / 2
    return float(low + way * share) if np.isfinite(way) else low * (1 - share) + high * share
