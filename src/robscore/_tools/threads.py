"""Pieces of work on all cores, one thread of linear algebra each: many small products are slower on several."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache, partial
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController, threadpool_info

_lock = threading.Lock()
_users = 0  # how many hold linear algebra to one thread now
_undo: list[Callable[[], Any]] = []  # what lifts the limits they have set, once nobody needs them

_T = TypeVar("_T")
_R = TypeVar("_R")


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold linear algebra to one thread until the last user of this context is done.

    The number of threads belongs to the process, so callers on several threads must share it.
    """
    global _users
    with _lock:
        libraries, shared = _libraries(len(sys.modules))
        run = partial(_letting_go, libraries) if shared else _elsewhere
        _undo.append(partial(run, run(partial(libraries.limit, limits=1)).restore_original_limits))
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            while not _users and _undo:
                _undo.pop()()


_SMALL_WORK = 3e8  # multiplications in a pass over the rows below which several threads cost more than they bring


def threads_for(n_rows: int, n_columns: int) -> AbstractContextManager[None]:
    """Hold linear algebra to one thread where a table is small, else leave it as it was."""
    return one_thread() if float(n_rows) * n_columns**2 < _SMALL_WORK else nullcontext()


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> tuple[ThreadpoolController, bool]:
    """Find the libraries of linear algebra, and whether each has one limit for all threads, whichever sets it.

    Looked for again, which takes milliseconds, when an import may have loaded another.
    """
    found = ThreadpoolController().select(user_api="blas")
    return found, all(library.get("threading_layer") == "pthreads" for library in found.info())


def _letting_go(libraries: ThreadpoolController, work: Callable[[], _R]) -> _R:
    """Set a limit here, and let other threads set it too: threadpoolctl reserves it for the first that does."""
    try:
        return work()
    finally:
        for library in libraries.lib_controllers:
            if hasattr(library, "clear_controlling_thread"):
                library.clear_controlling_thread()


def _elsewhere(work: Callable[[], _R]) -> _R:
    """Set a limit on a thread that ends at once, and with it the right to set it that it was given."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def in_threads(work: Callable[[_T], _R], items: Iterable[_T], *, at_once: bool = False) -> Generator[_R, None, None]:
    """``work(item)`` for every item, in order, a few at a time.

    On as many threads as linear algebra may use now: on one inside a task that is held to one. ``at_once`` is for a
    single item, which may have them all for itself.
    """
    n_threads = 1 if at_once else allowed_threads()
    if n_threads == 1:
        yield from map(work, items)
        return
    with one_thread(), ThreadPoolExecutor(n_threads) as pool:
        waiting: deque[Future[_R]] = deque()
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def allowed_threads() -> int:
    """Return how many threads linear algebra may use now."""
    counts = [int(library["num_threads"]) for library in threadpool_info() if library["user_api"] == "blas"]
    return max(counts, default=1)


def on_one_thread(work: Callable[..., _R], *arguments: Any) -> _R:
    """Return ``work(*arguments)``, with linear algebra held to one thread; a function that processes can be sent."""
    with one_thread():
        return work(*arguments)
