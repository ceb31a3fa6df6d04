"""scikit-learn estimators: check arguments, call the fit, store."""

from robscore.estimators.robust_graph import RobustGraph, RobustScoreMatching

__all__ = ["RobustGraph", "RobustScoreMatching"]
