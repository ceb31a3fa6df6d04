"""Level and power of the permutation test for two equal graphs: square root, m = 8, 400 rows per group.

Level: 500 pairs of groups from one model. Power: in the second group some interactions are weaker, by the share named.
"""

import warnings

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

import robscore as rs

M, EDGES, N = 8, 8, 400
EFFECTS = (0.0, 0.25, 0.5, 0.75, 1.0)


def p_value(seed: int, share: float, effect: float) -> float:
    """Return the p-value of one pair of groups, of which the second has half of its edges weakened."""
    truth = rs.simulate.random_model(M, EDGES, random_state=[seed, 1])
    weaker = truth.interaction.copy()
    i, j = np.nonzero(np.triu(truth.adjacency))
    i, j = i[: EDGES // 2], j[: EDGES // 2]
    weaker[i, j] *= 1 - effect
    weaker[j, i] *= 1 - effect
    groups = []
    for k, K in enumerate((truth.interaction, weaker)):
        X = rs.simulate.sample("sqrt", K, truth.location, n_rows=N, random_state=[seed, 2, k])
        groups.append(rs.simulate.contaminate_pareto(X, share, random_state=[seed, 3, k]).X)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        return rs.equality_test(rs.RobustGraph("sqrt"), *groups, n_permutations=199).p_value


def main(n_pairs: int = 500, n_power: int = 100) -> dict[tuple[float, float], float]:
    print(f"{'bad rows':<10}{'weakened by':>12}{'rejected at 5 %':>17}{'pairs':>7}")
    table = {}
    for share in (0.0, 0.05):
        for effect in EFFECTS:
            count = n_power if effect else n_pairs
            values = Parallel(n_jobs=-1)(delayed(p_value)(seed, share, effect) for seed in range(count))
            rejected = float(np.mean(np.array(values) <= 0.05))
            print(f"{share:<10.0%}{effect:>12.0%}{rejected:>17.3f}{count:>7}", flush=True)
            table[share, effect] = rejected
    return table


if __name__ == "__main__":
    main()
