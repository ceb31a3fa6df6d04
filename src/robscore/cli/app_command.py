"""``robscore app``: the same fit on a page in the browser, served from this machine."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from robscore.cli.console import Debug, guarded, print_result
from robscore.cli.signals import clearing_away

_CHILD = (sys.executable, "-m", "robscore.cli.worker")


def page(
    *,
    port: Annotated[
        int,
        typer.Option(
            "--port", min=0, max=65535, help="Where to listen. [default: any that is free]", show_default=False
        ),
    ] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address only.")] = False,
    debug: Debug = False,
) -> None:
    """Open a page on which to choose a file, fit and read the report, without typing.

    It is served from this machine to this machine only. Files that are dropped on it are kept in a folder of their
    own, and removed when the tab is closed or the command ends (Ctrl-C).

    Example: robscore app
    """
    with guarded("robscore app", debug=debug, interrupted="Ended; its files are removed.", quiet=True):
        from robscore._tools.optional import require

        for library in ("starlette", "uvicorn", "pandas", "networkx"):
            require(library)
        from robscore.app.server import serve

        with clearing_away():
            serve(_CHILD, ready=_print_address if no_browser else _open, port=port)


def _print_address(address: str, leading: Path) -> None:
    print_result(f"Open {address}\nCtrl-C ends it.")
    with suppress(OSError):
        sys.stdout.flush()


def _open(address: str, leading: Path) -> None:
    _print_address(address, leading)
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return  # there is no screen to open a browser on
    with suppress(Exception):  # the address has been printed
        typer.launch(str(leading))
