"""What is known of every cell before a fit: its value, the limits that it lies between, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robscore._tools.messages import ArgumentError, Setting, UsageError
from robscore._tools.typing import Array, BoolArray
from robscore.cells.draw_cells import Bounds, DrawingOrder, initial_values
from robscore.domains import Simplex
from robscore.families.copula import Margins
from robscore.families.family import Family, Scaling
from robscore.fitting.prepare import Data, Prepared
from robscore.fitting.settings import Settings
from robscore.rows.covariate_columns import Moderator
from robscore.rows.row_source import ArrayRows, Rows
from robscore.rows.tables import default_names

_MIDDLE_HALF = (0.25, 0.75)  # quantiles of a column, whose distance is the length of an interval without an end


@dataclass(frozen=True, eq=False)
class KnownCells:
    """Rows with something in every cell that has no value, and what is known of these.

    Attributes
    ----------
    rows : Rows
        As given, with values of the same column in cells without one; NaN where cells are not to be filled in.
    given : array of shape (n, m)
        The rows as given, NaN in cells without a value.
    covariates : array of shape (n, q)
    limits : two arrays of shape (n, m), or None
        Between which values such cells lie, the ends of the domain where nothing is known; None if it is of none.
    censored : boolean array of shape (n, m)
        Cells without a value, but with a limit.
    """

    rows: Rows
    given: Array
    covariates: Array
    limits: Bounds | None
    censored: BoolArray

    @classmethod
    def of(cls, data: Data, settings: Settings) -> KnownCells:
        """Of the rows of a fit, gathered in memory."""
        rows = data.rows
        _check_can_fill(rows, settings, is_censored=data.limits is not None)
        X = rows.gather(np.asarray).copy()
        m = X.shape[1] - len(data.given)
        if settings.missing == "impute":
            _check_covariates(X[:, m:])
        own, limits, censored = X[:, :m], None, np.zeros((len(X), m), dtype=bool)
        if data.limits is not None:
            censored = has_limit(data.limits)
            limits = _in_domain(data.limits, settings.family)
        to_fill = np.isnan(own) if settings.missing == "impute" else censored
        some = ~np.isnan(own).all(axis=1) | censored.any(axis=1)  # rows without anything known stay empty
        filled = X.copy()
        if to_fill[some].any():
            names, order = rows.names or default_names(m), DrawingOrder.of(own[some])
            values = initial_values(own[some], settings.family.domain, names, order, settings.seed)
            if limits is not None:
                values = _moved_between(values, own[some], (limits[0][some], limits[1][some]))
            filled[some, :m] = np.where(to_fill[some], values, own[some])
        return cls(ArrayRows(filled, rows.names, whole=False).counted(rows.frequency), own, X[:, m:], limits, censored)

    def used_by(self, prepared: Prepared) -> KnownCells:
        """What is known of the rows that a fit uses."""
        used = prepared.complete
        limits = None if self.limits is None else (self.limits[0][used], self.limits[1][used])
        return KnownCells(self.rows, self.given[used], self.covariates[used], limits, self.censored[used])

    @property
    def order(self) -> DrawingOrder:
        """The order of draws."""
        return DrawingOrder.of(self.given, self.covariates)

    def bounds(self, scaled: Array, scaling: Scaling | None) -> Bounds | None:
        """Between which numbers scaled cells lie, two arrays of shape (n, m); None where each is a value or free."""
        if isinstance(scaling, Margins):
            return scaling.bounds(np.concatenate([self.given, self.covariates], axis=1), self.limits)
        if self.limits is None:
            return None
        ends = [limit if scaling is None else _scaled(limit, scaling) for limit in self.limits]
        unknown = np.isnan(self.given)
        return np.where(unknown, ends[0], scaled), np.where(unknown, ends[1], scaled)


def _in_domain(limits: Bounds, family: Family) -> Bounds:
    """Limits within the domain of the family."""
    lower, upper = limits
    if not family.domain.is_non_negative:
        return limits
    if (low := np.flatnonzero((upper <= 0).any(axis=1))).size:
        least = float(upper[low[0]].min())
        raise ArgumentError("upper", least, f"in row {low[0]}: {family!r} has no values at or below zero.")
    return np.maximum(lower, 0.0), upper


def has_limit(limits: Bounds) -> BoolArray:
    """Cells of which a limit is known, shape (n, m)."""
    return np.asarray(np.isfinite(limits[0]) | np.isfinite(limits[1]))


def _moved_between(values: Array, own: Array, limits: Bounds) -> Array:
    """Values, shape (n, m), moved between their limits, in their order; not far from the other where one is open.

    ``own`` are the observed cells, whose spread says what is not far.
    """
    low, high = np.nanquantile(own, _MIDDLE_HALF, axis=0)
    reach = np.where(high > low, high - low, 1.0)
    least, most = np.nanmin(own, axis=0), np.nanmax(own, axis=0)
    level = (values - least) / np.where(most > least, most - least, 1.0)
    lower = np.where(np.isfinite(limits[0]), limits[0], np.minimum(limits[1], most) - reach)
    upper = np.where(np.isfinite(limits[1]), limits[1], np.maximum(limits[0], least) + reach)
    moved = lower + np.clip(level, 0.05, 0.95) * (upper - lower)
    return np.where((values > limits[0]) & (values < limits[1]), values, moved)


def _scaled(limits: Array, scaling: Scaling) -> Array:
    """Limits of the scaled columns; infinite ones stay so."""
    m = limits.shape[1]
    own = Scaling(scaling.centre[:m], scaling.scale[:m])
    return np.where(np.isfinite(limits), own.apply(np.where(np.isfinite(limits), limits, 0.0)), limits)


def fits_in_memory(rows: Rows, settings: Settings) -> bool:
    """Whether the rows can be kept in memory several times, as filling them in does."""
    return 8.0 * 4 * rows.n_rows * rows.n_columns <= settings.memory


def _check_can_fill(rows: Rows, settings: Settings, *, is_censored: bool) -> None:
    if not settings.family.is_pairwise:
        raise UsageError(
            f"Missing cells of {settings.family!r} cannot be drawn: it is not a pairwise family; use ",
            Setting("missing", "drop"),
            ".",
        )
    if is_censored and isinstance(settings.family.domain, Simplex):
        raise UsageError(
            "Limits of cells are not for compositions, whose parts depend on each other; use log ratios with ",
            Setting("family", "gaussian"),
            ".",
        )
    if not fits_in_memory(rows, settings):
        is_copula = settings.family.has_margins
        raise UsageError(
            Setting("family", "copula") if is_copula else Setting("missing", "impute"),
            f" keeps the rows in memory, several times; {rows.n_rows} rows of {rows.n_columns} columns are too many "
            "for that. Fit a sample of the rows, or raise ",
            Setting("max_memory"),
            ".",
        )


def check_groups(moderators: Sequence[Moderator], settings: Settings) -> None:
    """Raise, for cells that are to be drawn, where moderators are numbers."""
    for own in moderators:
        if not own.levels:
            raise UsageError(
                f"Cells are drawn group by group, and the moderator {own.name!r} is a number; cut it into groups, as "
                "pandas.cut does (numbers that name groups: give them as text), or ",
                *(["give it as a covariate."] if settings.family.has_margins else
                  ["leave out incomplete rows with ", Setting("missing", "drop"), "."]),
            )  # fmt: skip


def _check_covariates(covariates: Array) -> None:
    absent = np.isnan(covariates)
    if absent.any():
        row = int(absent.any(axis=1).argmax())
        raise UsageError(
            f"Covariates have {np.count_nonzero(absent)} missing values (first in row {row}); cells are filled in "
            "given the covariates, so these must be complete: leave out those rows."
        )
