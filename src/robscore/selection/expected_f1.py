"""The graph that is expected to agree best with the truth.

Every pair's probability of being an edge follows from how early it entered the path
(:mod:`robscore.selection.entry_scores`, :mod:`robscore.selection.edge_odds`). With E the edges of a graph and T all
true ones,

    F1 = 2 |E and T| / (|E| + |T|),      expected:  2 sum_E P / (|E| + sum P)

is largest where one more edge is as likely to be true as half of F1. So a weak signal gets a graph with some false
edges, and pure noise gets none. It needs no refits and no folds. Only the sparse part of a path is looked at, as far as
pairs outside might yet stand out, and as there are more rows than edges: where columns depend on each other strongly,
that may be all of it.

Where a signal is weak, F1 is flat, and its top may be anywhere on the plateau: a single row could move it far. So the
sparsest graph within a twentieth of F1 (1 - F1) of the top is chosen, which is where the plateau begins. As a rule that
is between two penalties of the path; taking either would put a jump into what is continuous in the data, and so would
counting a pair in full right where it enters.
"""

from __future__ import annotations

import numpy as np

from robscore._tools.numbers import evenly_spread
from robscore._tools.typing import Array, BoolArray
from robscore.losses.interaction_parts import matrices
from robscore.selection.candidates import Candidates, Choice, last_position_with_same_graph, least
from robscore.selection.edge_odds import AnyEdge, Odds, find_odds
from robscore.selection.entry_scores import Entries, EntryScores
from robscore.solvers.path import Path, joined_support
from robscore.weighting.row_weights import WeightedRows

_EDGES_A_COLUMN = 2  # how far along the path to look, unless the best graph is not far from there
_CLEAR = 3.0  # standard errors, by which a pair stands out
_MOST_ROWS = 5_000  # guards time: rows that standard errors look at
_PARTS = 64  # of a step of the path, to which a penalty between two is chosen: rounding should not be seen in it
_FLAT = 0.05  # times F1 (1 - F1): what a sparser graph may lack


