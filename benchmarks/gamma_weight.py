"""What the weight of the distance to the boundary costs gamma rows: the default compared with the power d^2.

Clean rows, eight data sets per cell, two on each of random, chain, hub and scale-free graphs. Area under the ROC curve
of the path; F1 of the edges at the best penalty, and at the chosen one. Both weights are the same at the boundary.
"""

import numpy as np

import robscore as rs
from benchmarks.penalty_choice import SHAPES
from benchmarks.tools.resumable import run_resumable
from benchmarks.tools.simulated import model_and_rows

WEIGHTS = {"d^2": rs.boundary.Power(2.0), "log(1 + d)^2": rs.families.Gamma().boundary}
Cell = tuple[int, int]


def measured(task: tuple[int, int, int, str]) -> list[float]:
    """Return the area, the best F1, and the F1 at the choice."""
    m, n, number, weight = task
    truth, X = model_and_rows("gamma", SHAPES[number % len(SHAPES)], m, n, number)
    model = rs.RobustGraph(rs.families.Gamma(boundary=WEIGHTS[weight])).fit(X)
    best = max(rs.metrics.f1_score(K, truth.interaction) for K in model.path_.interactions)
    area = rs.metrics.auc(rs.metrics.roc_curve(model.path_, truth.interaction))
    return [float(area), float(best), float(rs.metrics.f1_score(model.interaction_, truth.interaction))]


def main(
    n_sets: int = 8, cells: tuple[Cell, ...] = ((20, 200), (20, 1000), (50, 200), (50, 1000))
) -> dict[tuple[int, int, str], list[float]]:
    """Print the means by columns, rows and weight."""
    keys = [(*cell, weight) for cell in cells for weight in WEIGHTS]
    tasks = [(m, n, number, weight) for m, n, weight in keys for number in range(n_sets)]
    found = np.reshape(run_resumable("gamma_weight", measured, tasks), (len(keys), n_sets, 3)).mean(axis=1)
    print(f"{'columns':>8}{'rows':>6}  {'weight':<14}{'area':>7}{'best F1':>9}{'chosen':>8}")
    for (m, n, weight), (area, best, chosen) in zip(keys, found, strict=True):
        print(f"{m:>8}{n:>6}  {weight:<14}{area:>7.3f}{best:>9.3f}{chosen:>8.3f}")
    return dict(zip(keys, found.tolist(), strict=True))


if __name__ == "__main__":
    main()
