"""Pieces of work on all cores, one thread of linear algebra each: many small products are slower on several."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from threadpoolctl import threadpool_info, threadpool_limits

_T = TypeVar("_T")
_R = TypeVar("_R")


def in_threads(work: Callable[[_T], _R], items: Iterable[_T]) -> Iterator[_R]:
    """``work(item)`` for every item, in order, a few at a time.

    On as many threads as linear algebra may use now: on one inside a task that is held to one.
    """
    n_threads = allowed_threads()
    if n_threads == 1:
        yield from map(work, items)
        return
    with threadpool_limits(1), ThreadPoolExecutor(n_threads) as pool:
        waiting: deque[Future[_R]] = deque()
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def allowed_threads() -> int:
    """How many threads linear algebra may use now."""
    counts = [int(library["num_threads"]) for library in threadpool_info() if library["user_api"] == "blas"]
    return max(counts, default=1)


def on_one_thread(work: Callable[..., _R], *arguments: Any) -> _R:
    """``work(*arguments)``, with linear algebra held to one thread; in other processes too."""
    with threadpool_limits(1):
        return work(*arguments)
