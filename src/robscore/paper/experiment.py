"""What an experiment is, and how it is run: its repetitions on several cores, resuming where an earlier run stopped.

An experiment never keeps state. ``run`` of one repetition depends only on the settings, the repetition and the seed, so
repetitions can run in any order, on any number of cores, today or tomorrow, and give the same bits. The folder of an
experiment holds settings.json, one small file per repetition, and at the end the CSV, the figure and the text.
"""

from __future__ import annotations

import csv
import io
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from robscore import metrics
from robscore._tools.files import write_whole_together
from robscore._tools.optional import require
from robscore._tools.repetitions import Store, run_all
from robscore._tools.typing import AnyArray, Array
from robscore._version import __version__

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Settings: TypeAlias = dict[str, Any]
Task: TypeAlias = dict[str, Any]
Outcome: TypeAlias = dict[str, Any]
Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Result:
    """One repetition and its result."""

    task: Task
    outcome: Outcome


class Experiment(ABC):
    """A figure, table or theorem of the paper.

    Attributes
    ----------
    name : str
        As on the command line.
    title : str
        One line on what it shows.
    source : str
        Where in the paper.
    """

    name: str
    title: str
    source: str

    @abstractmethod
    def settings(self, *, quick: bool) -> Settings:
        """Return all numbers of the experiment, as plain values: the paper's own, or fewer and smaller ones."""

    def tasks(self, settings: Settings) -> list[Task]:
        """List the repetitions, each a dictionary of plain values; by default one data set each."""
        return [{"simulation": k} for k in range(settings["simulations"])]

    @abstractmethod
    def run(self, task: Task, settings: Settings, seed: int) -> Outcome:
        """Run one repetition; its outcome holds plain numbers and lists."""

    @abstractmethod
    def table(self, settings: Settings, results: list[Result]) -> list[Row]:
        """Return the numbers behind the figure, one dictionary per line of the CSV."""

    @abstractmethod
    def draw(self, settings: Settings, rows: list[Row], results: list[Result]) -> Figure:
        """Draw the figure."""

    @abstractmethod
    def say(self, settings: Settings, rows: list[Row]) -> str:
        """Say what is seen, in a sentence or two."""


def generator(seed: int, *keys: int) -> np.random.Generator:
    """Return random numbers that depend on the seed and on some keys only, never on what ran before."""
    return np.random.default_rng(np.random.SeedSequence([seed, *keys]))


def errors_by_blocks(values: Array, blocks: list[int]) -> list[Row]:
    """Return mean squared errors with intervals for every number of blocks; values have shape (simulations, blocks)."""
    low, high = metrics.bootstrap_interval(values)
    return [
        {
            "n_blocks": n_blocks,
            "simulations": len(values),
            "mse": float(values[:, k].mean()),
            "mse_low": float(low[k]),
            "mse_high": float(high[k]),
        }
        for k, n_blocks in enumerate(blocks)
    ]


def mean_with_interval(name: str, values: Array) -> Row:
    """Return the mean of some values under a name, and its bootstrap interval."""
    low, high = metrics.bootstrap_interval(values)
    return {name: float(values.mean()), "low": float(low), "high": float(high)}


def panels(down: int, across: int, size: tuple[float, float], **options: Any) -> tuple[Figure, AnyArray]:
    """Return a figure of a size in inches, and its axes as an array of shape (down, across)."""
    import matplotlib.pyplot as plt

    return plt.subplots(down, across, figsize=size, squeeze=False, layout="constrained", **options)


def draw_with_band(
    ax: Axes, rows: list[Row], x: str, y: str, band: tuple[str, str], colour: str, label: str | None = None
) -> None:
    """Draw a line through one column of a table against another, and the band between two more."""
    at = [row[x] for row in rows]
    ax.plot(at, [row[y] for row in rows], "o-", color=colour, markersize=3, label=label)
    low, high = ([row[key] for row in rows] for key in band)
    ax.fill_between(at, low, high, color=colour, alpha=0.2, linewidth=0)


