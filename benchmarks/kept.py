"""Results of long benchmarks, kept under ``results/benchmarks`` so that a run that was interrupted goes on."""

import hashlib
import inspect
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import robscore as rs
from robscore._tools.progress import ProgressLine
from robscore._tools.repetitions import Store, run_all

FOLDER = Path("results") / "benchmarks"
SHAPES = ("random", "chain", "hub", "grid", "scale-free")


def run_kept(name: str, work: Callable[[Any], Any], tasks: Sequence[Any], n_jobs: int = -1) -> list[Any]:
    """What ``work`` makes of every task, in order; those of an earlier run with the same code are not run again.

    That may be a run of fewer data sets, or of more, or one that was interrupted.
    """
    identity = {"code": _fingerprint(), "benchmark": hashlib.sha256(_source_of(work)).hexdigest()}
    folder = FOLDER / f"{name}-{hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:12]}"
    store = Store(folder, identity, "delete it")
    keys = [int(hashlib.sha256(json.dumps(task).encode()).hexdigest()[:12], 16) for task in tasks]
    outcomes = {key: kept for key in keys if (kept := store.get(key)) is not None}
    missing = [(key, task) for key, task in zip(keys, tasks, strict=True) if key not in outcomes]
    with ProgressLine(name, time_left=True) as line:
        for key, outcome in run_all(work, missing, n_jobs):
            outcomes[key] = store.put(key, outcome)
            line.update(len(outcomes), len(tasks))
    return [outcomes[key] for key in keys]


def _source_of(work: Callable[[Any], Any]) -> bytes:
    """The file that a function is written in: its constants are not in the tasks."""
    return Path(inspect.getfile(work)).read_bytes()


def _fingerprint() -> str:
    """Of the library's source, so that results of other code are not taken for this one's."""
    digest = hashlib.sha256()
    for path in sorted(Path(rs.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def clean_rows(family: str, shape: str, m: int, n: int, seed: int) -> tuple[rs.simulate.Model, np.ndarray]:
    """A true model and n rows of it, kept on disk: slices take their time."""
    truth = rs.simulate.shaped_model(shape, m, random_state=[seed, m, SHAPES.index(shape)])
    path = FOLDER / "rows" / f"{family}-{shape}-{m}-{n}-{seed}.npy"
    if path.exists():
        return truth, np.load(path)
    location = truth.location
    if family == "simplex":
        location = np.random.default_rng(seed).uniform(0.0, 1.0, size=m)
    X = rs.simulate.sample(
        family, truth.interaction, location, n_rows=n, burn_in=150, thin=10, random_state=[seed, m, 1]
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{np.random.default_rng().integers(2**62)}.npy")
    np.save(part, X)
    part.replace(path)
    return truth, X
