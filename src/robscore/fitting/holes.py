"""A table with missing cells, opened for a fit that fills them in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robscore._tools.messages import Setting, UsageError
from robscore._tools.typing import Array, BoolArray
from robscore.cells.draw_cells import DrawingOrder, initial_values
from robscore.fitting.settings import Settings
from robscore.rows.row_source import ArrayRows, Rows
from robscore.rows.tables import default_names


@dataclass(frozen=True, eq=False)
class HoledTable:
    """Rows with something in every hole, and where the holes are.

    Attributes
    ----------
    rows : Rows
        As given, with values of the same column in the holes. Rows without any value stay empty.
    holes : boolean array of shape (n, m), without covariates
    """

    rows: Rows
    holes: BoolArray

    @classmethod
    def of(cls, rows: Rows, settings: Settings, *, n_given: int) -> HoledTable:
        """Of rows whose last columns are covariates."""
        _check_settings(rows, settings)
        X = rows.gather(np.asarray)
        m = X.shape[1] - n_given
        _check_covariates(X[:, m:])
        own = X[:, :m]
        there = np.flatnonzero(~np.isnan(own).all(axis=1))
        holes = np.isnan(own)
        filled = X.copy()
        if settings.missing == "impute" and holes[there].any():
            names, order = rows.names or default_names(m), DrawingOrder.of(own[there])
            filled[np.ix_(there, np.arange(m))] = initial_values(
                own[there], settings.family.domain, names, order, settings.seed
            )
        return cls(ArrayRows(filled, rows.names, whole=False).counted(rows.frequency), holes)

    def among(self, used: BoolArray) -> tuple[BoolArray, DrawingOrder]:
        """The holes of the rows that are used, shape (n,), and the order of draws into them."""
        own = np.where(self.holes, np.nan, self.rows.gather(np.asarray)[:, : self.holes.shape[1]])
        return self.holes[used], DrawingOrder.of(own[used])


def fits_in_memory(rows: Rows, settings: Settings) -> bool:
    """Whether the rows can be kept in memory several times, as filling them in does."""
    return not rows.is_remote and 8.0 * 4 * rows.n_rows * rows.n_columns <= settings.memory


def _check_settings(rows: Rows, settings: Settings) -> None:
    if not settings.family.is_pairwise:
        raise UsageError(
            f"Missing cells of {settings.family!r} cannot be drawn: it is not a pairwise family; use ",
            Setting("missing", "drop"),
            ".",
        )
    if not fits_in_memory(rows, settings):
        raise UsageError(
            Setting("missing", "impute"),
            f" keeps the rows in memory, several times; {rows.n_rows} rows of {rows.n_columns} columns are ",
            "on other machines" if rows.is_remote else "too many for that",
            ". Use ",
            Setting("missing", "drop"),
            ", or fit a sample of the rows in memory.",
        )


def _check_covariates(covariates: Array) -> None:
    absent = np.isnan(covariates)
    if absent.any():
        row = int(absent.any(axis=1).argmax())
        raise UsageError(
            f"Covariates have {np.count_nonzero(absent)} missing values (first in row {row}); cells are filled in "
            "given the covariates, so these must be there: leave out those rows."
        )
