"""The server: on this machine only, with a token, and nothing left when it ends."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import Receive, Scope, Send

from robscore.app.guard import Guard
from robscore.app.jobs import Workers
from robscore.app.routes import routes
from robscore.app.sessions import Patience, Sessions

HERE = "127.0.0.1"
_ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]
_GRACE = 1  # seconds for what is being sent when the server is to end


def serve(
    command: Sequence[str],
    *,
    ready: Callable[[str, Path], None],
    port: int = 0,
    patience: Patience | None = None,
) -> None:
    """Serve the page until a signal ends it; its files go with it.

    Parameters
    ----------
    command : sequence of str
        The command of a worker that reads and fits: ``robscore.cli.worker`` says how.
    ready : called with the address, and with a file that leads there
        Programs that open the file do not show the token in the machine's list of processes.
    port : int, default 0
        0 for any that is free.
    patience : Patience, optional
        How long to wait for tabs that are away.
    """
    token = secrets.token_urlsafe(24)
    with _signals() as caught, socket.create_server((HERE, port)) as listening, _folder() as folder:
        port = listening.getsockname()[1]
        address = f"http://{HERE}:{port}/{token}/"
        sessions = Sessions(folder, Workers(command), patience or Patience())
        config = uvicorn.Config(
            _WithSessions(Guard(routes(sessions), token, port), sessions),
            log_level="critical",
            access_log=False,
            server_header=False,
            lifespan="on",
            ws="none",
            timeout_graceful_shutdown=_GRACE,
        )
        ready(address, _page_leading_to(address, folder))
        try:
            _Server(config, caught).run(sockets=[listening])
        finally:
            sessions.workers.kill_all()
    if caught:  # nothing is left that would have to be cleared away
        signal.raise_signal(caught[0])


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Within, signals that end a program are kept, in this list, and have no other effect."""
    caught: list[int] = []
    heeded = [number for number in _ENDING if signal.getsignal(number) not in (signal.SIG_IGN, None)]
    before = {number: signal.signal(number, lambda number, frame: caught.append(number)) for number in heeded}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder that only this user can enter, gone in the end."""
    folder = Path(tempfile.mkdtemp(prefix="robscore-app-"))
    try:
        yield folder
    finally:
        for _ in range(20):  # a worker that is being killed may still write
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
            time.sleep(0.05)


def _page_leading_to(address: str, folder: Path) -> Path:
    """Write a file that only this user can read and that leads a browser to the address."""
    page = folder / "open.html"
    with os.fdopen(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={address}"><a href="{address}">Open</a>')
    return page


class _WithSessions:
    """The application, with its sessions looked after from its start to its end."""

    def __init__(self, inner: Any, sessions: Sessions) -> None:
        self.inner, self.sessions = inner, sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await self.inner(scope, receive, send)
            return
        await receive()
        async with self._beside():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})

    @asynccontextmanager
    async def _beside(self) -> AsyncIterator[None]:
        await self.sessions.workers.prepare()
        looking = asyncio.create_task(self.sessions.look_after())
        try:
            yield
        finally:
            looking.cancel()
            await self.sessions.end()


class _Server(uvicorn.Server):
    """Ends when a signal was caught."""

    def __init__(self, config: uvicorn.Config, caught: list[int]) -> None:
        super().__init__(config)
        self.caught = caught

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing to do: they are caught already."""
        yield

    async def on_tick(self, counter: int) -> bool:
        """Return whether to end; asked ten times a second."""
        return await super().on_tick(counter) or bool(self.caught)
