"""Robust row weights: what the geometric median of means makes of the rows.

Gamma-hat and g-hat are convex combinations of block means, hence of rows: one weight vector for
each, c_i = w_block(i) / |block(i)|. Everything after them is ordinary weighted score matching.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple, get_args

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from robscore._typing import Array, BoolArray, RandomState
from robscore.elements import PARTS, PairwiseElements, Part
from robscore.inner_products import Way, block_cloud
from robscore.medians.blocks import Partition, scatter_ratio
from robscore.medians.geometric_median import median_weights
from robscore.medians.median_of_means import partitions

_TIED_SHARE = 0.4  # more identical blocks than this pull the median onto themselves


class RowWeights(NamedTuple):
    """Two weight vectors of shape (n,), each non-negative and summing to one."""

    gamma_weights: Array
    g_weights: Array


def robust_weights(
    elements: PairwiseElements,
    n_blocks: int,
    *,
    n_partitions: int = 1,
    shuffle: bool = False,
    random_state: RandomState = None,
    way: Way = "auto",
) -> RowWeights:
    """Row weights of the geometric median of means of Gamma and of g.

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

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> X = np.random.default_rng(0).exponential(size=(60, 2))
    >>> X[7] = 1e5
    >>> gamma_weights, g_weights = rs.robust_weights(rs.score_elements("sqrt", X), n_blocks=20)
    >>> bool(gamma_weights[7] < 1e-6), round(float(gamma_weights.sum()), 12)
    (True, 1.0)
    """
    if not isinstance(elements, PairwiseElements):
        raise TypeError(f"elements must come from rs.score_elements(family, X); got {type(elements).__name__}.")
    if way not in get_args(Way):
        raise ValueError(f"way={way!r} is not known; use one of {', '.join(map(repr, get_args(Way)))}.")
    n = elements.n_rows
    parts = partitions(n, n_blocks, n_partitions, shuffle=shuffle, random_state=random_state)
    if n_partitions == 1 and not shuffle and n_blocks > 2:
        _warn_if_sorted(elements, parts[0])
    totals = {part: np.zeros(n) for part in PARTS}
    failed = 0
    for partition in parts:
        finite = _finite_blocks(elements, partition)
        for part in PARTS:
            weights, converged = _block_weights(elements, part, partition, finite, way)
            totals[part] += partition.row_weights(weights, n) / n_partitions
            failed += not converged
            if part == "gamma":
                _check_ties(elements, partition, weights)
    if failed:
        warnings.warn(
            f"The geometric median did not converge in {failed} of {2 * n_partitions} computations; "
            "try another n_blocks or average over n_partitions > 1.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return RowWeights(totals["gamma"], totals["g"])


def _block_weights(
    elements: PairwiseElements, part: Part, partition: Partition, finite: BoolArray, way: Way
) -> tuple[Array, bool]:
    """Weights of all K blocks; zero for those that are infinitely far."""
    weights = np.zeros(partition.n_blocks)
    if np.count_nonzero(finite) <= 2:
        weights[finite] = 1.0 / np.count_nonzero(finite)
        return weights, True
    if not finite.all():
        kept = partition.order[np.repeat(finite, partition.sizes)]
        partition = Partition(kept, partition.sizes[finite])
    solved = median_weights(block_cloud(elements, part, partition, way))
    weights[finite] = solved.weights
    return weights, solved.converged


def _finite_blocks(elements: PairwiseElements, partition: Partition) -> BoolArray:
    """Blocks without a row that overflows; an error if these are not more than half."""
    finite = ~np.logical_or.reduceat(elements.overflow[partition.order], partition.starts)
    n_far = partition.n_blocks - np.count_nonzero(finite)
    if 2 * n_far >= partition.n_blocks:
        raise ValueError(
            f"{n_far} of {partition.n_blocks} blocks hold a row so large that its score-matching elements overflow "
            f"({np.count_nonzero(elements.overflow)} such rows); use more blocks, or drop those rows."
        )
    return finite


def _check_ties(elements: PairwiseElements, partition: Partition, weights: Array) -> None:
    """Raise when so many blocks are identical that the median is one of them."""
    tied = weights > 0
    n_tied = int(np.count_nonzero(tied))
    if partition.n_blocks < 5 or n_tied <= _TIED_SHARE * partition.n_blocks:
        return
    keys = elements.row_keys()[partition.order[np.repeat(tied, partition.sizes)]]
    if np.unique(keys).size <= partition.sizes.max():
        raise ValueError(
            f"{n_tied} of {partition.n_blocks} blocks are identical (equal rows, for example rows of zeros), and the "
            "median is one of them; drop duplicated rows, or use fewer blocks."
        )


def _warn_if_sorted(elements: PairwiseElements, partition: Partition) -> None:
    ratio, chance = scatter_ratio(elements.order_statistics(), partition)
    if ratio > max(2.0, chance):
        warnings.warn(
            f"Neighbouring rows resemble each other: block means scatter {ratio:.1f} times as much as with rows in "
            "random order. If the rows are sorted or grouped, a smaller group can lose its weight: pass shuffle=True "
            "or n_partitions=20. If they are a series in time, blocks of neighbours are what you want.",
            UserWarning,
            stacklevel=3,
        )
