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
_asking = 0  # how many hold linear algebra to one thread
_undo: list[Callable[[], Any]] = []  # what undoes the limits they have set, once nobody needs them

_T = TypeVar("_T")
_R = TypeVar("_R")


@contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra on one thread; restored when the last user of this context is done.

    The number of threads belongs to the process, so callers on several threads must share it.
    """
    global _asking
    with _lock:
        libraries, shared = _libraries(len(sys.modules))
        run = partial(_letting_go, libraries) if shared else _elsewhere
        _undo.append(partial(run, run(partial(libraries.limit, limits=1)).restore_original_limits))
        _asking += 1
    try:
        yield
    finally:
        with _lock:
            _asking -= 1
            while not _asking and _undo:
                _undo.pop()()


_SMALL_WORK = 3e8  # multiplications in a pass over the rows below which several threads cost more than they bring


def threads_for(n_rows: int, n_columns: int) -> AbstractContextManager[None]:
    """Linear algebra on one thread where a table is small, else as it was."""
    return one_thread() if float(n_rows) * n_columns**2 < _SMALL_WORK else nullcontext()


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> tuple[ThreadpoolController, bool]:
    """Those of linear algebra, and whether all of them have one limit for all threads, whichever thread sets it.

    Looked for again, which takes milliseconds, when an import may have loaded another.
    """
    found = ThreadpoolController().select(user_api="blas")
    return found, all(library.get("threading_layer") == "pthreads" for library in found.info())


def _letting_go(libraries: ThreadpoolController, work: Callable[[], _R]) -> _R:
    """Done here, and not kept from others: to threadpoolctl a thread that sets a limit is the only one that may."""
    try:
        return work()
    finally:
        for library in libraries.lib_controllers:
            if hasattr(library, "clear_controlling_thread"):
                library.clear_controlling_thread()


def _elsewhere(work: Callable[[], _R]) -> _R:
    """Done by a thread that is gone afterwards, and with it whatever threadpoolctl lets it keep from others."""
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
    """How many threads linear algebra may use now."""
    counts = [int(library["num_threads"]) for library in threadpool_info() if library["user_api"] == "blas"]
    return max(counts, default=1)


def on_one_thread(work: Callable[..., _R], *arguments: Any) -> _R:
    """``work(*arguments)``, with linear algebra held to one thread; in other processes too."""
    with one_thread():
        return work(*arguments)
