"""What every number of the rule of wrong cells does: each halved, doubled, and what it stands for taken out.

Columns: square-root rows, 1000 x 30, random graphs, clean and with 2 and 5 % Pareto cells; gamma and Gaussian rows with
20 columns and 2 % (all as in `wrong_cells`); columns of every kind, 500 x 10, as in `mixed_tables`: F1 at the default
choice and, in brackets, the area under the ROC curve of the path. Then real tables as they are, as in `unusual_cells`,
log-log: the share of the cells that is called wrong, and, in brackets, how far associations are from the default rule's
(root of the sum of squares). A last column says how far a rule moves F1 or area at most, and "found" and "false" how
many of the simulated wrong cells it finds, and how many good ones it calls wrong.

Results are stored: a run that was stopped goes on where it was.
"""

import argparse
import warnings
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

import robscore as rs
from benchmarks.missing_cells import model_of
from benchmarks.mixed_tables import LARGEST, WRONG, columns_of, mixed_table
from benchmarks.tools.resumable import run_resumable
from benchmarks.unusual_cells import table_of
from benchmarks.wrong_cells import spoilt

Task = tuple[str, int, dict[str, float]]
# By name: family, columns, share of wrong cells.
SIMULATED = {
    "clean": ("sqrt", 30, 0.0),
    "2 %": ("sqrt", 30, 0.02),
    "5 %": ("sqrt", 30, 0.05),
    "gamma": ("gamma", 20, 0.02),
    "Gaussian": ("gaussian", 20, 0.02),
}
REAL = ("wine", "breast cancer")
COLUMNS = (*SIMULATED, "mixed", *REAL)
N_ROWS, MIXED = 1000, (500, 10)
# What makes a device do nothing.
WITHOUT: dict[str, dict[str, float]] = {
    "no unusual cells": {"wider": 1.0},
    "not smoothed": {"smooth": 0.05},
    "no broad part": {"broad": 1e-6},
    "any evidence": {"evidence": 1e-9},
    "no chance too small": {"chance": 1e-300},
    "rows of any share": {"most_repaired": 1.0},
    "weights as they are": {"level": 1.0},
    "level to the end": {"many_wrong": 1e-9},
}


def rules() -> dict[str, dict[str, float]]:
    """Return the changes of every rule to compare, by its name, the default first."""
    found: dict[str, dict[str, float]] = {"default": {}}
    for field in fields(rs.CellRule):
        for times in (0.5, 2.0):
            value = type(field.default)(times * field.default)
            try:
                rs.CellRule(**{field.name: value})
            except ValueError:
                continue
            found[f"{field.name} = {value:g}"] = {field.name: value}
    return found | WITHOUT


def rows_of(column: str, seed: int) -> tuple[str, np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Return the family, the rows, which cells are wrong, and the true graph; None where nobody knows them."""
    if column in REAL:
        return "log-log", table_of(column), None, None
    if column == "mixed":
        n, m = MIXED
        table, rng = mixed_table(n, m, seed), np.random.default_rng([seed, n, 2])
        wrong = rng.random((n, m)) < WRONG
        moved = np.minimum(3 * (1 + rng.pareto(1.0, size=(n, m))), LARGEST)
        return "copula", columns_of(np.where(wrong, moved, table.latent), table.kinds), wrong, table.association != 0
    family, m, share = SIMULATED[column]
    truth = model_of("random", m, seed)
    X = rs.simulate.sample(family, truth.interaction, truth.location, n_rows=N_ROWS, random_state=seed + 100)
    fault = "Pareto" if share else "clean"
    return family, *spoilt(X, fault, share, seed, on_line=family == "gaussian"), truth.adjacency


def one(task: Task) -> dict[str, Any]:
    """Return F1, area, shares of wrong cells that are found and of good ones; or what is said of a real table."""
    column, seed, changes = task
    family, X, wrong, adjacency = rows_of(column, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = rs.RobustGraph(family, cells=replace(rs.CellRule(), **changes), random_state=seed).fit(X)
    flagged = model.fitted_.prepared.filling.suspects.likely_wrong
    if wrong is None or adjacency is None:
        return {"called": float(flagged.mean()), "association": model.association_.tolist()}
    pairs = np.triu_indices(X.shape[1], k=1)
    return {
        "f1": float(f1_score(adjacency[pairs], model.graph_.adjacency[pairs])),
        "area": rs.metrics.auc(rs.metrics.roc_curve(model.path_, adjacency)),
        "found": float(flagged[wrong].mean()) if wrong.any() else np.nan,
        "false": float(flagged[~wrong].mean()),
    }


def moved(outcomes: Sequence[dict[str, Any]], defaults: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return means over data sets; of a real table how many cells are called wrong, how far associations moved."""
    if "called" in outcomes[0]:
        away = [
            np.linalg.norm(np.subtract(own["association"], default["association"]))
            for own, default in zip(outcomes, defaults, strict=True)
        ]
        return {"called": float(np.mean([own["called"] for own in outcomes])), "away": float(np.mean(away))}
    return {name: float(np.mean([own[name] for own in outcomes])) for name in outcomes[0]}


def main(
    n_sets: int = 1,
    columns: Sequence[str] = COLUMNS,
    names: Sequence[str] = (),
    n_jobs: int = 1,
) -> dict[str, dict[str, dict[str, float]]]:
    """Print a line for every rule; return the figures by rule and column. Without ``names`` all rules are compared."""
    compared = {name: changes for name, changes in rules().items() if not names or name in ("default", *names)}
    print(f"{'':<26}" + "".join(f"{column:>15}" for column in columns) + f"{'found':>8}{'false':>8}{'moved':>8}")
    found: dict[str, dict[str, dict[str, float]]] = {}
    defaults: dict[str, list[dict[str, Any]]] = {}
    for name, changes in compared.items():
        found[name] = {}
        for column in columns:
            tasks = [(column, seed, changes) for seed in range(n_sets)]
            outcomes = run_resumable(f"ablate_cells-{column}", one, tasks, n_jobs)
            found[name][column] = moved(outcomes, defaults.setdefault(column, outcomes))
        print(_line(name, found[name], found["default"]), flush=True)
    print(f"{n_sets} data sets each")
    return found


def _line(name: str, own: dict[str, dict[str, float]], default: dict[str, dict[str, float]]) -> str:
    shown = [
        f"{one['called']:.1%} ({one['away']:.2f})" if "called" in one else f"{one['f1']:.3f} ({one['area']:.3f})"
        for one in own.values()
    ]
    simulated = {column: one for column, one in own.items() if "called" not in one}
    away = [abs(one[what] - default[column][what]) for column, one in simulated.items() for what in ("f1", "area")]
    shares = [np.nanmean([one[what] for one in simulated.values()]) for what in ("found", "false")]
    return (
        f"{name:<26}"
        + "".join(f"{one:>15}" for one in shown)
        + (f"{shares[0]:>8.3f}{shares[1]:>8.4f}{max(away):>8.3f}" if simulated else "")
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=1)
    parser.add_argument("--columns", nargs="*", default=COLUMNS, choices=COLUMNS)
    parser.add_argument("--rules", nargs="*", default=(), help="names of lines; all of them by default")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    main(arguments.sets, tuple(arguments.columns), tuple(arguments.rules), arguments.jobs)
