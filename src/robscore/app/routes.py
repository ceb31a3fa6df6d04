"""What the page asks for, and the answers."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
import zipfile
from importlib import resources
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from robscore.app.guard import REPORT_POLICY
from robscore.app.jobs import RESULTS, Job
from robscore.app.sessions import Session, Sessions
from robscore.app.uploads import receive

ARCHIVE, _FOLDER_IN_ARCHIVE = "robscore-results.zip", "robscore-results"
_MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".html": "text/html"}
_LONGEST_FORM = 4 << 20  # guards memory only: bytes
_AWAY = "This page was away for too long, and its files were removed. Open a new one."


def routes(sessions: Sessions) -> Starlette:
    """Return the application behind the guard, which has checked the token."""
    of_a_tab = [
        Route("/", _page),
        Route("/state", _state),
        Route("/data", _data, methods=["PUT"]),
        Route("/start/{task}", _start, methods=["POST"]),
        Route("/stop", _stop, methods=["POST"]),
        Route("/leave", _leave, methods=["POST"]),
        Route("/read", _read),
        Route("/fits/{number:int}", _fit),
        Route("/fits/{number:int}/all", _all),
        Route("/fits/{number:int}/{name}", _one),
    ]
    app = Starlette(
        routes=[
            Route("/{token}/", _new),
            Route("/{token}/assets/{name}", _asset),
            Mount("/{token}/tab/{session}", routes=of_a_tab),
        ],
        exception_handlers={HTTPException: _refused},
    )
    app.state.sessions = sessions
    return app


async def _refused(request: Request, error: Any) -> Response:
    """Answer why a request makes no sense; the page shows it."""
    return JSONResponse({"error": error.detail}, status_code=error.status_code)


def _session(request: Request) -> Session:
    found: Session | None = request.app.state.sessions.get(request.path_params["session"])
    if found is None:
        raise HTTPException(410, _AWAY)
    found.hear()
    return found


async def _new(request: Request) -> Response:
    return RedirectResponse(f"tab/{request.app.state.sessions.new()}/", status_code=303)


async def _page(request: Request) -> Response:
    if request.app.state.sessions.get(request.path_params["session"]) is None:
        return RedirectResponse("../../", status_code=303)
    return _shipped("app", "page.html")


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    package = "report" if name == "report.css" else "app"
    names = {entry.name for entry in resources.files("robscore").joinpath(package, "assets").iterdir()}
    return _shipped(package, name) if name in names else Response(status_code=404)


def _shipped(package: str, name: str) -> Response:
    content = resources.files("robscore").joinpath(package, "assets", name).read_bytes()
    return Response(content, media_type=_MEDIA_TYPES[Path(name).suffix])


async def _state(request: Request) -> Response:
    return JSONResponse(_session(request).shown())


async def _data(request: Request) -> Response:
    session = _session(request)

    async def pieces() -> Any:
        async for piece in request.stream():
            session.hear()  # a large file takes a while
            yield piece

    name, expected = request.query_params.get("name", "data"), request.headers.get("content-length", "0")
    try:
        file = await receive(pieces(), name, session.folder, int(expected) if expected.isdecimal() else 0)
    except ClientDisconnect:
        return Response(status_code=400)  # nobody is there to read it
    except OSError as error:
        raise HTTPException(507, f"The file cannot be stored: {error.strerror or error}") from None
    await session.take(file)
    return JSONResponse(session.shown())


async def _start(request: Request) -> Response:
    session, task = _session(request), request.path_params["task"]
    if task not in ("look", "fit") or session.file is None:
        raise HTTPException(400, "There is no file yet; choose one.")
    await session.start(task, await _form(request))
    return JSONResponse(session.shown())


async def _form(request: Request) -> Any:
    """Return the options that were sent; the worker says what is wrong with them."""
    sent = b""
    async for piece in request.stream():
        sent += piece
        if len(sent) > _LONGEST_FORM:
            raise HTTPException(413, "There are too many settings.")
    try:
        return json.loads(sent)
    except ValueError:
        raise HTTPException(400, "The settings are not JSON.") from None


async def _stop(request: Request) -> Response:
    session = _session(request)
    await session.stop()
    return JSONResponse(session.shown())


async def _leave(request: Request) -> Response:
    _session(request).left = time.monotonic()
    return Response(status_code=204)


async def _read(request: Request) -> Response:
    session = _session(request)
    if session.read is None:
        raise HTTPException(404, "Nothing was read yet.")
    return JSONResponse(session.read.answer())


def _job(request: Request) -> Job:
    found = _session(request).fits.get(request.path_params["number"])
    if found is None:
        raise HTTPException(404, "There is no such fit.")
    return found


async def _fit(request: Request) -> Response:
    return JSONResponse(_job(request).answer())


async def _one(request: Request) -> Response:
    """Send a file of results by its name: the report to be read, or any file to be kept."""
    name = request.path_params["name"]
    path = {path.name: path for path in (_job(request).folder / RESULTS).iterdir()}.get(name)
    if path is None:
        raise HTTPException(404, "There is no such file.")
    if name == "report.html" and "keep" not in request.query_params:
        return FileResponse(path, headers={"content-security-policy": REPORT_POLICY})
    return FileResponse(path, filename=name, media_type="application/octet-stream")


async def _all(request: Request) -> Response:
    return await all_of(_job(request))


async def all_of(job: Job) -> Response:
    """Send all files of results in one archive."""
    archive = job.folder / ARCHIVE
    if not archive.is_file():
        await asyncio.to_thread(_pack, job.folder / RESULTS, archive)
    return FileResponse(archive, filename=ARCHIVE, media_type="application/zip")


def _pack(folder: Path, archive: Path) -> None:
    part = archive.with_name(f"{secrets.token_hex(8)}.part")  # others may be packing the same
    try:
        with zipfile.ZipFile(part, "x", zipfile.ZIP_DEFLATED) as packed:
            for path in sorted(folder.iterdir()):
                packed.write(path, f"{_FOLDER_IN_ARCHIVE}/{path.name}")
        part.replace(archive)
    finally:
        part.unlink(missing_ok=True)
