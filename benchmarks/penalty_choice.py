"""F1 at the penalty that is chosen, beside the best on the path; and false edges where no columns depend on each other.

Every family, m = 20, 50 and 100, n = 200 and 1000, clean and with 5 % Pareto rows; 8 data sets a cell, two on each of
random, chain, hub and scale-free graphs, and half as many at m = 100. Compositions of 20 parts only (50 where they are
independent): wider ones take minutes to draw.
"""

import warnings
from typing import Any

import numpy as np

import robscore as rs
from benchmarks.kept import clean_rows, run_kept

FAMILIES = ("gaussian", "sqrt", "gamma", "truncated-gaussian", "log-log", "simplex")
SHAPES = ("random", "chain", "hub", "scale-free")
COLUMNS, ROWS, INDEPENDENT = (20, 50, 100), (200, 1000), (50, 200, 500, 1000)
RULES = ("f1", "ebic")
_WIDEST_COMPOSITION, _WIDEST_INDEPENDENT = 20, 50
_MANY = 100  # columns from which on half of the data sets must do


def chosen(task: dict[str, Any]) -> dict[str, Any]:
    """F1 and edges at the choice of every rule, and at the best penalty on the path."""
    family = task["family"]
    truth, X = clean_rows(family, task["shape"], task["m"], task["n"], task["seed"])
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


def false_edges(task: dict[str, Any]) -> int:
    """Edges that are found between independent columns, 300 rows."""
    family, m, seed = task["family"], task["m"], task["seed"]
    X = independent(family, m, 300, seed)
    options: dict[str, Any] = {"diagonal_multiplier": 0.1} if m >= 300 else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return int(rs.RobustGraph(family, random_state=0, **options).fit(X).graph_.n_edges)


def independent(family: str, m: int, n: int, seed: int) -> np.ndarray:
    """Independent columns with the margins of a family."""
    if family == "simplex":
        parts = np.random.default_rng([seed, m]).gamma(2.0, size=(n, m))
        return parts / parts.sum(axis=1, keepdims=True)
    one = rs.simulate.sample(
        family, np.eye(1), np.full(1, 0.5), n_rows=n * m, burn_in=100, thin=5, random_state=[seed, m]
    )
    return np.random.default_rng(seed).permutation(one.ravel()).reshape(n, m)


def main(
    n_sets: int = 2,
    families: tuple[str, ...] = FAMILIES,
    columns: tuple[int, ...] = COLUMNS,
    rows: tuple[int, ...] = ROWS,
    independent_columns: tuple[int, ...] = INDEPENDENT,
    damage: tuple[str, ...] = ("clean", "5 % Pareto"),
    rules: tuple[str, ...] = RULES,
) -> dict[str, float]:
    """Print both tables; the mean and the largest gap to the best on the path, and the most false edges."""
    gaps = []
    for kind in damage:
        for m in columns:
            gaps += _print_cells(kind, m, n_sets, families, rows, rules)
    worst = _print_false(families, independent_columns, n_sets * 4)
    print(f"\n{rules[0]}: mean gap to the best {np.mean(gaps):.3f}, largest {np.max(gaps):.3f}")
    return {"mean gap": float(np.mean(gaps)), "largest gap": float(np.max(gaps)), "false edges": worst}


def _print_cells(
    kind: str, m: int, n_sets: int, families: tuple[str, ...], rows: tuple[int, ...], rules: tuple[str, ...]
) -> list[float]:
    """The rows of the table for one damage and one number of columns; the gaps of the first rule."""
    families = tuple(family for family in families if family != "simplex" or m <= _WIDEST_COMPOSITION)
    n_sets = n_sets if m < _MANY else max(n_sets // 2, 1)
    tasks = [
        {"family": family, "shape": shape, "m": m, "n": n, "seed": seed, "rows": kind, "rules": list(rules)}
        for family in families
        for n in rows
        for shape in SHAPES
        for seed in range(n_sets)
    ]
    found = run_kept(f"penalty_choice-{m}-{kind.split()[0]}", chosen, tasks)
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


def _print_false(families: tuple[str, ...], columns: tuple[int, ...], n_sets: int) -> float:
    """False edges on average between independent columns, 300 rows; the most of all families and sizes."""
    tasks = [
        {"family": family, "m": m, "seed": seed}
        for m in columns
        for family in families
        if family != "simplex" or m <= _WIDEST_INDEPENDENT
        for seed in range(n_sets if m < 500 else max(n_sets // 2, 1))
    ]
    found = run_kept("penalty_choice-false", false_edges, tasks)
    print("\nfalse edges between independent columns, 300 rows, on average")
    print(f"{'columns':<10}" + "".join(f"{family:>20}" for family in families))
    worst = 0.0
    for m in columns:
        row = []
        for family in families:
            some = [one for task, one in zip(tasks, found, strict=True) if (task["family"], task["m"]) == (family, m)]
            row.append(f"{np.mean(some):>20.2f}" if some else f"{'-':>20}")
            worst = max(worst, float(np.mean(some)) if some else 0.0)
        print(f"{m:<10}" + "".join(row))
    return worst


if __name__ == "__main__":
    main()
