"""What belongs to one tab of the page: its file, its work, its results. When the tab is gone, so are they."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robscore.app.jobs import Job, Workers
from robscore.app.uploads import UploadedFile


@dataclass(frozen=True)
class Patience:
    """How long a tab may be away, in seconds.

    Attributes
    ----------
    closed : after it said that it closes; it may come back, when it is only loaded again
    silent : without a request, as from a browser that crashed; tabs in the background make one a minute
    """

    closed: float = 20.0
    silent: float = 900.0


class Session:
    """One tab.

    Parameters
    ----------
    folder : Path
        For the files of this tab alone; made here.
    workers : Workers
    """

    def __init__(self, folder: Path, workers: Workers) -> None:
        folder.mkdir(mode=0o700)
        self.folder, self._workers = folder, workers
        self.file: UploadedFile | None = None
        self.job: Job | None = None
        self.read: Job | None = None  # the last look at the file that came to an end
        self.fits: dict[int, Job] = {}
        self._n_jobs = 0
        self.heard = time.monotonic()
        self.left: float | None = None

    def hear(self) -> None:
        """Note that the tab has made a request, so that it is not away."""
        self.heard, self.left = time.monotonic(), None

    def is_over(self, patience: Patience) -> bool:
        """Return whether the tab is gone."""
        now = time.monotonic()
        return now - self.heard > patience.silent or (self.left is not None and now - self.left > patience.closed)

    async def take(self, file: UploadedFile) -> None:
        """Put a new file in place of the one before and all that came of it."""
        await self.stop()
        old, self.file = self.file, file
        gone = [*([] if self.read is None else [self.read]), *self.fits.values()]
        self.job, self.read, self.fits = None, None, {}
        for job in gone:
            await asyncio.to_thread(shutil.rmtree, job.folder, ignore_errors=True)
        if old is not None:
            old.path.unlink(missing_ok=True)

    async def start(self, task: str, options: Any) -> None:
        """Begin to read or to fit; what still runs is stopped."""
        assert self.file is not None
        await self.stop()
        self._n_jobs += 1
        request = {"data": f"../{self.file.path.name}", "called": self.file.name, "options": options}
        folder = self.folder / f"{task}-{self._n_jobs}"
        self.job = Job(task, self._n_jobs, folder, request, self._workers, self._keep)

    def _keep(self, job: Job) -> None:
        if job.task == "fit":
            self.fits[job.number] = job
            return
        before, self.read = self.read, job
        if before is not None:
            shutil.rmtree(before.folder, ignore_errors=True)

    async def stop(self) -> None:
        """Stop what runs."""
        if self.job is not None:
            await self.job.cancel()

    async def close(self) -> None:
        """Stop what runs, and remove all files."""
        await self.stop()
        await asyncio.to_thread(shutil.rmtree, self.folder, ignore_errors=True)

    def shown(self) -> dict[str, Any]:
        """Return what the page shows."""
        return {
            "file": None if self.file is None else {"name": self.file.name, "size": self.file.size},
            "job": None if self.job is None else self.job.shown(),
            "read": None if self.read is None else self.read.number,
            "fits": sorted(self.fits),
        }


class Sessions:
    """All tabs.

    Parameters
    ----------
    folder : Path
        The folder in which each tab gets one.
    workers : Workers
    patience : Patience
    """

    def __init__(self, folder: Path, workers: Workers, patience: Patience) -> None:
        self.folder, self.workers, self.patience = folder, workers, patience
        self._all: dict[str, Session] = {}

    def new(self) -> str:
        """Begin the session of a new tab; its name, which nobody can guess."""
        name = secrets.token_hex(8)
        self._all[name] = Session(self.folder / name, self.workers)
        return name

    def get(self, name: str) -> Session | None:
        """Return the session of this name, or None once its tab is gone."""
        return self._all.get(name)

    async def look_after(self) -> None:
        """Close those whose tabs are gone, again and again."""
        while True:
            await asyncio.sleep(min(1.0, self.patience.closed))
            for name, session in list(self._all.items()):
                if session.is_over(self.patience):
                    del self._all[name]
                    await session.close()

    async def end(self) -> None:
        """Stop all work; the files go with the folder that they are in."""
        await self.workers.end()
        await asyncio.gather(*(session.stop() for session in self._all.values()))
