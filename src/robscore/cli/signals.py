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
_farewell = b"robscore: Stopped; nothing was written.\n"
_SOON = 0.01  # seconds after which a lost signal is raised again


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
    global _farewell
    before = _handle(_raiser(os.getpid()))
    hook = sys.unraisablehook
    sys.unraisablehook = _raised_again(hook)
    try:
        yield
    finally:
        _farewell = b"robscore: Stopped.\n"
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)


def _handle(handler: Callable[[int, Any], None]) -> dict[int, Any]:
    """Handle the signals that end a process, but for those that are ignored, and return the former handlers."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    heeded = {number: signal.getsignal(number) for number in _ENDING}
    heeded = {number: before for number, before in heeded.items() if before not in (signal.SIG_IGN, None)}
    for number in heeded:
        signal.signal(number, handler)
    return heeded


def _leave(number: int, frame: Any) -> None:
    os.write(2, _farewell)
    os._exit(128 + number)


def _raiser(owner: int) -> Callable[[int, Any], None]:
    def end(number: int, frame: Any) -> None:
        if os.getpid() != owner:  # a child that was forked off
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        raise Ended(number)

    return end


def _raised_again(hook: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a hook for exceptions that Python ignores, as in finalizers: it repeats a signal that is lost there."""

    def unraisable(ignored: Any) -> None:
        if isinstance(ignored.exc_value, Ended):
            threading.Timer(_SOON, _interrupt_main_thread, [ignored.exc_value.code - 128]).start()
        else:
            hook(ignored)

    return unraisable


def _interrupt_main_thread(number: int) -> None:
    """Send the main thread a signal, which wakes it if it waits; on systems that cannot, have Python interrupt it."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        interrupt_main(signal.Signals(number))
