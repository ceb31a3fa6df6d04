"""Two groups of rows, and rows that are bad: which are called a group. 20 columns, 600 rows, 50 data sets per cell.

The group is three standard deviations away in a third of the columns, and 10, 20 or 30 % of the rows; it may also be
kept. Pareto rows, 5, 10 and 20 %, are no group.
"""

import warnings

import numpy as np

import robscore as rs
from benchmarks.tools.resumable import run_resumable
from benchmarks.tools.simulated import SHAPES, model_and_rows
from robscore.certainty.rows_left_out import What, rows_left_out

M, N = 20, 600
FAMILIES = ("gaussian", "sqrt", "gamma", "truncated-gaussian", "log-log")
KINDS = ("10% group", "20% group", "30% group", "5% Pareto", "10% Pareto", "20% Pareto")


def measured(task: tuple[str, str, int]) -> dict[str, float | str]:
    """Return what the rows left out of one data set are, and how much of the group is lost."""
    family, kind, number = task
    _, X = model_and_rows(family, SHAPES[number % len(SHAPES)], M, 1000, number)
    X, count = X[:N].copy(), round(int(kind.split("%")[0]) / 100 * N)
    if kind.endswith("group"):
        third = np.random.default_rng(number).choice(M, size=M // 3, replace=False)
        X[:count, third] += 3 * X[:, third].std(axis=0)
        X = np.random.default_rng(number).permutation(X)
    else:
        shift = 0.0 if (X >= 0).all() else X.mean(axis=0) - X.std(axis=0)
        X = rs.simulate.contaminate_pareto(X - shift, count / N, random_state=number).X + shift
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        left = rows_left_out(rs.RobustGraph(family, n_edges=M, alphas=10).fit(X).fitted_)
    return {"what": str(left.what), "dropped": left.share}


def main(
    n_sets: int = 50, families: tuple[str, ...] = FAMILIES, kinds: tuple[str, ...] = KINDS
) -> dict[tuple[str, str], dict[str, float]]:
    cells = [(family, kind) for kind in kinds for family in families]
    found = run_resumable("groups_of_rows", measured, [(*cell, k) for cell in cells for k in range(n_sets)])
    print(f"{'rows':<13}{'family':<20}{'called a group':>16}{'kept':>7}{'either':>8}{'dropped':>9}")
    table = {}
    for k, cell in enumerate(cells):
        sets = found[k * n_sets : (k + 1) * n_sets]
        group = np.array([one["what"] == What.GROUP for one in sets])
        kept = np.array([one["dropped"] <= 0.02 for one in sets])
        dropped = float(np.mean([one["dropped"] for one in sets]))
        table[cell] = {"group": float(group.mean()), "kept": float(kept.mean()), "either": float((group | kept).mean())}
        one = table[cell]
        print(f"{cell[1]:<13}{cell[0]:<20}{one['group']:>16.0%}{one['kept']:>7.0%}{one['either']:>8.0%}{dropped:>9.1%}")
    print(f"kept: at most 2 % of the rows are left out. {n_sets} data sets per cell.")
    return table


if __name__ == "__main__":
    main()
