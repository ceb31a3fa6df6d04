"""The command line as tests run it: within this process, or in one of its own that can be stopped."""

import signal
import subprocess
import sys
from unittest.mock import patch

import numpy as np
import pandas as pd
import typer.testing
from typer.testing import CliRunner

from robscore.cli import app

FILES = ("report.html", "edges.csv", "rows.csv", "graph.graphml", "model.json")


COMMAND = typer.main.get_command(app)  # made once: that takes longer than most refusals


def run(*arguments, given=None):
    """A command, here, with what its standard input is given; what it said and how it ended."""
    with patch.object(typer.testing, "_get_command", return_value=COMMAND):
        return CliRunner().invoke(app, [str(argument) for argument in arguments], input=given)


def rows_to_stop():
    """A CSV file of which a fit takes long enough to be stopped in the middle."""
    X = np.random.default_rng(0).gamma(2.0, size=(300, 6))
    return pd.DataFrame(X, columns=list("abcdef")).to_csv(index=False).encode()


def heeding_signals():
    """For a new process: tests may run where signals are ignored, in the background or under nohup."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)


def started(folder, *arguments):
    """A fit of x.csv in a folder, in a process of its own."""
    command = [sys.executable, "-m", "robscore", "fit", "x.csv", "--out", "out", *arguments]
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heeding_signals
    )


def ended(process):
    """The exit code and the standard error of a process when it has ended."""
    _, errors = process.communicate(timeout=120)
    return process.returncode, errors
