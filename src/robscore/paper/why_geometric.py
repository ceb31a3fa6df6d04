"""Requirement R1: a componentwise median of means may give a Gamma-hat that is not positive definite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robscore._tools.typing import Array
from robscore.elements.power_elements import unpacked
from robscore.families import score_elements
from robscore.losses.quadratic import assemble_hessian
from robscore.paper.experiment import Experiment, Outcome, Result, Row, Settings, Task, generator, select
from robscore.rows.partition import Partition
from robscore.simulate import random_model, sample
from robscore.weighting.block_weights import robust_weights

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class WhyGeometric(Experiment):
    """How often no estimate exists, for the componentwise median and for the geometric one."""

    name = "why-geometric"
    title = "How often Gamma-hat is indefinite: componentwise against geometric median of means"
    source = "section 3.2 and requirement R1"

    def settings(self, *, quick: bool) -> Settings:
        """Square-root models over n, m and K."""
        return {
            "n_rows": [100, 400] if quick else [100, 400, 1600],
            "n_columns": [5, 20] if quick else [5, 20, 50],
            "rows_a_block": [20, 5, 1],
            "simulations": 6 if quick else 50,
        }

    def tasks(self, settings: Settings) -> list[Task]:
        """One data set each."""
        return [
            {"n": n, "m": m, "simulation": k}
            for n in settings["n_rows"]
            for m in settings["n_columns"]
            for k in range(settings["simulations"])
        ]

    def run(self, task: Task, settings: Settings, seed: int) -> Outcome:
        """By block size and kind of median: a node's least eigenvalue, and whether the whole is positive definite."""
        n, m = task["n"], task["m"]
        rng = generator(seed, n, m, task["simulation"])
        truth = random_model(m, m, random_state=rng)
        X = sample("sqrt", truth.interaction, truth.location, n_rows=n, thin=5, random_state=rng)
        elements = score_elements("sqrt", X)
        least = {}
        for size in settings["rows_a_block"]:
            n_blocks = n // size
            partition = Partition.even(n, n_blocks)
            componentwise = np.array(
                [unpacked(np.median(means, axis=0), m) for means in elements.node_means("gamma", partition)]
            )
            geometric = elements.average(*robust_weights(elements, n_blocks)).gamma
            least[str(size)] = [
                [_least(blocks), float(is_positive_definite(blocks))] for blocks in (componentwise, geometric)
            ]
        return {"least": least}

    def table(self, settings: Settings, results: list[Result]) -> list[Row]:
        """Share of data sets with an indefinite Gamma-hat, with one parameter per pair and node by node."""
        rows = []
        for n in settings["n_rows"]:
            for m in settings["n_columns"]:
                members = [r for r in results if r.task["n"] == n and r.task["m"] == m]
                for size in settings["rows_a_block"]:
                    values = np.array([member.outcome["least"][str(size)] for member in members])
                    rows.append(
                        {
                            "n": n,
                            "m": m,
                            "n_blocks": n // size,
                            "rows_a_block": size,
                            "simulations": len(members),
                            "indefinite_componentwise": float((values[:, 0, 1] == 0).mean()),
                            "indefinite_geometric": float((values[:, 1, 1] == 0).mean()),
                            "node_indefinite_componentwise": float((values[:, 0, 0] < -1e-12).mean()),
                            "node_indefinite_geometric": float((values[:, 1, 0] < -1e-12).mean()),
                            "least_eigenvalue_componentwise": float(np.median(values[:, 0, 0])),
                            "least_eigenvalue_geometric": float(np.median(values[:, 1, 0])),
                        }
                    )
        return rows

    def draw(self, settings: Settings, rows: list[Row], results: list[Result]) -> Figure:
        """Shares against the number of columns, one panel per block size."""
        import matplotlib.pyplot as plt

        sizes = settings["rows_a_block"]
        figure, axes = plt.subplots(1, len(sizes), figsize=(3.6 * len(sizes), 3.4), sharey=True, layout="constrained")
        for ax, size in zip(axes, sizes, strict=True):
            for n, colour in zip(settings["n_rows"], ("#0072B2", "#009E73", "#CC79A7"), strict=False):
                some = select(rows, n=n, rows_a_block=size)
                x = [row["m"] for row in some]
                ax.plot(x, [row["indefinite_componentwise"] for row in some], "o-", color=colour, label=f"n = {n}")
                by_node = [row["node_indefinite_componentwise"] for row in some]
                ax.plot(x, by_node, ":", color=colour, label=f"n = {n}, node by node")
            ax.axhline(0, color="#D55E00", linestyle="--", label="geometric, any n")
            ax.set(title=f"{size} rows per block", xlabel="columns", ylim=(-0.03, 1.03))
        axes[0].set_ylabel("share of data sets without an estimate")
        axes[0].legend(fontsize=8)
        return figure

    def say(self, settings: Settings, rows: list[Row]) -> str:
        """Both shares over all settings."""
        bad = max(rows, key=lambda row: row["indefinite_componentwise"])
        geometric = max(row["indefinite_geometric"] for row in rows)
        return (
            "The componentwise median of means gives an indefinite Gamma-hat in up to "
            f"{bad['indefinite_componentwise']:.0%} of data sets (n = {bad['n']}, m = {bad['m']}, {bad['n_blocks']} "
            f"blocks); the geometric one in {geometric:.0%}."
        )


def _least(blocks: Array) -> float:
    """The least eigenvalue of any block relative to its largest."""
    values = np.linalg.eigvalsh(blocks)
    return float((values[:, 0] / values[:, -1]).min())


def is_positive_definite(blocks: Array) -> bool:
    """Whether D' Gamma D, with one parameter for K_ij and K_ji, is positive definite."""
    m = len(blocks)
    nodes, rows = np.tril_indices(m)
    position = np.empty((m, m + 1), dtype=np.intp)
    position[nodes, rows] = position[rows, nodes] = np.arange(nodes.size)
    position[:, m] = nodes.size + np.arange(m)
    hessian = assemble_hessian(lambda j, rows, columns: blocks[j][np.ix_(rows, columns)], position, nodes.size + m)
    size = np.sqrt(np.abs(hessian.diagonal()))
    try:
        np.linalg.cholesky(hessian / np.multiply.outer(size, size))
    except np.linalg.LinAlgError:
        return False
    return True
