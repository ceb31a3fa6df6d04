"""Exact quantiles of columns that are only seen a piece at a time.

A double precision number and its bits, read as an integer, are in the same order. So the first bits of a quantile
are found by counting in one pass over the rows, and what shares them, a small part, is looked at in the next.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from robscore._tools.typing import Array
from robscore.rows.arrays import ArrayRows
from robscore.rows.base import Rows

_COUNTERS = 2**21  # in all columns together
_HELD = 4_000_000  # numbers that may be held and put in order
_BITS = 64
_SIGN = np.uint64(1 << 63)


def column_quantiles(rows: Array | Rows, q: float) -> Array:
    """The q-quantile of every column, shape (m,), by linear interpolation as NumPy has it; NaN entries do not count.

    NaN where a column has nothing else.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.rows import ArrayRows
    >>> from robscore.rows.quantiles import column_quantiles
    >>> X = np.array([[1.0, 5.0], [2.0, np.nan], [4.0, 7.0]])
    >>> column_quantiles(ArrayRows(X, whole=False), 0.5).tolist()
    [2.0, 6.0]
    """
    if isinstance(rows, ArrayRows) and rows.whole:
        rows = rows.values
    if not isinstance(rows, Rows):
        return np.array([_quantile(np.sort(column[~np.isnan(column)]), q) for column in np.asarray(rows).T])
    counted = rows.total(_count)
    below = np.zeros(rows.n_columns, dtype=np.int64)  # entries that are less than all with the known bits
    prefix, known = np.zeros(rows.n_columns, dtype=np.uint64), 0
    inside = counted.copy()
    step = max(1, int(np.log2(_COUNTERS / rows.n_columns)))
    rank = np.maximum(q * (counted - 1), 0)
    low = np.floor(rank).astype(np.int64)
    while inside.sum() > _HELD and known < _BITS:
        bits = min(step, _BITS - known)
        counts = rows.total(partial(_histogram, prefix=prefix, known=known, bits=bits))
        upto = below[:, None] + np.cumsum(counts, axis=1)
        chosen = np.minimum((upto <= low[:, None]).sum(axis=1), counts.shape[1] - 1)
        each = np.arange(rows.n_columns)
        inside = counts[each, chosen]
        below = upto[each, chosen] - inside
        prefix, known = (prefix << np.uint64(bits)) | chosen.astype(np.uint64), known + bits
    # The value at the lower rank, and the next one: in what shares the bits, or the least above that.
    found = rows.total(partial(_inside, prefix=prefix, known=known))
    result = np.full(rows.n_columns, np.nan)
    for j in np.flatnonzero(counted):
        held = np.sort(np.concatenate(found[j].values)) if known < _BITS else found[j].first.repeat(inside[j])
        at = int(low[j] - below[j])
        value = held[at]
        following = held[at + 1] if at + 1 < held.size else found[j].above
        result[j] = _between(value, following if low[j] + 1 < counted[j] else value, float(rank[j] - low[j]))
    return result


class _Found:
    """What a column has with the known bits, and the least value above all those."""

    def __init__(self, values: list[Array], first: Array, above: float) -> None:
        self.values, self.first, self.above = values, first, above

    def __iadd__(self, more: _Found) -> _Found:
        first = self.first if self.first.size else more.first
        return _Found(self.values + more.values, first, min(self.above, more.above))


def _count(rows: Array) -> NDArray[np.int64]:
    return np.count_nonzero(~np.isnan(rows), axis=0)


def _keys(column: Array) -> NDArray[np.uint64]:
    """Integers in the order of the numbers."""
    bits = (column + 0.0).view(np.uint64)  # -0 becomes 0
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _histogram(rows: Array, *, prefix: NDArray[np.uint64], known: int, bits: int) -> NDArray[np.int64]:
    """How often each of the next bits follows those known, shape (m, 2^bits)."""
    counts = np.zeros((rows.shape[1], 2**bits), dtype=np.int64)
    for j, column in enumerate(rows.T):
        keys = _keys(column[~np.isnan(column)])
        if known:
            keys = keys[keys >> np.uint64(_BITS - known) == prefix[j]]
        following = (keys >> np.uint64(_BITS - known - bits)) & np.uint64(2**bits - 1)
        counts[j] = np.bincount(following.astype(np.intp), minlength=2**bits)
    return counts


def _inside(rows: Array, *, prefix: NDArray[np.uint64], known: int) -> list[_Found]:
    found = []
    for j, column in enumerate(rows.T):
        numbers = column[~np.isnan(column)]
        if not known:
            found.append(_Found([numbers], numbers[:1], np.inf))
            continue
        own = _keys(numbers) >> np.uint64(_BITS - known)
        values = numbers[own == prefix[j]]
        kept = [values] if known < _BITS else []  # all bits known: all values are equal
        found.append(_Found(kept, values[:1], numbers[own > prefix[j]].min(initial=np.inf)))
    return found


def _quantile(ordered: Array, q: float) -> float:
    if not ordered.size:
        return np.nan
    rank = q * (ordered.size - 1)
    low = int(rank)
    return _between(ordered[low], ordered[min(low + 1, ordered.size - 1)], rank - low)


def _between(low: float, high: float, share: float) -> float:
    """The median as NumPy has it; other quantiles by their share of the way; never beyond the two numbers."""
    if share == 0 or low == high or np.isinf(low):
        return float(low)
    with np.errstate(over="ignore"):
        whole, way = low + high, high - low
    if share == 0.5:
        return float(whole) / 2 if np.isfinite(whole) else low / 2 + high / 2
    return float(low + way * share) if np.isfinite(way) else low * (1 - share) + high * share
