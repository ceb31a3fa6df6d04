"""Appendix D.2: which number of blocks is best for the parameters of a square-root model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robscore.families import score_elements
from robscore.medians import n_blocks_for
from robscore.paper.experiment import (
    Experiment,
    Outcome,
    Result,
    Row,
    Settings,
    Task,
    draw_with_band,
    errors_by_blocks,
    generator,
    select,
)
from robscore.simulate import contaminate_pareto, random_model, sample
from robscore.solvers.unpenalised import solve_unpenalised
from robscore.weighting.block_weights import robust_weights

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class BlocksSqrt(Experiment):
    """Squared error of theta-hat(K) against K at 5 % and 10 % Pareto rows."""

    name = "blocks-sqrt"
    title = "Squared error against the number of blocks: square-root model"
    source = "appendix D.2"

    def settings(self, *, quick: bool) -> Settings:
        """5 columns, n = 1000, 5 edges, least eigenvalue 0.5."""
        full = [1, 50, 100, 150, 200, 250, 300, 350, 400, 450, 500, 600, 700, 800, 900, 1000]
        return {
            "n_columns": 5,
            "n_rows": 1000,
            "n_edges": 5,
            "min_eigenvalue": 0.5,
            "contaminations": [0.05, 0.10],
            "blocks": [1, 50, 100, 200, 400, 700, 1000] if quick else full,
            "simulations": 6 if quick else 100,
        }

    def tasks(self, settings: Settings) -> list[Task]:
        """One data set each, contaminated twice."""
        return [{"simulation": k} for k in range(settings["simulations"])]

    def run(self, task: Task, settings: Settings, seed: int) -> Outcome:
        """Squared errors by contamination and number of blocks."""
        truth = random_model(
            settings["n_columns"],
            settings["n_edges"],
            min_eigenvalue=settings["min_eigenvalue"],
            random_state=generator(seed),
        )
        rng = generator(seed, task["simulation"], 1)
        X = sample("sqrt", truth.interaction, truth.location, n_rows=settings["n_rows"], random_state=rng)
        errors = {}
        for share in settings["contaminations"]:
            dirty, _ = contaminate_pareto(X, share, random_state=rng)
            elements = score_elements("sqrt", dirty)
            values = []
            for n_blocks in settings["blocks"]:
                K, eta = solve_unpenalised(elements.average(*robust_weights(elements, n_blocks)))
                values.append(float(np.sum((K - truth.interaction) ** 2) + np.sum((eta - truth.location) ** 2)))
            errors[str(share)] = values
        return {"errors": errors}

    def table(self, settings: Settings, results: list[Result]) -> list[Row]:
        """Mean squared error by contamination and number of blocks."""
        rows: list[Row] = []
        for share in settings["contaminations"]:
            values = np.array([result.outcome["errors"][str(share)] for result in results])
            rows += [{"contamination": share, **row} for row in errors_by_blocks(values, settings["blocks"])]
        return rows

    def draw(self, settings: Settings, rows: list[Row], results: list[Result]) -> Figure:
        """One panel per contamination, the paper's 4 eps n marked."""
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(
            1, len(settings["contaminations"]), figsize=(8.5, 3.6), sharey=True, layout="constrained"
        )
        for ax, share in zip(axes, settings["contaminations"], strict=True):
            some = select(rows, contamination=share)
            draw_with_band(ax, some, "n_blocks", "mse", ("mse_low", "mse_high"), "#0072B2")
            proposed = n_blocks_for(settings["n_rows"], share)
            ax.axvline(proposed, color="#D55E00", linestyle="--", linewidth=1, label=f"4 eps n = {proposed}")
            ax.set(title=f"{share:.0%} Pareto rows", xlabel="number of blocks K", yscale="log")
            ax.legend(fontsize=8)
        axes[0].set_ylabel("mean squared error")
        return figure

    def say(self, settings: Settings, rows: list[Row]) -> str:
        """The best K at each contamination."""
        parts = []
        for share in settings["contaminations"]:
            best = min(select(rows, contamination=share), key=lambda row: row["mse"])
            parts.append(f"{best['n_blocks']} at {share:.0%} (squared error {best['mse']:.2f})")
        proposed = " and ".join(str(n_blocks_for(settings["n_rows"], share)) for share in settings["contaminations"])
        return f"The best number of blocks is {' and '.join(parts)}; 4 eps n is {proposed}."
