"""How rows of a family are drawn: directly, by Gibbs sweeps with exact conditionals, or by slices."""

from robscore.families.samplers.sampler import Chains
from robscore.families.samplers.truncated_normal import draw_truncated_normal

__all__ = ["Chains", "draw_truncated_normal"]
