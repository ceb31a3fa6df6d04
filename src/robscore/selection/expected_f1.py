"""The graph that is expected to agree best with the truth.

Every pair's probability of being an edge follows from how early it entered the path (:mod:`robscore.selection.entries`,
:mod:`robscore.selection.odds`). With E the edges of a graph and T all true ones,

    F1 = 2 |E and T| / (|E| + |T|),      expected:  2 sum_E P / (|E| + sum P)

is largest where an edge more is as likely to be true as half of F1. So a weak signal gets a graph with some false edges
in it, and pure noise gets none. Nothing is refitted, and nothing is cut into folds.
"""

from __future__ import annotations

import numpy as np

from robscore._tools.typing import Array
from robscore.selection.choice import Candidates, Choice, least
from robscore.selection.entries import Entries, find_entries
from robscore.selection.odds import Odds, find_odds
from robscore.solvers.path import Path, joined_support
from robscore.weighting.weighted_rows import WeightedRows

_EDGES_A_COLUMN = 2  # how far along the path to look, unless the best graph is not far from there
_MOST_ROWS = 5_000  # that standard errors look at


def expected_f1(candidates: Candidates) -> Choice:
    """One minus the expected F1 of every graph, infinite for those that were not looked at."""
    path, rows = candidates.path, _rows(candidates)
    most = _EDGES_A_COLUMN * path.interactions.n_columns
    while True:
        entries = find_entries(candidates.loss, path, rows, candidates.penalty_weights, most)
        criterion = _criterion(path, entries, find_odds(entries.score, entries.entered))
        position = least(criterion, path)
        if entries.n_looked_at == path.alphas.size or path.n_edges[position] <= most // 2:
            return Choice(criterion, position)
        most *= 2


def _rows(candidates: Candidates) -> WeightedRows:
    """The rows that count, or a sample of them with weights to match."""
    counted = candidates.rows
    if counted.size > _MOST_ROWS:
        counted = counted[np.linspace(0, counted.size - 1, _MOST_ROWS).astype(np.intp)]
    weights = candidates.weights
    every = WeightedRows.of(candidates.elements.subset(counted), weights.some(counted))
    # Weights of a sample add up to one, as those of all rows do, so its squares are too large.
    often = weights.frequency
    sizes = [rows.size if often is None else often[rows].sum() for rows in (counted, candidates.rows)]
    return every.times(np.sqrt(sizes[0] / sizes[1]))


def _criterion(path: Path, entries: Entries, odds: Odds) -> Array:
    i, j = entries.pairs
    criterion = np.full(path.alphas.size, np.inf)
    for k in range(entries.n_looked_at):
        inside = joined_support(path.interactions[k], path.rule)[i, j]
        n_edges = np.count_nonzero(inside)
        if odds.there_are_edges:
            found = float(odds.probability[inside].sum())
            criterion[k] = 1 - 2 * found / (n_edges + odds.n_edges)
        else:
            criterion[k] = n_edges / (n_edges + 1)
    return criterion
