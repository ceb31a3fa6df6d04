"""``robscore bench``: the benchmarks of a source checkout."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Annotated

import typer

from robscore.cli.console import BAD_ARGUMENTS, BAD_DATA, INTERRUPTED, stop
from robscore.cli.signals import clearing_away


def bench(
    names: Annotated[list[str] | None, typer.Argument(help="Which benchmarks; see --list.", show_default=False)] = None,
    *,
    list_all: Annotated[bool, typer.Option("--list", help="Say what each benchmark shows and exit.")] = False,
) -> None:
    """Speed, memory and accuracy compared with other programs; only in a source checkout of robscore.

    Example: robscore bench rivals_speed growth
    """
    here = Path.cwd()
    if not all((here / part).is_file() for part in ("benchmarks/__main__.py", "src/robscore/__init__.py")):
        stop(
            "The benchmarks are part of the source checkout, and this folder is not one: git clone robscore's "
            "repository, then run `make bench` or `robscore bench` in it.",
            code=BAD_DATA,
        )
    if str(here) not in sys.path:
        sys.path.insert(0, str(here))
    benchmarks = importlib.import_module("benchmarks.__main__")
    if unknown := set(names or ()) - set(benchmarks.NAMES):
        known = ", ".join(benchmarks.NAMES)
        stop(f"{', '.join(sorted(unknown))} is not a benchmark; use any of {known}.", code=BAD_ARGUMENTS)
    try:
        with clearing_away():
            benchmarks.run(names or benchmarks.NAMES, only_list=list_all)
    except KeyboardInterrupt:
        stop("Stopped.", code=INTERRUPTED)
