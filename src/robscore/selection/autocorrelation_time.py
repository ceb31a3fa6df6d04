"""How many rows of a series say as much as one independent row, when a penalty is chosen.

What rows add to the derivative of the loss in a K_ij without an edge is noise, whose sum decides when that pair enters
the path. If neighbours' shares resemble each other, the variance of the sum is tau times that of independent rows
(:mod:`robscore.weighting.time_blocks`): standard errors are sqrt(tau) times as large, and n rows say
as much as n / tau.

The shares are those at the largest penalty, after each column's own parameters, its covariates' among them, have
adapted. Sorted rows are no series, so for these, as for independent rows, tau is exactly 1, and no order changes the
choice.
"""

from __future__ import annotations

import numpy as np

from robscore._tools.typing import Array
from robscore.elements import PairwiseElements
from robscore.losses.quadratic import QuadraticLoss
from robscore.selection.standard_errors import on_own_parameters, profile_out_node_parameters
from robscore.solvers.path import Path
from robscore.weighting.row_weights import RowWeights, WeightedRows
from robscore.weighting.time_blocks import TimeBlocks

_MOST_ROWS, _MOST_NUMBERS = 5_000, 300_000  # guard time: rows, and their shares, that are looked at


def autocorrelation_time(loss: QuadraticLoss, path: Path, elements: PairwiseElements, weights: RowWeights) -> float:
    """Measure tau of the rows in their order; 1 unless they are clearly a series."""
    if weights.frequency is not None or loss.n_columns < 2:
        return 1.0  # weighted rows are not a series
    first = elements.subset(np.arange(min(elements.n_rows, _MOST_ROWS)))
    # Rows that differ, and of equal ones the first with a weight: copies are a frequency, and no series.
    keys = first.row_keys()
    gamma, g = (of_rows[: keys.size] for of_rows in weights)
    counted_first = np.argsort((gamma == 0) | (g == 0), kind="stable")
    some = np.sort(counted_first[np.unique(keys[counted_first], return_index=True)[1]])
    if not all(of_rows[some].sum() > 0 for of_rows in weights):
        return 1.0
    rows = WeightedRows.of(first.subset(some), weights.some(some))
    shares = _shares(loss, path, rows)
    counted = rows.gamma_weights > 0
    shares[counted] -= shares[counted].mean(axis=0)
    return TimeBlocks.of(shares).tau_of_series


def _shares(loss: QuadraticLoss, path: Path, rows: WeightedRows) -> Array:
    """Compute what rows add to the derivatives in K_ij, for all pairs or some of every column, shape (n, p)."""
    m = loss.n_columns
    whole = loss.completed(path.interactions[0]), path.locations[0]
    z = profile_out_node_parameters(loss, *whole, fit_location=path.fit_location)
    own = on_own_parameters(loss, fit_location=path.fit_location)
    entries = loss.parts.own_entries(m, loss.n_locations)
    in_own = [rows.gradients(z, at, np.arange(m), symmetric=False) for at in entries]
    most = _MOST_NUMBERS // rows.elements.n_rows
    i, j = np.triu_indices(m, 1)
    if i.size > most:  # then each column with those next to it
        bands = max(most // m, 1)
        i = np.tile(np.arange(m), bands)
        j = (i + np.repeat(np.arange(1, bands + 1), m)) % m
    shares = np.zeros((rows.elements.n_rows, i.size))
    for entry, node in ((i, j), (j, i)):
        shares += rows.gradients(z, entry, node, symmetric=False)
        for factor, gradient in zip(own, in_own, strict=True):
            shares -= factor[node, entry] * gradient[:, node]
    return shares
