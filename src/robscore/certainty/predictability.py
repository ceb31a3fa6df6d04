"""How well a column is predicted by its neighbours in the graph, on held-out rows, from 0 to 1.

With L the held-out score-matching loss of a column given its neighbours, and L0 the same without any, both minus half
of what the gradient of its log density is worth,

    predictability = 1 - L0 / L

It is R^2 where rows are Gaussian: L = -K_jj / 2 and L0 = -1 / (2 Sigma_jj). Fits are without a penalty. Covariates are
in both, so that it is what neighbours say beyond them.

Of the copula L and L0 are those of the latent numbers: R^2 of what stands behind a column, given what stands behind its
neighbours. Of two values one wants to know how often they are guessed right. With A the share of held-out cells that
are guessed right from the cells of the neighbours (whose latent numbers are drawn within their intervals), and A0 the
share of the more frequent value,

    predictability = (A - A0) / (1 - A0)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from robscore._tools.messages import Setting, UsageError
from robscore._tools.typing import AnyData, Array, IntArray
from robscore.cells.draw_cells import Bounds, DrawingOrder, completions
from robscore.certainty.check_fit import ResidualRows, rows_to_check
from robscore.certainty.edge_intervals import check_one_graph
from robscore.families.copula import Margins
from robscore.families.power import Gaussian
from robscore.family_choice.held_out_loss import block_losses
from robscore.fitting.fit_result import GraphFit
from robscore.rows.tables import Kind, as_table

_MOST_ROWS = 20_000  # it saves time
_N_FOLDS = 10
_TWO = 2  # different values
_EXPLAINED, _GUESSED = "explained", "guessed right"
_DRAWS, _SWEEPS = 20, 3  # of neighbours, over which a guess is averaged; sweeps for each
_FIRST_SWEEPS = 10  # after which nothing is left of a start that knew the column
_LEAST_LEFT = 1e-6  # of a variance: it guards rounding


def predictability(fit: GraphFit) -> AnyData:
    """The table of :meth:`robscore.RobustGraph.predictability`."""
    check_one_graph(fit, "predictability")
    rows = rows_to_check([fit], _MOST_ROWS)
    checked = ResidualRows.of(fit, rows)
    if checked is None or rows.size < 2 * _N_FOLDS:
        raise UsageError(
            f"Columns of {fit.prepared.preparation.family!r} with {rows.size} rows cannot be predicted: that needs 20 "
            "rows and a power family on [0, inf) or the real line; choose one with ",
            Setting("family"),
            ".",
        )
    order = np.random.default_rng(fit.settings.seed).permutation(checked.weight.phi.size)
    starts = np.linspace(0, order.size, _N_FOLDS, endpoint=False).round().astype(np.intp)
    adjacency = fit.graph.adjacency
    values = np.zeros(len(adjacency))
    weight = checked.weight.ordered(order)
    for j, neighbours in enumerate(adjacency):
        losses = [
            float(block_losses(*weight.sums(checked.family, j, among, starts)).sum())
            for among in (np.union1d(np.flatnonzero(neighbours), j), np.array([j]))
        ]
        values[j] = _share(*losses)
    has_two = np.zeros(len(adjacency), dtype=bool)
    if isinstance(scaling := fit.prepared.preparation.scaling, Margins) and not fit.n_given:
        has_two = np.array([own.size == _TWO for own in scaling.values])
    for j in np.flatnonzero(has_two).tolist():
        values[j] = _guessed_right(fit, rows, j, np.flatnonzero(adjacency[j]))
    columns: dict[str, tuple[Kind, Any]] = {
        "column": (str, list(fit.names)),
        "predictability": (float, values),
        "neighbours": (int, adjacency.sum(axis=1)),
    }
    if fit.prepared.preparation.has_margins:
        columns["measure"] = (str, [_GUESSED if two else _EXPLAINED for two in has_two])
    return as_table(columns, fit.frame)


def _guessed_right(fit: GraphFit, rows: IntArray, j: int, neighbours: IntArray) -> float:
    """How much better the values of a column of two are guessed from its neighbours than by the more frequent one."""
    filling, margins = fit.prepared.filling, fit.prepared.preparation.scaling
    assert isinstance(margins, Margins)
    if not neighbours.size:
        return 0.0
    Z = fit.prepared.rows.take(rows)
    X = margins.undo(Z)
    if filling is not None:
        X[filling.missing[rows]] = np.nan
    known = ~np.isnan(X[:, j])
    Z, (lower, upper) = Z[known], margins.bounds(X[known])
    threshold = float(ndtri(margins.upper[j][0]))
    is_upper = Z[:, j] > threshold
    bounds, start = (lower[:, neighbours], upper[:, neighbours]), Z[:, neighbours]
    drawn = _draws_within(bounds, start, _correlations(start), fit.settings.seed)
    guess, order = np.empty(len(Z), dtype=bool), np.random.default_rng(fit.settings.seed).permutation(len(Z))
    for fold in np.array_split(order, _N_FOLDS):
        R = _correlations(np.delete(Z, fold, axis=0)[:, [j, *neighbours]])
        slope = np.linalg.lstsq(R[1:, 1:], R[1:, 0], rcond=None)[0]
        left = np.sqrt(max(1.0 - float(slope @ R[1:, 0]), _LEAST_LEFT))
        guess[fold] = ndtr((drawn[:, fold] @ slope - threshold) / left).mean(axis=0) > 1 / 2
    right, most = float(np.mean(guess == is_upper)), max(float(is_upper.mean()), 1 - float(is_upper.mean()))
    return max((right - most) / (1 - most), 0.0) if most < 1 else 0.0


def _correlations(Z: Array) -> Array:
    return np.asarray(np.atleast_2d(np.corrcoef(Z, rowvar=False)), dtype=float)


def _draws_within(bounds: Bounds, start: Array, R: Array, seed: int) -> Array:
    """Latent numbers of some columns within their bounds, shape (E, n, k), by their correlations R alone."""
    cells = bounds[0] < bounds[1]
    if not cells.any():
        return start[None]
    k = start.shape[1]
    K = np.asarray(np.linalg.inv(R + _LEAST_LEFT * np.eye(k)))
    rngs = [np.random.default_rng([seed, 5, number]) for number in range(_DRAWS)]
    order = DrawingOrder.of(np.where(np.isinf(bounds[0]) & np.isinf(bounds[1]), np.nan, start))
    sweeps = [_FIRST_SWEEPS] + [_SWEEPS] * (_DRAWS - 1)
    return completions(Gaussian(), start, cells, (K, np.zeros(k)), order=order, sweeps=sweeps, rngs=rngs, bounds=bounds)


def _share(with_neighbours: float, alone: float) -> float:
    """1 - L0 / L, between 0 and 1; 0 where neighbours do not help."""
    if with_neighbours >= 0 or with_neighbours >= alone:
        return 0.0
    return min(max(1 - alone / with_neighbours, 0.0), 1.0)
