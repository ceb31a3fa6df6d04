"""Appendix D.1: which number of blocks is best for a Gaussian mean and a Gaussian covariance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robscore._tools.typing import Array
from robscore.medians import median_of_means, n_blocks_for
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
from robscore.simulate import contaminate_skewed, contaminate_symmetric

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = {"symmetric": contaminate_symmetric, "skewed": contaminate_skewed}


class BlocksGaussian(Experiment):
    """Mean squared error of the GMoM mean and covariance against K, in four contamination scenarios."""

    name = "blocks-gaussian"
    title = "Squared error against the number of blocks: Gaussian mean and covariance"
    source = "appendix D.1"

    def settings(self, *, quick: bool) -> Settings:
        """10 columns, n = 100, 5 bad rows, alpha 2 and 10."""
        full = [10, 12, 15, 20, 25, 30, 35, 40, 50, 60, 75, 100]
        return {
            "n_columns": 10,
            "n_rows": 100,
            "contamination": 0.05,
            "strengths": [2.0, 10.0],
            "blocks": [10, 15, 20, 30, 40, 50, 75, 100] if quick else full,
            "simulations": 20 if quick else 1000,
            "batch": 20,
        }

    def tasks(self, settings: Settings) -> list[Task]:
        """Batches of data sets."""
        return [{"first": k} for k in range(0, settings["simulations"], settings["batch"])]

    def run(self, task: Task, settings: Settings, seed: int) -> Outcome:
        """Squared errors of every data set of the batch: scenario by number of blocks."""
        m, n = settings["n_columns"], settings["n_rows"]
        covariance = random_correlation(m, generator(seed, 0, 1))
        root = np.linalg.cholesky(covariance)
        errors = []
        for k in range(task["first"], min(task["first"] + settings["batch"], settings["simulations"])):
            rng = generator(seed, k)
            X = rng.standard_normal((n, m)) @ root.T
            of_this = {}
            for kind, spoil in KINDS.items():
                for strength in settings["strengths"]:
                    dirty, _ = spoil(X, settings["contamination"], strength=strength, random_state=rng)
                    squares = np.einsum("ij,ik->ijk", dirty, dirty).reshape(n, -1)
                    pairs = []
                    for n_blocks in settings["blocks"]:
                        mean = median_of_means(dirty, n_blocks).median
                        second = median_of_means(squares, n_blocks).median
                        pairs.append([float(mean @ mean), float(np.sum((second - covariance.ravel()) ** 2))])
                    of_this[f"{kind}|{strength:g}"] = pairs
            errors.append(of_this)
        return {"errors": errors}

    def table(self, settings: Settings, results: list[Result]) -> list[Row]:
        """Mean squared error by problem, scenario and number of blocks."""
        rows: list[Row] = []
        everything = [errors for result in results for errors in result.outcome["errors"]]
        for p, problem in enumerate(("mean", "covariance")):
            for scenario in everything[0]:
                kind, strength = scenario.split("|")
                values = np.array([errors[scenario] for errors in everything])[:, :, p]
                scenario_keys = {"problem": problem, "contamination": kind, "strength": float(strength)}
                rows += [{**scenario_keys, **row} for row in errors_by_blocks(values, settings["blocks"])]
        return rows

    def draw(self, settings: Settings, rows: list[Row], results: list[Result]) -> Figure:
        """Covariance above, mean below; weak left, strong right."""
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(2, 2, figsize=(8.5, 6.4), sharex=True, layout="constrained")
        for line, problem in zip(axes, ("covariance", "mean"), strict=True):
            for ax, strength in zip(line, settings["strengths"], strict=True):
                for kind, colour in zip(KINDS, ("#0072B2", "#D55E00"), strict=True):
                    some = select(rows, problem=problem, contamination=kind, strength=strength)
                    draw_with_band(ax, some, "n_blocks", "mse", ("mse_low", "mse_high"), colour, kind)
                ax.set(title=f"{problem}, alpha = {strength:g}", yscale="log")
                ax.legend(fontsize=8)
        for ax in axes[1]:
            ax.set_xlabel("number of blocks K")
        for ax in axes[:, 0]:
            ax.set_ylabel("mean squared error")
        return figure

    def say(self, settings: Settings, rows: list[Row]) -> str:
        """The best K of each problem, over scenarios."""
        best = {problem: best_blocks(rows, problem) for problem in ("mean", "covariance")}
        return (
            f"With n = {settings['n_rows']} and {settings['contamination']:.0%} bad rows the best number of blocks is "
            f"{_range(best['mean'])} for the mean and {_range(best['covariance'])} for the covariance, over the four "
            f"scenarios; 4 eps n is {n_blocks_for(settings['n_rows'], settings['contamination'])}."
        )


def best_blocks(rows: list[Row], problem: str) -> list[int]:
    """The number of blocks with the least error in each scenario."""
    scenarios = {(row["contamination"], row["strength"]) for row in rows}
    best = []
    for kind, strength in sorted(scenarios):
        some = select(rows, problem=problem, contamination=kind, strength=strength)
        best.append(int(min(some, key=lambda row: row["mse"])["n_blocks"]))
    return best


def _range(values: list[int]) -> str:
    return str(values[0]) if min(values) == max(values) else f"{min(values)} to {max(values)}"


def random_correlation(m: int, rng: np.random.Generator) -> Array:
    """A random correlation matrix: of 2m standard normal rows."""
    return np.asarray(np.corrcoef(rng.standard_normal((2 * m, m)).T))
