"""Simulated square-root data that several benchmarks use."""

import numpy as np

import robscore as rs


def square_root_data(n: int, m: int, n_edges: int, share: float, seed: int = 0) -> np.ndarray:
    """Rows from a random square-root model, a share of them replaced by Pareto draws."""
    truth = rs.simulate.random_model(m, n_edges, random_state=seed)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=n, thin=5, random_state=seed + 1)
    return rs.simulate.contaminate_pareto(X, share, random_state=seed + 2).X


def sparse_square_root_data(n: int, m: int, n_edges: int, share: float, seed: int = 0) -> np.ndarray:
    """The same for thousands of columns: a diagonally dominant K with unit diagonal, and short chains."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, m, size=(2, n_edges))
    kept = i != j
    K = np.zeros((m, m))
    K[i[kept], j[kept]] = rng.choice([-1.0, 1.0], kept.sum()) * rng.uniform(0.5, 1.0, kept.sum())
    K += K.T
    np.fill_diagonal(K, np.abs(K).sum(axis=1) + 0.5)
    size = np.sqrt(K.diagonal())
    K /= np.multiply.outer(size, size)
    X = rs.simulate.sample("sqrt", K, np.full(m, 0.5), n_rows=n, thin=2, burn_in=50, random_state=rng)
    return rs.simulate.contaminate_pareto(X, share, random_state=rng).X
