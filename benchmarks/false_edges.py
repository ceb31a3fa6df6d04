"""Edges that the default finds between independent columns, 300 rows: every family, 50, 200, 500 and 1000 columns.

8 data sets each up to 200 columns, 3 beyond; from 300 columns on with diagonal_multiplier=0.1, since there are more
columns than rows. Compositions have up to 50 parts: judging wider ones takes an hour.
"""

import warnings
from typing import Any

import numpy as np

import robscore as rs
from benchmarks.tools.resumable import run_resumable

FAMILIES = ("gaussian", "sqrt", "gamma", "truncated-gaussian", "log-log", "simplex")
COLUMNS, ROWS = (50, 200, 500, 1000), 300
_WIDEST_COMPOSITION, _MANY = 50, 300


def false_edges(task: tuple[str, int, int]) -> int:
    """Return how many edges, all of them false, the graph of one data set has."""
    family, m, seed = task
    options: dict[str, Any] = {"diagonal_multiplier": 0.1} if m >= _MANY else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = rs.RobustGraph(family, random_state=0, **options).fit(independent(family, m, ROWS, seed))
    return int(model.graph_.n_edges)


def independent(family: str, m: int, n: int, seed: int) -> np.ndarray:
    """Return independent columns with the margins of a family."""
    if family == "simplex":
        parts = np.random.default_rng([seed, m]).gamma(2.0, size=(n, m))
        return parts / parts.sum(axis=1, keepdims=True)
    one = rs.simulate.sample(
        family, np.eye(1), np.full(1, 0.5), n_rows=n * m, burn_in=100, thin=5, random_state=[seed, m]
    )
    return np.random.default_rng(seed).permutation(one.ravel()).reshape(n, m)


def main(
    n_sets: int = 8, n_wide: int = 3, families: tuple[str, ...] = FAMILIES, columns: tuple[int, ...] = COLUMNS
) -> dict[tuple[str, int], float]:
    """Print the mean number of false edges, and the numbers themselves; the means by family and number of columns."""
    print(f"{'columns':>8}  {'family':<20}{'mean':>7}  each", flush=True)
    table = {}
    for m in columns:
        for family in families:
            if family == "simplex" and m > _WIDEST_COMPOSITION:
                continue
            tasks = [(family, m, seed) for seed in range(n_sets if m < _MANY else n_wide)]
            found = run_resumable(f"false_edges-{family}-{m}", false_edges, tasks)
            table[family, m] = float(np.mean(found))
            print(f"{m:>8}  {family:<20}{table[family, m]:>7.2f}  {' '.join(map(str, found))}", flush=True)
    return table


if __name__ == "__main__":
    main()
