"""Simulated data with a known truth: random graphs, samples, bad rows."""

from robscore.simulate.contaminate import contaminate_pareto
from robscore.simulate.graphs import Model, random_model
from robscore.simulate.mixing import effective_sample_size
from robscore.simulate.sample import Draws, draw, sample

__all__ = ["Draws", "Model", "contaminate_pareto", "draw", "effective_sample_size", "random_model", "sample"]
