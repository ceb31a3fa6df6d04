"""What can be given in place of an array: a path, a memory map, a Dask collection."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from robscore._typing import AnyData
from robscore.rows.arrays import ArrayRows
from robscore.rows.base import Rows
from robscore.rows.parquet import ParquetRows
from robscore.solvers.loss import MANY_COLUMNS

if TYPE_CHECKING:
    from robscore.families.base import Family


def open_rows(X: AnyData) -> Rows | None:
    """Rows that are not in memory, ready to be read; None for anything else."""
    if isinstance(X, Rows):
        return X
    if isinstance(X, str | PathLike):
        return ParquetRows(X)
    if isinstance(X, np.memmap):
        return _mapped_file(X)
    if type(X).__module__.partition(".")[0].startswith("dask"):
        from robscore.distributed import DaskRows

        return DaskRows(X)
    return None


def _mapped_file(X: AnyData) -> ArrayRows:
    if X.ndim != 2 or not (np.issubdtype(X.dtype, np.number) or X.dtype == bool) or np.iscomplexobj(X):
        raise ValueError(f"X is a memory map of shape {X.shape} and type {X.dtype}; it must be a matrix of numbers.")
    if 0 in X.shape:
        raise ValueError(f"X is a memory map of {X.shape[0]} rows and {X.shape[1]} columns; both must be at least 1.")
    return ArrayRows(X, whole=False)


def held(rows: Rows, family: Family, memory: float) -> Rows:
    """The same rows, in memory if their elements fit there; rows on other machines stay there.

    With so many columns that Gamma does not fit, what is in memory is used as it is: only then can it be avoided.
    """
    m = rows.n_columns
    fits = 8.0 * rows.n_rows * family.numbers_a_row(m) <= memory
    if isinstance(rows, ArrayRows):
        return ArrayRows(rows.values, rows.names, whole=fits or (m >= MANY_COLUMNS and 8.0 * m**3 > memory))
    if rows.is_remote or not fits:
        return rows
    return ArrayRows(rows.gather(np.asarray), rows.names)
