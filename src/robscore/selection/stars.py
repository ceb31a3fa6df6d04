"""StARS (Liu, Roeder and Wasserman, 2010): the smallest penalty at which the graph is still stable.

Graphs are learnt from subsamples without replacement (duplicated rows would tie, and pull medians onto themselves). The
instability of a pair is 2 p (1 - p), p being the share of subsamples in which it has an edge; its mean over all pairs,
made to grow as the penalty falls, may not exceed 0.1.
"""

from __future__ import annotations

import numpy as np

from robscore._tools.messages import ArgumentError, Message, Setting
from robscore.selection.choice import Candidates, Choice
from robscore.solvers.path import joined_support

N_SUBSAMPLES = 20
LARGEST_INSTABILITY = 0.1


def stars(candidates: Candidates) -> Choice:
    """Instability, one value per alpha; the chosen one is the last before it exceeds 0.1."""
    rows = candidates.rows
    n = rows.size
    size = min(int(10 * np.sqrt(n)), int(0.8 * n))
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