def select(rows: list[Row], **values: Any) -> list[Row]:
    """Return the lines of a table with these values."""
    return [row for row in rows if all(row[name] == value for name, value in values.items())]


class Report(NamedTuple):
    """What a finished run left behind."""

    text: str
    csv: Path
    figure: Path
    rows: list[Row]


class InterruptedRunError(Exception):
    """A run was stopped; finished repetitions are kept."""


def reproduce(
    experiment: Experiment,
    *,
    quick: bool = False,
    jobs: int = 1,
    seed: int = 0,
    out: str | os.PathLike[str] = "results",
    progress: Callable[[int, int], None] | None = None,
    settings: Settings | None = None,
) -> Report:
    """Run what is missing of an experiment and write its CSV, figure and text.

    Parameters
    ----------
    experiment : Experiment
    quick : bool, default False
        A smaller version, done within half a minute on two cores.
    jobs : int, default 1
        Processes; the results are the same for any number.
    seed : int, default 0
    out : path, default "results"
        The experiment's files go to a folder of its name in there.
    progress : callable, optional
        Called with the number of repetitions that are done and their total.
    settings : dict, optional
        Instead of the experiment's own.
    """
    require("matplotlib")  # before any work is done
    chosen = experiment.settings(quick=quick) if settings is None else settings
    tasks = experiment.tasks(chosen)
    folder = Path(out) / experiment.name
    table, figure, note = (folder / f"{experiment.name}{suffix}" for suffix in (".csv", ".png", ".txt"))
    foreign = [path for path in (table, figure, note) if path.exists()]
    if foreign and not (folder / "settings.json").exists():
        raise ValueError(f"{foreign[0]} would be replaced, but no run of robscore wrote it; choose another --out.")
    identity = {"experiment": experiment.name, "version": __version__, "seed": seed, **chosen}
    store = Store(folder, identity, "choose another --out")
    outcomes = {k: outcome for k in range(len(tasks)) if (outcome := store.get(k)) is not None}
    missing = [(k, task) for k, task in enumerate(tasks) if k not in outcomes]
    if progress is not None:
        progress(len(outcomes), len(tasks))
    try:
        for position, outcome in run_all(partial(_run, experiment, chosen, seed), missing, jobs):
            outcomes[position] = store.put(position, outcome)
            if progress is not None:
                progress(len(outcomes), len(tasks))
    except KeyboardInterrupt:
        raise InterruptedRunError(
            f"Stopped with {len(outcomes)} of {len(tasks)} repetitions done, which are kept in {folder}; run the same "
            "command again to resume."
        ) from None
    results = [Result(task, outcomes[k]) for k, task in enumerate(tasks)]
    rows = experiment.table(chosen, results)
    text = experiment.say(chosen, rows)
    import matplotlib as mpl

    picture = io.BytesIO()
    with mpl.rc_context({"figure.dpi": 100, "savefig.dpi": 110, "font.size": 9, "axes.grid": True, "grid.alpha": 0.25}):
        drawn = experiment.draw(chosen, rows, results)
        drawn.savefig(picture, format="png", bbox_inches="tight", metadata={"Software": f"robscore {__version__}"})
    import matplotlib.pyplot as plt

    plt.close(drawn)
    write_whole_together({table: csv_text(rows), figure: picture.getvalue(), note: text + "\n"})
    return Report(text, table, figure, rows)


def _run(experiment: Experiment, settings: Settings, seed: int, task: Task) -> Outcome:
    """Run one repetition; with the task last, as the pool of processes gives it."""
    return experiment.run(task, settings, seed)


def csv_text(rows: list[Row]) -> str:
    """Write a table with one dictionary per line as CSV; numbers to six digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow([f"{value:.6g}" if isinstance(value, float) else value for value in row.values()])
    return text.getvalue()
