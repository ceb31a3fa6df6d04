"""Figure 1 and the appendix's other sample sizes: support recovery in the square-root model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robscore.families import score_elements
from robscore.paper.experiment import Experiment, Outcome, Result, Row, Settings, Task, generator
from robscore.paper.roc import areas, as_outcome, draw_curves, height, score_matching_curve, summarise
from robscore.simulate import contaminate_pareto, random_model, sample
from robscore.theory import moments, multiplier_bound

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
        beta = settings["multiplier"].get(str(n), 0.0)
        methods = {}
        for data, rows in (("clean", X), ("contaminated", dirty)):
            for method, n_blocks in (("classic", 1), ("GMoM", n // 5)):
                curve = score_matching_curve(
                    "sqrt",
                    rows,
                    truth.interaction,
                    n_blocks=n_blocks,
                    alphas=settings["alphas"],
                    diagonal_multiplier=beta,
                )
                methods[f"{method}|{data}"] = as_outcome(curve)
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
        import matplotlib.pyplot as plt

        sizes = [int(n) for n in settings["simulations"]]
        figure, axes = plt.subplots(1, len(sizes), figsize=(4.1 * len(sizes), 4.2), squeeze=False, layout="constrained")
        for ax, n in zip(axes[0], sizes, strict=True):
            some = [row for row in rows if row["n"] == n]
            title = f"n = {n}, m = {settings['n_columns']}, {some[0]['repetitions']} simulations"
            draw_curves(
                ax,
                some,
                title,
                lambda row: (f"{row['method']}, {row['data']}", "-" if row["data"] == "clean" else "--"),
            )
        return figure

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
