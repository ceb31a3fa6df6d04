"""Section 5.2: rain around the Alps. Edges that cross the main ridge count as false."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.covariance import graphical_lasso

from robscore._tools.typing import Array, BoolArray
from robscore.datasets import alpine_ridge, crosses_ridge, read_ecad, simulated_alpine_rain
from robscore.estimators import RobustGraph
from robscore.medians import n_blocks_for
from robscore.paper.experiment import (
    Experiment,
    Outcome,
    Result,
    Row,
    Settings,
    Task,
    generator,
    mean_with_interval,
    panels,
    select,
)
from robscore.plot.graphs_and_maps import plot_map
from robscore.plot.style import BLUE, GREEN, VERMILLION
from robscore.simulate import contaminate_pareto

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = ("GMoM", "classic", "Gaussian graphical model")
# Stations of ECA&D around the Alps with every day of the chosen months of 1911-1997.
STATIONS = (
    *(11, 13, 15, 16, 21, 48, 52, 58, 169, 171, 172, 173, 228, 239, 240, 242, 243, 244, 496, 2042),
    *(4002, 4701, 11804, 11907, 12078, 12743, 13506, 14346, 15158, 24439),
)
YEARS, MONTHS = (1911, 1997), (11, 1, 3)


class Alps(Experiment):
    """The two networks of Figure 2 and the false discovery rates of Table 1."""

    name = "alps"
    title = "Rain around the Alps: networks on a map, and how many edges cross the ridge"
    source = "section 5.2, Figure 2 and Table 1"

    def __init__(self, ecad: str | None = None) -> None:
        self.ecad = ecad

    def settings(self, *, quick: bool) -> Settings:
        """45 edges, 1 to 20 % Pareto rows, 100 runs; ECA&D's data if their place is known, else simulated rain."""
        rain = _rain(self.ecad)  # raises now, not after the first repetitions, if the files cannot be read
        return {
            "data": "simulated" if self.ecad is None else "ECA&D",
            "digest": sha256(rain.X.tobytes()).hexdigest()[:16],
            "n_edges": 45,
            "contaminations": [0.05] if quick else [0.01, 0.05, 0.10, 0.20],
            "runs": 6 if quick else 100,
        }

    def tasks(self, settings: Settings) -> list[Task]:
        """The clean data once, then one contaminated data set each."""
        return [{"contamination": 0.0, "run": 0}] + [
            {"contamination": share, "run": k} for share in settings["contaminations"] for k in range(settings["runs"])
        ]

    def run(self, task: Task, settings: Settings, seed: int) -> Outcome:
        """The share of edges across the ridge for every method, and the edges themselves of the first run."""
        rain = _rain(self.ecad)
        share, n_edges = task["contamination"], settings["n_edges"]
        X = rain.X
        if share:
            rng = generator(seed, round(1000 * share), task["run"])
            X, _ = contaminate_pareto(X, share, random_state=rng)
        graphs = {
            "GMoM": _score_matching(X, n_edges, n_blocks_for(len(X), share) if share else 1),
            "classic": _score_matching(X, n_edges, 1),
            "Gaussian graphical model": gaussian_graph(X, n_edges),
        }
        crossing = crosses_ridge(rain.coordinates)
        outcome: Outcome = {"fdr": {method: alps_fdr(edges, crossing) for method, edges in graphs.items()}}
        if task["run"] == 0:
            outcome["edges"] = {method: np.argwhere(np.triu(edges)).tolist() for method, edges in graphs.items()}
        return outcome

    def table(self, settings: Settings, results: list[Result]) -> list[Row]:
        """Mean false discovery rates with bootstrap intervals, in per cent; and that of a random graph."""
        crossing = crosses_ridge(_rain(self.ecad).coordinates)
        chance = float(crossing[np.triu_indices(len(crossing), k=1)].mean())
        rows = []
        for share in [0.0, *settings["contaminations"]]:
            members = [result for result in results if result.task["contamination"] == share]
            for method in METHODS:
                values = 100 * np.array([member.outcome["fdr"][method] for member in members])
                rows.append(
                    {
                        "data": settings["data"],
                        "contamination": share,
                        "method": method,
                        "runs": len(members),
                        **mean_with_interval("alps_fdr", values),
                        "random_graph": 100 * chance,
                    }
                )
        return rows

    def draw(self, settings: Settings, rows: list[Row], results: list[Result]) -> Figure:
        """Classic on clean data, classic and GMoM on contaminated data, on one map; the table as bars."""
        rain = _rain(self.ecad)
        share = 0.05 if 0.05 in settings["contaminations"] else settings["contaminations"][0]
        clean, dirty = (
            next(r.outcome["edges"] for r in results if r.task["contamination"] == s and r.task["run"] == 0)
            for s in (0.0, share)
        )
        shown = [
            ("classic, clean data", clean["classic"]),
            (f"classic, {share:.0%} Pareto rows", dirty["classic"]),
            (f"GMoM, {share:.0%} Pareto rows", dirty["GMoM"]),
        ]
        figure, axes = panels(2, 2, (11, 8))
        what = "simulated rain" if settings["data"] == "simulated" else "ECA&D precipitation"
        crossing = crosses_ridge(rain.coordinates)
        for ax, (title, edges) in zip(axes.ravel(), shown, strict=False):
            adjacency = np.zeros(crossing.shape, dtype=bool)
            adjacency[tuple(np.array(edges).T)] = True
            plot_map(
                adjacency | adjacency.T,
                rain.coordinates,
                outline=[alpine_ridge()],
                marked=("across the ridge", crossing, "on one side of the ridge"),
                names=rain.names,
                title=f"{what}: {title}",
                ax=ax,
            )
        ax = axes[1, 1]
        for method, colour in zip(METHODS, (BLUE, VERMILLION, GREEN), strict=True):
            some = select(rows, method=method)
            x = [100 * row["contamination"] for row in some]
            y = np.array([row["alps_fdr"] for row in some])
            spread = np.array([[row["alps_fdr"] - row["low"], row["high"] - row["alps_fdr"]] for row in some]).T
            ax.errorbar(x, y, np.maximum(spread, 0), fmt="o-", color=colour, capsize=3, markersize=4, label=method)
        ax.axhline(rows[0]["random_graph"], color="#888888", linestyle=":", label="random graph")
        ax.set(xlabel="bad rows (%)", ylabel="edges across the ridge (%)", title=f"{what}: Table 1")
        ax.legend(fontsize=8)
        return figure

    def say(self, settings: Settings, rows: list[Row]) -> str:
        """Table 1 in words."""
        parts = []
        for share in settings["contaminations"]:
            values = [
                next(r["alps_fdr"] for r in select(rows, contamination=share) if r["method"] == m) for m in METHODS
            ]
            parts.append(f"{share:.0%}: {values[0]:.1f} / {values[1]:.1f} / {values[2]:.1f}")
        clean = select(rows, contamination=0.0, method="classic")[0]["alps_fdr"]
        what = "Simulated rain" if settings["data"] == "simulated" else "ECA&D precipitation"
        return (
            f"{what}: {clean:.1f} % of the edges cross the ridge for classic score matching on clean data, "
            f"{rows[0]['random_graph']:.1f} % in a random graph. GMoM / classic / Gaussian graphical model at "
            f"{'; '.join(parts)} %."
        )


