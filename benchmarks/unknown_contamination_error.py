"""Squared error when the contamination is not known: square root, m = 5, n = 1000 (appendix D.2), 40 data sets.

The best fixed K is that of the mean over all data sets, which nobody who has one data set can know.
"""

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

import robscore as rs

N, M, EDGES = 1000, 5, 5
SHARES = (0.0, 0.05, 0.1, 0.2)
GRID = (1, 50, 100, 150, 200, 250, 300, 350, 400, 450, 500, 600, 700, 800, 900, 1000)


def errors(seed: int, share: float, grid: tuple[int, ...]) -> dict[str, float]:
    """Return the squared errors of one data set, by method."""
    truth = rs.simulate.random_model(M, EDGES, min_eigenvalue=0.5, random_state=0)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=N, random_state=[seed, 1])
    X, bad = rs.simulate.contaminate_pareto(X, share, random_state=[seed, 2])

    def error(X: np.ndarray, **options: object) -> float:
        model = rs.RobustScoreMatching("sqrt", scale=None, **options).fit(X)
        return float(
            ((model.interaction_ - truth.interaction) ** 2).sum() + ((model.location_ - truth.location) ** 2).sum()
        )

    with threadpool_limits(1):
        result = {f"K = {K}": error(X, n_blocks=K) for K in grid}
        result["oracle"] = error(np.delete(X, bad, axis=0), n_blocks=1)
        result["auto"] = error(X, n_blocks="auto")
        result["reweight"] = error(X, n_blocks="auto", reweight=True)
    return result


def main(
    n_sets: int = 40, shares: tuple[float, ...] = SHARES, grid: tuple[int, ...] = GRID
) -> dict[float, dict[str, float]]:
    table = {}
    print(f"{'bad':<6}{'classic':>9}{'oracle':>9}{'K = 4εn':>9}{'best K':>15}{'auto':>8}{'/ best K':>9}", end="")
    print(f"{'reweight':>10}{'/ oracle':>9}{'/ best K':>9}")
    for share in shares:
        sets = Parallel(n_jobs=-1)(delayed(errors)(seed, share, grid) for seed in range(n_sets))
        mean = {name: float(np.mean([one[name] for one in sets])) for name in sets[0]}
        best = min((mean[f"K = {K}"], K) for K in grid)
        rule = mean[f"K = {rs.n_blocks_for(N, share)}"]
        print(f"{share:<6.0%}{mean['K = 1']:>9.2f}{mean['oracle']:>9.2f}{rule:>9.2f}", end="")
        print(f"{best[0]:>7.2f} (K={best[1]:>3})", end="")
        print(f"{mean['auto']:>8.2f}{mean['auto'] / best[0]:>9.2f}", end="")
        print(f"{mean['reweight']:>10.2f}{mean['reweight'] / mean['oracle']:>9.2f}{mean['reweight'] / best[0]:>9.2f}")
        table[share] = {**mean, "best K": best[0]}
    return table


if __name__ == "__main__":
    main()
