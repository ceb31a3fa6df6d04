"""BDgraph, Bayesian learning of Gaussian copula graphs in R, where R has it."""

from pathlib import Path

import numpy as np

from benchmarks.rivals.base import Rival, Task, in_r, kinds_in_r, not_in_r

SCRIPT = Path(__file__).with_suffix(".R")
STEPS = 1500


class BDgraph(Rival):
    """``bdgraph(method = "gcgm")``: links of probability above 1/2; the seconds are those of the fit in R."""

    name = "BDgraph, Gaussian copula (R)"
    tasks = ("mixed",)

    def absent(self) -> str | None:
        """Return whether R, or its package, is missing."""
        return not_in_r("BDgraph", "apt-get install r-cran-bdgraph, or install.packages('BDgraph') in R")

    def run(self, task: Task) -> np.ndarray:
        """Return three matrices."""
        return self.timed(task)[1]

    def timed(self, task: Task) -> tuple[float, np.ndarray]:
        """Return R's seconds, and three matrices."""
        seconds, rows = in_r(SCRIPT, task.data, kinds_in_r(task.data), STEPS)
        return seconds, rows.reshape(3, task.data.shape[1], -1)
