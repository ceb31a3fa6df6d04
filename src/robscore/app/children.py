"""Processes that do the work, one task each: what they hold in memory goes with them, and they can be killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Any

_LONGEST_LINE = 1 << 20


class Children:
    """Starts them, with one in reserve that has loaded its libraries, and ends them.

    Parameters
    ----------
    command : sequence of str
        What to run. It takes one line of JSON on its standard input and answers in lines of JSON.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self.command = tuple(command)
        self._reserve: Process | None = None
        self._running: set[Process] = set()
        self._starting = asyncio.Lock()
        self._over = False

    async def prepare(self) -> None:
        """Have one in reserve."""
        if self._reserve is None:
            with suppress(OSError):  # whoever needs one is told
                self._reserve = await self._start()

    async def take(self) -> Process:
        """One that waits for its task."""
        taken, self._reserve = self._reserve, None
        if taken is not None and taken.returncode is None:
            return taken
        return await self._start()

    async def _start(self) -> Process:
        apart: dict[str, Any] = {} if sys.platform == "win32" else {"start_new_session": True}  # away from Ctrl-C
        async with self._starting:  # none is begun unseen while all are ended
            if self._over:
                raise InterruptedError("the server ends")
            process = await asyncio.create_subprocess_exec(
                *self.command, stdin=PIPE, stdout=PIPE, limit=_LONGEST_LINE, **apart
            )
            self._running = {one for one in self._running if one.returncode is None} | {process}
        return process

    def kill_all(self) -> None:
        """End all of them, whatever they do."""
        for process in self._running:
            kill(process)

    async def end(self) -> None:
        """The same, wait until they are gone, and start no others."""
        async with self._starting:
            self._over = True
        self.kill_all()
        await asyncio.gather(*(process.wait() for process in self._running))


def kill(process: Process) -> None:
    """End a process with all that it has started."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


async def told_by(process: Process, request: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """Hand a process its task; all that it tells, until it ends."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(ConnectionError):  # it has ended already, which shows below
        process.stdin.write(json.dumps(request).encode() + b"\n")
        await process.stdin.drain()
    async for line in process.stdout:
        yield json.loads(line)
    await process.wait()
