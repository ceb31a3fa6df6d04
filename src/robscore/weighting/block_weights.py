"""The weights that the geometric median of means gives the rows.

Gamma-hat and g-hat are convex combinations of block means, hence of rows: one weight vector for each,

    c_i = w_block(i) / |block(i)|

Everything after them is ordinary weighted score matching.
"""

from __future__ import annotations

from typing import TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from robscore._tools.messages import About, ArgumentError, Message, Remark, Setting, UsageError
from robscore._tools.typing import Array, BoolArray, RandomState
from robscore.elements import PARTS, Elements, Part
from robscore.elements.inner_products import Way, block_cloud, cheapest_way, row_products, summed_over_blocks
from robscore.medians.clouds import GramCloud
from robscore.medians.geometric_median import median_weights
from robscore.medians.median_of_means import partitions
from robscore.rows.partition import Partition, scatter_ratio
from robscore.weighting.row_weights import RowWeights

Products: TypeAlias = dict[Part, Array]

_FEWEST_TIED = 5  # blocks, for ties to be looked at
_MOST_RANKED, _FEWEST_A_BLOCK = 20_000, 20  # guards time: rows that are looked at to see whether they are sorted
_TIED_SHARE = 0.4  # more identical blocks than this may pull the median onto themselves


def robust_weights(
    elements: Elements,
    n_blocks: int,
    *,
    n_partitions: int = 1,
    shuffle: bool = False,
    random_state: RandomState = None,
    way: Way = "auto",
) -> RowWeights:
    """Weigh rows by the geometric median of means of Gamma and of g.

    Parameters
    ----------
    elements : from :func:`robscore.score_elements`
    n_blocks : int
        K, from 1 (equal weights: classic score matching) to n.
    n_partitions : int, default 1
        With more than one, average the weights over that many random partitions into blocks.
    shuffle : bool, default False
        Cut a random order of the rows into blocks instead of the given one.
    random_state : int, Generator or None
    way : {"auto", "rows", "nodes", "streamed"}, default "auto"
        How the inner products are computed; the weights are the same.

    Returns
    -------
    (gamma_weights, g_weights)
        n numbers each. A block with a row that overflows gets weight zero in both.

    Raises
    ------
    ValueError
        If half of the blocks or more hold a row that overflows; or if, of five blocks or more, over 40 % are identical.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> X = np.random.default_rng(0).exponential(size=(60, 2))
    >>> X[7] = 1e5
    >>> gamma_weights, g_weights = rs.robust_weights(rs.score_elements("sqrt", X), n_blocks=20)
    >>> bool(gamma_weights[7] < 1e-6), round(float(gamma_weights.sum()), 12)
    (True, 1.0)
    """
    weights, remarks = weigh_rows(
        elements, n_blocks, n_partitions=n_partitions, shuffle=shuffle, random_state=random_state, way=way
    )
    for remark in remarks:
        remark.warn(stacklevel=2)
    return weights


def weigh_rows(
    elements: Elements,
    n_blocks: int,
    *,
    n_partitions: int,
    shuffle: bool,
    random_state: RandomState,
    way: Way = "auto",
    products: Products | None = None,
    frequency: Array | None = None,
) -> tuple[RowWeights, list[Remark]]:
    """Do as :func:`robust_weights`, but return remarks instead of warning.

    ``products`` are inner products of the rows (:func:`shared_products`), where many partitions share them.
    Where rows have a frequency, shape (n,), blocks are made of whole rows and have nearly equal sums of these.
    """
    if not isinstance(elements, Elements):
        raise TypeError(f"elements must come from rs.score_elements(family, X); got {type(elements).__name__}.")
    if way not in get_args(Way):
        raise ArgumentError("way", way, f"is not known; use one of {', '.join(map(repr, get_args(Way)))}.")
    n = elements.n_rows
    if elements.streams and (shuffle or n_partitions > 1):
        _check_shuffled(elements, n_blocks)
    parts = partitions(n, n_blocks, n_partitions, shuffle=shuffle, random_state=random_state, frequency=frequency)
    remarks = []
    if n_partitions == 1 and not shuffle and n_blocks > 2:
        remarks += _remark_if_sorted(elements, Partition(parts[0].permutation, parts[0].sizes))
    finite = [_finite_blocks(elements, partition) for partition in parts]
    if n_blocks >= _FEWEST_TIED:
        keys = elements.row_keys()
        for partition, of_partition in zip(parts, finite, strict=True):
            _check_ties(keys, partition, of_partition)
        del keys  # so that their memory is free while medians are found
    if products is None and way == "auto" and n_partitions > 1:
        products = shared_products(elements)
    totals, failed = dict.fromkeys(PARTS, np.zeros(n)), 0
    for partition, of_partition in zip(parts, finite, strict=True):
        for part in PARTS:
            shared = None if products is None else products[part]
            blocks, converged = _block_weights(elements, part, partition, of_partition, way, shared)
            failed += not converged
            totals[part] = totals[part] + partition.row_weights(blocks / n_partitions, n)
    if failed:
        words = Message(
            f"The geometric median did not converge in {failed} of {2 * n_partitions} computations; try another ",
            Setting("n_blocks"),
            " or average over ",
            Setting("n_partitions"),
            " > 1.",
        )
        remarks.append(Remark(words, ConvergenceWarning, About.NOT_CONVERGED))
    return RowWeights(totals["gamma"], totals["g"], frequency=frequency), remarks


