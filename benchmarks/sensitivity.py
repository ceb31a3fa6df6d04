"""Whether the default gives the same answer every time: last-bit noise, orders of rows and columns, seeds, threads.

On scikit-learn's tables and on simulated data of every family: how many edges and rows (of all) differ from the fit
of the data as they are.
"""

import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import robscore as rs

CHANGES = (
    "noise",
    "columns",
    "columns again",
    "rows",
    "rows again",
    "seed",
    "seed again",
    "2 threads",
    "Haswell",
    "Sandybridge",
)


def tables() -> Iterator[tuple[str, str]]:
    """Give name and family of every table."""
    for family in ("sqrt", "gaussian"):
        for name in ("wine", "diabetes", "breast cancer"):
            yield name, family
    for family in ("gaussian", "sqrt", "gamma", "truncated-gaussian", "log-log", "simplex"):
        yield "simulated, clean", family
        if family != "simplex":
            yield "simulated, 10% Pareto", family


def rows_of(name: str, family: str) -> np.ndarray:
    """Return the rows of one of the tables."""
    from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

    if name == "diabetes":
        return np.delete(load_diabetes(scaled=False).data, 1, axis=1)  # without the column of 1 and 2
    if name in ("wine", "breast cancer"):
        return np.asarray((load_wine if name == "wine" else load_breast_cancer)().data)
    truth = rs.simulate.shaped_model("random", 10, min_eigenvalue=0.3, random_state=3)
    location = np.abs(truth.location) if family == "simplex" else truth.location
    X = rs.simulate.sample(family, truth.interaction, location, n_rows=400, burn_in=100, random_state=4)
    if name == "simulated, clean":
        return X
    shift = 0.0 if (X >= 0).all() else X.mean(axis=0) - X.std(axis=0)
    return rs.simulate.contaminate_pareto(X - shift, 0.1, random_state=5).X + shift


def answer(family: str, X: np.ndarray, seed: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the graph's adjacency matrix, and which rows are left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = rs.RobustGraph(family, random_state=seed).fit(X)
    return model.graph_.adjacency, ~model.row_weights_.any(axis=1)


def changed(family: str, X: np.ndarray, change: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the answer for data, or circumstances, that should make no difference."""
    n, m = X.shape
    rng = np.random.default_rng(CHANGES.index(change))
    rows, columns, seed = np.arange(n), np.arange(m), None
    if change in ("2 threads", "Haswell", "Sandybridge"):
        return elsewhere(family, X, change)
    if change == "noise":
        X = X * (1 + 1e-15 * rng.normal(size=X.shape))
        X = X / X.sum(axis=1, keepdims=True) if family == "simplex" else X
    elif change.startswith("columns"):
        columns = rng.permutation(m)
    elif change.startswith("rows"):
        rows = rng.permutation(n)
    else:
        seed = int(rng.integers(2**31))
    found, dropped = answer(family, X[np.ix_(rows, columns)], seed)
    edges, lost = np.zeros((m, m), dtype=bool), np.zeros(n, dtype=bool)
    edges[np.ix_(columns, columns)], lost[rows] = found, dropped
    return edges, lost


def elsewhere(family: str, X: np.ndarray, change: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the answer in a process with other threads or other kernels of linear algebra."""
    threads = "2" if change == "2 threads" else "1"
    environment = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
    if change != "2 threads":
        environment["OPENBLAS_CORETYPE"] = change
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npz"
        np.savez(path, X=X)
        command = [sys.executable, "-m", "benchmarks.sensitivity", family, str(path)]
        subprocess.run(command, env=environment, check=True)
        with np.load(path) as found:
            return found["edges"], found["dropped"]


def main(
    names: tuple[str, ...] | None = None,
    changes: tuple[str, ...] = CHANGES,
    families: tuple[str, ...] | None = None,
) -> dict[tuple[str, str], list[float]]:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print("edges / rows that differ, of all edges and all rows; a hundredth of them may, or one")
    print(f"{'data':<22}{'family':<20}{'edges':>6}{'rows':>7}" + "".join(f"{change:>15}" for change in changes))
    table = {}
    for name, family in tables():
        if (names is not None and name not in names) or (families is not None and family not in families):
            continue
        X = rows_of(name, family)
        edges, lost = answer(family, X)
        count = int(edges.sum()) // 2
        cells, worst = [], 0.0
        for change in changes:
            other, gone = changed(family, X, change)
            differ, moved = int((other != edges).sum()) // 2, int((gone != lost).sum())
            worst = max(worst, differ / max(0.01 * count, 1.0), moved / max(0.01 * len(X), 1.0))
            cells.append(f"{differ:>9} /{moved:>4}")
        mark = " <- beyond the limit" if worst > 1 else ""
        print(f"{name:<22}{family:<20}{count:>6}{int(lost.sum()):>7}" + "".join(cells) + mark, flush=True)
        table[name, family] = [worst, count, float(lost.mean())]
    return table


if __name__ == "__main__":
    if len(sys.argv) == 3:
        with np.load(sys.argv[2]) as given:
            data = given["X"]
        found_edges, found_dropped = answer(sys.argv[1], data)
        np.savez(sys.argv[2], edges=found_edges, dropped=found_dropped)
    else:
        main()
