"""Ctrl-C, SIGTERM and kill -9 at any time: no traceback, no half-written file, nothing left over, no input touched."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest
from running import ended, rows_to_stop, started

from robscore.cli.signals import Ended, clearing_away

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
STOPPED = "robscore: Stopped; nothing was written.\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "x.csv").write_bytes(rows_to_stop())
    return tmp_path


def heeds(process, number):
    """Whether a process has a handler of its own for a signal."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return False
    caught = next((line.split()[1] for line in status.splitlines() if line.startswith("SigCgt")), "0")
    return bool(int(caught, 16) >> (number - 1) & 1)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no /proc")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_first_moments(folder, number, code):
    """From the first line of the command on, while libraries are loaded."""
    for wait in (0.0, 0.15):
        process = started(folder)
        while process.poll() is None and not heeds(process, signal.SIGTERM):
            time.sleep(0.002)
        time.sleep(wait)
        process.send_signal(number)
        assert ended(process) == (code, STOPPED)
    assert [entry.name for entry in folder.iterdir()] == ["x.csv"]


def test_told_to_end_in_the_middle_of_the_work(folder):
    process = started(folder, "--set", "alphas=20000", "--set", "tol=1e-14")
    while not (folder / "out").exists() and process.poll() is None:
        time.sleep(0.01)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    assert ended(process) == (143, STOPPED)
    assert [entry.name for entry in folder.iterdir()] == ["x.csv"]


class Finalized:
    """Python ignores every exception that leaves ``__del__``."""

    def __del__(self):
        signal.raise_signal(signal.SIGTERM)


def work_that_finalizes():
    with clearing_away():
        Finalized()
        time.sleep(10)


def test_a_signal_is_not_lost_where_python_ignores_exceptions():
    hook = sys.unraisablehook
    with pytest.raises(Ended) as caught:
        work_that_finalizes()
    assert caught.value.code == 143
    assert sys.unraisablehook is hook


def test_signals_are_exceptions_only_where_something_is_to_be_cleared_away():
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Ended) as caught, clearing_away():
        signal.raise_signal(signal.SIGTERM)
    assert caught.value.code == 143
    assert signal.getsignal(signal.SIGTERM) is before
    ignored = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with clearing_away():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, ignored)
