"""What missing cells start from: values of the same column, as they are distributed there.

The k missing cells of a column get its k quantiles at (1/2, 3/2, ...) / k, in an order drawn at random, so that
medians, scales and domains are those of the cells that are there. Parts of a composition share what the others leave.
"""

from __future__ import annotations

import numpy as np

from robscore._tools.errors import UsageError
from robscore._tools.typing import Array, BoolArray
from robscore._tools.words import quoted
from robscore.cells.order import DrawingOrder
from robscore.domains import Domain, Simplex

_FEWEST_VALUES = 5  # observed in a column, for the others to be drawn


def started(X: Array, domain: Domain, names: list[str], order: DrawingOrder, seed: int) -> Array:
    """The rows X, shape (n, m), with something in every cell that is NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.cells.order import DrawingOrder
    >>> from robscore.cells.start import started
    >>> from robscore.domains import Real
    >>> X = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0], [4.0, 8.0], [5.0, 9.0], [np.nan, 7.5]])
    >>> float(started(X, Real(), ["a", "b"], DrawingOrder.of(X), seed=0)[5, 0])
    3.0
    """
    holes = np.isnan(X)
    _check_columns(holes, names)
    if isinstance(domain, Simplex):
        return _with_parts(X, holes)
    filled, rng = X.copy(), np.random.default_rng(seed)
    for j in order.columns:
        rows = order.rows_of(holes, j)
        if rows.size:
            levels = (rng.permutation(rows.size) + 0.5) / rows.size
            filled[rows, j] = np.quantile(X[~holes[:, j], j], levels)
    return filled


def _check_columns(holes: BoolArray, names: list[str]) -> None:
    """Raise, naming columns, where too little is observed to draw the rest from."""
    there = np.count_nonzero(~holes, axis=0)
    few = np.flatnonzero((there < _FEWEST_VALUES) & holes.any(axis=0))
    if few.size:
        counts = ", ".join(f"{names[j]!r} has {there[j]}" for j in few[:5])
        raise UsageError(
            f"Columns {quoted([names[j] for j in few])} have fewer than {_FEWEST_VALUES} values, too few to fill in "
            f"the others from ({counts} of {len(holes)}). Drop these columns."
        )


def _with_parts(X: Array, holes: BoolArray) -> Array:
    """What observed parts leave of 1, shared in proportion to the medians of the missing ones; one part gets all."""
    share = np.where(holes, np.nanmedian(X, axis=0), 0.0)
    left = 1.0 - np.nansum(X, axis=1)
    without = np.flatnonzero(holes.any(axis=1) & ~(left > 0))
    if without.size:
        raise UsageError(
            f"The observed parts sum to 1 or more in {without.size} rows with missing parts (first: row "
            f"{without[0]}), which leaves nothing for the missing ones. Drop those rows."
        )
    with np.errstate(invalid="ignore"):
        return np.where(holes, left[:, None] * share / share.sum(axis=1, keepdims=True), X)
