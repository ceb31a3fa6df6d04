"""What could the missing cells have been? They are drawn from a fit, given the observed cells of their rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robscore._tools.messages import UsageError
from robscore._tools.typing import AnyData, Array, BoolArray
from robscore.cells.draw_cells import Bounds, DrawingOrder, completions, initial_values
from robscore.cells.filled_cells import FilledCells
from robscore.cells.filled_streams import Drawing, row_seeds
from robscore.elements.streamed import elements_of
from robscore.families.copula import Margins
from robscore.fitting.fit_result import Fit, GraphFit
from robscore.fitting.imputing import Filler, drawing_parameters, weights_of_copies
from robscore.rows.row_source import ArrayRows, Rows
from robscore.rows.tables import as_table
from robscore.weighting.proper_parameters import proper

_SWEEPS = 20  # of draws between one table and the next, so that they hardly depend on each other


def imputations(fit: Fit, k: int, X: Array | None = None) -> list[AnyData]:
    """The result of ``imputations()`` of the estimators: k completed tables of the fit's rows, or of rows X."""
    filling = fit.prepared.filling
    if X is not None:
        tables = _completed(fit, X, k)
    elif isinstance(fit, GraphFit) and fit.sampled is not None and fit.sampled.filled:
        raise UsageError(
            "The missing cells of the fit's data were filled in as rows were read, and no completed row is held; give "
            "the rows as X, some at a time if all do not fit in memory."
        )
    elif filling is None:
        raise UsageError("The data of the fit have no missing cells that were filled in; give X.")
    else:
        tables = _drawn(fit, filling.copies[-1], filling.drawn, filling.order, k, filling.bounds)
        tables = [np.where(_replaced(filling), table, filling.given) for table in tables]
    names = fit.names
    if fit.frame is None:
        return tables
    return [
        as_table({name: (float, own) for name, own in zip(names, table.T, strict=True)}, fit.frame) for table in tables
    ]


def _replaced(filling: FilledCells) -> BoolArray:
    """Cells that have no value, or a wrong one, shape (n, m); an answer stays, though its latent number is drawn."""
    if not filling.has_margins:
        return filling.drawn
    without = np.isnan(filling.given)
    return without if filling.suspects is None else without | (filling.drawn & filling.suspects.likely_wrong)


def completed_once(fit: Fit, rows: Rows) -> Rows:
    """Rows with their missing cells drawn once; those without any value stay empty."""
    X = rows.gather(np.asarray)
    m = len(fit.names)
    if not np.isnan(X[:, :m]).any():
        return rows
    own = _completed(fit, X, 1)[0]
    return ArrayRows(np.concatenate([own, X[:, m:]], axis=1), rows.names).counted(rows.frequency)


def latent_once(fit: Fit, rows: Rows) -> Rows:
    """Latent numbers of rows, to judge them by a copula's fit, drawn once where cells are known to an interval.

    A row is drawn by random numbers of its own: the same whatever other rows come with it.
    """
    X, margins = rows.gather(np.asarray), fit.prepared.preparation.scaling
    assert isinstance(margins, Margins)
    family = fit.prepared.preparation.scaled_family
    drawing = Drawing(family, drawing_parameters(fit), np.zeros(len(fit.names)), margins, is_judged=True)
    latent = drawing(X, row_seeds(ArrayRows(margins.apply(X)), fit.settings.seed))
    return ArrayRows(latent, rows.names).counted(rows.frequency)


def _completed(fit: Fit, X: Array, k: int) -> list[Array]:
    """Tables of shape (n, m), from rows X that may have missing cells, with covariates; empty rows stay empty."""
    m, preparation = len(fit.names), fit.prepared.preparation
    own, missing = X[:, :m], np.isnan(X[:, :m])
    some = np.flatnonzero(~missing.all(axis=1))
    order = DrawingOrder.of(own[some])
    known = fit.prepared.rows.take(np.arange(fit.prepared.rows.n_rows))
    known = known if preparation.scaling is None else preparation.scaling.undo(known)
    # Where X has few rows, a column of it may have no value at all to start from: the rows of the fit have some.
    both = np.concatenate([own[some], known[:, :m]])
    starts = initial_values(both, preparation.family.domain, fit.names, DrawingOrder.of(both), fit.settings.seed)
    given = np.concatenate([starts[: some.size], X[some, m:]], axis=1)
    scaled = given if preparation.scaling is None else preparation.scaling.apply(given)
    tables = []
    bounds = preparation.scaling.bounds(X[some]) if isinstance(preparation.scaling, Margins) else None
    for table in _drawn(fit, scaled, missing[some], order, k, bounds):
        whole = own.copy()
        # Scaling and unscaling may change the last bit, so observed cells are taken from X.
        whole[some] = np.where(missing[some], table, own[some])
        tables.append(whole)
    return tables


def _drawn(
    fit: Fit, scaled: Array, missing: BoolArray, order: DrawingOrder, k: int, bounds: Bounds | None
) -> list[Array]:
    """So many completions of scaled rows, in units of the data, without covariates.

    With bounds, latent numbers of observed cells are drawn anew too, within these: they say what missing ones may be.
    """
    family, m = fit.prepared.preparation.scaled_family, len(fit.names)
    parameters = drawing_parameters(fit)
    scaling, rng = fit.prepared.preparation.scaling, np.random.default_rng([fit.settings.seed, 1])
    observed = scaled if scaling is None else scaling.undo(scaled)
    tables, cells = [], missing if bounds is None else missing | (bounds[0] < bounds[1])
    for _ in range(k):
        (scaled,) = completions(
            family, scaled, cells, parameters, order=order, sweeps=[_SWEEPS], rngs=[rng], bounds=bounds
        )
        given = scaled if scaling is None else scaling.undo(scaled)
        tables.append(np.where(missing, given[:, :m], observed[:, :m]))
    return tables


def drawn_fits(fit: Fit, count: int) -> list[Fit]:
    """Fits to so many other draws of the missing cells, whose rows are weighted anew; the fit itself without any.

    What is asked of full rows, such as whether the family fits, is asked of all of these.
    """
    prepared, filling = fit.prepared, fit.prepared.filling
    if filling is None or not filling.drawn.any():
        return [fit]
    family = prepared.preparation.scaled_family
    parameters = proper(family, fit.loss, fit.unshrunk)
    filler = Filler.going_on(family, filling, fit.settings.seed)
    found = []
    for _ in range(count):
        filler.draw(parameters)
        rows = ArrayRows(filler.copies[-1], prepared.rows.names).counted(prepared.rows.frequency)
        elements = elements_of(family, rows, fit.settings.memory)
        weights = weights_of_copies(prepared, fit.weighed, elements, rows)
        found.append(replace(fit, prepared=replace(prepared, rows=rows), weighed=replace(fit.weighed, weights=weights)))
    return found
