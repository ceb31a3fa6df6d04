"""Ctrl-C and SIGTERM: no traceback, and unfinished work is cleaned up."""

from __future__ import annotations

import os
import signal
import sys
import threading
from _thread import interrupt_main
from contextlib import contextmanager

TYPE_CHECKING = False  # nothing is loaded that is not needed: see robscore/cli/__init__.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_words = b"robscore: Stopped; nothing was written.\n"
_SOON = 0.01  # seconds


class Ended(KeyboardInterrupt):
    """The work was stopped from outside; ``code`` is what the command leaves with."""

    def __init__(self, number: int) -> None:
        self.code = 128 + number
        super().__init__(f"signal {number}")


def leave_at_once() -> None:
    """From here on a signal ends the process on the spot: there is nothing yet to clean up.

    For the first moments of a command, in which libraries are loaded: an exception could come out anywhere in them.
    """
    _handle(_leave)


@contextmanager
def clearing_away() -> Iterator[None]:
    """Inside, a signal is an exception, so that what was begun can be undone."""
    global _words
    before = _handle(_raiser(os.getpid()))
    hook = sys.unraisablehook
    sys.unraisablehook = _again_after(hook)
    try:
        yield
    finally:
        _words = b"robscore: Stopped.\n"
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)


def _handle(handler: Callable[[int, Any], None]) -> dict[int, Any]:
    """Take over the signals that end a process, but for those that are ignored; what was there before."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    heeded = {number: signal.getsignal(number) for number in _ENDING}
    heeded = {number: was for number, was in heeded.items() if was not in (signal.SIG_IGN, None)}
    for number in heeded:
        signal.signal(number, handler)
    return heeded


def _leave(number: int, frame: Any) -> None:
    os.write(2, _words)
    os._exit(128 + number)


def _raiser(owner: int) -> Callable[[int, Any], None]:
    def end(number: int, frame: Any) -> None:
        if os.getpid() != owner:  # a child that was forked off
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        raise Ended(number)

    return end


def _again_after(hook: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A hook that tells it again a moment later: where Python ignores exceptions (in a finalizer), it ignores ours."""

    def unraisable(ignored: Any) -> None:
        if isinstance(ignored.exc_value, Ended):
            threading.Timer(_SOON, _tell, [ignored.exc_value.code - 128]).start()
        else:
            hook(ignored)

    return unraisable


def _tell(number: int) -> None:
    """Send the main thread a signal, so that it wakes up if it waits; where there are no signals, set its mark."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        interrupt_main(signal.Signals(number))
