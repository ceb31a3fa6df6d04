"""One piece of work, as the page sees it, and the worker processes that do it, one task each.

A process of its own can be killed, and what it holds in memory goes with it.
"""

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

ANSWER, RESULTS = "answer.json", "results"  # what a worker leaves in its folder
_LONGEST_LINE = 1 << 20  # guards memory only: bytes of a message
_KILLED = (
    "The work was ended by the system, most likely for lack of memory; take fewer columns or rows, or close other "
    "programs."
)


class Workers:
    """Start processes that work, with one in reserve that has loaded its libraries, and end them.

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
        self._is_over = False

    async def prepare(self) -> None:
        """Have one in reserve."""
        if self._reserve is None:
            with suppress(OSError):  # the job that needs one will fail with this error, and shows it
                self._reserve = await self._start()

    async def take(self) -> Process:
        """Give away one that waits for its task."""
        taken, self._reserve = self._reserve, None
        if taken is not None and taken.returncode is None:
            return taken
        return await self._start()

    async def _start(self) -> Process:
        apart: dict[str, Any] = {} if sys.platform == "win32" else {"start_new_session": True}  # away from Ctrl-C
        async with self._starting:  # none is begun unseen while all are ended
            if self._is_over:
                raise InterruptedError("the server ends")
            process = await asyncio.create_subprocess_exec(
                *self.command, stdin=PIPE, stdout=PIPE, limit=_LONGEST_LINE, **apart
            )
            self._running = {one for one in self._running if one.returncode is None} | {process}
        return process

    def kill_all(self) -> None:
        """End all of them, whatever they do."""
        for process in self._running:
            _kill(process)

    async def end(self) -> None:
        """End all of them, wait until they are gone, and start no others."""
        async with self._starting:
            self._is_over = True
        self.kill_all()
        await asyncio.gather(*(process.wait() for process in self._running))


def _kill(process: Process) -> None:
    """End a process with all that it has started."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


async def _messages(process: Process, request: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """Hand a process its task; all messages that it sends, until it ends."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(ConnectionError):  # it has ended already, which shows below
        process.stdin.write(json.dumps(request).encode() + b"\n")
        await process.stdin.drain()
    async for line in process.stdout:
        yield json.loads(line)
    await process.wait()


class Job:
    """A task that a worker does.

    Parameters
    ----------
    task : "look" or "fit"
    number : counts the jobs of a page
    folder : Path
        Where the worker works; removed if nothing comes of it.
    request : what the worker is asked, but for task and folder
    workers : Workers
    when_done : called when the answer has come
    """

    def __init__(
        self,
        task: str,
        number: int,
        folder: Path,
        request: dict[str, Any],
        workers: Workers,
        when_done: Callable[[Job], None],
    ) -> None:
        self.task, self.number, self.folder = task, number, folder
        self.state, self.error = "running", ""
        self._progress: dict[str, Any] = {"step": "starting", "done": 0, "total": 0, "left": None}
        self._workers, self._when_done = workers, when_done
        self._process: Process | None = None
        self._started, self._ended = time.monotonic(), 0.0
        folder.mkdir()
        self._work = asyncio.create_task(self._run({**request, "task": task, "folder": str(folder)}))

    async def _run(self, request: dict[str, Any]) -> None:
        try:
            self._process = await self._workers.take()
            if self.state == "running":
                await self._follow(self._process, request)
            else:
                _kill(self._process)
        except Exception as error:
            self.state, self.error = "failed", f"The work could not be done ({error})."
        self._ended = time.monotonic()
        if self.state == "done":
            self._when_done(self)
        else:
            await asyncio.to_thread(shutil.rmtree, self.folder, ignore_errors=True)
        await self._workers.prepare()

    async def _follow(self, process: Process, request: dict[str, Any]) -> None:
        async for message in _messages(process, request):
            if "step" in message:
                self._progress = message
            elif "error" in message:
                self.error = message["error"]
        if self.state == "running":
            is_done = process.returncode == 0 and not self.error and (self.folder / ANSWER).is_file()
            self.error = "" if is_done else self.error or _KILLED
            self.state = "done" if is_done else "failed"

    async def cancel(self) -> None:
        """Stop it, if it still runs; what it had written goes."""
        if self.state == "running":
            self.state = "cancelled"
        if self._process is not None:
            _kill(self._process)
        await asyncio.shield(self._work)

    def answer(self) -> dict[str, Any]:
        """Read what the worker answered."""
        answer: dict[str, Any] = json.loads((self.folder / ANSWER).read_text(encoding="utf-8"))
        return answer

    def shown(self) -> dict[str, Any]:
        """Return what the page shows of it."""
        seconds = round((self._ended or time.monotonic()) - self._started, 1)
        about = {"task": self.task, "number": self.number, "state": self.state, "error": self.error}
        return {**about, "seconds": seconds, **self._progress}
