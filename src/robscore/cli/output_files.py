"""What a command may write: never its inputs, and of other files it replaces only those that it wrote earlier."""

from __future__ import annotations

import csv
import io
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import typer

from robscore._tools.files import write_whole_together
from robscore._tools.messages import first_few
from robscore.cli.console import BAD_DATA, stop
from robscore.cli.signals import clearing_away

Recognise: TypeAlias = Callable[[Path], bool]
"""Tells whether a file is one that the command wrote earlier."""

_HEAD = 1 << 20  # guards memory only: bytes of a file that are looked at
_FORMULA = re.compile(r"[\t\r\n]|\s*[=+\-@＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)


class OverwriteError(ValueError):
    """A file in the way that must not be lost."""


@dataclass(frozen=True)
class OutputFiles:
    """The files that a command writes, all or none.

    Attributes
    ----------
    folder : where
    outputs : by the name of each file, how to recognise one that the command wrote earlier
    inputs : files that the command reads, by what they are called
    force : whether files other than earlier results may be replaced; inputs never are
    """

    folder: Path
    outputs: Mapping[str, Recognise]
    inputs: Mapping[str, Path | None] = field(default_factory=dict)
    force: bool = False

    @contextmanager
    def prepared(self) -> Iterator[None]:
        """Check, before any work, that all can be written; a folder created here is removed if nothing is."""
        with clearing_away(), _created(self.folder):
            self.check()
            yield

    def check(self) -> None:
        """Raise if something that must not be lost is in the way."""
        paths = [self.folder / name for name in self.outputs]
        for path in paths:
            for what, given in self.inputs.items():
                if given is not None and _same(path, given):
                    raise OverwriteError(f"{path} is {what}, which robscore never overwrites; choose another --out.")
            if os.path.lexists(path) and not path.is_file() and not path.is_symlink():
                raise OverwriteError(f"{path} is in the way and is not a file; choose another --out, or move it.")
        if self.force:
            return
        foreign = [path for path in paths if os.path.lexists(path) and not self._is_ours(path)]
        if foreign:
            raise OverwriteError(
                f"{first_few([str(path) for path in foreign])} would be replaced, but robscore did not write "
                f"{'it' if len(foreign) == 1 else 'them'}; choose another --out, or pass --force to replace."
            )

    def _is_ours(self, path: Path) -> bool:
        try:
            return path.is_file() and self.outputs[path.name](path)
        except (OSError, ValueError):
            return False

    def ask(self) -> None:
        """On a terminal, ask before results of an earlier run are replaced; elsewhere they are, as the help says."""
        earlier = [name for name in self.outputs if (self.folder / name).is_file()]
        if self.force or not earlier or not (sys.stdin.isatty() and sys.stderr.isatty()):
            return
        if not typer.confirm(f"{self.folder} holds earlier results; replace them?", default=True, err=True):
            stop("Nothing was written; choose another --out.", code=BAD_DATA)

    def write(self, contents: Mapping[str, str | bytes]) -> None:
        """Write the files, all or none, and only over what may be replaced."""
        self.check()
        write_whole_together({self.folder / name: content for name, content in contents.items()})


def _same(path: Path, other: Path) -> bool:
    """Return whether two names are of one file, by whatever links."""
    try:
        return path.samefile(other)
    except OSError:
        return False


@contextmanager
def _created(folder: Path) -> Iterator[None]:
    created = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=folder):
                pass
        except OSError as error:
            why = f"({error.strerror}); choose another folder with --out."
            raise ValueError(f"Cannot write to {folder} {why}") from None
        yield
    except BaseException:
        for parent in created:
            if parent.is_dir() and not any(parent.iterdir()):
                parent.rmdir()
        raise


def begins_with(pattern: bytes) -> Recognise:
    """Recognise files by their beginning, a regular expression."""
    compiled = re.compile(pattern)

    def is_ours(path: Path) -> bool:
        with path.open("rb") as file:
            return compiled.match(file.read(_HEAD)) is not None

    return is_ours


is_report = begins_with(
    rb"(?s)<!doctype html>.{0,400}?"
    rb"(<meta name=\"generator\" content=\"robscore |default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe)"
)
"""Whether a page is a report."""


def is_exactly(content: str) -> Recognise:
    """Recognise files that hold just this, of which nothing is lost."""

    def is_ours(path: Path) -> bool:
        with path.open("rb") as file:
            return file.read(len(content.encode()) + 1) == content.encode()

    return is_ours


def csv_text(header: Sequence[str], rows: Any) -> str:
    r"""Return a table as CSV, numbers to the last bit.

    Text that a spreadsheet would take for a formula is prefixed with an apostrophe.

    Examples
    --------
    >>> csv_text(("name", "value"), [("=1+1", -0.5), ("-7", 1)])
    "name,value\n'=1+1,-0.5\n-7,1\n"
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([escaped_formula(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return text.getvalue()


def escaped_formula(cell: str) -> str:
    """Return text that no spreadsheet runs: a formula gets an apostrophe before it; numbers stay as they are."""
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.match(cell) else cell


def data_csv(names: Sequence[str], values: Any, labels: Sequence[str] | None = None, label_name: str = "") -> str:
    """Return a data set as CSV text, numbers to the last bit, with labels of the rows in a column before it."""
    if labels is None:
        return csv_text(names, values.tolist())
    rows = ([label, *row] for label, row in zip(labels, values.tolist(), strict=True))
    return csv_text([label_name, *names], rows)
