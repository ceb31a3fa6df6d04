"""What fits of mixed columns cost: processor time in products of 1000 x 1000 matrices, and memory.

1000 rows of the columns of `mixed_tables`, everything at its defaults; the continuous ones alone,
where nothing is drawn; and latent rows, as the Gaussian and the copula see them. With 20 % of the
cells missing, or 2 % wrong. Each in a process of its own, on one thread; of missing and wrong cells
of other families tells `cells_cost`.
"""

import argparse
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import robscore as rs
from benchmarks.tools.measure import in_fresh_process, matrix_product_seconds, seconds
from benchmarks.tools.mixed_columns import columns_of, mixed_table

ROWS, MISSING, WRONG = 1000, 0.2, 0.02
CASES = (
    "gaussian, no ties", "copula, no ties", "copula, mixed", "copula, mixed, missing", "copula, mixed, wrong",
    "gaussian, missing", "gaussian, wrong",
)  # fmt: skip
SIZES = (30, 100)
MOST = {("copula, mixed", 30): 60, ("copula, mixed", 100): 300}
MOST_OVER_GAUSSIAN = 1.5  # where there are no ties


def table_of(case: str, m: int) -> tuple[np.ndarray, dict[str, Any]]:
    """Return the rows of a case, and the options that they ask for."""
    table, rng = mixed_table(ROWS, m), np.random.default_rng(m)
    Z = table.latent
    if case.endswith("wrong"):
        Z = np.where(rng.random(Z.shape) < WRONG, 3 * (1 + rng.pareto(2.0, size=Z.shape)), Z)
    X = columns_of(Z, table.kinds) if "mixed" in case else Z
    if case.endswith("missing"):
        return np.where(rng.random(X.shape) < MISSING, np.nan, X), {"missing": "impute"}
    return X, {"cells": True} if case.endswith("wrong") else {}


def products(case: str, m: int, repeats: int) -> float | str:
    """Return the processor time of a fit in products, the least of a few runs; or the words of an error."""
    X, options = table_of(case, m)
    model = rs.RobustGraph(case.partition(",")[0], random_state=0, **options)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        try:
            rs.RobustGraph(model.family, **options).fit(X[:200, :6])  # kernels are compiled
            unit = matrix_product_seconds(time.process_time)
            return seconds(lambda: model.fit(X), repeats, time.process_time) / unit
        except ValueError as error:
            return str(error)


def main(
    sizes: Sequence[int] = SIZES, cases: Sequence[str] = CASES, repeats: int = 2
) -> dict[tuple[str, int], tuple[float, float]]:
    """Print the table; products and megabytes, by case and number of columns."""
    print(f"{'':<36}{'products':>10}{'times Gaussian':>16}{'memory':>11}{'aim':>8}", flush=True)
    found: dict[tuple[str, int], tuple[float, float]] = {}
    for m in sizes:
        for case in cases:
            work, megabytes = in_fresh_process(products, case, m, repeats)
            if isinstance(work, str):
                print(f"{f'{ROWS} x {m}, {case}':<36}  skipped: {work}", flush=True)
                continue
            found[case, m] = work, megabytes
            over = work / found[cases[0], m][0]
            aim = f"{MOST_OVER_GAUSSIAN}x" if case == "copula, no ties" else str(MOST.get((case, m), ""))
            print(f"{f'{ROWS} x {m}, {case}':<36}{work:>10.0f}{over:>15.1f}x{megabytes:>8.0f} MB{aim:>8}", flush=True)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="numbers of columns")
    parser.add_argument("--repeats", type=int, default=2)
    given = parser.parse_args()
    main(given.sizes, repeats=given.repeats)
