"""The appendix's other kinds of bad rows: more of them, and rows from another graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robscore.medians import n_blocks_for
from robscore.paper.experiment import Experiment, Outcome, Result, Row, Settings, Task, generator
from robscore.paper.roc import areas, as_outcome, draw_curves, score_matching_curve, summarise
from robscore.simulate import contaminate_other_graph, contaminate_pareto, random_model, sample

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCENARIOS = {"5 % Pareto": 0.05, "10 % Pareto": 0.10, "5 % rows from another graph": 0.05}


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
        X = sample(
            "sqrt",
            truth.interaction,
            truth.location,
            n_rows=n,
            thin=settings["thin"],
            random_state=generator(seed, k, 1),
        )
        rng = generator(seed, k, 2)
        if "graph" in task["scenario"]:
            X, _ = contaminate_other_graph(X, share, n_edges=settings["n_edges"], random_state=rng)
        else:
            X, _ = contaminate_pareto(X, share, random_state=rng)
        methods = {}
        for method, n_blocks in (("classic", 1), ("GMoM", n_blocks_for(n, share))):
            curve = score_matching_curve("sqrt", X, truth.interaction, n_blocks=n_blocks, alphas=settings["alphas"])
            methods[method] = as_outcome(curve)
        return {"methods": methods}

    def table(self, settings: Settings, results: list[Result]) -> list[Row]:
        """Average curves by scenario and method."""
        return summarise(results, ["scenario"], settings["graphs"])

    def draw(self, settings: Settings, rows: list[Row], results: list[Result]) -> Figure:
        """One panel per scenario."""
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, len(SCENARIOS), figsize=(12.5, 4.2), layout="constrained")
        for ax, scenario in zip(axes, SCENARIOS, strict=True):
            some = [row for row in rows if row["scenario"] == scenario]
            draw_curves(ax, some, f"{scenario}, n = {settings['n_rows']}", lambda row: (row["method"], "-"))
        return figure

    def say(self, settings: Settings, rows: list[Row]) -> str:
        """Areas by scenario."""
        parts = []
        for scenario in SCENARIOS:
            area = areas(rows, scenario=scenario)
            gap = area["GMoM"] - area["classic"]
            parts.append(f"{scenario}: classic {area['classic']:.3f}, GMoM {area['GMoM']:.3f} (ahead by {gap:+.3f})")
        return "Area under the ROC curve. " + "; ".join(parts) + "."
