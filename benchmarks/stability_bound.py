"""Stability selection: false stable edges, and the bound on them, square root, m = 20, n = 600, 20 edges."""

import warnings

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

import robscore as rs

M, EDGES, N = 20, 20, 600
BOUNDS = (1.0, 2.5, 5.0)


def counts(seed: int, share: float, max_false: float, n_pairs: int) -> tuple[int, int, float]:
    """Return false and true stable edges, and the bound stated."""
    truth = rs.simulate.random_model(M, EDGES, random_state=[seed, 1])
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=N, random_state=[seed, 2])
    X = rs.simulate.contaminate_pareto(X, share, random_state=[seed, 3]).X
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        model = rs.RobustGraph("sqrt", alphas=25, alpha_min_ratio=0.05, tol=1e-4)
        found = rs.edge_stability(model, X, n_pairs=n_pairs, max_false=max_false, progress=False)
    stable = np.triu(found.frequency >= found.threshold, k=1)
    return (
        int(np.count_nonzero(stable & ~truth.adjacency)),
        int(np.count_nonzero(stable & truth.adjacency)),
        found.expected_false(),
    )


def main(n_sets: int = 10, n_pairs: int = 25) -> dict[tuple[float, float], tuple[float, float, float]]:
    print(f"{'bad rows':<10}{'asked for':>10}{'bound':>8}{'false edges':>13}{'true edges':>12}   (of {EDGES})")
    table = {}
    for share in (0.0, 0.05):
        for max_false in BOUNDS:
            calls = (delayed(counts)(seed, share, max_false, n_pairs) for seed in range(n_sets))
            false, true, bound = np.mean(Parallel(n_jobs=-1)(calls), axis=0)
            print(f"{share:<10.0%}{max_false:>10.1f}{bound:>8.2f}{false:>13.2f}{true:>12.1f}", flush=True)
            table[share, max_false] = (float(false), float(true), float(bound))
    return table


if __name__ == "__main__":
    main()
