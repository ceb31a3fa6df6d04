"""Blocks of neighbouring rows for intervals of a fit, from how the influences of its rows depend on each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robscore._tools.typing import BoolArray
from robscore.certainty.influence import Solved, free_a_column, solve
from robscore.elements import Elements
from robscore.fitting.fit import Fit
from robscore.losses.quadratic import QuadraticLoss
from robscore.solvers.factor import SingularLossError
from robscore.weighting.time_blocks import TimeBlocks
from robscore.weighting.weighted_rows import WeightedRows

_MOST_NUMBERS, _MOST_ROWS = 5_000_000, 5_000  # influences that are looked at


def find_time_blocks(fit: Fit, allowed: BoolArray) -> TimeBlocks:
    """From the influences of the rows of a fit, in order, on the pairs that are allowed, shape (m, m)."""
    if fit.weights.frequency is not None:
        return TimeBlocks()  # weighted rows are not a series
    n = fit.prepared.rows.n_rows
    elements: Elements = fit.elements()
    weights = fit.weights.some(np.arange(n))
    try:
        solved = solve(elements, weights, allowed, fit_location=fit.settings.fit_location)
    except SingularLossError:
        return TimeBlocks()
    looked_at = int(np.clip(_MOST_NUMBERS // max(solved.solution.rows.size, 1), 200, _MOST_ROWS))
    if looked_at < n:
        some = np.arange(looked_at)
        elements, weights = elements.subset(some), weights.some(some)
    found = TimeBlocks.of(solved.on_pairs(WeightedRows.of(elements, weights)))
    return found.for_rows(n)


def stretched(solved: Solved, blocks: TimeBlocks, n_rows: float, n_free: int) -> Solved:
    """The estimate with influences stretched by the rows that there are in effect, and by what blocks miss."""
    if blocks.size == 1:
        return solved
    worth = n_rows / blocks.tau
    stretch = np.sqrt(worth / max(worth - n_free, worth / 4))
    return replace(solved, stretch=float(max(stretch, solved.stretch) * blocks.factor))


def n_free_of(fit: Fit, allowed: BoolArray) -> int:
    """The most parameters that one column has."""
    assert isinstance(fit.loss, QuadraticLoss)
    return free_a_column(fit.loss, allowed, fit_location=bool(fit.settings.fit_location))
