"""Blocks of rows: how many, which rows are in which, and whether the order of the rows misleads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from numbers import Real

import numpy as np
from scipy.special import chdtri

from robscore._tools.messages import ArgumentError
from robscore._tools.typing import AnyArray, Array, BoolArray, IntArray
from robscore.rows.row_source import some_of


def n_blocks_for(n: int, contamination: float) -> int:
    """Number of blocks for n rows of which a share eps is bad: the paper's K = 4 eps n.

    It is rounded to the nearest integer in [1, n] (section 3.4).

    Examples
    --------
    >>> import robscore as rs
    >>> rs.n_blocks_for(1000, 0.05)
    200
    """
    check_contamination(contamination)
    if not isinstance(n, int | np.integer) or n < 1:
        raise ArgumentError("n", n, "must be a whole number of rows, at least 1.")
    return int(min(max(np.floor(4 * contamination * n + 0.5), 1), n))


def check_contamination(contamination: float) -> None:
    """Raise unless 0 <= contamination < 0.5."""
    if not isinstance(contamination, Real) or not 0 <= contamination < 0.5:
        raise ArgumentError(
            "contamination",
            contamination,
            "must lie in [0, 0.5): it is the share of bad rows, and no estimator can tell good from bad at a half.",
        )


def check_n_blocks(n_blocks: int, n: int) -> None:
    """Raise unless n_blocks is an integer in [1, n]."""
    if isinstance(n_blocks, bool) or not isinstance(n_blocks, int | np.integer) or not 1 <= n_blocks <= n:
        raise ArgumentError("n_blocks", n_blocks, f"must be an integer between 1 and the number of rows, {n}.")


def make_blocks(n: int, n_blocks: int, rng: np.random.Generator | None = None) -> list[IntArray]:
    """Cut n rows into blocks whose sizes differ by at most one.

    Rows keep their order, or are shuffled by ``rng``.

    Examples
    --------
    >>> import robscore as rs
    >>> [block.tolist() for block in rs.medians.make_blocks(7, 3)]
    [[0, 1, 2], [3, 4], [5, 6]]
    """
    partition = Partition.even(n, n_blocks, rng)
    return np.split(partition.order, partition.starts[1:])


@dataclass(frozen=True)
class Partition:
    """Blocks of rows.

    Attributes
    ----------
    permutation : integer array, or None
        The rows of all blocks, one after the other; None where these are all rows as they come.
    sizes : integer array of shape (K,)
    frequency : array, or None
        How many times every row counts, in the order of the blocks; None where each counts once.
    """

    permutation: IntArray | None
    sizes: IntArray
    frequency: Array | None = None

    @classmethod
    def from_blocks(cls, blocks: list[IntArray]) -> Partition:
        """Make a partition of a list of row-index arrays; every block needs a row."""
        sizes = np.array([len(block) for block in blocks], dtype=np.intp)
        if sizes.size == 0 or (sizes == 0).any():
            raise ValueError("Every block must hold at least one row.")
        return cls(np.concatenate([np.asarray(block, dtype=np.intp) for block in blocks]), sizes)

    @classmethod
    def even(
        cls, n: int, n_blocks: int, rng: np.random.Generator | None = None, frequency: Array | None = None
    ) -> Partition:
        """Make the blocks of :func:`make_blocks`, without a list of them.

        Where rows have frequencies, shape (n,), every row stays whole and blocks have nearly equal sums of these.
        """
        check_n_blocks(n_blocks, n)
        permutation = None if rng is None else rng.permutation(n)
        if frequency is not None:
            ordered = frequency if permutation is None else frequency[permutation]
            return cls(permutation, _nearly_equal(ordered, n_blocks), ordered)
        sizes = np.full(n_blocks, n // n_blocks, dtype=np.intp)
        sizes[: n % n_blocks] += 1
        return cls(permutation, sizes)

    @property
    def order(self) -> IntArray:
        """The rows of all blocks, one after the other."""
        return np.arange(self.n_rows) if self.permutation is None else self.permutation

    @cached_property
    def n_rows(self) -> int:
        """The number of rows in all blocks."""
        return int(self.sizes.sum())

    def ordered(self, rows: AnyArray) -> AnyArray:
        """Put an array with one entry per row in the order of the blocks."""
        return rows if self.permutation is None else rows[self.permutation]

    @property
    def n_blocks(self) -> int:
        """K."""
        return self.sizes.size

    @cached_property
    def starts(self) -> IntArray:
        """Position in ``order`` of each block's first row, shape (K,)."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.intp)

    def sampled(self, n_rows: int, at_least: int) -> Partition:
        """Choose about so many rows: the first rows of blocks evenly spread over all, of each at least so many."""
        each = max(at_least, n_rows // self.n_blocks)
        sizes = np.minimum(self.sizes, each)
        count = min(self.n_blocks, max(1, n_rows // max(1, int(sizes.max()))))
        chosen = np.unique(np.linspace(0, self.n_blocks - 1, count).round().astype(np.intp))
        index = np.concatenate([np.arange(self.starts[k], self.starts[k] + sizes[k]) for k in chosen])
        return Partition(index if self.permutation is None else self.permutation[index], sizes[chosen])

    def block_of(self, n: int) -> IntArray:
        """The block of each of n rows, shape (n,); -1 for rows in no block."""
        blocks = np.repeat(np.arange(self.n_blocks, dtype=np.int32), self.sizes)
        if self.permutation is None:
            return blocks  # type: ignore[return-value]
        numbers = np.full(n, -1, dtype=np.int32)
        numbers[self.permutation] = blocks
        return numbers  # type: ignore[return-value]

    def along(self, n: int) -> tuple[AnyArray, ...]:
        """The arrays by which n rows are summed piece by piece: their block, and their frequency if they have one."""
        if self.frequency is None:
            return (self.block_of(n),)
        frequency = np.zeros(n)
        frequency[self.order] = self.frequency
        return self.block_of(n), frequency

    def by_size(self) -> Iterator[tuple[int, IntArray, IntArray]]:
        """Yield each block size s, the k blocks that have it, and the positions of their rows in ``order``, (k, s)."""
        for size in np.unique(self.sizes):
            members = np.flatnonzero(self.sizes == size)
            yield int(size), members, self.starts[members, None] + np.arange(size)

    def sums(self, ordered_rows: Array) -> Array:
        """Sum rows (already in ``order``) over blocks, along axis 0."""
        if self.n_blocks == self.n_rows:
            return ordered_rows
        result: Array = np.add.reduceat(ordered_rows, self.starts, axis=0)
        return result

    @cached_property
    def totals(self) -> Array | IntArray:
        """Divisors of block sums that give block means: sizes of the blocks, or sums of frequencies, shape (K,)."""
        return self.sizes if self.frequency is None else np.add.reduceat(self.frequency, self.starts)

    def repeated(self, ordered_rows: Array) -> Array:
        """Multiply rows (already in ``order``) by their frequency."""
        if self.frequency is None:
            return ordered_rows
        return ordered_rows * self.frequency.reshape((-1,) + (1,) * (ordered_rows.ndim - 1))

    def only(self, blocks: BoolArray) -> Partition:
        """Keep some of the blocks, a boolean array of shape (K,)."""
        kept = np.repeat(blocks, self.sizes)
        return Partition(self.order[kept], self.sizes[blocks], some_of(self.frequency, np.flatnonzero(kept)))

    def means(self, rows: Array) -> Array:
        """Block means of rows given in their original order."""
        sums = self.sums(self.repeated(self.ordered(rows)))
        return sums / self.totals.reshape((-1,) + (1,) * (rows.ndim - 1))

    def row_weights(self, block_weights: Array, n: int) -> Array:
        """c_i = w_block(i) / |block(i)|, shape (n,), times the row's frequency."""
        spread = self.repeated(np.repeat(block_weights / self.totals, self.sizes))
        if self.permutation is None:
            return spread
        weights = np.zeros(n)
        weights[self.permutation] = spread
        return weights


def _nearly_equal(frequency: Array, n_blocks: int) -> IntArray:
    """Return sizes of K blocks of neighbours with nearly equal sums of frequencies, each with a row at least."""
    n = frequency.size
    middle = np.cumsum(frequency) - frequency / 2
    ends = np.searchsorted(middle, middle[-1] * np.arange(1, n_blocks) / n_blocks + 1e-9)
    every = np.arange(1, n_blocks)
    ends = np.maximum.accumulate(np.maximum(ends, every) - every) + every  # ascending, with room for those before
    ends = np.minimum(ends, n - n_blocks + every)
    return np.diff(ends, prepend=0, append=n).astype(np.intp)


def halves(n: int, block_size: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Split the positions of n rows into two random halves, each in order, of whole blocks of neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.rows.partition import halves
    >>> [half.tolist() for half in halves(7, 2, np.random.default_rng(0))]
    [[0, 1, 4, 5], [2, 3, 6]]
    """
    n_blocks = -(-n // block_size)
    chosen = np.zeros(n_blocks, dtype=bool)
    chosen[rng.permutation(n_blocks)[: n_blocks // 2]] = True
    first = np.repeat(chosen, block_size)[:n]
    return np.flatnonzero(first), np.flatnonzero(~first)


def scatter_ratio(ranks: Array, partition: Partition) -> tuple[float, float]:
    """Compare the scatter of block means with that of a random partition; return the ratio and what chance may reach.

    It is the largest ratio of some statistics of the rows, whose ranks, shape (n, q), bad rows cannot dominate. A ratio
    far above one means that neighbouring rows resemble each other: sorted data, or a strong serial dependence.
    """
    n, n_blocks = ranks.shape[0], partition.n_blocks
    if n_blocks < 2 or n_blocks == n:
        return 1.0, np.inf
    ranks = ranks - ranks.mean(axis=0)
    variance = (ranks**2).sum(axis=0) / (n - 1)
    varying = variance > 0
    if not varying.any():
        return 1.0, np.inf
    means = partition.means(ranks[:, varying])
    # Under a random partition a block mean of s of n rows has variance (sigma^2 / s) (1 - s / n).
    expected = variance[varying] * np.sum(1 - partition.sizes / n)
    ratios = (partition.sizes[:, None] * means**2).sum(axis=0) / expected
    return float(ratios.max()), float(chdtri(n_blocks - 1, 1e-5 / ratios.size) / (n_blocks - 1))
