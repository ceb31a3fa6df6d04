"""Graphs that tests choose at a false discovery rate, compared with the default: false edges, found edges and F1.

1000 rows of 20 columns, clean and with 5 % Pareto rows; ten data sets per line, two on each of random, chain, hub,
grid and scale-free graphs.
"""

import warnings
from typing import Any

import numpy as np

import robscore as rs
from benchmarks.tools.resumable import run_resumable
from benchmarks.tools.simulated import SHAPES, model_and_rows

FAMILIES, DAMAGE, RATES = ("gaussian", "sqrt"), (0.0, 0.05), (0.05, 0.1, 0.2)
N_ROWS, M = 1000, 20


def found(task: dict[str, Any]) -> list[float]:
    """Return the share of false edges, the share of edges that are found, and F1, of one data set."""
    family, seed = task["family"], task["seed"]
    truth, X = model_and_rows(family, SHAPES[seed % len(SHAPES)], M, N_ROWS, seed)
    shift = 0.0 if (X >= 0).all() else X.mean(axis=0) - X.std(axis=0)  # a mean of one standard deviation
    X = rs.simulate.contaminate_pareto(X - shift, task["damage"], random_state=seed + 200).X + shift
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = rs.RobustGraph(family, random_state=0, **task["options"]).fit(X).graph_
    true = graph.adjacency & truth.adjacency
    false = 1 - true.sum() / max(graph.adjacency.sum(), 1) if graph.n_edges else 0.0
    f1 = rs.metrics.f1_score(graph.interaction, truth.interaction)
    return [float(false), float(true.sum() / truth.adjacency.sum()), float(f1)]


def main(
    n_sets: int = 10, families: tuple[str, ...] = FAMILIES, damage: tuple[float, ...] = DAMAGE
) -> dict[tuple[str, float, str], tuple[float, float, float]]:
    """Print the table; the means by family, share of bad rows, and rule."""
    rules: dict[str, dict[str, Any]] = {"f1": {}}
    rules |= {f"fdr {rate:g}": {"select": "fdr", "fdr": rate} for rate in RATES}
    print(f"{'family':<12}{'bad rows':>10}  {'rule':<10}{'false edges':>12}{'found':>8}{'F1':>8}", flush=True)
    table = {}
    for family in families:
        for share in damage:
            for rule, options in rules.items():
                tasks = [
                    {"family": family, "seed": seed, "damage": share, "options": options} for seed in range(n_sets)
                ]
                of_sets = run_resumable(f"select_fdr-{family}-{share}-{rule.replace(' ', '')}", found, tasks)
                false, power, f1 = table[family, share, rule] = tuple(np.mean(of_sets, axis=0).tolist())
                print(f"{family:<12}{share:>10.0%}  {rule:<10}{false:>12.1%}{power:>8.1%}{f1:>8.3f}", flush=True)
    return table


if __name__ == "__main__":
    main()
