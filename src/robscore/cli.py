"""``robscore`` on the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

try:
    import typer
except ImportError:  # pragma: no cover - depends on what is installed
    print("The command line needs a few more libraries: pip install 'robscore[cli,plot]'", file=sys.stderr)
    raise SystemExit(1) from None

app = typer.Typer(
    help="Sparse graphs from data with bad rows in it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def about() -> None:
    """Sparse graphs from data with bad rows in it."""


@app.command(no_args_is_help=True)
def reproduce(
    name: Annotated[str | None, typer.Argument(help="Which experiment; see --list.")] = None,
    *,
    list_all: Annotated[bool, typer.Option("--list", help="Show all experiments and leave.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A small version, done within half a minute.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes; the results do not depend on it.")] = 1,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**32 - 1, help="Seed of all random numbers.")] = 0,
    out: Annotated[Path, typer.Option("--out", help="Folder for results; a run goes on where it stopped.")] = Path(
        "results"
    ),
    ecad: Annotated[
        Path | None,
        typer.Option("--ecad", help="For alps: ECA&D's ECA_blend_rr.zip, or the unpacked folder."),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the whole traceback of an error.")] = False,
) -> None:
    """Run an experiment of the paper and write its CSV, figure and a line of text.

    Example: robscore reproduce roc-sqrt --quick --jobs 2
    """
    from robscore.paper import EXPERIMENTS, InterruptedRunError
    from robscore.paper import reproduce as run
    from robscore.paper.alps import Alps

    if list_all or name is None:
        width = max(map(len, EXPERIMENTS))
        for experiment in EXPERIMENTS.values():
            typer.echo(f"{experiment.name:<{width}}  {experiment.title} ({experiment.source})")
        return
    if name not in EXPERIMENTS:
        _stop(f"{name!r} is not an experiment; use one of {', '.join(EXPERIMENTS)}.", code=2)
    if ecad is not None and name != "alps":
        _stop(f"--ecad is for alps, not for {name}.", code=2)
    experiment = EXPERIMENTS[name] if ecad is None else Alps(ecad=str(ecad))
    try:
        with _Progress(name) as progress:
            report = run(experiment, quick=quick, jobs=jobs, seed=seed, out=out, progress=progress.update)
    except InterruptedRunError as stopped:
        _stop(str(stopped), code=130)
    except (ValueError, OSError, ImportError) as error:
        if debug:
            raise
        _stop(str(error), code=1)
    typer.echo(report.text)
    typer.echo(f"Table:  {report.csv}\nFigure: {report.figure}")


def _stop(message: str, *, code: int) -> Any:
    """Say what is wrong in one line and leave."""
    typer.echo(f"robscore: {message}", err=True)
    raise typer.Exit(code)


class _Progress:
    """A bar with the time left, on a terminal only."""

    def __init__(self, title: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
            transient=True,
            speed_estimate_period=3600,  # repetitions may take minutes
        )
        self.task = self.bar.add_task(title, total=None)

    def __enter__(self) -> _Progress:
        self.bar.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.bar.__exit__(*error)

    def update(self, done: int, total: int) -> None:
        """So many repetitions of all are done."""
        self.bar.update(self.task, completed=done, total=total)


def main() -> None:
    """The entry point."""
    app()
