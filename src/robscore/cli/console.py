"""What every command does the same way: errors in one line, progress, Ctrl-C, and the library's words in options."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer

BAD_DATA, BAD_ARGUMENTS, UNEXPECTED, INTERRUPTED = 1, 2, 70, 130

# Arguments of the library and what they are called here.
_OPTIONS = {
    "alpha": "alpha",
    "contamination": "contamination",
    "family": "family",
    "missing": "missing",
    "n_blocks": "n-blocks",
    "n_edges": "edges",
    "n_jobs": "jobs",
    "random_state": "seed",
    "scale": "scale",
    "select": "select",
}
_ARGUMENT = re.compile(rf"\b({'|'.join(_OPTIONS)})=('[^']*'|\"[^\"]*\"|[\w.+-]*\w)")


def in_options(message: str) -> str:
    """A message of the library in the words of the command line: ``missing='drop'`` becomes ``--missing drop``."""
    message = _ARGUMENT.sub(_as_option, message)
    message = re.sub(r"\(first in row (\d+)\)", lambda found: f"(first in data row {int(found[1]) + 1})", message)
    for theirs, ours in (
        ("Input X contains NaN", "The data have missing values"),
        ("Input X contains infinity", "The data contain infinity"),
        ("in data passed to RobustGraph", "in the data"),
        ("Data passed to RobustGraph hold", "The data hold"),
        ("Pass --missing", "Say --missing"),
        ("pass --scale", "say --scale"),
        ("shuffle=True", "--shuffle"),
        ("fit_location=False", "--set fit_location=false"),
        (", or an object of rs.families", ""),
        ("a diagonal_multiplier", "--set diagonal_multiplier=0.1"),
        ("raise max_iter", "say --set max_iter=100000"),
        ("lower alpha_min_ratio", "say --set alpha_min_ratio=0.0001"),
        ("raise max_edges", "say --set max_edges=NUMBER"),
        (" and these penalty_weights", ""),
    ):
        message = message.replace(theirs, ours)
    return " ".join(message.split())


def _as_option(found: re.Match[str]) -> str:
    value = found[2].strip("'\"")
    return f"--{_OPTIONS[found[1]]} {'none' if value == 'None' else value}"


def stop(message: str, *, code: int) -> NoReturn:
    """Say what is wrong in one line and leave."""
    typer.echo(f"robscore: {in_options(message)}", err=True)
    raise typer.Exit(code)


def note(message: str) -> None:
    """Say something that is not part of the result."""
    typer.echo(f"note: {in_options(message)}", err=True)


@contextmanager
def guarded(
    title: str, *, debug: bool, interrupted: str = "Stopped; nothing was written.", time_left: bool = False
) -> Iterator[None]:
    """Run a command's work: progress on a terminal, one line for an error, and the traceback only if asked for."""
    from robscore._tools.progress import ProgressLine, watched_by

    try:
        with ProgressLine(title, time_left=time_left) as line, watched_by(line.tell):
            yield
    except KeyboardInterrupt:
        stop(interrupted, code=INTERRUPTED)
    except (typer.Exit, typer.BadParameter):
        raise
    except Exception as error:
        if debug:
            raise
        if isinstance(error, MemoryError):
            stop(f"There is not enough memory ({error}); take fewer columns with --columns.", code=BAD_DATA)
        if isinstance(error, ValueError | TypeError | OSError | ImportError):
            stop(_words(error), code=BAD_DATA)
        stop(f"Unexpected {type(error).__name__}: {error}. Run again with --debug and report it.", code=UNEXPECTED)


def _words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    return str(error)


@contextmanager
def warnings_kept() -> Iterator[list[str]]:
    """Warnings within are not shown but kept, each once, in the words of the command line."""
    kept: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield kept
        finally:
            kept += list(dict.fromkeys(in_options(str(warning.message)) for warning in caught))


def whole_number(value: str, option: str) -> int:
    """An option's value as a whole number."""
    try:
        return int(value)
    except ValueError:
        raise typer.BadParameter(f"{value!r} is not a whole number.", param_hint=option) from None


def as_value(text: str) -> Any:
    """A value given as text: a number, true, false, none, or the text itself."""
    known = {"true": True, "false": False, "none": None}
    if text.lower() in known:
        return known[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
