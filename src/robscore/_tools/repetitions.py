"""Many independent fits: on several cores, kept on disk as they come, and resumed after an interruption.

Every repetition runs on one thread and with a seed of its own, so the bits do not depend on how many run at once.
"""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs

from robscore._tools.files import write_whole
from robscore._tools.messages import first_few
from robscore._tools.progress import watched_by
from robscore._tools.threads import one_thread

_T = TypeVar("_T")


def run_all(work: Callable[[_T], Any], tasks: list[tuple[int, _T]], n_jobs: int | None) -> Iterator[tuple[int, Any]]:
    """Yield positions and outcomes, as they come; if n_jobs is not 1 on the backend that joblib is set to."""
    if effective_n_jobs(n_jobs) == 1 or len(tasks) <= 1:
        for position, task in tasks:
            yield _run_one(work, position, task)
        return
    calls = (delayed(_run_one)(work, position, task) for position, task in tasks)
    with one_thread(), warnings.catch_warnings():  # for backends that are threads of this process
        warnings.simplefilter("ignore")
        yield from Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)(calls)


def _run_one(work: Callable[[_T], Any], position: int, task: _T) -> tuple[int, Any]:
    """Run one repetition on one thread, without its own progress and warnings."""
    with one_thread(), watched_by(None), ExitStack() as stack:
        if threading.current_thread() is threading.main_thread():  # filters belong to the process
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")  # many fits would say the same
        return position, work(task)


class Store:
    """Repetitions in a folder: settings.json, and one small file each, written atomically.

    Parameters
    ----------
    folder : where
    identity : what the repetitions depend on; a folder with another one is refused
    remedy : what a user can do about that, for messages
    """

    def __init__(self, folder: Path, identity: dict[str, Any], remedy: str) -> None:
        self.folder = folder / "repetitions"
        about = folder / "settings.json"
        unreadable = f"{about} cannot be read; {remedy}, or delete it."
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            known = json.loads(about.read_text(encoding="utf-8")) if about.exists() else None
            if known is None:
                write_whole(about, json.dumps(identity, indent=1))
        except OSError as error:
            raise ValueError(f"Cannot write to {folder} ({error.strerror or error}); {remedy}.") from None
        except (json.JSONDecodeError, UnicodeDecodeError):
            raise ValueError(unreadable) from None
        plain = json.loads(json.dumps(identity))
        if known is not None and not isinstance(known, dict):
            raise ValueError(unreadable)
        if known is not None and known != plain:
            differing = sorted(key for key in {*known, *plain} if known.get(key) != plain.get(key))
            raise ValueError(
                f"{folder} holds results of other settings ({first_few(differing)} differ); {remedy}, or delete "
                "that folder."
            )

    def _path(self, position: int) -> Path:
        return self.folder / f"{position:05d}.json"

    def put(self, position: int, outcome: Any) -> Any:
        """Keep the outcome of a repetition, and return it as a later run would read it."""
        text = json.dumps(outcome)
        try:
            write_whole(self._path(position), text)
        except OSError as error:
            raise ValueError(f"Cannot write to {self.folder} ({error.strerror or error}).") from None
        return json.loads(text)

    def get(self, position: int) -> Any | None:
        """Return the outcome of a repetition, or None where it was not kept or cannot be read."""
        try:
            return json.loads(self._path(position).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
