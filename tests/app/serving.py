"""A server of the page for tests: as the command runs it, or with a child that only pretends to work."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
from running import heeding_signals

COMMAND = (sys.executable, "-m", "robscore", "app", "--no-browser")
# With less patience for tabs that are away.
IMPATIENT = """
import sys
from robscore.app.server import serve
from robscore.app.sessions import Patience
tell = lambda address, file: print("Open", address, flush=True)
serve(sys.argv[1:], ready=tell, patience=Patience({closed}, {silent}))
"""
CHILD = Path(__file__).parent / "pretending_child.py"
PATIENCE = 60  # seconds, only for what would never come


class Served:
    """A server that runs: its process, its address, and the folder that its files are in."""

    def __init__(self, process, address, temporary):
        self.process, self.address, self.temporary = process, address, temporary
        self.client = httpx.Client(timeout=PATIENCE, trust_env=False)

    @property
    def port(self):
        return int(re.search(r":(\d+)/", self.address)[1])

    def files(self):
        """All files of all tabs."""
        return sorted(path for path in self.temporary.rglob("*") if path.is_file() and path.name != "open.html")

    def tab(self):
        """The address of a new tab."""
        answer = self.client.get(self.address)
        assert answer.status_code == 303
        return self.address + answer.headers["location"]

    def children(self):
        """Numbers of the processes that it has started and that still run."""
        return [number for number, parent in _processes() if parent == self.process.pid]


def _processes():
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            yield int(entry.name), int(fields[1])


def runs(number):
    return number in dict(_processes())


@contextmanager
def served(temporary, command):
    """A server, ended in the end however the test ended."""
    environment = {**os.environ, "TMPDIR": str(temporary)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, env=environment, preexec_fn=heeding_signals, **pipes)
    try:
        line = process.stdout.readline()
        assert line.startswith("Open http://127.0.0.1:"), line + process.stderr.read()
        running = Served(process, line.split()[1], temporary)
        with running.client:
            yield running
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)


def working(temporary):
    """One that fits, and waits some seconds for a tab that closed."""
    code = IMPATIENT.format(closed=5, silent=900)
    return served(temporary, (sys.executable, "-c", code, sys.executable, "-m", "robscore.cli.worker"))


def pretending(temporary):
    """One that pretends to work, and waits for hardly anything."""
    code = IMPATIENT.format(closed=0.5, silent=3)
    return served(temporary, (sys.executable, "-c", code, sys.executable, "-S", str(CHILD)))


def soon(is_so, what):
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, what
        time.sleep(0.05)