def shared_products(elements: Elements) -> Products | None:
    """Compute inner products of all rows for Gamma and g once for many partitions.

    None where they take too much memory, or where block means are cheaper.
    """
    n = elements.n_rows
    if any(cheapest_way(elements, part, max(n // 3, 1), n) != "rows" for part in PARTS):
        return None
    gamma = row_products(elements, "gamma")
    if gamma is None:
        return None
    g = row_products(elements, "g")
    return None if g is None else {"gamma": gamma, "g": g}


def _check_shuffled(elements: Elements, n_blocks: int) -> None:
    """Raise where random blocks of rows that are streamed are so many that their means cannot be held."""
    if any(cheapest_way(elements, part, n_blocks, elements.n_rows) != "nodes" for part in PARTS):
        raise UsageError(
            Setting("shuffle", value=True),
            f" and n_partitions > 1 need rows in memory where there are {n_blocks} blocks, and these rows are "
            "streamed: put them in random order once, where they are stored, and pass shuffle=False; or use fewer "
            "blocks.",
        )


def _block_weights(
    elements: Elements, part: Part, partition: Partition, finite: BoolArray, way: Way, products: Array | None
) -> tuple[Array, bool]:
    """Weigh all K blocks; zero for those that are infinitely far."""
    weights = np.zeros(partition.n_blocks)
    if np.count_nonzero(finite) <= 2:
        counts = np.ones(partition.n_blocks) if partition.frequency is None else partition.totals
        weights[finite] = counts[finite] / counts[finite].sum()
        return weights, True
    if not finite.all():
        partition = partition.only(finite)
    if products is None:
        cloud = block_cloud(elements, part, partition, way)
    else:
        cloud = GramCloud(summed_over_blocks(products, partition))
    # A block of rows that are repeated is as many points; of equal rows without frequencies each block is one.
    solved = median_weights(cloud, None if partition.frequency is None else partition.totals.astype(float))
    weights[finite] = solved.weights
    return weights, solved.converged


def _finite_blocks(elements: Elements, partition: Partition) -> BoolArray:
    """Find the blocks without a row that overflows; raise if these are not more than half."""
    finite = ~np.logical_or.reduceat(partition.ordered(elements.overflow), partition.starts)
    n_far = partition.n_blocks - np.count_nonzero(finite)
    if 2 * n_far >= partition.n_blocks:
        raise ValueError(
            f"{n_far} of {partition.n_blocks} blocks hold a row so large, or so near a boundary, that its elements "
            f"overflow ({np.count_nonzero(elements.overflow)} such rows); use more blocks, or drop those rows."
        )
    return finite


def _check_ties(keys: NDArray[np.uint64], partition: Partition, finite: BoolArray) -> None:
    """Raise when so many blocks hold the same rows, by their keys, that the median may be one of them."""
    # Sums that wrap around do not depend on the order of the rows in a block.
    sums = np.add.reduceat(partition.ordered(keys), partition.starts)[finite]
    tied = int(np.unique(sums, return_counts=True)[1].max())
    if tied > _TIED_SHARE * partition.n_blocks:
        raise ValueError(
            f"{tied} of {partition.n_blocks} blocks are identical (equal rows, for example rows of zeros), so the "
            "median may be one of them; drop duplicated rows, or use fewer blocks."
        )


def _remark_if_sorted(elements: Elements, partition: Partition) -> list[Remark]:
    """Warn where neighbouring rows resemble each other so much that blocks are groups of their own."""
    if elements.n_rows > _MOST_RANKED:
        partition = partition.sampled(_MOST_RANKED, _FEWEST_A_BLOCK)
        elements, partition = elements.subset(partition.order), Partition(None, partition.sizes)
    ratio, chance = scatter_ratio(elements.order_statistics(), partition)
    if ratio <= max(2.0, chance):
        return []
    words = Message(
        f"Neighbouring rows resemble each other: block means scatter {ratio:.1f} times as much as with rows in "
        "random order. If the rows are sorted or grouped, a smaller group can lose its weight: pass ",
        Setting("shuffle", value=True),
        " or ",
        Setting("n_partitions", 20),
        ". If they are a time series whose bad rows come in runs, leave them as they are.",
    )
    return [Remark(words, UserWarning, About.SORTED)]