class Rain(NamedTuple):
    """Rows of monthly rain, with the names and coordinates of the places."""

    X: Array
    names: tuple[str, ...]
    coordinates: Array


@lru_cache(maxsize=2)
def _rain(ecad: str | None) -> Rain:
    """Read ECA&D's rain, or simulate rain; both take a while, so the last two are kept."""
    if ecad is None:
        rain = simulated_alpine_rain()
        return Rain(rain.X, rain.names, rain.coordinates)
    totals = read_ecad(ecad, stations=STATIONS, years=YEARS, months=MONTHS, suspect="use")
    places = np.array([[station.latitude, station.longitude] for station in totals.stations])
    return Rain(totals.X, tuple(station.name for station in totals.stations), places)


def _score_matching(X: Array, n_edges: int, n_blocks: int) -> BoolArray:
    """Return the graph with so many edges that score matching learns from rows as they are."""
    model = RobustGraph("sqrt", n_blocks=n_blocks, n_edges=n_edges, scale=None, alphas=40, tol=1e-5).fit(X)
    return model.graph_.adjacency


def gaussian_graph(X: Array, n_edges: int) -> BoolArray:
    """Return the graphical lasso of the correlations with so many edges, or as near to that as a penalty comes."""
    correlation = np.atleast_2d(np.corrcoef(X.T))
    low, high = 0.0, float(np.abs(correlation - np.eye(len(correlation))).max())
    nearest, best = np.inf, np.zeros(correlation.shape, dtype=bool)
    for _ in range(25):
        alpha = (low + high) / 2
        try:
            edges = graphical_lasso(correlation, alpha, tol=1e-3, max_iter=200)[1] != 0
        except FloatingPointError:
            low = alpha
            continue
        np.fill_diagonal(edges, val=False)
        count = int(np.count_nonzero(edges)) // 2
        if abs(count - n_edges) < nearest:
            nearest, best = abs(count - n_edges), edges
        if count == n_edges:
            break
        low, high = (low, alpha) if count < n_edges else (alpha, high)
    return best


def alps_fdr(edges: BoolArray, crossing: BoolArray) -> float:
    """Return the share of the edges that cross the ridge."""
    upper = np.triu(edges)
    return int(np.count_nonzero(upper & crossing)) / max(int(np.count_nonzero(upper)), 1)
