"""F1 at the penalty that is chosen, compared with the best on the path.

Every family, m = 20, 50 and 100, n = 200 and 1000, clean and with 5 % Pareto rows; 8 data sets per cell, two on each of
random, chain, hub and scale-free graphs, and half as many at m = 100. Compositions of 20 parts only:
wider ones take minutes to draw.
"""

import warnings
from typing import Any

import numpy as np

import robscore as rs
from benchmarks.tools.resumable import run_resumable
from benchmarks.tools.simulated import model_and_rows

FAMILIES = ("gaussian", "sqrt", "gamma", "truncated-gaussian", "log-log", "simplex")
SHAPES = ("random", "chain", "hub", "scale-free")
COLUMNS, ROWS = (20, 50, 100), (200, 1000)
RULES = ("f1", "ebic")
_WIDEST_COMPOSITION = 20
_MANY = 100  # columns from which on half of the data sets must do


def chosen(task: dict[str, Any]) -> dict[str, Any]:
    """Return F1 and edges at the choice of every rule, and at the best penalty on the path."""
    family = task["family"]
    truth, X = model_and_rows(family, task["shape"], task["m"], task["n"], task["seed"])
    if task["rows"] != "clean":
        shift = 0.0 if (X >= 0).all() else X.mean(axis=0) - X.std(axis=0)  # a mean of one standard deviation
        X = rs.simulate.contaminate_pareto(X - shift, 0.05, random_state=task["seed"] + 200).X + shift
        if family == "simplex":
            X = X / X.sum(axis=1, keepdims=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = rs.RobustGraph(family, select=tuple(task["rules"]), random_state=0).fit(X)
    scores = np.array([rs.metrics.f1_score(K, truth.interaction) for K in model.path_.interactions])
    best = int(scores.argmax())
    found = {"best": (float(scores[best]), int(model.path_.n_edges[best]))}
    for rule in task["rules"]:
        position = model.choices_[rule]
        found[rule] = (float(scores[position]), int(model.path_.n_edges[position]))
    return found


def main(
    n_sets: int = 2,
    families: tuple[str, ...] = FAMILIES,
    columns: tuple[int, ...] = COLUMNS,
    rows: tuple[int, ...] = ROWS,
    damage: tuple[str, ...] = ("clean", "5 % Pareto"),
    rules: tuple[str, ...] = RULES,
) -> dict[str, float]:
    """Print the table; the mean and the largest gap to the best on the path."""
    gaps = []
    for kind in damage:
        for m in columns:
            gaps += _print_cells(kind, m, n_sets, families, rows, rules)
    print(f"\n{rules[0]}: mean gap to the best {np.mean(gaps):.3f}, largest {np.max(gaps):.3f}")
    return {"mean gap": float(np.mean(gaps)), "largest gap": float(np.max(gaps))}


def _print_cells(
    kind: str, m: int, n_sets: int, families: tuple[str, ...], rows: tuple[int, ...], rules: tuple[str, ...]
) -> list[float]:
    """Print the rows of the table for one damage and one number of columns; return the gaps of the first rule."""
    families = tuple(family for family in families if family != "simplex" or m <= _WIDEST_COMPOSITION)
    n_sets = n_sets if m < _MANY else max(n_sets // 2, 1)
    tasks = [
        {"family": family, "shape": shape, "m": m, "n": n, "seed": seed, "rows": kind, "rules": list(rules)}
        for family in families
        for n in rows
        for shape in SHAPES
        for seed in range(n_sets)
    ]
    found = run_resumable(f"penalty_choice-{m}-{kind.split()[0]}", chosen, tasks)
    print(f"\n{kind}, {m} columns: F1 (edges), best on the path / " + " / ".join(rules))
    gaps = []
    for family in families:
        for n in rows:
            cell = [one for task, one in zip(tasks, found, strict=True) if (task["family"], task["n"]) == (family, n)]
            mean = {name: np.mean([one[name] for one in cell], axis=0) for name in ("best", *rules)}
            text = " / ".join(f"{f1:.3f} ({edges:.0f})" for f1, edges in mean.values())
            print(f"{family:<20}{n:>6}  {text}")
            gaps.append(float(mean["best"][0] - mean[rules[0]][0]))
    return gaps


if __name__ == "__main__":
    main()
