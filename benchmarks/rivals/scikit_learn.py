"""scikit-learn's graphical lasso; it has no path and no warm start, so each penalty is solved on its own."""

import warnings

import numpy as np
from sklearn.covariance import graphical_lasso

from benchmarks.rivals.base import Rival, Task, correlation_path


class ScikitLearn(Rival):
    """``sklearn.covariance.graphical_lasso`` on the correlations."""

    name = "scikit-learn, graphical lasso"
    tasks = ("path",)

    def run(self, task: Task) -> np.ndarray:
        """Return a precision matrix for each penalty."""
        correlation, alphas = correlation_path(task)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.array([graphical_lasso(correlation, alpha)[1] for alpha in alphas])
