"""On a terminal the command asks before it replaces earlier results; a pseudo-terminal stands for one here."""

import os
import select
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from running import FILES, heeding_signals, run

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")

QUESTION = b"holds earlier results; replace them? [Y/n]: "
CTRL_C = b"\x03"
OPTIONS = ("--no-compare", "--edges", "1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("asking")
    X = np.random.default_rng(0).normal(size=(60, 3))
    pd.DataFrame(X, columns=list("abc")).to_csv(folder / "x.csv", index=False)
    assert run("fit", folder / "x.csv", "--out", folder / "out", "--title", "earlier", *OPTIONS).exit_code == 0
    return folder


def contents(folder):
    return {name: (folder / "out" / name).read_bytes() for name in FILES}


def typed(folder, answer, *more):
    """A fit on a pseudo-terminal, with an answer to what it asks: the exit code, and all that was shown.

    Ctrl-C is pressed again after a second, as people do: typed between the question and the wait for its answer, it
    does not end that wait.
    """
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "robscore", "fit", "x.csv", "--out", "out", *OPTIONS, *more]
    shown, asked, deadline = b"", False, time.monotonic() + 120

    def on_terminal():  # in a session of its own, so that the terminal is the one that Ctrl-C is typed on
        heeding_signals()
        os.login_tty(theirs)

    with subprocess.Popen(command, cwd=folder, preexec_fn=on_terminal) as process:
        os.close(theirs)
        try:
            while time.monotonic() < deadline:
                if not select.select([ours], [], [], 1)[0]:
                    if asked and answer == CTRL_C:
                        os.write(ours, answer)
                    continue
                try:
                    piece = os.read(ours, 4096)
                except OSError:  # how Linux says that the other end is closed
                    break
                if not piece:
                    break
                shown += piece
                if answer and not asked and QUESTION in shown:
                    os.write(ours, answer)
                    asked = True
        finally:
            os.close(ours)
            if time.monotonic() >= deadline:
                process.kill()
    return process.returncode, shown.decode(errors="replace")


def test_no_leaves_everything_as_it_was(folder):
    before = contents(folder)
    code, shown = typed(folder, b"n\n", "--title", "later")
    assert code == 1, shown
    assert shown.count("replace them?") == 1
    assert "Nothing was written; choose another --out." in shown
    assert "Traceback" not in shown
    assert contents(folder) == before


def test_ctrl_c_at_the_question_leaves_everything_as_it_was(folder):
    before = contents(folder)
    code, shown = typed(folder, CTRL_C, "--title", "later")
    assert code == 130, shown
    assert "Traceback" not in shown
    assert contents(folder) == before


@pytest.mark.parametrize(("answer", "title"), [(b"y\n", "asked"), pytest.param(b"", "forced", marks=pytest.mark.long)])
def test_yes_replaces_and_so_does_force_without_a_question(folder, answer, title):
    code, shown = typed(folder, answer, "--title", title, *([] if answer else ["--force"]))
    assert code == 0, shown
    assert ("replace them?" in shown) == bool(answer)
    assert f">{title}</title>" in (folder / "out" / "report.html").read_text().replace("<title>", ">")
