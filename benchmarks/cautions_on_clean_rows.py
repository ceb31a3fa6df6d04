"""How often a fit of clean rows has a caution: every family, 20 columns, 1000 rows, 50 data sets."""

import warnings
from collections import Counter

import robscore as rs
from benchmarks.tools.resumable import run_resumable
from benchmarks.tools.simulated import SHAPES, model_and_rows

M, N = 20, 1000
FAMILIES = ("gaussian", "sqrt", "gamma", "truncated-gaussian", "log-log", "simplex")


def measured(task: tuple[str, int]) -> list[str]:
    """Return what the cautions of one fit are about."""
    family, number = task
    _, X = model_and_rows(family, SHAPES[number % len(SHAPES)], M, N, number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [caution.kind.name for caution in rs.RobustGraph(family).fit(X).cautions_]


def main(n_sets: int = 50, families: tuple[str, ...] = FAMILIES) -> dict[str, float]:
    found = run_resumable(
        "cautions_on_clean_rows", measured, [(family, k) for family in families for k in range(n_sets)]
    )
    print(f"{'family':<20}{'without caution':>16}   cautions")
    table = {}
    for k, family in enumerate(families):
        sets = found[k * n_sets : (k + 1) * n_sets]
        table[family] = sum(not cautions for cautions in sets) / n_sets
        about = Counter(kind for cautions in sets for kind in cautions)
        print(f"{family:<20}{table[family]:>16.0%}   {', '.join(f'{kind} {count}' for kind, count in about.items())}")
    print(f"{n_sets} data sets per family.")
    return table


if __name__ == "__main__":
    main()
