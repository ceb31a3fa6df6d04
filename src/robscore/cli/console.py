"""What every command does the same way: errors in one line, progress, the end by Ctrl-C, warnings that are kept."""

from __future__ import annotations

import errno
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, NoReturn

import typer

from robscore._tools.messages import clipped, visible

BAD_DATA, BAD_ARGUMENTS, UNEXPECTED, INTERRUPTED = 1, 2, 70, 130
_LONGEST = 1000  # characters of a message, however long the names in it are

# Options that mean the same for every command.
Debug = Annotated[bool, typer.Option("--debug", metavar="", help="Show the full traceback of an error.")]
Force = Annotated[bool, typer.Option("--force", metavar="", help="Replace files that robscore did not write.")]


def stop(message: str, *, code: int) -> NoReturn:
    """Print in one line what is wrong, and leave."""
    print_reason(message)
    raise typer.Exit(code)


def print_reason(message: str) -> None:
    """Print in one line why the command ends."""
    _to_stderr(f"robscore: {_one_line(message)}")


def print_note(message: str) -> None:
    """Print, beside the result, what was detected or is to be known about it."""
    _to_stderr(f"note: {_one_line(message)}")


def print_result(text: str) -> None:
    """Print lines of a result on the standard output."""
    typer.echo("\n".join(visible(line) for line in text.split("\n")))


def _to_stderr(line: str) -> None:
    with suppress(OSError):  # the reader of the standard error has closed it
        print(line, file=sys.stderr, flush=True)


def _one_line(message: str) -> str:
    return visible(clipped(" ".join(message[: 2 * _LONGEST].split()), _LONGEST))


@contextmanager
def guarded(
    title: str,
    *,
    debug: bool,
    interrupted: str = "Stopped; nothing was written.",
    time_left: bool = False,
    quiet: bool = False,
) -> Iterator[None]:
    """Run a command's work: progress on a terminal, one line for an error, and the traceback only on request."""
    from robscore._tools.progress import ProgressLine, watched_by

    try:
        with ProgressLine(title, time_left=time_left, shown=not quiet) as line, watched_by(line.announce):
            yield
    except KeyboardInterrupt as ended:
        stop(interrupted, code=getattr(ended, "code", INTERRUPTED))
    except (typer.Exit, typer.BadParameter):
        raise
    except Exception as error:
        if debug:
            raise
        if isinstance(error, MemoryError):
            stop(f"There is not enough memory ({error}); take fewer columns with --columns.", code=BAD_DATA)
        if isinstance(error, ValueError | TypeError | OSError | ImportError):
            stop(message_of(error), code=BAD_DATA)
        stop(f"Unexpected {type(error).__name__}: {error}. Run again with --debug and report it.", code=UNEXPECTED)


def message_of(problem: Exception) -> str:
    """Return an error or a warning in one line, with options in place of arguments where it carries these as facts."""
    from robscore._tools.messages import Message
    from robscore.cli.command_options import in_options

    message = getattr(problem, "message", None)
    if isinstance(message, Message):
        return _one_line(message.worded(in_options))
    if isinstance(problem, OSError) and problem.strerror:
        where = f"{problem.filename}: " if problem.filename else ""
        if problem.errno in (errno.ENOSPC, errno.EDQUOT):
            return f"{where}the disk is full, so nothing was written; make room, or choose another folder with --out."
        return f"{where}{problem.strerror}."
    return _one_line(str(problem))


@contextmanager
def warnings_kept() -> Iterator[list[str]]:
    """Keep warnings within instead of showing them, each once, worded for the command line."""
    kept: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield kept
        finally:
            kept += list(dict.fromkeys(_kept(warning.message) for warning in caught))


def _kept(warning: Warning | str) -> str:
    return warning if isinstance(warning, str) else message_of(warning)
