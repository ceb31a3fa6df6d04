"""Rules that fit again on other rows: cross-validation and StARS.

In cross-validation every fold's path is found, robustly, on the other rows. The graphs on it are refitted without a
penalty, since otherwise shrinkage would be paid for with false edges; then each held-out row has its score-matching
loss under every graph. A bad row's loss is large under all of them, so rows whose median loss stands out are left out
of the mean, the same rows for every alpha. After reweighting every row has the weight that it had there.
Where cells were filled in, folds are fitted to completed rows, and judged by observed cells alone: every entry of the
loss by the rows in which its cells were observed (:mod:`robscore.elements.observed_entries`). Where cells are known to
an interval, folds and the rows they are judged by are completed apart (:mod:`robscore.fitting.completed_alone`).
"""

from __future__ import annotations

import numpy as np

from robscore._tools.deviations import stands_out
from robscore._tools.messages import ArgumentError, Message, Setting
from robscore._tools.typing import Array, IntArray
from robscore.losses.quadratic import QuadraticLoss
from robscore.rows.partition import Partition
from robscore.rows.row_source import some_of
from robscore.selection.candidates import Candidates, Choice, least
from robscore.selection.ebic import LEAST_RCOND, graph_key, support
from robscore.solvers.path import Path, joined_interaction, joined_support
from robscore.solvers.unpenalised import SingularLossError, refit

N_FOLDS = 5
_EDGES_A_COLUMN = 10  # denser graphs are skipped: their refits are expensive and they are never best


def cross_validation(candidates: Candidates) -> Choice:
    """Choose by the mean held-out loss of the rows that do not stand out; infinite for very dense graphs."""
    losses, frequency = held_out_losses(candidates), some_of(candidates.weights.frequency, candidates.rows)
    if not candidates.weights.is_tapered:
        looked_at = np.isfinite(losses).any(axis=0)
        if not looked_at.any():
            return Choice(losses[0], least(losses[0], candidates.path))  # raises, in words
        typical = np.median(losses[:, looked_at], axis=1)
        kept = np.flatnonzero(~stands_out(typical, frequency) & np.isfinite(typical))
        losses, frequency = losses[kept], some_of(frequency, kept)
    criterion = losses.mean(axis=0) if frequency is None else frequency @ losses / frequency.sum()
    return Choice(criterion, least(criterion, candidates.path))


def held_out_losses(candidates: Candidates, n_folds: int = N_FOLDS) -> Array:
    """Compute the loss of every row at every alpha, shape (rows, alphas), under the graphs found without its fold."""
    rows = candidates.rows
    if rows.size < 2 * n_folds:
        few = f"needs at least {2 * n_folds} rows, not {rows.size}; give "
        raise ArgumentError("select", "cv", Message(few, Setting("n_edges"), " or ", Setting("alpha"), "."))
    rng, frequency = candidates.rng if candidates.shuffle else None, some_of(candidates.weights.frequency, rows)
    partition = Partition.even(rows.size, n_folds, rng, frequency)
    folds = [np.sort(fold) for fold in np.split(partition.order, partition.starts[1:])]
    fits = candidates.fit_all([np.delete(rows, fold) for fold in folds])
    losses = np.empty((rows.size, candidates.path.alphas.size))
    for fold, (loss, path) in zip(folds, fits, strict=True):
        losses[fold] = _losses_of(candidates, rows[fold], loss, path)
    return losses


def _losses_of(candidates: Candidates, rows: IntArray, loss: QuadraticLoss, path: Path) -> Array:
    """Compute the losses of some rows under the refitted graphs of a path, shape (rows, alphas)."""
    elements, weights = candidates.judges(rows), candidates.weights
    own = weights.some(rows) if weights.is_tapered else None
    losses = np.full((elements.n_rows, path.alphas.size), np.inf)
    seen: dict[bytes, int] = {}
    for k in range(path.alphas.size):
        edges, locations = support(path, k)
        key = graph_key(edges, locations)
        if key in seen:
            losses[:, k] = losses[:, seen[key]]
            continue
        seen[key] = k
        if np.count_nonzero(edges) // 2 > _EDGES_A_COLUMN * loss.n_columns:
            break
        try:
            solution = refit(loss, edges, locations, symmetric=path.rule == "symmetric", least_rcond=LEAST_RCOND)
        except SingularLossError:
            continue
        whole = loss.completed(joined_interaction(solution.interaction, path.rule))
        parameters = whole, solution.location
        losses[:, k] = elements.row_losses(*parameters) if own is None else own.row_losses(elements, parameters)
    return losses


N_SUBSAMPLES = 20
LARGEST_INSTABILITY = 0.1


def stars(candidates: Candidates) -> Choice:
    """Choose the smallest penalty at which the graph is still stable: StARS (Liu, Roeder and Wasserman, 2010).

        instability(alpha) = mean over all pairs of 2 p (1 - p),      p the share of subsamples with an edge there

    made to grow as alpha falls, may not exceed 0.1. Subsamples are drawn without replacement: duplicated rows would
    tie, and pull medians onto themselves.
    """
    rows = candidates.rows
    n = rows.size
    total = n if candidates.weights.frequency is None else float(candidates.weights.frequency[rows].sum())
    size = min(max(int(10 * np.sqrt(total) * (n / total)), 4), int(0.8 * n))  # whole rows: the same share of them
    if size < 4:
        few = f"needs at least 5 rows; there are {n}. Give "
        raise ArgumentError("select", "stars", Message(few, Setting("n_edges"), " or ", Setting("alpha"), "."))
    draws = [np.sort(candidates.rng.choice(n, size=size, replace=False)) for _ in range(N_SUBSAMPLES)]
    paths = candidates.fit_all([rows[draw] for draw in draws])
    m = candidates.loss.n_columns
    upper = candidates.loss.parts.pairs(m)
    frequency = np.zeros((candidates.path.alphas.size, upper[0].size))
    for _, path in paths:
        for k, K in enumerate(path.interactions):
            frequency[k] += joined_support(K, path.rule)[upper]
    frequency /= len(paths)
    instability = (
        np.maximum.accumulate((2 * frequency * (1 - frequency)).mean(axis=1)) if m > 1 else frequency.sum(axis=1)
    )
    stable = np.flatnonzero(instability <= LARGEST_INSTABILITY)
    return Choice(instability, int(stable[-1]) if stable.size else 0)
