"""What the default leaves out and flags in clean rows: every family, 20 columns, 200 and 1000 rows, 50 data sets."""

import warnings

import numpy as np

import robscore as rs
from benchmarks.tools.resumable import run_resumable
from benchmarks.tools.simulated import SHAPES, model_and_rows

FAMILIES = ("gaussian", "sqrt", "gamma", "truncated-gaussian", "log-log", "simplex")
SIZES = (200, 1000)
M = 20


def measured(task: tuple[str, int, int]) -> dict[str, float]:
    """Return the shares of the rows of one data set that are dropped and that are flagged."""
    family, n, number = task
    _, X = model_and_rows(family, SHAPES[number % len(SHAPES)], M, n, number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = rs.RobustGraph(family, n_edges=M, alphas=10).fit(X)
    table = model.suspicious_rows(level=0.01)
    return {"dropped": model.share_dropped_ or 0.0, "flagged": float(np.mean(table["flagged"]))}


def main(
    n_sets: int = 50, families: tuple[str, ...] = FAMILIES, sizes: tuple[int, ...] = SIZES
) -> dict[tuple[str, int], dict[str, float]]:
    cells = [(family, n) for family in families for n in sizes]
    found = run_resumable("clean_rows", measured, [(*cell, k) for cell in cells for k in range(n_sets)])
    print(f"{'family':<20}{'n':>5}{'dropped':>10}{'most':>8}{'none dropped':>14}{'flagged at 1%':>15}")
    table = {}
    for k, cell in enumerate(cells):
        sets = found[k * n_sets : (k + 1) * n_sets]
        dropped = np.array([one["dropped"] for one in sets])
        table[cell] = {
            "dropped": float(dropped.mean()),
            "most": float(dropped.max()),
            "none": float(np.mean(dropped == 0)),
            "flagged": float(np.mean([one["flagged"] for one in sets])),
        }
        one = table[cell]
        print(
            f"{cell[0]:<20}{cell[1]:>5}{one['dropped']:>10.2%}{one['most']:>8.1%}{one['none']:>14.0%}"
            f"{one['flagged']:>15.2%}"
        )
    return table


if __name__ == "__main__":
    main()
