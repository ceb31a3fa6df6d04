"""Pages of ``docs/results``: what a benchmark has printed, with its command, commit and date."""

import datetime
import importlib
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"


def save(name: str, arguments: Sequence[str] = (), folder: Path = RESULTS) -> Path:
    """Run a benchmark in a process of its own, print what it prints, and write it to its page; return the page."""
    commit = commit_of_checkout()  # before the run: it may take hours, in which the checkout may move on
    printed = []
    command = [sys.executable, "-m", f"benchmarks.{name}", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            printed.append(line)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    path = folder / f"{name}.md"
    path.write_text(page(name, arguments, commit, datetime.date.today(), "".join(printed)), encoding="utf-8")
    return path


def page(name: str, arguments: Sequence[str], commit: str, date: datetime.date, printed: str) -> str:
    """Return the Markdown of a page: what the benchmark measures, where the numbers are from, and what was printed."""
    doc = importlib.import_module(f"benchmarks.{name}").__doc__ or name
    about = re.sub(r"``(.*?)``", r"`\1`", doc.strip())
    command = " ".join(["python -m", f"benchmarks.{name}", *arguments])
    heading = name.replace("_", " ").capitalize()
    return (
        f"# {heading}\n\n{about}\n\nPrinted by `{command}` at commit {commit} on {date.isoformat()}.\n\n"
        f"```text\n{printed.rstrip()}\n```\n"
    )


def commit_of_checkout() -> str:
    """Return the short hash of the commit that is checked out; say so if files differ from it."""
    commit, changes = (
        subprocess.run(["git", *asked], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
        for asked in (["rev-parse", "--short=7", "HEAD"], ["status", "--porcelain", "--", "src", "benchmarks"])
    )
    return f"`{commit}`" + (", with changes that were not committed," if changes else "")
