"""``robscore`` on the command line: one file a command; heavy libraries are loaded when a command runs."""

from __future__ import annotations

import sys
from typing import Annotated

try:
    import typer
except ImportError:  # pragma: no cover - depends on what is installed
    print("The command line needs a few more libraries: pip install 'robscore[cli,plot]'", file=sys.stderr)
    raise SystemExit(1) from None

from robscore._version import __version__
from robscore.cli.demo import demo
from robscore.cli.fit import fit
from robscore.cli.report import report
from robscore.cli.reproduce import reproduce
from robscore.cli.simulate import simulate

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it so
    if wanted:
        typer.echo(f"robscore {__version__}")
        raise typer.Exit


@app.callback()
def about(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Sparse graphs from data with bad rows in it: which variables depend directly on which.

    Start with **robscore demo**, then **robscore fit your-data.csv**.

    Exit codes: 0 done, 1 the data or a file cannot be used, 2 wrong arguments, 130 stopped by Ctrl-C.
    """


for command in (demo, fit, report, simulate, reproduce):
    app.command(no_args_is_help=command in (fit, report, reproduce))(command)


def main() -> None:
    """The entry point."""
    app()
