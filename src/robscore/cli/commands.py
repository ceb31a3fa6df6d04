"""All commands, under the one name ``robscore``."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import Annotated

try:
    import typer
except ImportError:  # pragma: no cover - depends on what is installed
    print("The command line needs a few more libraries: pip install 'robscore[cli,plot]'", file=sys.stderr)
    raise SystemExit(1) from None

from robscore._version import __version__
from robscore.cli.app_command import page
from robscore.cli.console import BAD_ARGUMENTS, BAD_DATA, INTERRUPTED, print_reason
from robscore.cli.demo_command import demo
from robscore.cli.experiment_commands import bench, reproduce
from robscore.cli.fit_command import fit
from robscore.cli.report_command import report
from robscore.cli.simulate_command import simulate

app = typer.Typer(
    no_args_is_help=True,
    add_completion=True,
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
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Sparse graphs from data with bad rows: which variables depend directly on which.

    Start with **robscore demo**, then **robscore fit your-data.csv**, or **robscore app** for a page in the browser.

    Exit codes: 0 done, 1 the data, a file or a setting cannot be used, 2 the command cannot be understood, 130
    stopped by Ctrl-C, 143 by SIGTERM.
    """


for command in (demo, fit, report, simulate, reproduce, bench):
    app.command(no_args_is_help=command in (fit, report, reproduce))(command)
app.command(name="app")(page)


def run() -> int:
    """Run the command that was typed; its exit code. What cannot be understood is answered in one line too."""
    try:
        _escape_unprintable()
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except typer.Abort:
        return INTERRUPTED
    except KeyboardInterrupt as ended:
        print_reason("Stopped.")
        return getattr(ended, "code", INTERRUPTED)
    except OSError as error:  # from the standard output; the commands themselves deal with others
        if "--debug" in sys.argv:
            raise
        _discard_output()
        if isinstance(error, BrokenPipeError):  # the program that reads it, such as head, has seen enough
            return 0
        print_reason(f"Cannot write to the standard output ({error.strerror or error}).")
        return BAD_DATA
    except Exception as error:
        if not hasattr(error, "format_message"):  # not a complaint about the command line
            raise
        if type(error).__name__ == "NoArgsIsHelpError":  # the help has been shown
            return BAD_ARGUMENTS
        where = getattr(getattr(error, "ctx", None), "command_path", "robscore")
        print_reason(f"{error.format_message().rstrip('.')}. See {where} --help.")
        return BAD_ARGUMENTS
    return code if isinstance(code, int) else 0


def _escape_unprintable() -> None:
    """Write what the terminal cannot show, such as a name of a column, as an escape rather than fail."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """Drop what is still to be written: it would fail again when the process ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
