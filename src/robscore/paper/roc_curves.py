"""Support recovery: ROC curves of the square-root model (Figure 1), other bad rows, and the Gaussian model.

Every repetition gives curves on an even grid; tables hold their averages with bands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata
from sklearn.covariance import graphical_lasso

from robscore import metrics
from robscore._tools.deviations import MAD
from robscore._tools.typing import Array
from robscore.families import score_elements
from robscore.medians import n_blocks_for
from robscore.paper.experiment import Experiment, Outcome, Result, Row, Settings, Task, generator, panels, select
from robscore.plot.penalty_paths import draw_average, draw_frame
from robscore.plot.style import BLUE, GREEN, PURPLE, VERMILLION
from robscore.simulate import contaminate_other_graph, contaminate_pareto, contaminate_wide, random_model, sample
from robscore.solvers.path import Path, solve_path
from robscore.theory import moments, multiplier_bound
from robscore.weighting.block_weights import robust_weights

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 101  # of the grid of false positive rates
LASSO, ROBUST_LASSO = "graphical lasso", "graphical lasso, MAD-Spearman"
LASSO_MAX_ITER = 10
COLOURS = {"classic": VERMILLION, "GMoM": BLUE, LASSO: GREEN, ROBUST_LASSO: PURPLE}
SCENARIOS = {"5 % Pareto": 0.05, "10 % Pareto": 0.10, "5 % rows from another graph": 0.05}


def score_matching_path(
    family: str, X: Array, *, n_blocks: int, alphas: int, diagonal_multiplier: float = 0.0, max_iter: int = 200
) -> Path:
    """Solve a path of alphas to alpha_max / 1000, from rows as they are (no scaling).

    The tolerance is coarse and sweeps are few: at the dense end, where nearly all pairs are edges, finer solutions
    move the area under the ROC curve by less than .001.
    """
    elements = score_elements(family, X)
    loss = elements.average(*robust_weights(elements, n_blocks))
    path = solve_path(loss, alphas, diagonal_multiplier=diagonal_multiplier, tol=1e-4, max_iter=max_iter)
    assert isinstance(path, Path)
    return path


def classic_and_robust(
    X: Array, truth: Array, n_blocks: int, alphas: int, diagonal_multiplier: float = 0.0
) -> dict[str, Outcome]:
    """Return the curves of the classic estimate and of GMoM with so many blocks, both of the square-root model."""
    return {
        method: as_outcome(
            metrics.roc_curve(
                score_matching_path("sqrt", X, n_blocks=K, alphas=alphas, diagonal_multiplier=diagonal_multiplier),
                truth,
            )
        )
        for method, K in (("classic", 1), ("GMoM", n_blocks))
    }


def as_outcome(curve: metrics.RocCurve) -> Outcome:
    """Turn a curve into plain numbers: its area, and its height over an even grid."""
    tpr = metrics.on_grid(curve, np.linspace(0, 1, POINTS))
    return {"auc": metrics.auc(curve), "tpr": [round(float(value), 6) for value in tpr]}


def summarise(results: list[Result], keys: Sequence[str], n_graphs: int | None = None) -> list[Row]:
    """Return one line for each setting, method and point of the average curve, with the area and its interval.

    Where simulation k was on graph k modulo ``n_graphs``, bands and intervals are over graphs. ``early_auc`` is the
    area up to a false positive rate of .2, as a share of the most it could be.
    """
    groups: dict[tuple[Any, ...], list[Result]] = {}
    for result in results:
        groups.setdefault(tuple(result.task[key] for key in keys), []).append(result)
    rows: list[Row] = []
    for values, members in groups.items():
        for method in members[0].outcome["methods"]:
            outcomes = [member.outcome["methods"][method] for member in members]
            areas = np.array([outcome["auc"] for outcome in outcomes])
            heights = np.array([outcome["tpr"] for outcome in outcomes])
            simulations = np.array([member.task["simulation"] for member in members])
            graphs = simulations if n_graphs is None else simulations % n_graphs
            low, high = metrics.bootstrap_interval(heights, groups=graphs)
            area_low, area_high = metrics.bootstrap_interval(areas, groups=graphs)
            early = heights[:, : POINTS // 5 + 1].mean(axis=0)
            for k, fpr in enumerate(np.linspace(0, 1, POINTS)):
                rows.append(
                    {
                        **dict(zip(keys, values, strict=True)),
                        "method": method,
                        "repetitions": len(members),
                        "auc": float(areas.mean()),
                        "auc_low": float(area_low),
                        "auc_high": float(area_high),
                        "early_auc": float(np.mean((early[1:] + early[:-1]) / 2)),
                        "fpr": round(float(fpr), 4),
                        "tpr": float(heights[:, k].mean()),
                        "tpr_low": float(low[k]),
                        "tpr_high": float(high[k]),
                    }
                )
    return rows


def areas(rows: list[Row], **values: Any) -> dict[str, float]:
    """Return the area of every method in one setting."""
    return {row["method"]: row["auc"] for row in select(rows, fpr=0.0, **values)}


def height(rows: list[Row], method: str, fpr: float, **values: Any) -> float:
    """Return the average true positive rate of a method at a false positive rate."""
    (found,) = select(rows, method=method, fpr=fpr, **values)
    return float(found["tpr"])


def draw_panels(
    rows: list[Row],
    key: str,
    titles: dict[Any, str],
    size: tuple[float, float],
    style: Callable[[Row], tuple[str, str]] = lambda row: (row["method"], "-"),
) -> Figure:
    """Draw average curves with bands, one panel for every value of a key; ``style`` gives label and line style."""
    figure, axes = panels(1, len(titles), size)
    for ax, (value, title) in zip(axes[0], titles.items(), strict=True):
        curves: dict[tuple[str, str, str], list[Row]] = {}
        for row in select(rows, **{key: value}):
            label, dashes = style(row)
            curves.setdefault((label, dashes, row["method"]), []).append(row)
        for (label, dashes, method), points in curves.items():
            columns = ([point[name] for point in points] for name in ("fpr", "tpr", "tpr_low", "tpr_high"))
            average = metrics.AverageRoc(*map(np.array, columns))
            draw_average(ax, average, f"{label} (AUC {points[0]['auc']:.3f})", COLOURS[method], dashes)
        draw_frame(ax)
        ax.set_title(title)
        ax.legend(loc="lower right", fontsize=7.5, framealpha=0.9)
    return figure


class RocSqrt(Experiment):
    """Classic against GMoM score matching, clean and with 5 % Pareto rows, at several numbers of rows."""

    name = "roc-sqrt"
    title = "ROC curves of the square-root model, clean and with 5 % Pareto rows"
    source = "Figure 1; appendix, additional sample sizes"

    def settings(self, *, quick: bool) -> Settings:
        """100 columns, n/2 edges, 10 graphs, K = n/5; beta = 0.01 at n = 80 and 0 otherwise."""
        full = {"80": 500, "200": 100, "1000": 100, "5000": 100}
        return {
            "n_columns": 100,
            "simulations": {"80": 6, "200": 2, "1000": 1} if quick else full,
            "graphs": 10,
            "contamination": 0.05,
            "alphas": 16 if quick else 100,
            "multiplier": {"80": 0.01},
            "thin": 5 if quick else 20,
        }

    def tasks(self, settings: Settings) -> list[Task]:
        """One data set each."""
        return [{"n": int(n), "simulation": k} for n, count in settings["simulations"].items() for k in range(count)]

    def run(self, task: Task, settings: Settings, seed: int) -> Outcome:
        """Both methods on a clean data set and on the same one with bad rows."""
        n, k = task["n"], task["simulation"]
        m = settings["n_columns"]
        truth = random_model(m, n // 2, random_state=generator(seed, n, k % settings["graphs"]))
        rng = generator(seed, n, k, 1)
        X = sample("sqrt", truth.interaction, truth.location, n_rows=n, thin=settings["thin"], random_state=rng)
        dirty, _ = contaminate_pareto(X, settings["contamination"], random_state=rng)
        methods = {
            f"{method}|{data}": outcome
            for data, rows in (("clean", X), ("contaminated", dirty))
            for method, outcome in classic_and_robust(
                rows, truth.interaction, n // 5, settings["alphas"], settings["multiplier"].get(str(n), 0.0)
            ).items()
        }
        found = moments(score_elements("sqrt", X))
        bound = multiplier_bound(found.gamma_norm, found.gamma_trace, n, n // 5)
        return {"methods": methods, "multiplier_bound": bound}

    def table(self, settings: Settings, results: list[Result]) -> list[Row]:
        """Average curves by n, data and method."""
        rows = []
        bounds = {
            n: float(np.mean([r.outcome["multiplier_bound"] for r in results if r.task["n"] == n]))
            for n in {result.task["n"] for result in results}
        }
        for row in summarise(results, ["n"], settings["graphs"]):
            method, data = row.pop("method").split("|")
            rows.append(
                {
                    "n": row["n"],
                    "data": data,
                    "method": method,
                    "multiplier": settings["multiplier"].get(str(row["n"]), 0.0),
                    "multiplier_bound": bounds[row["n"]],
                    **{key: value for key, value in row.items() if key != "n"},
                }
            )
        return rows

    def draw(self, settings: Settings, rows: list[Row], results: list[Result]) -> Figure:
        """One panel per number of rows."""
        titles = {}
        for n in map(int, settings["simulations"]):
            repetitions = select(rows, n=n)[0]["repetitions"]
            titles[n] = f"n = {n}, m = {settings['n_columns']}, {repetitions} simulations"
        return draw_panels(
            rows,
            "n",
            titles,
            (4.1 * len(titles), 4.2),
            lambda row: (f"{row['method']}, {row['data']}", "-" if row["data"] == "clean" else "--"),
        )

    def say(self, settings: Settings, rows: list[Row]) -> str:
        """Areas by n."""
        parts = []
        for n in map(int, settings["simulations"]):
            clean, dirty = areas(rows, n=n, data="clean"), areas(rows, n=n, data="contaminated")
            parts.append(
                f"n = {n}: classic {clean['classic']:.3f} and GMoM {clean['GMoM']:.3f} clean, {dirty['classic']:.3f} "
                f"and {dirty['GMoM']:.3f} with {settings['contamination']:.0%} Pareto rows"
            )
        text = "Area under the ROC curve. " + "; ".join(parts) + "."
        if "80" in settings["simulations"]:
            at = [height(rows, method, 0.05, n=80, data="contaminated") for method in ("classic", "GMoM")]
            (bound,) = {row["multiplier_bound"] for row in rows if row["n"] == 80}
            text += (
                f" At n = 80 and a false positive rate of 5 % the contaminated curves are at {at[0]:.3f} (classic) "
                f"and {at[1]:.3f} (GMoM); beta is 0.01 there, Theorem 4.3's bound is {bound:.2f}."
            )
        return text


class RocContamination(Experiment):
    """Classic against GMoM at n = 1000 with K = 4 eps n, under two more contaminations (and Figure 1's)."""

    name = "roc-contamination"
    title = "ROC curves under 10 % Pareto rows and under rows from another graph"
    source = "appendix, additional contamination scenarios"

    def settings(self, *, quick: bool) -> Settings:
        """100 columns, 1000 rows, 500 edges; 10 graphs."""
        return {
            "n_columns": 50 if quick else 100,
            "n_rows": 500 if quick else 1000,
            "n_edges": 125 if quick else 500,
            "simulations": 4 if quick else 100,
            "graphs": 10,
            "alphas": 30 if quick else 100,
            "thin": 5 if quick else 20,
        }

    def tasks(self, settings: Settings) -> list[Task]:
        """One scenario and data set each; the same clean rows in all scenarios."""
        return [{"scenario": name, "simulation": k} for name in SCENARIOS for k in range(settings["simulations"])]

    def run(self, task: Task, settings: Settings, seed: int) -> Outcome:
        """Both methods on one contaminated data set."""
        n, m, k = settings["n_rows"], settings["n_columns"], task["simulation"]
        share = SCENARIOS[task["scenario"]]
        truth = random_model(m, settings["n_edges"], random_state=generator(seed, k % settings["graphs"]))
        rng = generator(seed, k, 1)
        X = sample("sqrt", truth.interaction, truth.location, n_rows=n, thin=settings["thin"], random_state=rng)
        rng = generator(seed, k, 2)
        if "graph" in task["scenario"]:
            X, _ = contaminate_other_graph(X, share, n_edges=settings["n_edges"], random_state=rng)
        else:
            X, _ = contaminate_pareto(X, share, random_state=rng)
        n_blocks = n_blocks_for(n, share)
        return {"methods": classic_and_robust(X, truth.interaction, n_blocks, settings["alphas"])}

    def table(self, settings: Settings, results: list[Result]) -> list[Row]:
        """Average curves by scenario and method."""
        return summarise(results, ["scenario"], settings["graphs"])

    def draw(self, settings: Settings, rows: list[Row], results: list[Result]) -> Figure:
        """One panel per scenario."""
        titles = {scenario: f"{scenario}, n = {settings['n_rows']}" for scenario in SCENARIOS}
        return draw_panels(rows, "scenario", titles, (12.5, 4.2))

    def say(self, settings: Settings, rows: list[Row]) -> str:
        """Areas by scenario."""
        parts = []
        for scenario in SCENARIOS:
            area = areas(rows, scenario=scenario)
            gap = area["GMoM"] - area["classic"]
            parts.append(f"{scenario}: classic {area['classic']:.3f}, GMoM {area['GMoM']:.3f} (ahead by {gap:+.3f})")
        return "Area under the ROC curve. " + "; ".join(parts) + "."


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
                unconverged = float((~path.converged).mean())
                methods[f"{method}|{data}"] = _with_reach(np.asarray(path.interactions), K, unconverged)
            for method, covariance in ((LASSO, np.cov(rows.T)), (ROBUST_LASSO, mad_spearman(rows))):
                graphs, unconverged = lasso_path(covariance, settings["lasso_alphas"], settings["lasso_min_ratio"])
                methods[f"{method}|{data}"] = _with_reach(graphs, K, unconverged)
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
        size = f"n = {settings['n_rows']}, m = {settings['n_columns']}"
        titles = {data: f"Gaussian, {data}, {size}" for data in ("clean", "contaminated")}
        return draw_panels(
            rows, "data", titles, (9, 4.4), lambda row: (row["method"], "--" if "lasso" in row["method"] else "-")
        )

    def say(self, settings: Settings, rows: list[Row]) -> str:
        """Areas of all methods."""
        parts = []
        for data in ("clean", "contaminated"):
            area = areas(rows, data=data)
            parts.append(f"{data}: " + ", ".join(f"{method} {value:.3f}" for method, value in area.items()))
        return "Area under the ROC curve. " + "; ".join(parts) + "."


def _with_reach(graphs: Array, truth: Array, unconverged: float) -> Outcome:
    """Return a curve in plain numbers, how far its path reaches, and the share of penalties that did not converge.

    Beyond the largest false positive rate on the path the curve is a straight line to (1, 1).
    """
    false = ~metrics.edge_vector(truth)
    reached = float(max(metrics.edge_vector(graph)[false].mean() for graph in graphs))
    return {**as_outcome(metrics.roc_curve(graphs, truth)), "reached": reached, "unconverged": unconverged}


def mad_spearman(X: Array) -> Array:
    """Return Loh and Tan's covariance: MADs, and Spearman's correlations turned into Pearson's, made semidefinite."""
    scale = MAD * np.median(np.abs(X - np.median(X, axis=0)), axis=0)
    ranks = np.corrcoef(rankdata(X, axis=0).T)
    covariance = np.multiply.outer(scale, scale) * 2 * np.sin(np.pi / 6 * ranks)
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    if values[0] >= 0:
        return covariance
    projected: Array = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return projected


def lasso_path(covariance: Array, n_alphas: int, min_ratio: float) -> tuple[Array, float]:
    """Return graphs of scikit-learn's graphical lasso on the correlation matrix, as far down as it runs.

    Also return the share of penalties at which it stopped before its tolerance, or could not go on.
    """
    size = np.sqrt(covariance.diagonal())
    correlation = covariance / np.multiply.outer(size, size)
    largest = float(np.abs(correlation - np.diag(correlation.diagonal())).max())
    graphs, stopped = [], 0
    for alpha in np.geomspace(largest, largest * min_ratio, n_alphas):
        try:
            _, precision, steps = graphical_lasso(
                correlation, alpha, tol=1e-3, enet_tol=1e-3, max_iter=LASSO_MAX_ITER, return_n_iter=True
            )
        except FloatingPointError:
            break  # no longer positive definite to working precision
        graphs.append(precision)
        stopped += steps >= LASSO_MAX_ITER
    return np.array(graphs), (stopped + n_alphas - len(graphs)) / n_alphas
