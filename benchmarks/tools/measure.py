"""Time and memory of a piece of work, each measured where nothing else disturbs it."""

import multiprocessing
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

Clock: TypeAlias = Callable[[], float]


def clocked(work: Callable[[], Any], clock: Clock = time.perf_counter) -> tuple[float, Any]:
    """Return the time, by default on the wall, and result of one run."""
    start = clock()
    result = work()
    return clock() - start, result


def seconds(work: Callable[[], Any], repeats: int = 3, clock: Clock = time.perf_counter) -> float:
    """Return the least time of a few runs, by default on the wall."""
    return min(clocked(work, clock)[0] for _ in range(repeats))


def least(run: Callable[[], tuple[float, Any]], patience: float = 2.0, most: int = 5) -> tuple[float, Any]:
    """Return the least seconds of several runs, and the result; no run begins after ``patience`` seconds."""
    times: list[float] = []
    while len(times) < most and sum(times) < patience:
        elapsed, result = run()
        times.append(elapsed)
    return min(times), result


def matrix_product_seconds(clock: Clock = time.perf_counter) -> float:
    """Return the seconds of a product of two 1000 x 1000 matrices: the unit of times, by the same clock."""
    A = np.random.default_rng(0).normal(size=(1000, 1000))
    return seconds(lambda: A @ A, repeats=10, clock=clock)


def in_fresh_process(work: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """Return the result of ``work(*arguments)`` in a new process, and the most memory that process held, in MB."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_watched, work, arguments).result()


def _watched(work: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, float]:
    result = work(*arguments)
    return result, peak_megabytes()


def peak_megabytes() -> float:
    """Return the most memory that this process has held, in MB, with interpreter and libraries."""
    status = Path("/proc/self/status")
    if status.exists():  # unlike getrusage, this does not count what the parent process held
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
