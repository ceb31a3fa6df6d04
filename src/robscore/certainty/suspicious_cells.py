"""Which cells look wrong, what the rest of their row says they should be, and what many of them have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robscore._tools.messages import Setting, UsageError, visible
from robscore._tools.typing import AnyData, Array, BoolArray, IntArray
from robscore.cells.common_faults import common_factors, stuck_runs
from robscore.cells.conditionals import conditional_quantiles
from robscore.cells.filled_cells import FilledCells
from robscore.cells.wrong_cells import SuspectCells
from robscore.families.copula import Margins
from robscore.fitting.fit_result import Fit
from robscore.fitting.imputing import drawing_parameters
from robscore.rows.tables import Kind, as_table

_LISTED = 20  # cells that are listed even if they are not flagged
_LEAST_PROBABILITY = 0.01  # of being wrong, to be listed at all
_GRID_POINTS = 400  # of the integral that gives quantiles of a cell
_EXPECTED = (0.025, 0.5, 0.975)  # quantiles of a cell given the rest of its row


def suspicious_cells(fit: Fit) -> AnyData:
    """The table of ``suspicious_cells`` of the estimators."""
    suspects = suspects_of(fit)
    cells = _listed(suspects)
    expected = _expected(fit, suspects, cells)
    rows, columns = cells
    values = _given(fit)
    table: dict[str, tuple[Kind, Any]] = {
        "row": (int, fit.used[rows]),
        "column": (str, [fit.names[j] for j in columns]),
        "value": (float, values[rows, columns]),
        "expected": (float, expected[:, 1]),
        "expected_low": (float, expected[:, 0]),
        "expected_high": (float, expected[:, 2]),
        "probability": (float, suspects.probability[rows, columns]),
        "flagged": (bool, suspects.likely_wrong[rows, columns]),
    }
    return as_table(table, fit.frame)


def suspects_of(fit: Fit) -> SuspectCells:
    """What a fit knows of wrong cells; raise where it did not look for them."""
    filling = fit.prepared.filling
    if filling is None or filling.suspects is None:
        raise UsageError("The fit did not look for wrong cells; fit with ", Setting("cells", value=True), " first.")
    return filling.suspects


def kinds_of_cells(fit: Fit) -> IntArray:
    """What is the matter with every cell of the data, shape (n, m): 0 nothing, 1 missing, 2 too low, 3 too high."""
    filling = fit.prepared.filling
    assert filling is not None
    kinds = np.ones((fit.prepared.complete.size, filling.missing.shape[1]), dtype=np.intp)  # rows without a cell
    own = filling.missing.astype(np.intp)
    if filling.suspects is not None:
        rows, columns = np.nonzero(filling.suspects.likely_wrong)
        expected = _expected(fit, filling.suspects, (rows, columns))[:, 1]
        own[rows, columns] = np.where(_given(fit)[rows, columns] > expected, 3, 2)
    kinds[fit.prepared.complete] = own
    return kinds


def describe_cells(fit: Fit, *, first_row: int = 0, labels: Sequence[str] | None = None) -> list[str]:
    """What many wrong cells of a column have in common, one sentence each; and sensors that are stuck.

    Rows are called by their labels, where all rows of the data have some, else by numbers from ``first_row`` on.
    """
    suspects = suspects_of(fit)
    wrong, names = suspects.likely_wrong, fit.names
    rows, columns = np.nonzero(wrong)
    expected = _expected(fit, suspects, (rows, columns))[:, 1]
    values, is_point = _given(fit), _are_points(fit)[rows, columns]
    sentences = [
        f"{count} cells of {names[j]!r} look {factor:g} times too {'large' if above else 'small'}."
        for j, count, factor, above in common_factors(
            values[rows, columns][is_point], expected[is_point], columns[is_point]
        )
    ]
    sentences += [
        f"{names[j]!r} has the same value, {value:g}, in {length} rows from "
        f"{_row_name(fit, start, first_row, labels)} on: is it stuck?"
        for j, start, length, value in stuck_runs(values, suspects.rule.chance)
    ]
    return sentences


def _row_name(fit: Fit, position: int, first_row: int, labels: Sequence[str] | None) -> str:
    """The name of a row, by its position among the rows that were used."""
    row = int(fit.used[position])
    return f"row {row + first_row}" if labels is None else f"row {row + first_row} ({visible(labels[row])})"


def _listed(suspects: SuspectCells) -> tuple[IntArray, IntArray]:
    """The flagged cells and the most suspicious others, most surprising first."""
    probability = suspects.repairable
    order = np.argsort(-probability, axis=None, kind="stable")
    count = max(int(np.count_nonzero(suspects.likely_wrong)), _LISTED)
    order = order[:count][probability.ravel()[order[:count]] > _LEAST_PROBABILITY]
    rows, columns = np.unravel_index(order, probability.shape)
    return rows, columns


def _expected(fit: Fit, suspects: SuspectCells, cells: tuple[IntArray, IntArray]) -> Array:
    """Quantiles of the cells given the rest of their rows, in units of the data, shape (cells, 3)."""
    family = fit.prepared.preparation.scaled_family
    completed = fit.prepared.rows.take(np.arange(fit.prepared.rows.n_rows))
    base, own, (K, eta) = family.at(completed, *drawing_parameters(fit))
    usual = fit.weights.gamma_weights > 0
    rows, columns = cells
    found = np.empty((rows.size, len(_EXPECTED)))
    for j in np.unique(columns).tolist():
        mine = np.flatnonzero(columns == j)
        at = K, eta if eta.ndim == 1 else eta[rows[mine]]
        found[mine] = conditional_quantiles(base, own[rows[mine]], at, j, own[usual, j], _GRID_POINTS, _EXPECTED)
    scaling = fit.prepared.preparation.scaling
    if scaling is None:
        return found
    if not fit.prepared.preparation.has_margins:
        return np.asarray(found * scaling.scale[columns, None] + scaling.centre[columns, None])
    whole = np.zeros((*found.T.shape, len(fit.names)))
    whole[:, np.arange(rows.size), columns] = found.T
    return np.stack([scaling.undo(latent)[np.arange(rows.size), columns] for latent in whole], axis=1)


def _given(fit: Fit) -> Array:
    """The cells as they were given, shape (n, m), NaN where they were not."""
    assert fit.prepared.filling is not None
    return fit.prepared.filling.given


def _are_points(fit: Fit) -> BoolArray:
    """Cells that are measurements, shape (n, m), not one of a few values."""
    assert isinstance(fit.prepared.filling, FilledCells)
    scaling = fit.prepared.preparation.scaling
    if not isinstance(scaling, Margins):
        return np.ones(fit.prepared.filling.given.shape, dtype=bool)
    return np.equal(*scaling.bounds(fit.prepared.filling.given))
