"""Results of long benchmarks, stored under ``results/benchmarks`` so that an interrupted run is resumed."""

import hashlib
import importlib
import inspect
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import robscore as rs
from robscore._tools.progress import ProgressLine
from robscore._tools.repetitions import Store, run_all

FOLDER = Path("results") / "benchmarks"


def run_resumable(
    name: str, work: Callable[[Any], Any], tasks: Sequence[Any], n_jobs: int = -1, sources: Sequence[Path] | None = None
) -> list[Any]:
    """Return ``work(task)`` for every task, in order, computing only what no earlier run of the same code has stored.

    The earlier run may have had fewer data sets, or more, or may have been interrupted. Results depend on the library,
    the file of ``work`` and what benchmarks share, or on ``sources``: programs that do not use the library.
    """
    work = _imported(work)
    identity = {"code": _fingerprint(), "benchmark": _digest(_sources_of(work))}
    if sources is not None:
        identity = {"code": _digest(sources), "benchmark": ""}
    folder = FOLDER / f"{name}-{hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:12]}"
    store = Store(folder, identity, "delete it")
    keys = [int(hashlib.sha256(json.dumps(task).encode()).hexdigest()[:12], 16) for task in tasks]
    outcomes = {key: stored for key in keys if (stored := store.get(key)) is not None}
    missing = [(key, task) for key, task in zip(keys, tasks, strict=True) if key not in outcomes]
    with ProgressLine(name, time_left=True) as line:
        for key, outcome in run_all(work, missing, n_jobs):
            outcomes[key] = store.put(key, outcome)
            line.update(len(outcomes), len(tasks))
    return [outcomes[key] for key in keys]


def _imported(work: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the function as other processes can import it: what was started with ``-m`` is not its module to them."""
    spec = sys.modules["__main__"].__spec__
    if spec is None or work.__module__ != "__main__":
        return work
    imported: Callable[[Any], Any] = getattr(importlib.import_module(spec.name), work.__name__)
    return imported


def _sources_of(work: Callable[[Any], Any]) -> list[Path]:
    """Return the file that defines a function, since its constants change results and are in no task, and the tools."""
    return [Path(inspect.getfile(work)), *sorted(Path(__file__).parent.glob("*.py"))]


def _fingerprint() -> str:
    """Return a hash of the library's source, so that results of another version are never reused."""
    return _digest(sorted(Path(rs.__file__).parent.rglob("*.py")))


def _digest(paths: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()
