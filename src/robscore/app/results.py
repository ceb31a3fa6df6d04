"""What a fit wrote, to read or to take away: one file, or all of them in one."""

from __future__ import annotations

import asyncio
import secrets
import zipfile
from pathlib import Path

from starlette.responses import FileResponse, Response

from robscore.app.guard import REPORT_POLICY
from robscore.app.jobs import RESULTS, Job

ALL, _INSIDE = "robscore-results.zip", "robscore-results"
_REPORT = "report.html"


def one(job: Job, name: str, *, to_keep: bool) -> Response | None:
    """A file by its name, among those that there are; the report to read, or any to keep."""
    files = {path.name: path for path in (job.folder / RESULTS).iterdir()}
    if name not in files:
        return None
    if name == _REPORT and not to_keep:
        return FileResponse(files[name], headers={"content-security-policy": REPORT_POLICY})
    return FileResponse(files[name], filename=name, media_type="application/octet-stream")


async def all_of(job: Job) -> Response:
    """All files in one archive."""
    archive = job.folder / ALL
    if not archive.is_file():
        await asyncio.to_thread(_pack, job.folder / RESULTS, archive)
    return FileResponse(archive, filename=ALL, media_type="application/zip")


def _pack(folder: Path, archive: Path) -> None:
    part = archive.with_name(f"{secrets.token_hex(8)}.part")  # others may be packing the same
    try:
        with zipfile.ZipFile(part, "x", zipfile.ZIP_DEFLATED) as packed:
            for path in sorted(folder.iterdir()):
                packed.write(path, f"{_INSIDE}/{path.name}")
        part.replace(archive)
    finally:
        part.unlink(missing_ok=True)
