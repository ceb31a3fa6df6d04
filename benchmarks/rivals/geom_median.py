"""geom_median's smoothed Weiszfeld iteration, with its own settings."""

import numpy as np

from benchmarks.rivals.base import Rival, Task, not_installed


class GeomMedian(Rival):
    """``geom_median.numpy.compute_geometric_median``."""

    name = "geom_median"
    tasks = ("median",)

    def absent(self) -> str | None:
        """Return whether geom_median is missing."""
        return not_installed("geom_median", "geom-median")

    def run(self, task: Task) -> np.ndarray:
        """Return the median of the points."""
        from geom_median.numpy import compute_geometric_median

        return np.asarray(compute_geometric_median(list(task.data)).median)
