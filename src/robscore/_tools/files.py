"""Files that are written completely or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

_CANNOT_SYNC = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)  # of some disks on networks, which is no failure


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file atomically: a reader finds the old one, the new one, or none."""
    write_whole_together({path: content})


def write_whole_together(contents: Mapping[Path, str | bytes]) -> None:
    """Write several files, all of them or none.

    None appears under its name before all are written. If one cannot be put in its place, or the work is interrupted,
    those before it are undone and the earlier files restored. An error names the file.
    """
    for path in contents:
        if not path.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "the folder does not exist", str(path.parent))
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "a folder of this name is in the way", str(path))
    parts: dict[Path, Path] = {}
    try:
        for path, content in contents.items():
            parts[path] = _beside(path, "part")
            with _named(path):
                _fill(parts[path], content.encode("utf-8") if isinstance(content, str) else content)
        _put_in_place(parts)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


def _beside(path: Path, ending: str) -> Path:
    """Return an unused name in the same folder: files can be renamed at once only within one disk."""
    return path.with_name(f".{path.name[:40]}.{secrets.token_hex(6)}.{ending}")


def _fill(part: Path, content: bytes) -> None:
    """Write a new file, with the permissions of the user's umask, which is on the disk when this returns.

    Disks may rename first and write later: after a power cut an empty file would have the final name.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(part, flags, 0o666), "wb") as file:
        file.write(content)
        file.flush()
        try:
            os.fsync(file.fileno())
        except OSError as error:
            if error.errno not in _CANNOT_SYNC:
                raise


def _put_in_place(parts: dict[Path, Path]) -> None:
    """Give all files their names; where that fails midway, undo what was done."""
    former: dict[Path, Path] = {}
    try:
        for path in parts:
            if os.path.lexists(path):
                former[path] = _beside(path, "old")
                with _named(path):
                    _keep(path, former[path])
        for path, part in parts.items():
            with _named(path):
                os.replace(part, path)
    except BaseException:
        for path, part in parts.items():
            if not os.path.lexists(part):  # renamed already, so it is in its place
                with suppress(OSError):
                    os.replace(former.pop(path), path) if path in former else path.unlink()
        raise
    finally:
        for old in former.values():
            old.unlink(missing_ok=True)


def _keep(path: Path, old: Path) -> None:
    """Give a file a second name, or copy it where the disk knows no second names."""
    try:
        os.link(path, old, follow_symlinks=False)
    except (OSError, NotImplementedError):
        shutil.copy2(path, old, follow_symlinks=False)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Let errors inside name the file as the user knows it, not its temporary name."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None
