"""What can be given in place of an array: a path, a memory map, a Dask collection."""

from __future__ import annotations

from os import PathLike

import numpy as np

from robscore._tools.typing import AnyData
from robscore.rows.arrays import ArrayRows
from robscore.rows.base import Rows
from robscore.rows.parquet import ParquetRows


def open_rows(X: AnyData) -> Rows | None:
    """Rows that are not in memory, ready to be read; None for anything else."""
    if isinstance(X, Rows):
        return X
    if isinstance(X, str | PathLike) or (
        isinstance(X, list | tuple) and X and all(isinstance(path, str | PathLike) for path in X)
    ):
        return ParquetRows(X)
    if isinstance(X, np.memmap):
        return _mapped_file(X)
    if type(X).__module__.partition(".")[0].startswith("dask"):
        from robscore.rows.distributed import DaskRows

        return DaskRows(X)
    return None


def _mapped_file(X: AnyData) -> ArrayRows:
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(f"X is a memory map of shape {X.shape} and type {X.dtype}; it must be a matrix of numbers.")
    if 0 in X.shape:
        raise ValueError(f"X is a memory map of {X.shape[0]} rows and {X.shape[1]} columns; both must be at least 1.")
    return ArrayRows(X, whole=False)
