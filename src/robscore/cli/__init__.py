"""``robscore`` on the command line: one file per command; heavy libraries are loaded when a command runs."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # until signals are heeded, loading a library is time in which Ctrl-C shows a traceback
if TYPE_CHECKING:
    from typing import Any

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line; stopping it shows no traceback, however early."""
    from robscore.cli.signals import leave_at_once

    leave_at_once()
    from robscore.cli.commands import run

    sys.exit(run())


def __getattr__(name: str) -> Any:
    if name == "app":  # it loads typer, for which main prepares
        from robscore.cli.commands import app

        return app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
