"""Files that are compressed: opened as what is in them, by how their name ends."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
from pathlib import Path
from typing import Any

from robscore._tools.messages import first_few, shown
from robscore.cli.reading.result import DataFileError

PACKED = (".gz", ".bz2", ".xz", ".zip")
BROKEN = (lzma.LZMAError, zipfile.BadZipFile, gzip.BadGzipFile)


def raw(path: Path) -> Any:
    """The bytes of a file, unpacked as they are read."""
    ending = path.suffix.lower()
    if ending == ".zip":
        archive = zipfile.ZipFile(path)
        try:
            return archive.open(_only_member(path, archive))
        except RuntimeError:
            raise DataFileError(f"{path} needs a password; unpack it first.") from None
    opener: Any = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}.get(ending, open)
    return opener(path, "rb")


def inner_ending(path: Path) -> str:
    """How the name of what is in a file ends, in small letters: .csv of data.csv.gz, and of data.zip with x.csv."""
    endings = [suffix.lower() for suffix in path.suffixes]
    if endings and endings[-1] == ".zip":
        with zipfile.ZipFile(path) as archive:
            return Path(_only_member(path, archive).filename).suffix.lower()
    packed = len(endings) > 1 and endings[-1] in PACKED
    return endings[-2] if packed else endings[-1] if endings else ""


def _only_member(path: Path, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    members = [one for one in archive.infolist() if not one.is_dir() and not one.filename.startswith("__MACOSX/")]
    if len(members) != 1:
        held = first_few([shown(one.filename) for one in members]) if members else "nothing"
        raise DataFileError(f"{path} must hold one file, but it holds {held}; unpack the one you want.")
    return members[0]
