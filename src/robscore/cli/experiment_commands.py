"""``robscore reproduce`` and ``robscore bench``: the paper's experiments, and comparisons with other programs."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Annotated

import typer

from robscore.cli.console import BAD_ARGUMENTS, BAD_DATA, INTERRUPTED, Debug, guarded, print_result, stop
from robscore.cli.signals import clearing_away


def reproduce(
    name: Annotated[str | None, typer.Argument(help="Which experiment; see --list.")] = None,
    *,
    list_all: Annotated[bool, typer.Option("--list", help="Show all experiments and exit.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A small version, done within half a minute.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes; the results do not depend on it.")] = 1,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**32 - 1, help="Random seed.")] = 0,
    out: Annotated[Path, typer.Option("--out", help="Folder for results; an interrupted run resumes.")] = Path(
        "results"
    ),
    ecad: Annotated[
        Path | None,
        typer.Option("--ecad", help="For alps: ECA&D's ECA_blend_rr.zip, or the unpacked folder."),
    ] = None,
    debug: Debug = False,
) -> None:
    """Run an experiment of the paper and write its CSV, figure and a line of text.

    Example: robscore reproduce roc-sqrt --quick --jobs 2
    """
    from robscore._tools.progress import announce
    from robscore.paper import EXPERIMENTS, InterruptedRunError
    from robscore.paper import reproduce as run
    from robscore.paper.alps import Alps

    if list_all or name is None:
        width = max(map(len, EXPERIMENTS))
        for experiment in EXPERIMENTS.values():
            typer.echo(f"{experiment.name:<{width}}  {experiment.title} ({experiment.source})")
        return
    if name not in EXPERIMENTS:
        stop(f"{name!r} is not an experiment; use one of {', '.join(EXPERIMENTS)}.", code=BAD_ARGUMENTS)
    if ecad is not None and name != "alps":
        stop(f"--ecad is for alps, not for {name}.", code=BAD_ARGUMENTS)
    experiment = EXPERIMENTS[name] if ecad is None else Alps(ecad=str(ecad))

    def progress(done: int, total: int) -> None:
        announce("repetition", done, total)

    with guarded(f"robscore reproduce {name}", debug=debug, time_left=True), clearing_away():
        try:
            report = run(experiment, quick=quick, jobs=jobs, seed=seed, out=out, progress=progress)
        except InterruptedRunError as stopped:
            stop(str(stopped), code=INTERRUPTED)
    print_result(report.text)
    print_result(f"Table:  {report.csv}\nFigure: {report.figure}")


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
