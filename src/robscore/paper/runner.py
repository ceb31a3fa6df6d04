"""Run an experiment: repetition by repetition, on several cores, resuming where an earlier run stopped.

The folder of an experiment holds settings.json, one small file per repetition, and at the end the CSV, the figure and
the text.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from robscore._tools.files import write_whole_together
from robscore._tools.optional import require
from robscore._tools.repetitions import Store, run_all
from robscore._version import __version__
from robscore.paper.experiment import Experiment, Outcome, Result, Row, Settings, Task


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
    if not (folder / "settings.json").exists() and (there := [path for path in (table, figure, note) if path.exists()]):
        raise ValueError(f"{there[0]} would be replaced, but no run of robscore wrote it; choose another --out.")
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
    return experiment.run(task, settings, seed)


def csv_text(rows: list[Row]) -> str:
    """A table with one dictionary per line; numbers to six digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow([f"{value:.6g}" if isinstance(value, float) else value for value in row.values()])
    return text.getvalue()
