"""Simulated square-root data that several benchmarks use."""

import numpy as np

import robscore as rs


def square_root_data(n: int, m: int, n_edges: int, share: float, seed: int = 0) -> np.ndarray:
    """Rows from a random square-root model, a share of them replaced by Pareto draws."""
    truth = rs.simulate.random_model(m, n_edges, random_state=seed)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=n, thin=5, random_state=seed + 1)
    return rs.simulate.contaminate_pareto(X, share, random_state=seed + 2).X
