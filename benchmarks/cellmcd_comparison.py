"""Wrong cells in normal rows: cells=True compared with CellMCD of robustcov (PyPI) with a graphical lasso.

200 rows, 30 columns of unit variance, random graphs and stars; 5 and 10 % of the cells are N(3, .45) or N(10, .45).
Area under the ROC curve of the path, what it loses against the program's own fit of clean rows, how well wrong cells
are told from good ones (AUROC), and processor time. robustcov needs Python 3.12: ROBSCORE_ROBUSTCOV_PYTHON names the
interpreter of an environment that has it; without one, only our columns are printed.
"""

import os
import subprocess
import tempfile
import time
import warnings
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

import robscore as rs
from benchmarks.missing_cells import model_of
from benchmarks.tools.measure import clocked
from benchmarks.tools.resumable import run_resumable
from benchmarks.wrong_cells import lasso_path

ROWS, COLUMNS, SPREAD = 200, 30, 0.45
SIZES, SHARES, GRAPHS = (3.0, 10.0), (0.05, 0.1), ("random", "hub")
RIVAL = """
import sys, time, numpy as np, robustcov
given = np.load(sys.argv[1])
start = time.process_time()
fit = robustcov.CellMCD().fit(given["X"])
seconds = time.process_time() - start
np.savez(sys.argv[1], covariance=fit.covariance_, residuals=fit.standardized_residuals_, seconds=seconds)
"""


def cell_mcd(X: np.ndarray) -> tuple[np.ndarray, np.ndarray, float] | None:
    """Return covariance, residuals of the cells, and seconds of processor time; None without robustcov."""
    python = os.environ.get("ROBSCORE_ROBUSTCOV_PYTHON")
    if python is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npz"
        np.savez(path, X=X)
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        subprocess.run([python, "-c", RIVAL, str(path)], check=True, env=environment)
        with np.load(path) as found:
            return found["covariance"], found["residuals"], float(found["seconds"])


def correlation_of(covariance: np.ndarray) -> np.ndarray:
    """Return the correlations, shape (m, m)."""
    scale = np.sqrt(np.diag(covariance))
    return covariance / np.multiply.outer(scale, scale)


def rows_of(graph: str, seed: int) -> tuple[rs.simulate.Model, np.ndarray]:
    """Return a true model, and rows with columns of unit variance."""
    truth = model_of(graph, COLUMNS, seed)
    X = rs.simulate.sample("gaussian", truth.interaction, np.zeros(COLUMNS), n_rows=ROWS, random_state=seed + 100)
    return truth, X / np.sqrt(np.diag(np.linalg.inv(truth.interaction)))


def one(task: tuple[str, float, float, int]) -> dict[str, float]:
    """Return areas, seconds, and how well wrong cells are separated, for us and, where it is installed, for CellMCD."""
    graph, size, share, seed = task
    truth, X = rows_of(graph, seed)
    rng = np.random.default_rng([seed, 2])
    wrong = rng.random(X.shape) < share
    Y = np.where(wrong, rng.normal(size, SPREAD, size=X.shape), X)
    seconds, model = clocked(lambda: rs.RobustGraph("gaussian", cells=True).fit(Y), time.process_time)
    found = {
        **clean_areas(graph, seed),
        "area": _area(model.path_, truth),
        "cells": float(roc_auc_score(wrong.ravel(), model.fitted_.prepared.filling.suspects.probability.ravel())),
        "seconds": seconds,
    }
    if (spoilt := cell_mcd(Y)) is not None:
        covariance, residuals, rival_seconds = spoilt
        more, path = clocked(lambda: lasso_path(correlation_of(covariance)), time.process_time)
        found["rival area"] = _area(path, truth)
        found["rival cells"] = float(roc_auc_score(wrong.ravel(), np.abs(residuals).ravel()))
        found["rival seconds"] = rival_seconds + more
    return found


@cache
def clean_areas(graph: str, seed: int) -> dict[str, float]:
    """Return the areas of both programs for the rows without wrong cells, computed once for all faults."""
    truth, X = rows_of(graph, seed)
    found = {"clean": _area(rs.RobustGraph("gaussian").fit(X).path_, truth)}
    if (clean := cell_mcd(X)) is not None:
        found["rival clean"] = _area(lasso_path(correlation_of(clean[0])), truth)
    return found


def _area(path: object, truth: rs.simulate.Model) -> float:
    return float(rs.metrics.auc(rs.metrics.roc_curve(path, truth.adjacency)))


def main(
    n_sets: int = 10,
    graphs: tuple[str, ...] = GRAPHS,
    sizes: tuple[float, ...] = SIZES,
    shares: tuple[float, ...] = SHARES,
) -> dict[tuple[str, float, float], dict[str, float]]:
    """Print the table; means by graph, size and share of the wrong cells."""
    print(f"{'':<26}{'clean':>8}{'cells':>8}{'AUROC':>8}   CellMCD: {'clean':>8}{'cells':>8}{'AUROC':>8}{'times':>8}")
    table = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rs.RobustGraph("gaussian", cells=True).fit(rows_of("random", 0)[1])  # kernels are compiled
        for setting in [(graph, size, share) for graph in graphs for size in sizes for share in shares]:
            name = "cellmcd_comparison-" + "-".join(map(str, setting))
            rows = run_resumable(name, one, [(*setting, seed) for seed in range(n_sets)], n_jobs=1)
            means = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
            table[setting] = means
            graph, size, share = setting
            line = f"{graph:<8}N({size:.0f}, .45) {share:>5.0%}   "
            line += f"{means['clean']:>8.3f}{means['area']:>8.3f}{means['cells']:>8.3f}"
            if "rival area" in means:
                times = np.median([row["rival seconds"] / row["seconds"] for row in rows])
                line += (
                    f"            {means['rival clean']:>8.3f}{means['rival area']:>8.3f}{means['rival cells']:>8.3f}"
                )
                line += f"{times:>7.1f}x"
            print(line, flush=True)
    print(f"{n_sets} data sets each")
    return table


if __name__ == "__main__":
    main()
