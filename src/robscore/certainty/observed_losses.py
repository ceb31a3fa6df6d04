"""Losses of rows with missing cells at a fit, by the cells that were observed: none that the fit filled in itself."""

from __future__ import annotations

from functools import partial

import numpy as np

from robscore._tools.typing import Array, BoolArray
from robscore.cells.filled_streams import filled_with, typical_values
from robscore.certainty.imputations import latent_once
from robscore.elements.observed_entries import ObservedEntries
from robscore.families.copula import Margins
from robscore.families.family import Family, Parameters
from robscore.fitting.completed_alone import completed_alone
from robscore.fitting.fit_result import Fit
from robscore.fitting.latent_scale import latent_correlations
from robscore.fitting.settings import is_known_by_entries
from robscore.rows.row_source import ArrayRows, Rows


def observed_rows(fit: Fit) -> Rows:
    """The rows of a fit as they were given, without covariates: NaN in missing cells."""
    prepared, m = fit.prepared, len(fit.names)
    rows = prepared.rows
    if prepared.filling is not None:
        X = prepared.filling.observed.copy()
        X[:, :m][prepared.filling.missing] = np.nan
        rows = ArrayRows(X).counted(rows.frequency)
    scaling = prepared.preparation.scaling
    return rows if scaling is None else rows.mapped(scaling.undo)


def rows_to_judge(fit: Fit, rows: Rows) -> tuple[BoolArray, bool]:
    """Which rows, as given, something can be said of, shape (n,); and whether that is by their observed cells."""
    preparation, m = fit.prepared.preparation, len(fit.names)
    by_cells = fit.settings.fills_in and is_known_by_entries(preparation.family)
    if not (by_cells and rows.total(partial(_count_missing, m))):
        return preparation.complete(rows, fit.settings.missing), False
    filled = rows.mapped(partial(filled_with, typical_values(observed_rows(fit), fit.names)))
    has_some = np.asarray(rows.gather(partial(_has_some, m)))
    return preparation.complete(filled, fit.settings.missing) & has_some, True


def losses_under_margins(fit: Fit, X: Array) -> Array:
    """The loss of the latent numbers of every row X, shape (n,), averaged over completions that no fit decides.

    They are drawn by what the rows themselves say of how columns go together
    (:mod:`robscore.fitting.completed_alone`), so that fits with the same margins are compared on the same completions.
    """
    preparation, (K, eta) = fit.prepared.preparation, fit.scaled
    assert isinstance(preparation.scaling, Margins)
    weights, found = np.ones(len(X)), fit.weighed.found
    if found is not None:
        latent = latent_once(fit, ArrayRows(X))
        weights = found.limits.weigh(latent, np.zeros(len(X), dtype=bool), np.zeros(len(X), dtype=bool))[
            0
        ].gamma_weights
    weights = np.maximum(weights, np.finfo(float).tiny)
    Z = completed_alone(preparation.scaling.bounds(X), weights, latent_correlations(fit.loss), fit.settings.seed)
    losses = [preparation.scaled_family.elements(one).row_losses(K, eta) for one in Z]
    return np.asarray(np.mean(losses, axis=0))


def observed_losses(fit: Fit, rows: Rows) -> Array:
    """The loss of every scaled row with missing cells, shape (n,), by the entries whose cells were observed.

    An entry counts 1 / (the share of these rows that have its cells); missing ones count as on average.
    """
    family = fit.prepared.preparation.scaled_family
    typical = typical_values(rows, fit.names)
    overflow = np.asarray(rows.gather(partial(_overflow, family, typical)))
    weights = np.where(overflow, 0.0, 1.0) / max(np.count_nonzero(~overflow), 1)
    entries = ObservedEntries.weighted(family, rows, typical, fit.names, weights, weights)
    return np.asarray(rows.gather(partial(_losses, entries, fit.scaled)))


def _overflow(family: Family, typical: Array, X: Array) -> BoolArray:
    return family.elements(filled_with(typical, X)).overflow


def _losses(entries: ObservedEntries, parameters: Parameters, X: Array) -> Array:
    return entries.elements(X).row_losses(*parameters)


def _count_missing(m: int, X: Array) -> int:
    return int(np.count_nonzero(np.isnan(X[:, :m])))


def _has_some(m: int, X: Array) -> BoolArray:
    return np.asarray(~np.isnan(X[:, :m]).all(axis=1))
