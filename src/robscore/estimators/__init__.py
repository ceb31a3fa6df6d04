"""scikit-learn estimators: check arguments, call the fit, store."""

from robscore.estimators.robust_graph import RobustGraph
from robscore.estimators.robust_score_matching import RobustScoreMatching

__all__ = ["RobustGraph", "RobustScoreMatching"]
