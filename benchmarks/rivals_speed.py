"""A whole robust fit at n = 1000, m = 100, K = 200 with 30 penalties, its weights, and medians, against other programs.

Every program sees the same data in a process of its own, on one thread. Those without a robust fit do a classic path.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.rivals import RIVALS, Ours, Rival, Task
from benchmarks.tools.measure import in_fresh_process, least, matrix_product_seconds
from benchmarks.tools.simulated import square_root_data

N, M, K, EDGES, SHARE = 1000, 100, 200, 500, 0.05
TARGETS = {"plain NumPy": 50, "genscore, classic (R)": 5}  # how many times faster robscore is meant to be


def measure(rival: Rival, task: Task) -> tuple[float, Any]:
    """Return the least seconds of a few runs, and the result, after a small run that compiles and loads."""
    with threadpool_limits(1):
        rival.run(task.small())
        return least(lambda: rival.timed(task))


def compare(tasks: Sequence[Task], rivals: Sequence[Rival], unit: float) -> dict[str, tuple[float, Any]]:
    """Print a table of robscore and its rivals, each with the first of the tasks that it does."""
    print(f"{'':<34}{'task':<14}{'matrix products':>16}{'peak MB':>10}{'times robscore':>16}")
    found: dict[str, tuple[float, Any]] = {}
    for rival in (Ours(), *rivals):
        task = next((task for task in tasks if task.kind in rival.tasks), None)
        if task is None:
            continue
        if reason := rival.absent():
            print(f"{rival.name:<34}{task.kind:<14}skipped: {reason}", flush=True)
            continue
        (elapsed, result), megabytes = in_fresh_process(measure, rival, task)
        found[rival.name] = elapsed, result
        ratio = elapsed / found["robscore"][0]
        print(
            f"{rival.name:<34}{task.kind:<14}{elapsed / unit:>16.1f}{megabytes:>10.0f}{ratio:>16.3g}{_edges(result)}",
            flush=True,
        )
    return found


def _edges(result: Any) -> str:
    """Return how many edges a path ends with."""
    return f"   {np.count_nonzero(np.triu(result[-1], 1))} edges" if np.ndim(result) == 3 else ""


def far_points(n: int, p: int, share: float) -> np.ndarray:
    """Return standard normal points, a share of them a hundred times as far out."""
    points = np.random.default_rng(0).normal(size=(n, p))
    points[: round(share * n)] *= 100
    return points


def main(rivals: Sequence[Rival] = RIVALS) -> None:
    X = square_root_data(N, M, EDGES, SHARE)
    with threadpool_limits(1):
        unit = matrix_product_seconds()

    print(f"Rows to a path of 30 penalties: {N} rows, {M} columns, {K} blocks. R's peak is not in the table.")
    fits = compare([Task("robust path", X, K), Task("path", X)], rivals, unit)
    for name, target in TARGETS.items():
        if name in fits:
            ratio = fits[name][0] / fits["robscore"][0]
            print(f"robscore is {ratio:.0f} times faster than {name}; the target is {target}.")
    if "plain NumPy" in fits:
        ours, plain = fits["robscore"][1], fits["plain NumPy"][1]
        difference = np.abs(ours - plain).max() / np.abs(plain).max()
        print(f"The solutions of both differ by at most {difference:.0e} of the largest parameter.")

    print("\nBlock weights of Gamma and g on the same data.")
    weights = compare([Task("weights", X, K)], rivals, unit)
    if "plain NumPy" in weights:
        pairs = zip(weights["robscore"][1], weights["plain NumPy"][1], strict=True)
        print(f"Weights differ by at most {max(np.abs(a - b).max() for a, b in pairs):.0e}.")

    for n, p in ((1000, 1000), (10_000, 10)):
        points = far_points(n, p, SHARE)
        print(f"\nGeometric median of {n} points in {p} dimensions, {SHARE:.0%} of them far out.")
        medians = compare([Task("median", points)], rivals, unit)
        median = medians.pop("robscore")[1]
        typical = np.median(np.linalg.norm(points - median, axis=1))
        for name, (_, other) in medians.items():
            distance = np.linalg.norm(other - median) / typical
            print(f"{name} is {distance:.0e} of a typical point's distance away from robscore's.")


if __name__ == "__main__":
    main()
