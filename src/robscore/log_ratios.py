"""Log ratios of compositions of counts, with zeros: for tables of species, taxa or cell types.

With g_i the geometric mean of the parts of row i that are not zero,

    z_ij = log(x_ij / g_i) + c  where x_ij > 0,      z_ij = 0  where x_ij = 0,      c = 1 - min log(x_ij / g_i)

so zeros are lowest in every column, and ratios, which do not depend on how deep a sample was read, are at least 1 above
them (the modified centred log ratio of Yoon, Gaynanova and Mueller, 2019). ``RobustGraph("copula")`` takes the result:
to it only the order within the columns matters, and zeros are an interval. Which parts are zero does depend on the
depth, so the logarithm of the sums of counts belongs among the covariates.
"""

from __future__ import annotations

import numpy as np

from robscore._tools.messages import UsageError
from robscore._tools.typing import AnyData
from robscore.rows.input_data import read_matrix, readable
from robscore.rows.tables import as_table


def mclr(X: AnyData) -> AnyData:
    """Modified centred log ratios of counts or shares that may be zero.

    How deep a sample was read decides what is found in it at all: pass the logarithm of the sums of the rows as a
    covariate of the fit.

    Parameters
    ----------
    X : array-like or data frame of shape (n, m)
        Not negative, each row with a part that is not zero.

    Returns
    -------
    array or data frame of shape (n, m), in the library of X
        Zeros where X is zero, else at least 1.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.mclr(np.array([[0, 10, 1000], [5, 0, 50]])).round(2)
    array([[0.  , 1.  , 5.61],
           [2.15, 0.  , 4.45]])
    """
    counts, names = read_matrix(X, "X")
    if (counts < 0).any():
        row, column = np.argwhere(counts < 0)[0]
        raise UsageError(f"X has negative values (first: row {row}, column {names[column]!r}); give counts or shares.")
    empty = np.flatnonzero(~(counts > 0).any(axis=1))
    if empty.size:
        raise UsageError(f"X has {empty.size} rows without any part (first: row {empty[0]}); leave them out.")
    present = counts > 0
    logs = np.log(np.where(present, counts, 1.0))
    ratios = logs - logs.sum(axis=1, keepdims=True) / present.sum(axis=1, keepdims=True)
    ratios = np.where(present, ratios + 1.0 - ratios[present].min(), 0.0)
    library = readable(X).library
    return (
        ratios if library is None else as_table({name: (float, ratios[:, j]) for j, name in enumerate(names)}, library)
    )
