"""Run an experiment: repetition by repetition, on several cores, resuming where an earlier run stopped.

The folder of an experiment holds settings.json, one small file a repetition, and at the end the CSV, the figure and the
text. A repetition's file is written in one step, so what is there is whole.
"""

from __future__ import annotations

import csv
import json
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from robscore._optional import require
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
    store = _Store(folder, {"experiment": experiment.name, "version": __version__, "seed": seed, **chosen})
    outcomes = {k: outcome for k in range(len(tasks)) if (outcome := store.get(k)) is not None}
    missing = [(k, task) for k, task in enumerate(tasks) if k not in outcomes]
    if progress is not None:
        progress(len(outcomes), len(tasks))
    try:
        for position, outcome in _outcomes(experiment, chosen, seed, missing, jobs):
            outcomes[position] = store.put(position, outcome)
            if progress is not None:
                progress(len(outcomes), len(tasks))
    except KeyboardInterrupt:
        raise InterruptedRunError(
            f"Stopped with {len(outcomes)} of {len(tasks)} repetitions done, which are kept in {folder}; run the same "
            "command again to go on."
        ) from None
    results = [Result(task, outcomes[k]) for k, task in enumerate(tasks)]
    rows = experiment.table(chosen, results)
    table, figure, note = (folder / f"{experiment.name}{suffix}" for suffix in (".csv", ".png", ".txt"))
    write_csv(table, rows)
    text = experiment.say(chosen, rows)
    note.write_text(text + "\n", encoding="utf-8")
    import matplotlib as mpl

    with mpl.rc_context({"figure.dpi": 100, "savefig.dpi": 110, "font.size": 9, "axes.grid": True, "grid.alpha": 0.25}):
        drawn = experiment.draw(chosen, rows, results)
        drawn.savefig(figure, bbox_inches="tight", metadata={"Software": f"robscore {__version__}"})
    import matplotlib.pyplot as plt

    plt.close(drawn)
    return Report(text, table, figure, rows)


def _outcomes(
    experiment: Experiment, settings: Settings, seed: int, tasks: list[tuple[int, Task]], jobs: int
) -> Iterator[tuple[int, Outcome]]:
    """Outcomes as they come."""
    if jobs == 1 or len(tasks) <= 1:
        for position, task in tasks:
            yield _run_one(experiment, settings, seed, position, task)
        return
    calls = (delayed(_run_one)(experiment, settings, seed, position, task) for position, task in tasks)
    yield from Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(calls)


def _run_one(experiment: Experiment, settings: Settings, seed: int, position: int, task: Task) -> tuple[int, Outcome]:
    """One repetition on one thread, so that the bits do not depend on how many run beside it."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # thousands of fits would say the same
        return position, experiment.run(task, settings, seed)


class _Store:
    """The repetitions of a run on disk."""

    def __init__(self, folder: Path, identity: dict[str, Any]) -> None:
        self.folder = folder / "repetitions"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            about = folder / "settings.json"
            known = json.loads(about.read_text(encoding="utf-8")) if about.exists() else None
            if known is None:
                _write_whole(about, json.dumps(identity, indent=1))
        except OSError as error:
            raise ValueError(f"Cannot write to {folder} ({error.strerror or error}); choose another --out.") from None
        except json.JSONDecodeError:
            raise ValueError(
                f"{folder / 'settings.json'} cannot be read; choose another --out, or delete it."
            ) from None
        plain = json.loads(json.dumps(identity))
        if known is not None and not isinstance(known, dict):
            raise ValueError(f"{folder / 'settings.json'} cannot be read; choose another --out, or delete it.")
        if known is not None and known != plain:
            differing = sorted(key for key in {*known, *plain} if known.get(key) != plain.get(key))
            raise ValueError(
                f"{folder} holds results of other settings ({', '.join(differing[:4])} differ); choose another --out, "
                "or delete that folder."
            )

    def _path(self, position: int) -> Path:
        return self.folder / f"{position:05d}.json"

    def put(self, position: int, outcome: Outcome) -> Outcome:
        """Keep a repetition; what a later run would read of it."""
        text = json.dumps(outcome)
        try:
            _write_whole(self._path(position), text)
        except OSError as error:
            raise ValueError(f"Cannot write to {self.folder} ({error.strerror or error}).") from None
        kept: Outcome = json.loads(text)
        return kept

    def get(self, position: int) -> Outcome | None:
        """A repetition, or None where it is not there or cannot be read."""
        try:
            outcome: Outcome = json.loads(self._path(position).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return outcome


def _write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all."""
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def write_csv(path: Path, rows: list[Row]) -> None:
    """A table with one dictionary a line; numbers to six digits."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(rows[0])
        for row in rows:
            writer.writerow([f"{value:.6g}" if isinstance(value, float) else value for value in row.values()])
