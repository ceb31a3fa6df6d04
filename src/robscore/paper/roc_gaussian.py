"""The appendix's Gaussian experiment: score matching compared with the graphical lasso, plain and robust."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata
from sklearn.covariance import graphical_lasso

from robscore import metrics
from robscore._tools.deviations import MAD
from robscore._tools.typing import Array
from robscore.medians import n_blocks_for
from robscore.paper.experiment import Experiment, Outcome, Result, Row, Settings, Task, generator
from robscore.paper.roc import areas, as_outcome, draw_curves, score_matching_path, summarise
from robscore.simulate import contaminate_wide, random_model, sample

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_ITER = 10
PLAIN, ROBUST = "graphical lasso", "graphical lasso, MAD-Spearman"


class RocGaussian(Experiment):
    """Four methods on Gaussian data, clean and with 5 % rows of wide independent normals."""

    name = "roc-gaussian"
    title = "ROC curves of the Gaussian model: score matching and the graphical lasso"
    source = "appendix, results for Gaussian graphical models"

    def settings(self, *, quick: bool) -> Settings:
        """As many rows as columns, 100, and as many edges; K = 20."""
        return {
            "n_columns": 50 if quick else 100,
            "n_rows": 60 if quick else 100,
            "n_edges": 50 if quick else 100,
            "simulations": 4 if quick else 100,
            "contamination": 0.05,
            "variance_factor": 10.0,
            "alphas": 15 if quick else 100,
            "lasso_alphas": 8 if quick else 20,
            "lasso_min_ratio": 0.1 if quick else 0.04,
        }

    def tasks(self, settings: Settings) -> list[Task]:
        """One graph and data set each."""
        return [{"simulation": k} for k in range(settings["simulations"])]

    def run(self, task: Task, settings: Settings, seed: int) -> Outcome:
        """All methods on a clean data set and on the same one with bad rows."""
        n = settings["n_rows"]
        rng = generator(seed, task["simulation"])
        truth = random_model(
            settings["n_columns"], settings["n_edges"], strength=(0.5, 1.0), locations=(0.0,), random_state=rng
        )
        K = truth.interaction
        X = sample("gaussian", K, n_rows=n, random_state=rng)
        variance = settings["variance_factor"] * float(np.linalg.inv(K).diagonal().max())
        dirty, _ = contaminate_wide(X, settings["contamination"], variance=variance, random_state=rng)
        methods = {}
        for data, rows in (("clean", X), ("contaminated", dirty)):
            for method, n_blocks in (("classic", 1), ("GMoM", n_blocks_for(n, settings["contamination"]))):
                path = score_matching_path("gaussian", rows, n_blocks=n_blocks, alphas=settings["alphas"], max_iter=100)
                methods[f"{method}|{data}"] = {
                    **as_outcome(metrics.roc_curve(path, K)),
                    "reached": largest_fpr(np.asarray(path.interactions), K),
                    "unconverged": float((~path.converged).mean()),
                }
            for method, covariance in ((PLAIN, np.cov(rows.T)), (ROBUST, mad_spearman(rows))):
                graphs, failed = lasso_path(covariance, settings["lasso_alphas"], settings["lasso_min_ratio"])
                methods[f"{method}|{data}"] = {
                    **as_outcome(metrics.roc_curve(graphs, K)),
                    "reached": largest_fpr(graphs, K),
                    "unconverged": failed,
                }
        return {"methods": methods}

    def table(self, settings: Settings, results: list[Result]) -> list[Row]:
        """Average curves by data and method, how far they reach, and the share of penalties without a solution."""
        rows = []
        for row in summarise(results, []):
            name = row.pop("method")
            method, data = name.split("|")
            reached, unconverged = (
                float(np.mean([result.outcome["methods"][name][key] for result in results]))
                for key in ("reached", "unconverged")
            )
            rows.append({"data": data, "method": method, "reached": reached, "unconverged": unconverged, **row})
        return rows

    def draw(self, settings: Settings, rows: list[Row], results: list[Result]) -> Figure:
        """Clean and contaminated side by side."""
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
        for ax, data in zip(axes, ("clean", "contaminated"), strict=True):
            some = [row for row in rows if row["data"] == data]
            title = f"Gaussian, {data}, n = {settings['n_rows']}, m = {settings['n_columns']}"
            draw_curves(ax, some, title, lambda row: (row["method"], "-" if "lasso" not in row["method"] else "--"))
        return figure

    def say(self, settings: Settings, rows: list[Row]) -> str:
        """Areas of all methods."""
        parts = []
        for data in ("clean", "contaminated"):
            area = areas(rows, data=data)
            parts.append(f"{data}: " + ", ".join(f"{method} {value:.3f}" for method, value in area.items()))
        return "Area under the ROC curve. " + "; ".join(parts) + "."


def mad_spearman(X: Array) -> Array:
    """Loh and Tan's covariance: MADs and Spearman's correlations turned into Pearson's, made positive semidefinite."""
    scale = MAD * np.median(np.abs(X - np.median(X, axis=0)), axis=0)
    ranks = np.corrcoef(rankdata(X, axis=0).T)
    covariance = np.multiply.outer(scale, scale) * 2 * np.sin(np.pi / 6 * ranks)
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    if values[0] >= 0:
        return covariance
    projected: Array = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return projected


def lasso_path(covariance: Array, n_alphas: int, min_ratio: float) -> tuple[Array, float]:
    """Graphs of scikit-learn's graphical lasso on the correlation matrix, as far down as it runs.

    Also the share of penalties at which it stopped before its tolerance, or could not go on.
    """
    size = np.sqrt(covariance.diagonal())
    correlation = covariance / np.multiply.outer(size, size)
    largest = float(np.abs(correlation - np.diag(correlation.diagonal())).max())
    graphs, stopped = [], 0
    for alpha in np.geomspace(largest, largest * min_ratio, n_alphas):
        try:
            _, precision, steps = graphical_lasso(
                correlation, alpha, tol=1e-3, enet_tol=1e-3, max_iter=MAX_ITER, return_n_iter=True
            )
        except FloatingPointError:
            break  # no longer positive definite to working precision
        graphs.append(precision)
        stopped += steps >= MAX_ITER
    return np.array(graphs), (stopped + n_alphas - len(graphs)) / n_alphas


def largest_fpr(graphs: Array, truth: Array) -> float:
    """The largest false positive rate on a path; beyond it the curve is a straight line to (1, 1)."""
    false = ~metrics.edge_vector(truth)
    return float(max(metrics.edge_vector(graph)[false].mean() for graph in graphs))
