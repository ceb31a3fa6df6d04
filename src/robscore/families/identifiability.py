"""Whether the estimate without a penalty exists, from the paper's appendix A.

Gamma-hat is positive definite almost surely if (A1) no statistic is constant, (A2) the weighted gradients of the
statistics leave every proper subspace almost surely, and at least max_j d_j rows have a weight, where d_j is the number
of statistics that involve column j. Where the geometric median falls on one block mean, only that block's rows have.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robscore.families.family import Family, get_family
from robscore.rows.partition import check_n_blocks


class Identifiability(NamedTuple):
    """Whether the unpenalised estimate exists, and why.

    Attributes
    ----------
    exists : bool
        Whether the estimate is sure to exist (almost surely); with several small blocks, unless the median falls on
        one of them. The condition is sufficient: with a few rows less it may exist all the same.
    certain : bool
        Whether it exists even then.
    words : str
        The reason, and what to do where the answer is no.
    """

    exists: bool
    certain: bool
    words: str


def check_identifiable(
    family: str | Family, n: int, m: int, n_blocks: int = 1, *, fit_location: bool = True
) -> Identifiability:
    """Whether the unpenalised estimate exists for n rows of m columns, divided into blocks.

    Parameters
    ----------
    family : str or Family
    n, m : int
        Rows and columns.
    n_blocks : int, default 1
    fit_location : bool, default True

    Examples
    --------
    >>> import robscore as rs
    >>> rs.check_identifiable("sqrt", n=1000, m=30, n_blocks=200).exists
    True
    >>> print(rs.check_identifiable("sqrt", n=20, m=30).words)
    It is sure to exist from 31 different rows on, one for each statistic that involves a column, and there are 20: \
give more rows or fewer columns, or add a penalty with RobustGraph.
    """
    for name, count in (("n", n), ("m", m)):
        if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 1:
            raise ValueError(f"{name}={count!r} must be a whole number of at least 1.")
    check_n_blocks(n_blocks, n)
    chosen = get_family(family)
    chosen.check_columns(m)
    redundant = chosen.redundancy(fit_location=fit_location) or chosen.dependence(m, fit_location=fit_location)
    if redundant:
        return Identifiability(exists=False, certain=False, words=redundant)
    needed = chosen.statistics_a_column(m, fit_location=fit_location)
    if n < needed:
        words = (
            f"It is sure to exist from {needed} different rows on, one for each statistic that involves a column, and "
            f"there are {n}: give more rows or fewer columns, or add a penalty with "
            f"{'RobustGraph' if chosen.is_pairwise else 'rs.solve_path'}."
        )
        return Identifiability(exists=False, certain=False, words=words)
    block = n // n_blocks
    if n_blocks <= 2 or block >= needed:
        words = f"{n} rows are enough for {needed} statistics per column, whatever block the median falls on."
        return Identifiability(exists=True, certain=True, words=words)
    words = (
        f"{n} rows are enough for {needed} statistics per column unless the median falls on one block, whose {block} "
        f"rows are not: then use at most {max(n // needed, 1)} blocks, or n_partitions > 1."
    )
    return Identifiability(exists=True, certain=False, words=words)
