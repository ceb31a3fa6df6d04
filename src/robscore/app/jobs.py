"""One piece of work, as the page sees it: what is being done, for how long, and how it ended."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

ANSWER, RESULTS = "answer.json", "results"  # what a child leaves in its folder
_KILLED = (
    "The work was ended by the system, most likely for lack of memory; take fewer columns or rows, or close other "
    "programs."
)


class Job:
    """A task that a child does.

    Parameters
    ----------
    task : "look" or "fit"
    number : counts the jobs of a page
    folder : Path
        Where the child works; gone where nothing came of it.
    request : what the child is asked, but for task and folder
    children : Children
    when_done : called when the answer is there
    """

    def __init__(
        self,
        task: str,
        number: int,
        folder: Path,
        request: dict[str, Any],
        children: Children,
        when_done: Callable[[Job], None],
    ) -> None:
        self.task, self.number, self.folder = task, number, folder
        self.state, self.error = "running", ""
        self._told: dict[str, Any] = {"step": "starting", "done": 0, "total": 0, "left": None}
        self._children, self._when_done = children, when_done
        self._process: Process | None = None
        self._started, self._ended = time.monotonic(), 0.0
        folder.mkdir()
        self._work = asyncio.create_task(self._run({**request, "task": task, "folder": str(folder)}))

    async def _run(self, request: dict[str, Any]) -> None:
        try:
            self._process = await self._children.take()
            if self.state == "running":
                await self._follow(self._process, request)
            else:
                kill(self._process)
        except Exception as error:
            self.state, self.error = "failed", f"The work could not be done ({error})."
        self._ended = time.monotonic()
        if self.state == "done":
            self._when_done(self)
        else:
            await asyncio.to_thread(shutil.rmtree, self.folder, ignore_errors=True)
        await self._children.prepare()

    async def _follow(self, process: Process, request: dict[str, Any]) -> None:
        async for told in told_by(process, request):
            if "step" in told:
                self._told = told
            elif "error" in told:
                self.error = told["error"]
        if self.state == "running":
            over = process.returncode == 0 and not self.error and (self.folder / ANSWER).is_file()
            self.error = "" if over else self.error or _KILLED
            self.state = "done" if over else "failed"

    async def cancel(self) -> None:
        """Stop it, if it still runs; what it had written goes."""
        if self.state == "running":
            self.state = "cancelled"
        if self._process is not None:
            kill(self._process)
        await asyncio.shield(self._work)

    def shown(self) -> dict[str, Any]:
        """What the page shows of it."""
        seconds = (self._ended or time.monotonic()) - self._started
        return {
            "task": self.task,
            "number": self.number,
            "state": self.state,
            "error": self.error,
            "seconds": round(seconds, 1),
            **self._told,
        }


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
