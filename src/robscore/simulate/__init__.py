"""Simulated data with a known truth: random graphs, samples, bad rows."""

from robscore.families.samplers.sampler import Draws, effective_sample_size
from robscore.simulate.contaminate import (
    Contaminated,
    choose_rows,
    contaminate,
    contaminate_cluster,
    contaminate_near_zero,
    contaminate_other_graph,
    contaminate_pareto,
    contaminate_permuted,
    contaminate_skewed,
    contaminate_symmetric,
    contaminate_units,
    contaminate_wide,
)
from robscore.simulate.how_much_data import power
from robscore.simulate.models import Model, draw, random_model, sample, shaped_model

__all__ = [
    "Contaminated",
    "Draws",
    "Model",
    "choose_rows",
    "contaminate",
    "contaminate_cluster",
    "contaminate_near_zero",
    "contaminate_other_graph",
    "contaminate_pareto",
    "contaminate_permuted",
    "contaminate_skewed",
    "contaminate_symmetric",
    "contaminate_units",
    "contaminate_wide",
    "draw",
    "effective_sample_size",
    "power",
    "random_model",
    "sample",
    "shaped_model",
]
