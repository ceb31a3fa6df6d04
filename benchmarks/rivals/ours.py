"""robscore itself, behind the rivals' signature."""

from typing import Any

import numpy as np

import robscore as rs
from benchmarks.rivals.base import Rival, Task


class Ours(Rival):
    """From rows to the result of each kind of task."""

    name = "robscore"
    tasks = ("robust path", "path", "weights", "median")

    def run(self, task: Task) -> Any:
        """Return the task's result."""
        if task.kind == "median":
            return rs.geometric_median(task.data).median
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
