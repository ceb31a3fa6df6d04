"""The input and the result of every rule for the penalty."""

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
    """One value per alpha, and the position of the chosen one.

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
    loss, path : the loss and its solutions
    elements : of all rows
    weights : what every row counts
    penalty_weights : array of the shape of K, of its penalty
    ebic_gamma : gamma of the extended BIC
    fit_some : rows and a seed to the loss of those alone, as robust as that of all, and its path at the same alphas
    shuffle : whether rows may be cut into folds in any order
    rng : random numbers
    seed : int
        Of draws that must be the same every time, unless another ``random_state`` is given.
    n_jobs : how many fits on other rows at a time; None as joblib is set
    certainty : array of shape (m, m), or None
        How many times as many standard errors every pair stands out as the rows say, where cells were filled in.
    observed : of the rows without the cells that were filled in; None where none were
    tau : float
        As many rows of a series as are worth one; 1 where rows are independent.
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
    tau: float = 1.0

    @property
    def judges(self) -> PairwiseElements | ObservedElements:
        """Elements that rows judge fits of other rows by: of cells that were observed."""
        return self.elements if self.observed is None else self.observed

    @property
    def rows(self) -> IntArray:
        """Positions of the rows that count."""
        return self.weights.counted

    @property
    def n_rows(self) -> float:
        """How many rows there are in effect: those that count in part in part, a series by what it is worth."""
        return self.weights.n_rows / self.tau

    def fit_all(self, parts: Sequence[IntArray]) -> list[tuple[QuadraticLoss, Path]]:
        """The losses and paths of several sets of rows; the same bits on any backend of joblib, with any n_jobs.

        One after the other where rows are streamed: then a single fit keeps all cores busy.
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
    """Position of the least value; among equal ones (the same graph) the last converged, which is shrunk least."""
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
    """The last converged position at which the path still has the graph that it has at one."""
    last = position
    for k in range(position + 1, path.alphas.size):
        if path.n_edges[k] != path.n_edges[position]:
            break
        if path.converged[k]:
            last = k
    return last
