"""Which bad rows are found, compared with scikit-learn's MinCovDet: Gaussian rows, no settings.

20 columns, 1000 rows, ten data sets per cell, two on each of random, chain, hub, grid and scale-free graphs. MinCovDet
leaves out rows beyond the 97.5 % point of its chi squared, so that it loses about 2.5 % of the good ones by design.
"""

import warnings

import numpy as np
from sklearn.covariance import MinCovDet

import robscore as rs
from benchmarks.bad_rows import damaged
from benchmarks.tools.resumable import run_resumable
from benchmarks.tools.simulated import SHAPES

DAMAGES = (
    "5% Pareto", "20% Pareto", "10% at 3 sd", "15% at 3 sd", "10% at 4 sd", "15% at 4 sd", "15% at 6 sd",
    "15% at 20 sd", "25% at 6 sd", "10% other graph",
)  # fmt: skip


def measured(task: tuple[str, int]) -> dict[str, float]:
    """Return the shares of the bad rows that are kept, and of the good rows that are lost."""
    damage, number = task
    truth, X, bad = damaged("gaussian", SHAPES[number % len(SHAPES)], 20, number, damage)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = rs.RobustGraph("gaussian", n_edges=len(truth.location), alphas=10).fit(X)
        ours = ~model.row_weights_.any(axis=1)
        theirs = ~MinCovDet(random_state=number).fit(X).support_
    found = {}
    for name, dropped in (("robscore", ours), ("MinCovDet", theirs)):
        found[f"{name}, bad kept"] = 1 - float(dropped[bad].mean())
        found[f"{name}, good lost"] = float(np.delete(dropped, bad).mean())
    return found


def main(n_sets: int = 10, damages: tuple[str, ...] = DAMAGES) -> dict[str, dict[str, float]]:
    tasks = [(damage, number) for damage in damages for number in range(n_sets)]
    found = run_resumable("mcd_comparison", measured, tasks)
    names = list(found[0])
    print(f"{'bad rows':<17}" + "".join(f"{name:>22}" for name in names))
    table = {}
    for k, damage in enumerate(damages):
        sets = found[k * n_sets : (k + 1) * n_sets]
        table[damage] = {name: float(np.mean([one[name] for one in sets])) for name in names}
        print(f"{damage:<17}" + "".join(f"{value:>22.3f}" for value in table[damage].values()))
    return table


if __name__ == "__main__":
    main()
