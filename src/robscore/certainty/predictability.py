"""How well a column is predicted by its neighbours in the graph, on held-out rows, from 0 to 1.

With L the held-out score-matching loss of a column given its neighbours, and L0 the same without any, both minus half
of what the gradient of its log density is worth,

    predictability = 1 - L0 / L

It is R^2 where rows are Gaussian: L = -K_jj / 2 and L0 = -1 / (2 Sigma_jj). Fits are without a penalty. Covariates are
in both, so that it is what neighbours say beyond them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robscore._tools.messages import Setting, UsageError
from robscore._tools.typing import AnyData
from robscore.certainty.check_fit import ResidualRows, rows_to_check
from robscore.family_choice.held_out_loss import block_losses
from robscore.fitting.fit_result import GraphFit
from robscore.rows.tables import Kind, as_table

_MOST_ROWS = 20_000  # it saves time
_N_FOLDS = 10


def predictability(fit: GraphFit) -> AnyData:
    """The table of :meth:`robscore.RobustGraph.predictability`."""
    rows = rows_to_check([fit], _MOST_ROWS)
    checked = ResidualRows.of(fit, rows)
    if checked is None or rows.size < 2 * _N_FOLDS:
        raise UsageError(
            f"Columns of {fit.prepared.preparation.family!r} with {rows.size} rows cannot be predicted: that needs 20 "
            "rows and a power family on [0, inf) or the real line, without moderators; choose one with ",
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
    columns: dict[str, tuple[Kind, Any]] = {
        "column": (str, list(fit.names)),
        "predictability": (float, values),
        "neighbours": (int, adjacency.sum(axis=1)),
    }
    return as_table(columns, fit.frame)


def _share(with_neighbours: float, alone: float) -> float:
    """1 - L0 / L, between 0 and 1; 0 where neighbours do not help."""
    if with_neighbours >= 0 or with_neighbours >= alone:
        return 0.0
    return min(max(1 - alone / with_neighbours, 0.0), 1.0)
