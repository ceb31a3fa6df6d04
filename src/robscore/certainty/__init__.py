"""How far a fit can be believed: each file answers one question about it."""

from robscore.certainty.check_fit import ResidualRows, conditional_ranks, joint_p_value, z_scores
from robscore.certainty.influence import find_time_blocks, gradients_at, solve
from robscore.certainty.suspicious_cells import describe_cells, kinds_of_cells

__all__ = [
    "ResidualRows",
    "conditional_ranks",
    "describe_cells",
    "find_time_blocks",
    "gradients_at",
    "joint_p_value",
    "kinds_of_cells",
    "solve",
    "z_scores",
]
