"""robscore itself, behind the rivals' signature."""

from typing import Any

import numpy as np

import robscore as rs
from benchmarks.rivals.base import Rival, Task, partial_correlations


class Ours(Rival):
    """From rows to the result of each kind of task."""

    name = "robscore"
    tasks = ("robust path", "path", "weights", "median", "mixed")

    def run(self, task: Task) -> Any:
        """Return the task's result."""
        if task.kind == "median":
            return rs.geometric_median(task.data).median
        if task.kind == "mixed":
            return _mixed(task.data)
        elements = rs.score_elements("sqrt", task.data)
        if task.kind == "path":
            return _interactions(elements.average(), task)
        weights = rs.robust_weights(elements, task.n_blocks)
        if task.kind == "robust path":
            return _interactions(elements.average(*weights), task)
        blocks = np.array_split(np.arange(len(task.data)), task.n_blocks)
        return tuple(np.array([part[rows].sum() for rows in blocks]) for part in weights)


def _interactions(loss: Any, task: Task) -> np.ndarray:
    return np.asarray(rs.solve_path(loss, task.n_alphas, alpha_min_ratio=task.ratio, tol=task.tol).interactions)


def _mixed(X: np.ndarray) -> np.ndarray:
    """Return when pairs enter the path of the copula, its graph, and the associations of a refit without a penalty."""
    model = rs.RobustGraph("copula", random_state=0).fit(X)
    entered = np.zeros((X.shape[1], X.shape[1]))
    for alpha, K in zip(model.path_.alphas, model.path_.interactions, strict=True):
        entered = np.where((entered == 0) & (np.asarray(K) != 0), alpha, entered)
    return np.stack([entered, model.graph_.adjacency, partial_correlations(model.fitted_.unshrunk[0])])
