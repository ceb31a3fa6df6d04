"""What is accepted in place of an array: a path, a memory map, a Dask collection, anything that streams Arrow."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np

from robscore._tools.messages import UsageError
from robscore._tools.typing import AnyData
from robscore.rows.arrays import ArrayRows
from robscore.rows.arrow import ArrowRows, is_arrow_source
from robscore.rows.base import Rows
from robscore.rows.parquet import ParquetRows

_PACKED = (".gz", ".bz2", ".xz", ".zip")
_OTHER = (".csv", ".tsv", ".txt", ".tab", ".dat", ".xls", ".json", ".dta", ".sav", ".zip", ".gz")


def open_rows(X: AnyData) -> Rows | None:
    """Rows that are not in memory, ready to be read; None for anything else."""
    if isinstance(X, Rows):
        return X
    if isinstance(X, str | PathLike) or (
        isinstance(X, list | tuple) and X and all(isinstance(path, str | PathLike) for path in X)
    ):
        _refuse_other_files(X)
        return ParquetRows(X)
    if isinstance(X, np.memmap):
        return _mapped_file(X)
    if type(X).__module__.partition(".")[0].startswith("dask"):
        from robscore.rows.distributed import DaskRows

        return DaskRows(X)
    return ArrowRows(X) if is_arrow_source(X) else None


def _refuse_other_files(X: AnyData) -> None:
    """Raise where a path is that of a file of another kind, as far as its name tells."""
    for path in [X] if isinstance(X, str | PathLike) else X:
        ending = "".join(Path(path).suffixes[-2:] if Path(path).suffix in _PACKED else Path(path).suffixes[-1:])
        if ending.lower().startswith(_OTHER):
            raise UsageError(
                f"fit takes the paths of Parquet files, and {str(path)!r} ends in {ending}. Read it first, X = "
                f"rs.read_table({str(path)!r}), or use the command line: robscore fit {path}"
            )


def _mapped_file(X: AnyData) -> ArrayRows:
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(f"X is a memory map of shape {X.shape} and type {X.dtype}; it must be a matrix of numbers.")
    if 0 in X.shape:
        raise ValueError(f"X is a memory map of {X.shape[0]} rows and {X.shape[1]} columns; both must be at least 1.")
    return ArrayRows(X, whole=False)
