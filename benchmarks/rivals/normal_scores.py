"""scikit-learn's graphical lasso with a cross-validated penalty, on the normal scores of the ranks."""

import warnings

import numpy as np
from sklearn.covariance import GraphicalLassoCV, graphical_lasso

from benchmarks.rivals.base import Rival, Task, partial_correlations
from benchmarks.tools.mixed_columns import normal_scores

_PENALTIES = 40  # that pairs are ranked by


class NormalScores(Rival):
    """``sklearn.covariance.GraphicalLassoCV``; pairs are ranked by a path of its own."""

    name = "normal scores, GraphicalLassoCV"
    tasks = ("mixed",)

    def run(self, task: Task) -> np.ndarray:
        """Return three matrices."""
        scores = normal_scores(task.data)
        correlation = np.corrcoef(scores.T)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            association = partial_correlations(GraphicalLassoCV().fit(scores / scores.std(axis=0)).precision_)
            entered = np.zeros(association.shape)
            largest = np.abs(correlation - np.eye(len(correlation))).max()
            for alpha in np.geomspace(largest, largest / 100, _PENALTIES):
                entered = np.where((entered == 0) & (graphical_lasso(correlation, alpha)[1] != 0), alpha, entered)
        return np.stack([entered, association != 0, association])
