"""A fit with other draws in the cells that it filled in, for what is asked of full rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robscore._tools.typing import IntArray
from robscore.elements.streamed import elements_of
from robscore.fitting.filling import Filler
from robscore.fitting.fit import Fit
from robscore.fitting.weigh import weights_of_copies
from robscore.rows.arrays import ArrayRows
from robscore.weighting.simulation import proper


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
