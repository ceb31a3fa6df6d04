"""mgm, mixed graphical models by regressions of each column on the others, in R, where R has it."""

from pathlib import Path

import numpy as np

from benchmarks.rivals.base import Rival, Task, in_r, kinds_in_r, not_in_r

SCRIPT = Path(__file__).with_suffix(".R")


class Mgm(Rival):
    """``mgm(lambdaSel = "EBIC")``; pairs are ranked by their weights there, which are not partial correlations."""

    name = "mgm, EBIC (R)"
    tasks = ("mixed",)

    def absent(self) -> str | None:
        """Return whether R, or its package, is missing."""
        return not_in_r("mgm", "install.packages('mgm') in R")

    def run(self, task: Task) -> np.ndarray:
        """Return three matrices."""
        return self.timed(task)[1]

    def timed(self, task: Task) -> tuple[float, np.ndarray]:
        """Return R's seconds, and three matrices."""
        seconds, rows = in_r(SCRIPT, task.data, kinds_in_r(task.data).replace("z", "g"))
        return seconds, rows.reshape(3, task.data.shape[1], -1)
