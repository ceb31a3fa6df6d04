"""What missing and wrong cells cost: processor time in products of two 1000 x 1000 matrices, and memory.

Square root with a random graph, 1000 rows: 20 % of the cells missing and filled in, or 5 % of them wrong (Pareto cells)
and looked for; beside the default fit of the rows without faults. Each in a process of its own, on one thread.
"""

import time
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

import robscore as rs
from benchmarks.missing_cells import data, model_of
from benchmarks.tools.measure import in_fresh_process, matrix_product_seconds, seconds
from benchmarks.wrong_cells import spoilt

ROWS, MISSING, WRONG = 1000, 0.2, 0.05
CASES = ("full rows", "impute", "cells")
SIZES = (30, 100)


def table_of(case: str, m: int) -> tuple[np.ndarray, dict[str, object]]:
    """Return rows with the faults of a case, and the options that they ask for."""
    X, incomplete = data(model_of("random", m, 0), ROWS, MISSING, 0)
    if case == "impute":
        return incomplete, {"missing": "impute"}
    if case == "cells":
        return spoilt(X, "Pareto", WRONG, 0)[0], {"cells": True}
    return X, {}


def products(case: str, m: int, repeats: int) -> float:
    """Return the processor time of a fit in products of two matrices, the least of a few runs."""
    X, options = table_of(case, m)
    model = rs.RobustGraph("sqrt", **options)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        rs.RobustGraph("sqrt", **options).fit(X[:100, :6])  # kernels are compiled
        unit = matrix_product_seconds(time.process_time)
        return seconds(lambda: model.fit(X), repeats, time.process_time) / unit


def main(sizes: tuple[int, ...] = SIZES, repeats: int = 2) -> dict[tuple[str, int], tuple[float, float]]:
    """Print the table; products and megabytes, by case and number of columns."""
    print(f"{'':<24}{'products':>10}{'times full':>12}{'memory':>10}", flush=True)
    found = {}
    for m in sizes:
        for case in CASES:
            found[case, m] = in_fresh_process(products, case, m, repeats)
            work, megabytes = found[case, m]
            over = work / found[CASES[0], m][0]
            print(f"{f'{ROWS} x {m}, {case}':<24}{work:>10.0f}{over:>11.1f}x{megabytes:>7.0f} MB", flush=True)
    return found


if __name__ == "__main__":
    main()
