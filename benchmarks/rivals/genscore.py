"""genscore, classic score matching in R, where R has it: the same model, penalties and symmetry as robscore's."""

from pathlib import Path

import numpy as np

from benchmarks.rivals.base import Rival, Task, in_r, not_in_r

SCRIPT = Path(__file__).with_suffix(".R")


class Genscore(Rival):
    """genscore's own path with warm starts, through Rscript; the seconds are R's, without its start and the files."""

    name = "genscore, classic (R)"
    tasks = ("path",)

    def absent(self) -> str | None:
        """Return whether R, or its package, is missing."""
        return not_in_r("genscore", "install.packages('genscore') in R")

    def run(self, task: Task) -> np.ndarray:
        """Return a matrix for each penalty."""
        return self.timed(task)[1]

    def timed(self, task: Task) -> tuple[float, np.ndarray]:
        """Return R's seconds, and the matrices."""
        seconds, rows = in_r(SCRIPT, task.data, task.ratio, task.n_alphas, task.tol)
        return seconds, rows.reshape(-1, task.data.shape[1], task.data.shape[1])
