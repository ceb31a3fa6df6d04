"""What the theory says put to the test: Theorem 3.1's radius, the constants, and why the median is geometric."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robscore import theory
from robscore._tools.typing import Array
from robscore.elements.power_elements import unpacked
from robscore.families import score_elements
from robscore.losses.quadratic import assemble_hessian
from robscore.medians import median_of_means
from robscore.paper.experiment import Experiment, Outcome, Result, Row, Settings, Task, generator, panels, select
from robscore.plot.style import BLUE, GREEN, PURPLE, VERMILLION
from robscore.rows.partition import Partition
from robscore.simulate import choose_rows, random_model, sample
from robscore.weighting.block_weights import robust_weights

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Theory(Experiment):
    """Constants of Theorems 3.1 and 4.3; how often the radius of Theorem 3.1 is exceeded."""

    name = "theory"
    title = "The constants of Theorems 3.1 and 4.3, and how often the radius of Theorem 3.1 is exceeded"
    source = "Theorems 3.1 and 4.3, appendices B and E"

    def settings(self, *, quick: bool) -> Settings:
        """Gaussian and heavy-tailed vectors, with as many bad rows as the theorem allows, one to a block."""
        return {
            "delta": 0.1,
            "taus": [0.0, 0.1, 0.2, 0.3],
            "n_rows": 4000,
            "dimension": 5,
            "distributions": ["normal", "t3", "lognormal"],
            "simulations": 40 if quick else 1000,
            "batch": 20,
            "models": ([] if quick else [["sqrt", 100, 40], ["sqrt", 100, 500]])
            + [["sqrt", 10, 10], ["sqrt", 30, 45], ["gaussian", 10, 5], ["gaussian", 30, 15]],
            "model_tau": 0.1,
            "model_n": 1000,
            "model_blocks": 200,
            "model_rows": 4000 if quick else 20000,
        }

    def tasks(self, settings: Settings) -> list[Task]:
        """Batches of data sets, and one task per model."""
        radii = [
            {"kind": "radius", "distribution": name, "tau": tau, "first": k}
            for name in settings["distributions"]
            for tau in settings["taus"]
            for k in range(0, settings["simulations"], settings["batch"])
        ]
        return radii + [{"kind": "model", "family": f, "m": m, "edges": edges} for f, m, edges in settings["models"]]

    def run(self, task: Task, settings: Settings, seed: int) -> Outcome:
        """Distances over radius, or the constants of a model."""
        if task["kind"] == "model":
            return _constants(task, settings, seed)
        n, p, delta, tau = settings["n_rows"], settings["dimension"], settings["delta"], task["tau"]
        n_bad, n_blocks = theory.bad_rows_allowed(delta, tau), theory.blocks_for(delta, tau)
        which = settings["distributions"].index(task["distribution"])
        ratios = []
        for k in range(task["first"], min(task["first"] + settings["batch"], settings["simulations"])):
            rng = generator(seed, which, round(1000 * tau), k, 1)
            X, mean, trace = _draw(task["distribution"], n, p, rng)
            bad = choose_rows(n, n_bad / n, where="one-to-a-block", n_blocks=n_blocks, random_state=rng)
            X[bad] = 1e6
            distance = np.linalg.norm(median_of_means(X, n_blocks).median - mean)
            ratios.append(float(distance / theory.radius(delta, tau, trace, n)))
        return {"ratios": ratios}

    def table(self, settings: Settings, results: list[Result]) -> list[Row]:
        """Constants by tau with the share of radii exceeded, then the models."""
        rows: list[Row] = []
        delta = settings["delta"]
        for name in settings["distributions"]:
            for tau in settings["taus"]:
                ratios = _ratios(results, name, tau)
                n_blocks = theory.blocks_for(delta, tau)
                p = (0.5 - tau) ** 2 / 2
                _, _, trace = _draw(name, 1, settings["dimension"], generator(0))
                values = {
                    "psi": theory.psi(2 * p / (1 - tau), p),
                    "radius": theory.radius(delta, tau, trace, settings["n_rows"]),
                    "radius_with_multiplier": theory.radius_with_multiplier(delta, tau, trace, settings["n_rows"]),
                    "k_tau": theory.k_of_tau(tau),
                    "c_tau": theory.c_of_tau(tau),
                    "n_blocks": n_blocks,
                    "bad_rows_allowed": theory.bad_rows_allowed(delta, tau),
                    "breakdown_point": theory.breakdown_point(settings["n_rows"], n_blocks),
                    "radius_exceeded": float((ratios > 1).mean()),
                    "median_distance_over_radius": float(np.median(ratios)),
                }
                rows += _quantities(name, tau, values)
        for task, outcome in ((result.task, result.outcome) for result in results):
            if task["kind"] == "model":
                subject = f"{task['family']} model, m = {task['m']}, {task['edges']} edges"
                rows += _quantities(subject, settings["model_tau"], outcome)
        return rows

    def draw(self, settings: Settings, rows: list[Row], results: list[Result]) -> Figure:
        """K and c against tau; distances over radius."""
        figure, ((left, right),) = panels(1, 2, (9, 3.7))
        taus = np.linspace(0, 0.45, 91)
        left.semilogy(taus, [theory.k_of_tau(tau) for tau in taus], color=BLUE, label="k(tau)")
        left.semilogy(taus, [theory.c_of_tau(tau) for tau in taus], color=VERMILLION, label="c(tau)")
        left.set(xlabel="tau", title="constants of Theorem 3.1")
        left.legend()
        for name, colour in zip(settings["distributions"], (BLUE, VERMILLION, GREEN), strict=True):
            ratios = [_ratios(results, name, tau) for tau in settings["taus"]]
            right.plot(settings["taus"], [np.quantile(r, 0.9) for r in ratios], "o-", color=colour, label=name)
        right.axhline(1.0, color="#888888", linestyle=":")
        right.set(
            xlabel="tau", yscale="log", title=f"90 % quantile of distance / radius (delta = {settings['delta']:g})"
        )
        right.legend()
        return figure

    def say(self, settings: Settings, rows: list[Row]) -> str:
        """The largest share of radii exceeded, and what Theorem 4.3 asks for."""
        worst = max(row["value"] for row in rows if row["quantity"] == "radius_exceeded")
        largest = max(row["value"] for row in rows if row["quantity"] == "median_distance_over_radius")
        incoherence = [row["value"] for row in rows if row["quantity"] == "incoherence"]
        fails = sum(value >= 1 for value in incoherence)
        return (
            f"Theorem 3.1's radius, allowed to fail with probability {settings['delta']:g}, is exceeded in "
            f"{worst:.1%} of data sets at worst; the median distance is at most {largest:.3f} of it. The "
            f"irrepresentability condition of Theorem 4.3 fails in {fails} of {len(incoherence)} simulated models."
        )


def _quantities(subject: str, tau: float, values: dict[str, float]) -> list[Row]:
    """Return one line of the table for every quantity of a distribution or model."""
    return [{"subject": subject, "tau": tau, "quantity": key, "value": value} for key, value in values.items()]


def _ratios(results: list[Result], distribution: str, tau: float) -> Array:
    """Return distance over radius of all data sets of one kind."""
    wanted = {"kind": "radius", "distribution": distribution, "tau": tau}
    parts = [result.outcome["ratios"] for result in results if wanted.items() <= result.task.items()]
    return np.concatenate(parts)


def _draw(name: str, n: int, p: int, rng: np.random.Generator) -> tuple[Array, Array, float]:
    """Draw rows; return them, their true mean, and the trace of their covariance."""
    if name == "normal":
        return rng.standard_normal((n, p)), np.zeros(p), float(p)
    if name == "t3":
        return rng.standard_t(3, size=(n, p)), np.zeros(p), 3.0 * p
    mean, variance = np.exp(0.5), (np.exp(1.0) - 1) * np.exp(1.0)
    return np.exp(rng.standard_normal((n, p))), np.full(p, mean), float(p * variance)


def _constants(task: Task, settings: Settings, seed: int) -> Outcome:
    """Compute Definition 4.2 and the bounds of Theorem 4.3 for one simulated model; Gaussian ones have weak edges."""
    delta, tau = settings["delta"], settings["model_tau"]
    n, n_blocks = settings["model_n"], settings["model_blocks"]
    rng = generator(seed, task["m"], task["edges"], 2)
    weak = task["family"] == "gaussian"
    truth = random_model(
        task["m"],
        task["edges"],
        strength=(0.1, 0.2) if weak else (0.5, 1.0),
        min_eigenvalue=0.8 if weak else 0.1,
        locations=(0.0,) if weak else (0.0, 0.5, -0.5),
        random_state=rng,
    )
    X = sample(
        task["family"], truth.interaction, truth.location, n_rows=settings["model_rows"], thin=5, random_state=rng
    )
    found = theory.moments(score_elements(task["family"], X))
    constants = theory.guarantee(found.loss, truth.interaction, truth.location)
    values: Outcome = {
        "d_theta": constants.d_theta,
        "c_theta": constants.c_theta,
        "c_gamma": constants.c_gamma,
        "incoherence": constants.incoherence,
        "alpha": constants.alpha,
        "gamma_norm": found.gamma_norm,
        "gamma_trace": found.gamma_trace,
        "g_trace": found.g_trace,
        f"beta_bound_n{n}_K{n_blocks}": theory.multiplier_bound(found.gamma_norm, found.gamma_trace, n, n_blocks),
    }
    if constants.irrepresentable:
        penalty = constants.penalty_needed(delta, tau, found.gamma_trace, found.g_trace, n)
        values["n_needed"] = constants.rows_needed(delta, tau, found.gamma_trace)
        values[f"lambda_needed_n{n}"] = penalty
        values[f"error_bound_n{n}"] = constants.error_bound(penalty)
    return values


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
        sizes = settings["rows_a_block"]
        figure, axes = panels(1, len(sizes), (3.6 * len(sizes), 3.4), sharey=True)
        for ax, size in zip(axes[0], sizes, strict=True):
            for n, colour in zip(settings["n_rows"], (BLUE, GREEN, PURPLE), strict=False):
                some = select(rows, n=n, rows_a_block=size)
                x = [row["m"] for row in some]
                ax.plot(x, [row["indefinite_componentwise"] for row in some], "o-", color=colour, label=f"n = {n}")
                by_node = [row["node_indefinite_componentwise"] for row in some]
                ax.plot(x, by_node, ":", color=colour, label=f"n = {n}, node by node")
            ax.axhline(0, color=VERMILLION, linestyle="--", label="geometric, any n")
            ax.set(title=f"{size} rows per block", xlabel="columns", ylim=(-0.03, 1.03))
        axes[0, 0].set_ylabel("share of data sets without an estimate")
        axes[0, 0].legend(fontsize=8)
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
    """Return the least eigenvalue of any block relative to its largest."""
    values = np.linalg.eigvalsh(blocks)
    return float((values[:, 0] / values[:, -1]).min())


def is_positive_definite(blocks: Array) -> bool:
    """Return whether D' Gamma D, with one parameter for K_ij and K_ji, is positive definite."""
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
