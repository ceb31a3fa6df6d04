"""A file on its way from the browser to the disk, a piece at a time; its name is never a path."""

from __future__ import annotations

import asyncio
import re
import secrets
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from robscore._tools.messages import clipped, visible

_AT_ONCE = 1 << 20  # guards memory only: bytes that are held before they are written
_SPARE = 64 << 20  # bytes of the disk that are left alone
_ENDING = re.compile(r"((?:\.[a-z0-9]{1,8}){0,2})\Z")
_LONGEST_NAME = 120


@dataclass(frozen=True)
class UploadedFile:
    """A file of a tab: where it is, what it is called in messages and results, and how many bytes it has."""

    path: Path
    name: str
    size: int


class NoRoomError(OSError):
    """The disk cannot take the file."""


def display_name(name: str) -> str:
    r"""Return what a file is called in messages and results: its name without folders and control characters.

    Examples
    --------
    >>> display_name("rain.csv"), display_name("..\\..\\etc/pass\x1bwd"), display_name("../")
    ('rain.csv', 'pass\\x1bwd', 'data')
    """
    last = clipped(visible(re.split(r"[\\/]", name)[-1].strip()), _LONGEST_NAME)
    return last if last.strip(".") else "data"


def stored_as(name: str) -> str:
    """Return the name that a file is stored under: one that nobody can guess, with the ending by which files are read.

    Examples
    --------
    >>> stored_as("../rain.CSV.gz")[32:], stored_as("<b>.p'df")[32:]
    ('.csv.gz', '')
    """
    found = _ENDING.search(name.lower())
    return secrets.token_hex(16) + (found[1] if found else "")


async def receive(pieces: AsyncIterator[bytes], name: str, folder: Path, expected: int = 0) -> UploadedFile:
    """Write what the browser sends to a new file in a folder; nothing is left of it if the end does not arrive.

    Parameters
    ----------
    pieces : the bytes of the file, piece by piece
    name : as the browser calls it
    folder : Path
    expected : bytes that were announced, 0 where that is not known
    """
    if expected > shutil.disk_usage(folder).free - _SPARE:
        raise NoRoomError(f"{display_name(name)} has {expected >> 20} MB, more than the disk of {folder} can take.")
    path = folder / stored_as(name)
    size, held = 0, bytearray()
    try:
        with path.open("xb") as file:
            async for piece in pieces:
                held += piece
                size += len(piece)
                if len(held) >= _AT_ONCE:
                    await asyncio.to_thread(file.write, bytes(held))
                    held.clear()
            file.write(held)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return UploadedFile(path, display_name(name), size)
