"""Progress of long work, and the line on a terminal that shows it."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Self, TypeAlias

Watcher: TypeAlias = Callable[[str, int, int], None]
_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)
_stage: ContextVar[str] = ContextVar("stage", default="")

_SILENT_SECONDS, _REDRAW_SECONDS = 2.0, 0.25
_FEWEST_COUNTS, _LARGEST_POWER = 4, 4.0  # to say how long a step may take


def tell(step: str, done: int = 0, total: int = 0) -> None:
    """Report what is being done, and how much of how much; costs nothing if nobody watches."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(", ".join(filter(None, (_stage.get(), step))), done, total)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Whatever is reported inside belongs to a stage of the work."""
    token = _stage.set(name)
    tell("")
    try:
        yield
    finally:
        _stage.reset(token)


@contextmanager
def watched_by(watcher: Watcher | None) -> Iterator[None]:
    """Whatever is reported inside goes to the watcher; to nobody if that is None."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


class ProgressLine:
    """One line on a terminal with what is done and for how long; silent elsewhere and for the first two seconds.

    A counted step that has taken two seconds shows how long it may still take, extrapolating t ~ count^p, since the
    last penalties of a path take longer than the first.

    Parameters
    ----------
    title : what the work is, at the start of the line
    shown : bool, default True
    time_left : bool, default False
        Show it from the start, for steps of about equal length.
    """

    def __init__(self, title: str, *, shown: bool = True, time_left: bool = False) -> None:
        self.title, self.time_left = title, time_left
        self.shown = shown and sys.stderr.isatty()
        self.started = time.monotonic()
        self._now = ("", 0, 0)
        self._step_started = self.started
        self._counts: list[tuple[int, float]] = []  # of this step, and when they were reached
        self._written = False
        self._over = threading.Event()
        self._drawer = threading.Thread(target=self._draw_until_over, daemon=True)

    def __enter__(self) -> Self:
        if self.shown:
            self._drawer.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        if self.shown:
            self._drawer.join()
        if self._written:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def tell(self, step: str, done: int, total: int) -> None:
        """A step, and how much of it is done."""
        before, so_far, _ = self._now
        if step != before or done < so_far:
            self._step_started, self._counts = time.monotonic(), []
        if done and done != so_far:
            self._counts.append((done, time.monotonic() - self._step_started))
        self._now = (step, done, total)

    def update(self, done: int, total: int) -> None:
        """So many of all are done."""
        self.tell("", done, total)

    def text(self) -> str:
        """The line as it is now."""
        step, done, total = self._now
        seconds = time.monotonic() - self.started
        words = self.title + (f": {step}" if step else "") + (f" {done} of {total}" if total else "")
        if self.time_left and done:
            return f"{words}, about {seconds / done * (total - done):.0f} s left"
        left = self.left()
        return f"{words} ({seconds:.0f} s)" if left is None else f"{words} ({seconds:.0f} s), about {left:.0f} s left"

    def left(self) -> float | None:
        """Seconds that this step may still take; None if there is too little to go by."""
        counts, total = self._counts, self._now[2]
        if not total or len(counts) < _FEWEST_COUNTS or counts[-1][1] < _SILENT_SECONDS:
            return None
        done, elapsed = counts[-1]
        earlier, then = counts[len(counts) // 2 - 1]
        if then <= 0 or earlier >= done:
            return None
        power = min(max(math.log(elapsed / then) / math.log(done / earlier), 1.0), _LARGEST_POWER)
        return elapsed * ((total / done) ** power - 1)

    def _draw_until_over(self) -> None:
        wait = _SILENT_SECONDS
        while not self._over.wait(wait):
            print(f"\r\033[K{self.text()}", end="", file=sys.stderr, flush=True)
            self._written, wait = True, _REDRAW_SECONDS
