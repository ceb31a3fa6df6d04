"""What could the missing cells have been? They are drawn from a fit, given the observed cells of their rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robscore._tools.messages import UsageError
from robscore._tools.typing import AnyData, Array, BoolArray, IntArray
from robscore.cells.draw_cells import DrawingOrder, initial_values, redrawn
from robscore.elements.streamed import elements_of
from robscore.fitting.fit_result import Fit, GraphFit
from robscore.fitting.imputing import Filler, weights_of_copies
from robscore.rows.row_source import ArrayRows, Rows
from robscore.rows.tables import as_table
from robscore.weighting.proper_parameters import proper

_SWEEPS = 20  # between one table and the next


def imputations(fit: Fit, k: int, X: Array | None = None) -> list[AnyData]:
    """So many completed tables of the fit's rows, or of others, as its data were given."""
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
        tables = _drawn(fit, filling.copies[-1], filling.holes, filling.order, k)
    names = fit.names
    if fit.frame is None:
        return tables
    return [
        as_table({name: (float, own) for name, own in zip(names, table.T, strict=True)}, fit.frame) for table in tables
    ]


def completed_once(fit: Fit, rows: Rows) -> Rows:
    """Rows with their missing cells drawn once; those without any value stay empty."""
    X = rows.gather(np.asarray)
    m = len(fit.names)
    if not np.isnan(X[:, :m]).any():
        return rows
    own = _completed(fit, X, 1)[0]
    return ArrayRows(np.concatenate([own, X[:, m:]], axis=1), rows.names).counted(rows.frequency)


def _completed(fit: Fit, X: Array, k: int) -> list[Array]:
    """Tables of shape (n, m), from rows X that may have holes, with covariates."""
    m, preparation = len(fit.names), fit.prepared.preparation
    own, holes = X[:, :m], np.isnan(X[:, :m])
    there = np.flatnonzero(~holes.all(axis=1))
    order = DrawingOrder.of(own[there])
    known = fit.prepared.rows.take(np.arange(fit.prepared.rows.n_rows))
    known = known if preparation.scaling is None else preparation.scaling.undo(known)
    both = np.concatenate([own[there], known[:, :m]])  # columns of few rows may have no value to start from
    starts = initial_values(both, preparation.family.domain, fit.names, DrawingOrder.of(both), fit.settings.seed)
    starts = starts[: there.size]
    given = np.concatenate([starts, X[there, m:]], axis=1)
    scaled = given if preparation.scaling is None else preparation.scaling.apply(given)
    tables = []
    for table in _drawn(fit, scaled, holes[there], order, k):
        whole = own.copy()
        whole[there] = np.where(holes[there], table, own[there])  # the others to the last bit
        tables.append(whole)
    return tables


def _drawn(fit: Fit, scaled: Array, holes: BoolArray, order: DrawingOrder, k: int) -> list[Array]:
    """So many completions of scaled rows, in units of the data, without covariates."""
    family, m = fit.prepared.preparation.scaled_family, len(fit.names)
    parameters = proper(family, fit.loss, fit.unshrunk)
    scaling, rng = fit.prepared.preparation.scaling, np.random.default_rng([fit.settings.seed, 1])
    there = scaled if scaling is None else scaling.undo(scaled)
    tables = []
    for _ in range(k):
        scaled = redrawn(family, scaled, holes, parameters, order=order, sweeps=_SWEEPS, rng=rng)
        given = scaled if scaling is None else scaling.undo(scaled)
        tables.append(np.where(holes, given[:, :m], there[:, :m]))
    return tables


def drawn_fits(fit: Fit, count: int) -> list[Fit]:
    """The same fit with the rows of so many completions, weighed as they are; itself where nothing was filled in."""
    prepared, filling = fit.prepared, fit.prepared.filling
    if filling is None or not filling.holes.any():
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


def counted_in_all(fits: list[Fit]) -> IntArray:
    """Positions of the rows that count in every one of some fits of the same rows."""
    counted = fits[0].weights.counted
    for other in fits[1:]:
        counted = np.intersect1d(counted, other.weights.counted, assume_unique=True)
    return counted
