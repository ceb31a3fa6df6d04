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

# Short work shows no line; a terminal redraws it smoothly; a log file gets a line now and then.
_SILENT_SECONDS, _REDRAW_SECONDS, _LOG_SECONDS = 2.0, 0.25, 10.0
_FEWEST_COUNTS, _LARGEST_POWER = 4, 4.0  # of the power law that says how long a step may take
_BELIEVED_SHARE = 0.25  # of a step, from which on its growth is believed: first pieces come in bursts
_MANY_PARTS = 200  # a step of so many is a pass over pieces of equal length


def announce(step: str, done: int = 0, total: int = 0) -> None:
    """Report what is being done, and how much of how much; costs nothing if nobody watches."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(", ".join(filter(None, (_stage.get(), step))), done, total)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Put the name of a stage before whatever is reported inside."""
    token = _stage.set(name)
    announce("")
    try:
        yield
    finally:
        _stage.reset(token)


@contextmanager
def watched_by(watcher: Watcher | None) -> Iterator[None]:
    """Send whatever is reported inside to the watcher; to nobody if that is None."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


class ProgressLine:
    """One line on a terminal with what is done and for how long; silent elsewhere and for the first two seconds.

    A counted step that has taken two seconds shows how long this step may still take, extrapolating t ~ count^p, since
    the last penalties of a path take longer than the first.

    Parameters
    ----------
    title : what the work is, at the start of the line
    shown : bool, default True
    time_left : bool, default False
        Show the time left of the whole, from the start, for work that is one step of parts of about equal length.
    every : float, optional
        Where there is no terminal, print the line anew every so many seconds.
    """

    def __init__(self, title: str, *, shown: bool = True, time_left: bool = False, every: float | None = None) -> None:
        self.title, self.time_left = title, time_left
        self.every = None if sys.stderr.isatty() else every
        self.shown = shown and (self.every is not None or sys.stderr.isatty())
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

    def announce(self, step: str, done: int, total: int) -> None:
        """Take note of a step, and of how much of it is done."""
        before, so_far, _ = self._now
        if step != before or done < so_far:
            self._step_started, self._counts = time.monotonic(), []
        if done and done != so_far:
            self._counts.append((done, time.monotonic() - self._step_started))
        self._now = (step, done, total)

    def update(self, done: int, total: int) -> None:
        """Take note of how many of all repetitions are done."""
        self.announce("", done, total)

    def text(self) -> str:
        """Return the line as it is now."""
        step, done, total = self._now
        seconds = time.monotonic() - self.started
        words = self.title + (f": {step}" if step else "") + (f" {done} of {total}" if total else "")
        if self.time_left and done:
            return f"{words}, about {seconds / done * (total - done):.0f} s left"
        left = self.left()
        for_long = f"{words} ({seconds:.0f} s)"
        return for_long if left is None else f"{for_long}, about {left:.0f} s left in this step"

    def left(self) -> float | None:
        """Return the seconds that this step may still take; None if there is too little to go by."""
        counts, total = self._counts, self._now[2]
        if not total or len(counts) < _FEWEST_COUNTS or counts[-1][1] < _SILENT_SECONDS:
            return None
        done, elapsed = counts[-1]
        logs = [(math.log(k), math.log(t)) for k, t in counts if t > 0 and k >= done / 4]
        power = min(max(_slope(logs), 1.0), _LARGEST_POWER)
        believed = 0.0 if len(counts) * total > _MANY_PARTS * done else min(1.0, done / total / _BELIEVED_SHARE)
        power = 1 + (power - 1) * believed
        return elapsed * ((total / done) ** power - 1)

    def _draw_until_over(self) -> None:
        """Draw the line anew until the work is over, on a thread of its own: steps may take minutes."""
        wait = _SILENT_SECONDS if self.every is None else self.every
        while not self._over.wait(wait):
            if self.every is not None:
                print(self.text(), file=sys.stderr, flush=True)
                continue
            print(f"\r\033[K{self.text()}", end="", file=sys.stderr, flush=True)
            self._written, wait = True, _REDRAW_SECONDS


def _slope(points: list[tuple[float, float]]) -> float:
    """Return the slope of a line by least squares; 1 where the points do not determine it."""
    middle = [sum(part) / len(points) for part in zip(*points, strict=True)]
    away = [(x - middle[0], y - middle[1]) for x, y in points]
    width = sum(x * x for x, _ in away)
    return sum(x * y for x, y in away) / width if width > 0 else 1.0


@contextmanager
def watched_at(title: str, verbose: int) -> Iterator[None]:
    """Show whatever is reported inside: from level 1 on in a terminal, from level 2 on in files too; at 0 nothing."""
    if not verbose:
        yield
        return
    with ProgressLine(title, every=_LOG_SECONDS if verbose > 1 else None) as line, watched_by(line.announce):
        yield


def print_above(text: str) -> None:
    """Print a line that stays, where a line of progress may be drawn now."""
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    print(text, flush=True)
