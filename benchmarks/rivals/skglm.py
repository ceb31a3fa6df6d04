"""skglm's graphical lasso by its default algorithm, which has no warm start."""

import warnings

import numpy as np

from benchmarks.rivals.base import Rival, Task, correlation_path, not_installed


class Skglm(Rival):
    """``skglm.covariance.GraphicalLasso`` on the correlations."""

    name = "skglm, graphical lasso"
    tasks = ("path",)

    def absent(self) -> str | None:
        """Return whether skglm is missing."""
        return not_installed("skglm", "skglm")

    def run(self, task: Task) -> np.ndarray:
        """Return a precision matrix for each penalty."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from skglm.covariance import GraphicalLasso

            correlation, alphas = correlation_path(task)
            off = 1 - np.eye(len(correlation))
            models = [GraphicalLasso(alpha, weights=off).fit(correlation, mode="precomputed") for alpha in alphas]
        return np.array([model.precision_ for model in models])
