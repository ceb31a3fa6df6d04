"""Corollary 3.2: with sqrt(n) bad rows, however bad, the robust estimate converges; the classic one does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robscore import metrics, theory
from robscore.families import score_elements
from robscore.paper.experiment import (
    Experiment,
    Outcome,
    Result,
    Row,
    Settings,
    Task,
    draw_with_band,
    generator,
    select,
)
from robscore.simulate import contaminate, random_model, sample
from robscore.solvers.unpenalised import solve_unpenalised
from robscore.weighting.block_weights import robust_weights

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = ("classic", "GMoM")


class Consistency(Experiment):
    """Error of theta-hat against n with n_c = sqrt(n) bad rows and K = K(n_c)."""

    name = "consistency"
    title = "Error against the number of rows with sqrt(n) bad rows"
    source = "Corollary 3.2"

    def settings(self, *, quick: bool) -> Settings:
        """tau_0 = 0.2; bad rows n times as large as ordinary ones."""
        return {
            "n_columns": 4,
            "n_edges": 3,
            "n_rows": [1000, 4000, 16000] if quick else [1000, 2000, 4000, 8000, 16000, 32000, 64000],
            "tau": 0.2,
            "simulations": 4 if quick else 30,
        }

    def tasks(self, settings: Settings) -> list[Task]:
        """One data set each."""
        return [{"n": n, "simulation": k} for n in settings["n_rows"] for k in range(settings["simulations"])]

    def run(self, task: Task, settings: Settings, seed: int) -> Outcome:
        """Squared errors of both estimates."""
        n = task["n"]
        truth = random_model(
            settings["n_columns"], settings["n_edges"], min_eigenvalue=0.5, random_state=generator(seed)
        )
        rng = generator(seed, n, task["simulation"])
        X = sample("sqrt", truth.interaction, truth.location, n_rows=n, thin=5, random_state=rng)
        n_bad, n_blocks = bad_rows_and_blocks(n, settings["tau"])
        dirty, _ = contaminate(
            X,
            n_bad / n,
            lambda rng, count, clean: n * clean.mean(axis=0) * (1 + rng.pareto(1.0, size=(count, clean.shape[1]))),
            random_state=rng,
        )
        elements = score_elements("sqrt", dirty)
        errors = {}
        for method, blocks in zip(METHODS, (1, n_blocks), strict=True):
            K, eta = solve_unpenalised(elements.average(*robust_weights(elements, blocks)))
            errors[method] = float(np.sum((K - truth.interaction) ** 2) + np.sum((eta - truth.location) ** 2))
        return {"errors": errors}

    def table(self, settings: Settings, results: list[Result]) -> list[Row]:
        """Mean squared error by n and method."""
        rows = []
        for n in settings["n_rows"]:
            n_bad, n_blocks = bad_rows_and_blocks(n, settings["tau"])
            for method in METHODS:
                values = np.array([r.outcome["errors"][method] for r in results if r.task["n"] == n])
                low, high = metrics.bootstrap_interval(values)
                rows.append(
                    {
                        "n": n,
                        "bad_rows": n_bad,
                        "n_blocks": n_blocks if method == "GMoM" else 1,
                        "method": method,
                        "simulations": values.size,
                        "squared_error": float(values.mean()),
                        "low": float(low),
                        "high": float(high),
                    }
                )
        return rows

    def draw(self, settings: Settings, rows: list[Row], results: list[Result]) -> Figure:
        """Error against n on logarithmic axes."""
        import matplotlib.pyplot as plt

        figure, ax = plt.subplots(figsize=(5.2, 3.9), layout="constrained")
        for method, colour in zip(METHODS, ("#D55E00", "#0072B2"), strict=True):
            some = select(rows, method=method)
            draw_with_band(ax, some, "n", "squared_error", ("low", "high"), colour, method)
        ax.set(xscale="log", yscale="log", xlabel="rows n, of which sqrt(n) are bad", ylabel="squared error")
        ax.legend()
        return figure

    def say(self, settings: Settings, rows: list[Row]) -> str:
        """First and last error of both."""
        parts = []
        for method in METHODS:
            some = select(rows, method=method)
            parts.append(f"{method} from {some[0]['squared_error']:.3g} to {some[-1]['squared_error']:.3g}")
        first, last = settings["n_rows"][0], settings["n_rows"][-1]
        return f"From n = {first} to n = {last} with sqrt(n) bad rows the squared error goes: {'; '.join(parts)}."


def bad_rows_and_blocks(n: int, tau: float) -> tuple[int, int]:
    """n_c = floor(sqrt(n)) and K(n_c)."""
    n_bad = int(np.floor(np.sqrt(n)))
    return n_bad, theory.blocks_for_bad_rows(n_bad, tau)
