"""Fits of rows with holes, entry by entry: no cell is filled in, but for the weights of rows.

Every entry of Gamma and g is averaged over the rows in which its cells are there (:mod:`robscore.elements.available`).
What a row counts is found from completed rows, since bad rows must be told; a few rounds of

    rows are completed by draws from the fit  ──>  they are weighed  ──>  entries are averaged by these weights

are enough for that. Rows that do not fit in memory all count alike: then it is one pass over them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from robscore._tools.messages import Message, Setting, UsageError
from robscore._tools.progress import announce, stage
from robscore.cells.available import Available, averaged_by_entries, filled_with, typical_values
from robscore.elements import PairwiseElements
from robscore.families.family import Family, Parameters
from robscore.families.power import PowerFamily
from robscore.fitting.filling import Filler
from robscore.fitting.holes import HoledTable, fits_in_memory
from robscore.fitting.prepare import Prepared, prepare
from robscore.fitting.settings import Settings
from robscore.losses.quadratic import Loss
from robscore.rows.arrays import ArrayRows
from robscore.rows.base import Rows
from robscore.rows.names import default_names
from robscore.weighting.row_weights import RowWeights
from robscore.weighting.simulation import proper

if TYPE_CHECKING:
    from robscore.fitting.fit import Fit

_ROUNDS = 2  # in which rows are completed, for their weights
_SWEEPS = 5  # of draws in a round

_F = TypeVar("_F", bound="Fit")


def fit_available(
    rows: Rows,
    settings: Settings,
    caller: str,
    more: dict[str, Any],
    once: Callable[[Prepared], _F],
    again: Callable[[Loss, _F], Parameters],
) -> _F:
    """A fit of rows with holes; ``once`` and ``again`` as in :func:`robscore.fitting.filling.fit_filled`."""
    _check_family(settings.family)
    n_given = len(more.get("given", ()))
    if not fits_in_memory(rows, settings):
        return once(_streamed(rows, settings, caller, more))
    table = HoledTable.of(rows, settings, n_given=n_given)
    prepared = prepare(table.rows, settings, caller, **more)
    holes, order = table.among(prepared.complete)
    if not holes.any():
        return once(prepared)
    filler = Filler(prepared.preparation.scaled_family, prepared.rows.gather(np.asarray), holes, order, settings.seed)
    filler.is_exact = False
    X = filler.observed.copy()
    X[:, : holes.shape[1]][holes] = np.nan
    holed = ArrayRows(X).counted(prepared.rows.frequency)
    available = Available(
        holed, typical_values(holed, prepared.preparation.names), prepared.preparation.names, judged=True
    )
    prepared = replace(prepared, available=available)
    with stage("completing rows, to weigh them"):
        fit = once(prepared)
        for number in range(_ROUNDS):
            announce("completing rows, to weigh them", number, _ROUNDS)
            drawn_by = proper(filler.family, fit.loss, again(fit.loss, fit))
            for _ in range(_SWEEPS):
                filler.draw(drawn_by)
            completed = ArrayRows(filler.one, prepared.rows.names).counted(prepared.rows.frequency)
            fit = once(replace(prepared, rows=completed))
    return fit


def observed_elements(prepared: Prepared, weights: RowWeights, memory: float) -> PairwiseElements:
    """Elements of what was observed of rows with holes, to judge fits by that filled these in."""
    filling, names = prepared.filling, prepared.preparation.names
    assert filling is not None
    X = filling.observed.copy()
    X[:, : len(names)][filling.holes] = np.nan
    holed, family = ArrayRows(X), prepared.preparation.scaled_family
    available = Available(holed, typical_values(holed, names), names, judged=True)
    gamma_weights, g_weights = weights
    elements = available.weighed(family, gamma_weights, g_weights, memory).elements(family, memory)
    assert isinstance(elements, PairwiseElements)
    return elements


def _streamed(rows: Rows, settings: Settings, caller: str, more: dict[str, Any]) -> Prepared:
    """Rows with holes that are read a piece at a time."""
    if not settings.blocks_unspecified and settings.n_blocks != 1:
        raise UsageError(
            Setting("missing", "available"),
            " takes all rows alike where they do not fit in memory: their blocks have other entries each. Leave out ",
            Setting("n_blocks"),
            " and ",
            Setting("contamination"),
            ", fit a sample of the rows, or raise ",
            Setting("max_memory"),
            ".",
        )
    names = rows.names or default_names(rows.n_columns - len(more.get("given", ())))
    filled = rows.mapped(partial(filled_with, typical_values(rows, names)))
    prepared = prepare(filled, settings, caller, **more)
    own = rows.selected(prepared.used).counted(prepared.rows.frequency)
    scaling = prepared.preparation.scaling
    holed = own if scaling is None else own.mapped(scaling.apply)
    return replace(prepared, available=Available(holed, typical_values(holed, names), names, judged=False))


def _check_family(family: Family) -> None:
    if averaged_by_entries(family):
        return
    coupled = "its statistics are not known by column" if not isinstance(family, PowerFamily) else (
        "where a cell may lie, and so its weight h, depends on the other cells of its row"
    )  # fmt: skip
    remedy = Message(Setting("missing", "impute"), " or ") if family.is_pairwise else Message()
    raise UsageError(
        Setting("missing", "available"), f" is not for {family!r}: {coupled}. Use ", remedy, Setting("missing", "drop"),
        ".",
    )  # fmt: skip
