"""Every kind of bad row, no settings: area under the ROC curve, compared with the fit without the bad rows.

n = 1000; ten data sets per cell, two on each of random, chain, hub, grid and scale-free graphs. Rows in one place are
standard deviations above the mean in every column; "other graph" are rows of the same family on another graph.
"""

import warnings

import numpy as np

import robscore as rs
from benchmarks.tools.resumable import run_resumable
from benchmarks.tools.simulated import SHAPES, model_and_rows

N = 1000
FAMILIES = ("gaussian", "sqrt", "gamma", "truncated-gaussian", "log-log")
SIZES = (20, 50)
DAMAGES = (
    "5% Pareto", "10% Pareto", "20% Pareto",
    "10% at 4 sd", "15% at 4 sd", "10% at 6 sd", "15% at 6 sd", "10% at 20 sd", "15% at 20 sd",
    "10% near zero", "10% half zero", "5% one unit", "10% other graph", "10% permuted",
)  # fmt: skip


def damaged(
    family: str, shape: str, m: int, seed: int, damage: str
) -> tuple[rs.simulate.Model, np.ndarray, np.ndarray]:
    """Return the truth, the rows, and which are bad."""
    truth, X = model_and_rows(family, shape, m, N, seed)
    share, _, kind = damage.partition("% ")
    options = {"share": int(share) / 100, "random_state": [seed, 77]}
    if kind == "Pareto":
        shift = 0.0 if (X >= 0).all() else X.mean(axis=0) - X.std(axis=0)  # a mean of one standard deviation
        dirty, bad = rs.simulate.contaminate_pareto(X - shift, **options)
        return truth, dirty + shift, bad
    if kind.startswith("at "):
        return truth, *rs.simulate.contaminate_cluster(X, distance=float(kind.split()[1]), **options)
    if kind in ("near zero", "half zero"):
        return truth, *rs.simulate.contaminate_near_zero(X, cells=0.5 if kind == "half zero" else 1.0, **options)
    if kind == "one unit":
        return truth, *rs.simulate.contaminate_units(X, **options)
    if kind == "permuted":
        return truth, *rs.simulate.contaminate_permuted(X, **options)
    other = model_and_rows(family, shape if shape in ("random", "scale-free") else "random", m, N, seed + 1000)[1]
    return truth, *rs.simulate.contaminate(X, replacement=lambda rng, count, _: other[:count], **options)


def area(family: str, X: np.ndarray, truth: rs.simulate.Model, **options: object) -> tuple[float, rs.RobustGraph]:
    """Return the area under the ROC curve of the path, and the fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = rs.RobustGraph(
            family, alphas=30, alpha_min_ratio=0.01, tol=1e-4, n_edges=len(truth.location), **options
        ).fit(X)
    return rs.metrics.auc(rs.metrics.roc_curve(model.path_, truth.interaction)), model


def measured(task: tuple[str, int, str, int]) -> dict[str, float]:
    """Return the areas of one data set, and which rows lost their weight."""
    family, m, damage, number = task
    truth, X, bad = damaged(family, SHAPES[number % len(SHAPES)], m, number, damage)
    default, model = area(family, X, truth)
    dropped = ~model.row_weights_.any(axis=1)
    return {
        "oracle": area(family, np.delete(X, bad, axis=0), truth, n_blocks=1)[0],
        "classic": area(family, X, truth, n_blocks=1)[0],
        "default": default,
        "bad kept": 1 - float(dropped[bad].mean()),
        "good lost": float(np.delete(dropped, bad).mean()),
    }


def main(
    n_sets: int = 10,
    families: tuple[str, ...] = FAMILIES,
    sizes: tuple[int, ...] = SIZES,
    damages: tuple[str, ...] = DAMAGES,
) -> dict[tuple[str, int, str], dict[str, float]]:
    cells = [(family, m, damage) for m in sizes for family in families for damage in damages]
    tasks = [(*cell, number) for cell in cells for number in range(n_sets)]
    found = run_resumable("bad_rows", measured, tasks)
    names = list(found[0])
    print(f"{'family':<20}{'m':>3}  {'bad rows':<17}" + "".join(f"{name:>10}" for name in names) + f"{'lost':>8}")
    table = {}
    for k, cell in enumerate(cells):
        sets = found[k * n_sets : (k + 1) * n_sets]
        mean = {name: float(np.mean([one[name] for one in sets])) for name in names}
        lost = mean["oracle"] - mean["default"]
        limit = 0.03 if cell[2] in ("10% other graph", "10% permuted") else 0.02
        mark = " <- beyond the limit" if lost > limit else ""
        print(
            f"{cell[0]:<20}{cell[1]:>3}  {cell[2]:<17}"
            + "".join(f"{mean[name]:>10.3f}" for name in names)
            + f"{lost:>8.3f}{mark}"
        )
        table[cell] = mean
    print("bad kept, good lost: share of the bad rows with a weight, and of the good rows without one.")
    return table


if __name__ == "__main__":
    main()
