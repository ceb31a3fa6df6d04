"""Coverage of 95 % intervals and false discoveries of tests: square root, m = 20, n = 1000, 20 edges, 500 data sets.

Everything is left at its default: nothing about the bad rows is given. Every data set has a graph of its own.
"""

import warnings

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

import robscore as rs

N, M, EDGES = 1000, 20, 20
LEVEL, FDR = 0.95, 0.1
COLUMNS = ("K, true edges", "K, no edge", "association", "by subsampling", "FDR", "power")


def outcome(seed: int, share: float) -> list[float]:
    """Return the shares of intervals that hold the truth, of discoveries that are false, and of edges discovered."""
    truth = rs.simulate.random_model(M, EDGES, random_state=[seed, 1])
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=N, random_state=[seed, 2])
    X = rs.simulate.contaminate_pareto(X, share, random_state=[seed, 3]).X
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        model = rs.RobustGraph("sqrt").fit(X)
        table = model.edge_intervals(level=LEVEL, fdr=FDR)
        halves = model.edge_intervals(level=LEVEL, method="subsampling") if seed % 10 == 0 else None
    position = {name: k for k, name in enumerate(model.graph_.names)}
    size = np.sqrt(np.diagonal(truth.interaction))
    association = -truth.interaction / np.outer(size, size)

    def covered(table: object, what: str, true: np.ndarray) -> np.ndarray:
        i, j = (np.array([position[name] for name in table[end]]) for end in ("source", "target"))
        low, high = (np.asarray(table[f"{what}_{end}"]) for end in ("low", "high"))
        return (low <= true[i, j]) & (true[i, j] <= high), truth.adjacency[i, j]

    inside, is_edge = covered(table, "interaction", truth.interaction)
    associated, _ = covered(table, "association", association)
    by_halves = np.nan
    if halves is not None:
        inside_halves, edge_halves = covered(halves, "interaction", truth.interaction)
        by_halves = inside_halves[edge_halves].mean()
    found = np.asarray(table["significant"])
    false = np.count_nonzero(found & ~is_edge) / max(np.count_nonzero(found), 1)
    return [
        inside[is_edge].mean(),
        inside[~is_edge].mean(),
        associated[is_edge].mean(),
        by_halves,
        false,
        found[is_edge].mean(),
    ]


def main(n_sets: int = 500) -> dict[float, dict[str, float]]:
    print(f"{'bad rows':<10}" + "".join(f"{name:>16}" for name in COLUMNS))
    table = {}
    for share in (0.0, 0.05):
        values = np.nanmean(Parallel(n_jobs=-1)(delayed(outcome)(seed, share) for seed in range(n_sets)), axis=0)
        print(f"{share:<10.0%}" + "".join(f"{value:>16.3f}" for value in values), flush=True)
        table[share] = dict(zip(COLUMNS, values.tolist(), strict=True))
    return table


if __name__ == "__main__":
    main()