def expected_f1(candidates: Candidates) -> Choice:
    """Choose by one minus the expected F1 of every graph, infinite for those that were not looked at."""
    path, weights = candidates.path, candidates.weights
    # The rows with a weight, or a sample of them with weights to match.
    counted, frequency = evenly_spread(candidates.rows, _MOST_ROWS), weights.frequency
    every = WeightedRows.of(candidates.elements.subset(counted), weights.some(counted))
    # Weights of a sample add up to one, as those of all rows do, so its squares are too large.
    sizes = [some.size if frequency is None else frequency[some].sum() for some in (counted, candidates.rows)]
    rows = every.times(np.sqrt(sizes[0] / sizes[1]))
    along = EntryScores(candidates.loss, path, rows, candidates.penalty_weights)
    whole = candidates.certainty is None and candidates.tau == 1
    any_edge = AnyEdge(candidates.loss, path, rows, along.pairs, exchangeable=whole, seed=candidates.seed)
    most = _EDGES_A_COLUMN * path.interactions.n_columns
    several = candidates.loss.parts.are_groups and np.unique(along.pairs[0] // candidates.loss.n_columns).size > 1
    while True:
        entries = along.within(most)
        # Standard errors allow for series, and for cells that were filled in.
        score = entries.score / np.sqrt(candidates.tau)
        if candidates.certainty is not None:
            score = score * candidates.certainty[entries.pairs]
        odds = _odds(score, entries, along.pairs[0] < path.interactions.n_columns)
        if any_edge.according_to(odds):
            criterion = (_of_groups if several else _criterion)(path, entries, odds)
        else:
            criterion = _without_edges(path, entries)
        choice = _sparsest_near_best(criterion, path)
        chosen, last = path.n_edges[[choice.position, entries.n_looked_at - 1]]
        may_go_on = 2 * most <= candidates.n_rows and not several  # of groups, as of each alone
        some_may_stand_out = may_go_on and (score[~entries.entered] > _CLEAR).any()
        enough = chosen <= most // 2 < last and not some_may_stand_out
        if enough or entries.n_looked_at == path.alphas.size:
            return choice
        most *= 2


def _odds(score: Array, entries: Entries, common: BoolArray) -> Odds:
    """Find the odds of K_0 and of what moderators add to it apart: either may have many edges, and the other none."""
    found = [(some, find_odds(score[some], entries.entered[some])) for some in (common, ~common)]
    probability = np.zeros(score.size)
    for some, odds in found:
        probability[some] = odds.probability
    return Odds(probability, sum(odds.n_edges for _, odds in found), sum(odds.evidence for _, odds in found))


def _sparsest_near_best(criterion: Array, path: Path) -> Choice:
    """Choose the sparsest graph whose expected F1 is nearly the best."""
    f1 = 1 - criterion
    best = f1[least(criterion, path)]
    enough = best - _FLAT * best * (1 - best)
    near = np.flatnonzero(f1 >= enough)
    first = int(near[np.argmin(path.n_edges[near])])
    before = f1[first - 1] if 0 < first < path.alphas.size - 1 else -np.inf
    if -np.inf < before < enough < f1[first]:
        between = float(np.ceil((enough - before) / (f1[first] - before) * _PARTS) / _PARTS)
        if between < 1.0:
            return Choice(criterion, first, between)
    return Choice(criterion, last_position_with_same_graph(path, first))


def _of_groups(path: Path, entries: Entries, odds: Odds) -> Array:
    """Compute one minus the expected F1 of the graphs of all groups at once: an edge of K_0 is one of every group.

    A pair is linked in a group if it is in K_0 or in the group's own part: P = 1 - (1 - P_0) (1 - P_g).
    """
    n_rows, m = path.interactions.shape[1:]
    i, j = entries.pairs
    criterion, P = np.full(path.alphas.size, np.inf), np.zeros((n_rows // m, m, m))
    P[i // m, i % m, j] = odds.probability
    linked = 1 - (1 - P[:1]) * (1 - P[1:])
    for k in range(entries.n_looked_at):
        inside = np.triu(matrices(joined_support(path.interactions[k], path.rule)))
        graphs = inside[:1] | inside[1:]
        n_edges = np.count_nonzero(graphs)
        criterion[k] = 1 - 2 * float(linked[graphs].sum()) / (n_edges + float(linked.sum()))
    return criterion


def _criterion(path: Path, entries: Entries, odds: Odds) -> Array:
    """Compute one minus the expected F1 at every position of the path."""
    i, j = entries.pairs
    criterion = np.full(path.alphas.size, np.inf)
    for k in range(entries.n_looked_at):
        inside = joined_support(path.interactions[k], path.rule)[i, j]
        counted = _counted(inside, entries, path.alphas, k)
        found = float(odds.probability @ counted)
        criterion[k] = 1 - 2 * found / (float(counted.sum()) + odds.n_edges)
    return criterion


def _without_edges(path: Path, entries: Entries) -> Array:
    """Prefer few edges, where no pair is linked."""
    criterion = np.full(path.alphas.size, np.inf)
    n_edges = path.n_edges[: entries.n_looked_at]
    criterion[: entries.n_looked_at] = n_edges / (n_edges + 1)
    return criterion


def _counted(inside: BoolArray, entries: Entries, alphas: Array, k: int) -> Array:
    """Say how far every pair is an edge at a position of the path, from 0 to 1, shape (p,).

    That rises from half a step of the path before a pair enters to half a step after; else the last digits of what
    enters next to a penalty would be seen in the criterion there.
    """
    above, below = (0, 1) if k == 0 else (k - 1, k)
    if alphas.size == 1 or not 0 < alphas[below] < alphas[above]:  # given penalties may be zero, or the same
        return inside.astype(float)
    with np.errstate(divide="ignore"):
        ahead = np.log(entries.alpha / alphas[k]) / np.log(alphas[above] / alphas[below])
    gone = ~inside & (ahead >= 0)
    return np.where(gone, 0.0, np.clip(0.5 + ahead, 0.0, 1.0))
