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
from robscore.cli.bench import bench
from robscore.cli.console import BAD_ARGUMENTS, INTERRUPTED
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

    Exit codes: 0 done, 1 the data, a file or a setting cannot be used, 2 the command cannot be understood, 130
    stopped by Ctrl-C.
    """


for command in (demo, fit, report, simulate, reproduce, bench):
    app.command(no_args_is_help=command in (fit, report, reproduce))(command)


def main() -> None:
    """The entry point; what cannot be understood is answered in one line too."""
    try:
        code = app(standalone_mode=False)
    except typer.Abort:
        code = INTERRUPTED
    except Exception as error:
        if not hasattr(error, "format_message"):  # not a complaint about the command line
            raise
        where = getattr(getattr(error, "ctx", None), "command_path", "robscore")
        print(f"robscore: {' '.join(error.format_message().split())} See {where} --help.", file=sys.stderr)
        code = BAD_ARGUMENTS
    sys.exit(code if isinstance(code, int) else 0)
