"""Files that are there whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a text file in one step: whoever looks finds the old one, the new one, or none."""
    write_whole_together({path: text})


def write_whole_together(texts: dict[Path, str]) -> None:
    """Write several text files; none appears under its name before all are written."""
    parts: dict[Path, str] = {}
    for folder in {path.parent for path in texts}:
        if not folder.is_dir():
            raise FileNotFoundError(errno.ENOENT, "the folder does not exist", str(folder))
    try:
        for path, text in texts.items():
            handle, part = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
            parts[path] = part
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            os.chmod(part, 0o666 & ~_umask())
        for path, part in parts.items():
            os.replace(part, path)
    finally:
        for part in parts.values():
            if os.path.exists(part):
                os.unlink(part)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
