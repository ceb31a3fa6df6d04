"""What every rule for the penalty chooses from, and its choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from robscore._tools.messages import Setting, UsageError
from robscore._tools.threads import on_one_thread, one_thread
from robscore._tools.typing import Array, IntArray
from robscore.elements import PairwiseElements
from robscore.elements.observed_entries import ObservedElements
from robscore.losses.quadratic import QuadraticLoss
from robscore.solvers.path import Path
from robscore.weighting.row_weights import RowWeights


class Choice(NamedTuple):
    """A criterion, one value per alpha, and the position of the chosen alpha.

    Where a rule is known between penalties too, ``between`` is the share of the way (of log alpha) from the penalty
    before the chosen one, in (0, 1], at which the choice begins to hold.
    """

    criterion: Array
    position: int
    between: float = 1.0


@dataclass(frozen=True)
class Candidates:
    """A path to choose from, and the means to fit it again on other rows.

    Attributes
    ----------
    loss, path : QuadraticLoss, Path
        The loss and its solutions.
    elements : PairwiseElements
        Those of all rows.
    weights : RowWeights
        The weights of all rows.
    penalty_weights : array of the shape of K
        Those of its penalty.
    ebic_gamma : float
        The gamma of the extended BIC.
    fit_some : callable
        From rows and a seed to the loss of those alone, as robust as that of all, and its path at the same alphas.
    shuffle : bool
        Whether rows may be cut into folds in any order.
    rng : numpy.random.Generator
    seed : int
        That of draws that must be the same every time, unless another ``random_state`` is given.
    n_jobs : int or None
        How many fits on other rows at a time; None as joblib is set.
    certainty : array of shape (m, m), or None
        Where cells were filled in, the factor by which every pair stands out more than the completed rows say.
    observed : PairwiseElements, or None
        Those of the rows without the cells that were filled in; None where none were.
    apart : callable, or None
        Where cells are known to an interval: from rows to their elements, completed without any other row.
    tau : float
        The autocorrelation time of a series; 1 where rows are independent.
    """

    loss: QuadraticLoss
    path: Path
    elements: PairwiseElements
    weights: RowWeights
    penalty_weights: Array
    ebic_gamma: float
    fit_some: Callable[[IntArray, int], tuple[QuadraticLoss, Path]]
    shuffle: bool
    rng: np.random.Generator
    seed: int = 0
    n_jobs: int | None = None
    certainty: Array | None = None
    observed: ObservedElements | None = None
    apart: Callable[[IntArray], PairwiseElements] | None = None
    tau: float = 1.0

    def judges(self, rows: IntArray) -> PairwiseElements | ObservedElements:
        """The elements of some rows that judge fits of other rows: those of cells that no fit has filled in."""
        if self.apart is not None:
            return self.apart(rows)
        return (self.elements if self.observed is None else self.observed).subset(rows)

    @property
    def rows(self) -> IntArray:
        """Positions of the rows that are not left out."""
        return self.weights.counted

    @property
    def n_rows(self) -> float:
        """The sum of the rows' parts, over the autocorrelation time: as many independent rows say as much."""
        return self.weights.n_rows / self.tau

    def fit_all(self, parts: Sequence[IntArray]) -> list[tuple[QuadraticLoss, Path]]:
        """Fit several sets of rows: losses and paths, with the same bits on any backend of joblib, with any n_jobs.

        Fits are one after the other where rows are streamed: then a single fit keeps all cores busy.
        """
        seeds = self.rng.integers(2**62, size=len(parts)).tolist()
        if self.elements.streams:
            return [self.fit_some(part, seed) for part, seed in zip(parts, seeds, strict=True)]
        calls: Any = (
            delayed(on_one_thread)(self.fit_some, part, seed) for part, seed in zip(parts, seeds, strict=True)
        )
        with one_thread():
            return list(Parallel(n_jobs=self.n_jobs, prefer="threads")(calls))


def least(criterion: Array, path: Path) -> int:
    """Find the position of the least value; of equal ones (one graph) the last converged, which is shrunk least."""
    smallest = criterion.min()
    if not np.isfinite(smallest):
        raise UsageError(
            "The criterion is infinite on the whole path: no graph on it can be refitted without a penalty. Use larger "
            "or more ",
            Setting("alphas"),
            ", give ",
            Setting("n_edges"),
            " or ",
            Setting("alpha"),
            ", or more rows.",
        )
    best = np.flatnonzero(criterion == smallest)
    converged = best[path.converged[best]]
    return int((converged if converged.size else best[:1])[-1])


def last_position_with_same_graph(path: Path, position: int) -> int:
    """Find the last converged position at which the path still has the graph that it has at ``position``."""
    last = position
    for k in range(position + 1, path.alphas.size):
        if path.n_edges[k] != path.n_edges[position]:
            break
        if path.converged[k]:
            last = k
    return last
