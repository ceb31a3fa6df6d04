"""SKEPTIC: rank correlations with a sine transform, as in R's huge, and EBICglasso, as in R's qgraph."""

import numpy as np
from scipy.stats import spearmanr

from benchmarks.rivals.base import Rival, Task, lasso_by_ebic


class Skeptic(Rival):
    """2 sin(pi / 6 rho) of Spearman's rho; the nearest positive definite matrix is not needed with a penalty."""

    name = "SKEPTIC, EBICglasso"
    tasks = ("mixed",)

    def run(self, task: Task) -> np.ndarray:
        """Return three matrices."""
        correlation = 2 * np.sin(np.pi / 6 * spearmanr(task.data).statistic)
        np.fill_diagonal(correlation, 1.0)
        return lasso_by_ebic(correlation, len(task.data))
