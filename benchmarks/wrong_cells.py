"""Wrong cells: the default with cells=True beside the default, the fit that is told which cells are wrong, and rivals.

Square root, m = 30, n = 1000, random and star graphs: Pareto cells (3 x column median x (1 + Pareto(1))) and cells
exchanged within their column; and bad rows alone, and clean. F1 at the default choice, and the area under the ROC curve
of the path. Rivals: cells beyond 3.5 median deviations set to the column median, and a classic fit; normal scores.
"""

import warnings

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.metrics import f1_score

import robscore as rs
from benchmarks.kept import run_kept
from benchmarks.missing_cells import model_of
from robscore._tools.deviations import MAD

FAULTS = (
    ("clean", 0.0),
    ("Pareto", 0.02),
    ("Pareto", 0.05),
    ("Pareto", 0.1),
    ("exchanged", 0.05),
    ("rows", 0.05),
    ("rows", 0.2),
)
WAYS = ("default", "cells", "told", "medians", "scores")


def spoilt(X: np.ndarray, fault: str, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows with wrong cells, and which these are."""
    rng = np.random.default_rng([seed, 1])
    wrong = rng.random(X.shape) < share
    if fault == "rows":
        spoilt_rows, bad = rs.simulate.contaminate_pareto(X, share, random_state=seed)
        return spoilt_rows, np.isin(np.arange(len(X)), bad)[:, None] & np.ones(X.shape, dtype=bool)
    if fault == "Pareto":
        return np.where(wrong, 3 * np.median(X, axis=0) * (1 + rng.pareto(1.0, size=X.shape)), X), wrong
    Y = X.copy()
    if fault == "exchanged":
        for j in range(X.shape[1]):
            rows = np.flatnonzero(wrong[:, j])
            Y[rows, j] = X[rng.permutation(rows), j]
    return Y, wrong & (fault != "clean")


def one(task: tuple[str, str, float, int, int]) -> dict[str, float]:
    """F1 and area of every way; shares of wrong cells that are flagged, and of good ones."""
    graph, fault, share, m, seed = task
    truth = model_of(graph, m, seed)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=1000, random_state=seed + 100)
    Y, wrong = spoilt(X, fault, share, seed)
    away = np.abs(Y - np.median(Y, axis=0)) / (MAD * np.median(np.abs(Y - np.median(Y, axis=0)), axis=0))
    scores = ndtri((rankdata(Y, axis=0) - 0.5) / len(Y))
    cells = rs.RobustGraph("sqrt", cells=True).fit(Y)
    fits = {
        "default": rs.RobustGraph("sqrt").fit(Y),
        "cells": cells,
        "medians": rs.RobustGraph("sqrt", n_blocks=1).fit(np.where(away > 3.5, np.median(Y, axis=0), Y)),
        "scores": rs.RobustGraph("gaussian", n_blocks=1).fit(scores),
    }
    if fault in ("Pareto", "exchanged"):
        fits["told"] = rs.RobustGraph("sqrt", missing="impute").fit(np.where(wrong, np.nan, Y))
    pairs = np.triu_indices(m, k=1)
    found = {}
    for name, fit in fits.items():
        found[f"f1 {name}"] = float(f1_score(truth.adjacency[pairs], fit.graph_.adjacency[pairs]))
        found[f"area {name}"] = rs.metrics.auc(rs.metrics.roc_curve(fit.path_, truth.adjacency))
    flagged = cells.fitted_.prepared.filling.suspects.probability > 0.5
    found["found"] = float(flagged[wrong].mean()) if wrong.any() else np.nan
    found["false"] = float(flagged[~wrong].mean())
    return found


def main(
    n_sets: int = 10,
    faults: tuple[tuple[str, float], ...] = FAULTS,
    graphs: tuple[str, ...] = ("random", "hub"),
    m: int = 30,
) -> dict[tuple[str, str, float], dict[str, float]]:
    """Print F1 (area) of every way, by graph and fault."""
    print(f"{'graph':<8}{'wrong cells':<16}" + "".join(f"{way:>14}" for way in WAYS) + "   found, false", flush=True)
    table = {}
    for graph in graphs:
        for fault, share in faults:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tasks = [(graph, fault, share, m, seed) for seed in range(n_sets)]
                rows = run_kept(f"wrong_cells-{graph}-{fault}-{share}-{m}", one, tasks)
            means = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
            table[graph, fault, share] = means
            told = "".join(
                f"{means[f'f1 {way}']:>7.3f} ({means[f'area {way}']:.3f})"[:14].rjust(14)
                if f"f1 {way}" in means
                else f"{'':>14}"
                for way in WAYS
            )
            print(
                f"{graph:<8}{fault + f' {share:.0%}':<16}{told}   {means['found']:.2f}, {means['false']:.4f}",
                flush=True,
            )
    return table


if __name__ == "__main__":
    main()
