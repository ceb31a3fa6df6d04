"""Losses of rows with holes at a fit, by the cells that were observed: none that the fit filled in itself."""

from __future__ import annotations

from functools import partial

import numpy as np

from robscore._tools.typing import Array, BoolArray
from robscore.cells.available import Available, averaged_by_entries, filled_with, typical_values
from robscore.elements.streamed import elements_of
from robscore.fitting.fit import Fit
from robscore.rows.arrays import ArrayRows
from robscore.rows.base import Rows


def observed_rows(fit: Fit) -> Rows:
    """The rows of a fit as they were given, without covariates: NaN where nothing was there."""
    prepared, m = fit.prepared, len(fit.names)
    rows = prepared.rows
    if prepared.available is not None:
        rows = prepared.available.rows
    elif prepared.filling is not None:
        X = prepared.filling.observed.copy()
        X[:, :m][prepared.filling.missing] = np.nan
        rows = ArrayRows(X)
    scaling = prepared.preparation.scaling
    return rows if scaling is None else rows.mapped(scaling.undo)


def rows_to_judge(fit: Fit, rows: Rows) -> tuple[BoolArray, bool]:
    """Which rows, as given, something can be said of, shape (n,); and whether that is by their observed cells."""
    preparation, m = fit.prepared.preparation, len(fit.names)
    by_cells = fit.settings.takes_holes and averaged_by_entries(preparation.family)
    if not (by_cells and rows.total(partial(_count_holes, m))):
        return preparation.complete(rows, fit.settings.missing), False
    filled = rows.mapped(partial(filled_with, typical_values(observed_rows(fit), fit.names)))
    something = np.asarray(rows.gather(partial(_has_something, m)))
    return preparation.complete(filled, fit.settings.missing) & something, True


def observed_losses(fit: Fit, rows: Rows) -> Array:
    """The loss of every scaled row with holes, shape (n,), of entries whose cells are there.

    An entry counts 1 / (the share of these rows in which it is there); what is not there counts as on average.
    """
    family, memory = fit.prepared.preparation.scaled_family, fit.settings.memory
    typical = typical_values(rows, fit.names)
    overflow = elements_of(family, rows.mapped(partial(filled_with, typical)), memory).overflow
    weights = np.where(overflow, 0.0, 1.0) / max(np.count_nonzero(~overflow), 1)
    available = Available(rows, typical, fit.names, judged=False).weighed(family, weights, weights, memory)
    return available.elements(family, memory).row_losses(*fit.scaled)


def _count_holes(m: int, X: Array) -> int:
    return int(np.count_nonzero(np.isnan(X[:, :m])))


def _has_something(m: int, X: Array) -> BoolArray:
    return np.asarray(~np.isnan(X[:, :m]).all(axis=1))
