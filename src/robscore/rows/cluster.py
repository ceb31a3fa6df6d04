"""Work on a Dask cluster that always ends: in results, or in an error that says what the cluster lacks."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from robscore._version import __version__

PATIENCE = 120.0  # seconds that a cluster may be without a scheduler, or without a worker at work, and still come back
_LOOK = 2.0  # seconds between looks at it


def client_of(tasks: list[Any]) -> Any | None:
    """The client of the cluster that Dask would do the tasks on, if it would."""
    try:
        from distributed import Client
    except ImportError:
        return None
    from dask.base import get_scheduler

    client = getattr(get_scheduler(collections=tasks), "__self__", None)
    return client if isinstance(client, Client) else None


def compute_watched(client: Any, tasks: list[Any]) -> tuple[Any, ...]:
    """The results of the tasks; raise if no worker has made progress for too long."""
    from distributed import wait

    futures = client.compute(tasks)
    since: float | None = None
    while True:
        try:
            wait(futures, timeout=_LOOK)
            return tuple(client.gather(futures))
        except TimeoutError:
            trouble = trouble_with(client)
        if trouble is None:
            since = None
            continue
        since = time.monotonic() if since is None else since
        if time.monotonic() - since > PATIENCE:
            _let_go(client, futures)
            raise trouble


def trouble_with(client: Any) -> Exception | None:
    """Why nothing can be done at the moment; None where somebody may be at work."""
    workers = _workers_of(client)
    if workers is None:
        return ValueError(
            "The Dask cluster is gone: its scheduler no longer answers. Connect a client to a running cluster, make "
            "X again, and fit again."
        )
    if not workers:
        return ValueError(
            "The Dask cluster has lost all its workers, and none has returned; start some, for example with "
            "cluster.scale(2), and fit again."
        )
    if all(worker.get("status") == "paused" for worker in workers.values()):
        return MemoryError(
            "All Dask workers are paused, because their memory is nearly full: use workers with more memory, smaller "
            "chunks, or fewer rows that are kept there by persist()."
        )
    return None


def _workers_of(client: Any) -> dict[str, Any] | None:
    """The workers of a cluster by address; None where the scheduler does not answer."""
    answer: list[dict[str, Any]] = []

    def ask() -> None:
        try:
            answer.append(client.scheduler_info(n_workers=-1)["workers"])
        except Exception:  # whatever a lost connection says
            return

    if client.status not in ("running", "connecting"):
        return None
    asking = threading.Thread(target=ask, daemon=True)  # a scheduler that hangs never answers
    asking.start()
    asking.join(timeout=5 * _LOOK)
    if not answer or client.status != "running":
        return None
    return answer[0]


def _let_go(client: Any, futures: list[Any]) -> None:
    """Give up tasks, if there is still somebody to tell."""
    if client.status == "running":
        threading.Thread(target=client.cancel, args=(futures,), kwargs={"force": True}, daemon=True).start()


def check_versions(client: Any) -> None:
    """Raise where a worker has no robscore, or another version of it, of Python or of NumPy."""
    import platform

    own = {
        "robscore": __version__, "python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": np.__version__.split(".")[0],
    }  # fmt: skip
    found = client.get_versions(packages=["robscore"])["workers"]
    for address, about in found.items():
        theirs = {name: about["packages"].get(name) for name in own}
        if theirs["robscore"] is None:
            raise ValueError(
                f"The Dask worker {address} has no robscore; install robscore {__version__} where the workers run."
            )
        for name, version in own.items():
            if not f"{theirs[name]}.".startswith(f"{version}."):
                raise ValueError(
                    f"The Dask worker {address} has {name} {theirs[name]}, but {version} is used here: results could "
                    "differ. Install the same versions on all workers."
                )
