"""Three ways to compute inner products of block means, chosen by cost and memory.

rows      products of rows, summed over blocks: n^2 m operations, K^2 memory
nodes     block means one node at a time, their products accumulated: n m^3 + K^2 m^3, K m^2 memory
streamed  the current median M held explicitly, distances from <M, e(x)>: n m^3 per iteration, n + m^3 memory

All three lead to the same weights. K copies of Gamma are never held.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from robscore._tools.memory import chunks, rows_within
from robscore._tools.typing import Array
from robscore.elements.row_elements import Elements, Part
from robscore.medians.clouds import Cloud, GramCloud
from robscore.medians.geometric_median import median_weights
from robscore.rows.partition import Partition
from robscore.rows.row_source import some_of

Way: TypeAlias = Literal["auto", "rows", "nodes", "streamed"]

MEMORY_BYTES = 500e6  # that products may take; the way that is chosen by it decides rounding alone
_TILE_BYTES = 2e6  # of products at a time: they stay in the cache
_START_BLOCKS, _FEWEST_START_BLOCKS, _START_ROWS = 1000, 50, 20_000  # whose median the streamed way starts from
_ITERATIONS = 15  # that the streamed way typically takes, for the comparison of costs


def block_cloud(elements: Elements, part: Part, partition: Partition, way: Way = "auto") -> Cloud:
    """Return the K block means of Gamma or g as a cloud."""
    if way == "auto":
        way = cheapest_way(elements, part, partition.n_blocks, partition.n_rows)
    if way == "streamed":
        return StreamedCloud(elements, part, partition)
    return GramCloud(block_gram(elements, part, partition, way))


def cheapest_way(
    elements: Elements,
    part: Part,
    n_blocks: int,
    n_rows: int,
    ways: tuple[Way, ...] = ("rows", "nodes", "streamed"),
) -> Way:
    """Return the way with the fewest operations among those that fit in memory (the last one if none does)."""
    n, K = n_rows, n_blocks
    product, nodes, features = elements.cost(part)
    gram = 8.0 * K * K * 2
    cost: dict[Way, tuple[float, float]] = {
        "rows": (2.0 * n * n * product + 8.0 * n * n, gram + 3 * 8.0 * n * max(256, n / K)),
        "nodes": (2.0 * n * nodes * features * 3 + K * K * nodes * features, gram + 8.0 * K * features * 3),
        "streamed": (_ITERATIONS * 4.0 * n * nodes * features, 0.0),
    }
    if elements.streams:
        ways = tuple(way for way in ways if way != "rows")
    memory = max(elements.memory, MEMORY_BYTES)
    fitting = [way for way in ways if cost[way][1] <= memory] or [ways[-1]]
    return min(fitting, key=lambda way: cost[way][0])


def row_products(elements: Elements, part: Part) -> Array | None:
    """Return inner products of all rows, shape (n, n), for many partitions; None where they take too much memory."""
    n = elements.n_rows
    if 3 * 8.0 * n * n > MEMORY_BYTES:
        return None
    return _gram_by_rows(elements, part, Partition(None, np.ones(n, dtype=np.intp)))


def summed_over_blocks(products: Array, partition: Partition) -> Array:
    """Return the Gram matrix of the K block means, shape (K, K), from the inner products of the rows."""
    if partition.permutation is not None:
        products = products[np.ix_(partition.permutation, partition.permutation)]
    if partition.frequency is not None:
        products = partition.repeated(products) * partition.frequency
    if partition.n_blocks < partition.n_rows:
        products = np.add.reduceat(products, partition.starts, axis=1)
        products = np.add.reduceat(products, partition.starts, axis=0)
    return products / np.multiply.outer(partition.totals, partition.totals)


def block_gram(elements: Elements, part: Part, partition: Partition, way: Way = "auto") -> Array:
    """Return the Gram matrix of the K block means of Gamma or g, shape (K, K)."""
    if way == "auto":
        way = cheapest_way(elements, part, partition.n_blocks, partition.n_rows, ways=("rows", "nodes"))
    return elements.gram_by_nodes(part, partition) if way == "nodes" else _gram_by_rows(elements, part, partition)


def _gram_by_rows(elements: Elements, part: Part, partition: Partition) -> Array:
    K, n = partition.n_blocks, partition.n_rows
    gram = np.empty((K, K))
    rows = elements.ordered(partition)
    rows_a_tile = rows_within(_TILE_BYTES, n, at_least=256)  # several tiles, to gain from symmetry
    blocks_a_tile = max(1, rows_a_tile // int(partition.sizes.max()))
    ends = partition.starts + partition.sizes
    for tile in chunks(K, blocks_a_tile):
        # By symmetry only blocks from this tile on are needed.
        first, last = partition.starts[tile.start], ends[tile.stop - 1]
        left = type(rows)(*(array[first:last] for array in rows))
        right = type(rows)(*(array[first:] for array in rows))
        products = elements.products(part, left, right)
        if partition.frequency is not None:
            products *= partition.frequency[first:last, None]
            products *= partition.frequency[first:]
        if n > K:
            products = np.add.reduceat(products, partition.starts[tile.start :] - first, axis=1)
            products = np.add.reduceat(products, partition.starts[tile] - first, axis=0)
        gram[tile, tile.start :] = products
        gram[tile.start :, tile] = products.T
    return gram / np.multiply.outer(partition.totals, partition.totals)


class StreamedCloud(Cloud):
    """Block means that are never formed: every call runs over the rows once or twice."""

    def __init__(self, elements: Elements, part: Part, partition: Partition) -> None:
        self.elements, self.part, self.partition = elements, part, partition
        self.squared_norms = elements.block_squared_norms(part, partition)

    def _mean(self, coefficients: Array) -> Array:
        weights = self.partition.row_weights(coefficients, self.elements.n_rows)
        return self.elements.mean(self.part, weights)

    def inner(self, coefficients: Array) -> Array:
        """<M, mu_l> with M = sum_k v_k mu_k."""
        return self.partition.means(self.elements.inner(self.part, self._mean(coefficients)))

    def squared_norm(self, coefficients: Array) -> float:
        """|M|^2, from M itself."""
        return self.elements.mean_squared_norm(self.part, self._mean(coefficients))

    def start(self, multiplicity: Array) -> Array:
        """The median of at most 1000 blocks, evenly spread over all of them; of fewer where blocks are large."""
        K, sizes = self.partition.n_blocks, self.partition.sizes
        count = min(K, _START_BLOCKS, max(_FEWEST_START_BLOCKS, _START_ROWS // int(sizes.max())))
        sample = np.unique(np.linspace(0, K - 1, count).round().astype(int))
        starts, sizes = self.partition.starts[sample], sizes[sample]
        index = np.concatenate([np.arange(a, a + s) for a, s in zip(starts, sizes, strict=True)])
        permutation = self.partition.permutation
        some = self.elements.subset(index if permutation is None else permutation[index])
        blocks = Partition(None, sizes, some_of(self.partition.frequency, index))
        cloud = GramCloud(block_gram(some, self.part, blocks))
        weights = np.zeros(K)
        weights[sample] = median_weights(cloud, multiplicity[sample]).weights
        return weights
