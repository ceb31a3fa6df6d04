"""Simulated data with a known truth: random graphs, samples, bad rows."""

from robscore.simulate.contaminate import contaminate_pareto
from robscore.simulate.graphs import Model, random_model
from robscore.simulate.sample import sample

__all__ = ["Model", "contaminate_pareto", "random_model", "sample"]
