"""Squared errors against the number of blocks (appendix D) and of rows (Corollary 3.2).

With sqrt(n) bad rows, however bad, the robust estimate converges; the classic one does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from robscore import theory
from robscore._tools.typing import Array
from robscore.families import score_elements
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
    mean_with_interval,
    panels,
    select,
)
from robscore.plot.style import BLUE, VERMILLION
from robscore.simulate import (
    Model,
    contaminate,
    contaminate_pareto,
    contaminate_skewed,
    contaminate_symmetric,
    random_model,
    sample,
)
from robscore.solvers.unpenalised import solve_unpenalised
from robscore.weighting.block_weights import robust_weights

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = {"symmetric": contaminate_symmetric, "skewed": contaminate_skewed}
METHODS = ("classic", "GMoM")


def squared_errors(family: str, X: Array, truth: Model, blocks: Sequence[int]) -> list[float]:
    """Return squared distances of estimates without penalty, K and eta, from the truth: for every number of blocks."""
    elements = score_elements(family, X)
    errors = []
    for n_blocks in blocks:
        K, eta = solve_unpenalised(elements.average(*robust_weights(elements, n_blocks)))
        errors.append(float(np.sum((K - truth.interaction) ** 2) + np.sum((eta - truth.location) ** 2)))
    return errors


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
        figure, axes = panels(2, 2, (8.5, 6.4), sharex=True)
        for line, problem in zip(axes, ("covariance", "mean"), strict=True):
            for ax, strength in zip(line, settings["strengths"], strict=True):
                for kind, colour in zip(KINDS, (BLUE, VERMILLION), strict=True):
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
    """Return the number of blocks with the least error in each scenario."""
    scenarios = {(row["contamination"], row["strength"]) for row in rows}
    best = []
    for kind, strength in sorted(scenarios):
        some = select(rows, problem=problem, contamination=kind, strength=strength)
        best.append(int(min(some, key=lambda row: row["mse"])["n_blocks"]))
    return best


def _range(values: list[int]) -> str:
    """Write the least and the largest number, once if they are equal."""
    return str(values[0]) if min(values) == max(values) else f"{min(values)} to {max(values)}"


def random_correlation(m: int, rng: np.random.Generator) -> Array:
    """Return a random correlation matrix: that of 2m standard normal rows."""
    return np.asarray(np.corrcoef(rng.standard_normal((2 * m, m)).T))


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
            errors[str(share)] = squared_errors("sqrt", dirty, truth, settings["blocks"])
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
        figure, axes = panels(1, len(settings["contaminations"]), (8.5, 3.6), sharey=True)
        for ax, share in zip(axes[0], settings["contaminations"], strict=True):
            some = select(rows, contamination=share)
            draw_with_band(ax, some, "n_blocks", "mse", ("mse_low", "mse_high"), BLUE)
            proposed = n_blocks_for(settings["n_rows"], share)
            ax.axvline(proposed, color=VERMILLION, linestyle="--", linewidth=1, label=f"4 eps n = {proposed}")
            ax.set(title=f"{share:.0%} Pareto rows", xlabel="number of blocks K", yscale="log")
            ax.legend(fontsize=8)
        axes[0, 0].set_ylabel("mean squared error")
        return figure

    def say(self, settings: Settings, rows: list[Row]) -> str:
        """The best K at each contamination."""
        parts = []
        for share in settings["contaminations"]:
            best = min(select(rows, contamination=share), key=lambda row: row["mse"])
            parts.append(f"{best['n_blocks']} at {share:.0%} (squared error {best['mse']:.2f})")
        proposed = " and ".join(str(n_blocks_for(settings["n_rows"], share)) for share in settings["contaminations"])
        return f"The best number of blocks is {' and '.join(parts)}; 4 eps n is {proposed}."


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
        errors = squared_errors("sqrt", dirty, truth, (1, n_blocks))
        return {"errors": dict(zip(METHODS, errors, strict=True))}

    def table(self, settings: Settings, results: list[Result]) -> list[Row]:
        """Mean squared error by n and method."""
        rows = []
        for n in settings["n_rows"]:
            n_bad, n_blocks = bad_rows_and_blocks(n, settings["tau"])
            for method in METHODS:
                values = np.array([r.outcome["errors"][method] for r in results if r.task["n"] == n])
                rows.append(
                    {
                        "n": n,
                        "bad_rows": n_bad,
                        "n_blocks": n_blocks if method == "GMoM" else 1,
                        "method": method,
                        "simulations": values.size,
                        **mean_with_interval("squared_error", values),
                    }
                )
        return rows

    def draw(self, settings: Settings, rows: list[Row], results: list[Result]) -> Figure:
        """Error against n on logarithmic axes."""
        figure, ((ax,),) = panels(1, 1, (5.2, 3.9))
        for method, colour in zip(METHODS, (VERMILLION, BLUE), strict=True):
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
    """Return n_c = floor(sqrt(n)) and K(n_c)."""
    n_bad = int(np.floor(np.sqrt(n)))
    return n_bad, theory.blocks_for_bad_rows(n_bad, tau)
