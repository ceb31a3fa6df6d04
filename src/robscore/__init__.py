"""robscore: sparse graphs, and any exponential family's parameters, from data with bad rows in it."""

from robscore import boundary, datasets, domains, families, medians, metrics, plot, selection, simulate, theory
from robscore._version import __version__
from robscore.comparison import compare_graphs, equality_test
from robscore.elements import score_elements
from robscore.estimators import RobustGraph, RobustScoreMatching
from robscore.identifiability import check_identifiable
from robscore.medians import geometric_median, median_of_means, n_blocks_for
from robscore.row_weights import robust_weights
from robscore.solvers.path import Path, StatisticPath, solve_path
from robscore.stability import edge_stability
from robscore.structure import penalty_weights

__all__ = [
    "Path",
    "RobustGraph",
    "RobustScoreMatching",
    "StatisticPath",
    "__version__",
    "boundary",
    "check_identifiable",
    "compare_graphs",
    "datasets",
    "domains",
    "edge_stability",
    "equality_test",
    "families",
    "geometric_median",
    "median_of_means",
    "medians",
    "metrics",
    "n_blocks_for",
    "penalty_weights",
    "plot",
    "robust_weights",
    "score_elements",
    "selection",
    "simulate",
    "solve_path",
    "theory",
]
