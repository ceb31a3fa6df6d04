"""How much code one fit walks through: functions, files and layers that take part, and how deep the calls go.

A newcomer reads what a fit calls, so this is what the first hour in the code costs. Functions are distinguished by
their code objects; comprehensions and lambdas count as part of the function around them, and what runs on import does
not count, since every walk is done once before it is counted. ``python -m benchmarks.walk --list`` prints the functions
file by file, with ``--of NAME`` of one walk only.
"""

import argparse
import contextlib
import io
import os
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

import robscore as rs
from benchmarks.tools.simulated import square_root_data

PACKAGE = Path(rs.__file__).parent
AIM = {"functions": 300, "files": 55}  # of a default fit: what one can read in an afternoon


class Walk:
    """The functions of robscore that a piece of work called, and the most of them that were open at once."""

    def __init__(self, work: Callable[[], Any]) -> None:
        work()
        self.codes: set[CodeType] = set()
        self.depth = 0
        self._open = threading.local()  # threads call side by side, not inside each other
        threading.setprofile(self._watch)
        sys.setprofile(self._watch)
        try:
            work()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _watch(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event not in ("call", "return") or not _is_counted(code):
            return
        self._open.count = getattr(self._open, "count", 0) + (1 if event == "call" else -1)
        if event == "call":
            self.codes.add(code)
            self.depth = max(self.depth, self._open.count)

    def by_file(self) -> dict[str, list[str]]:
        """Names of the functions, in the order in which they stand in each file."""
        found: dict[str, list[str]] = defaultdict(list)
        for code in sorted(self.codes, key=lambda code: (code.co_filename, code.co_firstlineno)):
            found[Path(code.co_filename).relative_to(PACKAGE).as_posix()].append(code.co_qualname)
        return dict(found)

    def counts(self) -> dict[str, int]:
        """How many functions, files and layers took part, and how deep the calls went."""
        files = self.by_file()
        layers = {name.split("/")[0].removesuffix(".py") for name in files}
        return {"functions": len(self.codes), "files": len(files), "layers": len(layers), "depth": self.depth}


def _is_counted(code: CodeType) -> bool:
    """Whether it is a function of robscore: not a module's body, a comprehension or a lambda."""
    return not code.co_name.startswith("<") and code.co_filename.startswith(f"{PACKAGE}{os.sep}")


def works(X: np.ndarray, folder: Path) -> dict[str, Callable[[], Any]]:
    """What is walked, by name; tables are read from and written to the folder."""
    fitted = rs.RobustGraph().fit(X)
    table = folder / "x.csv"
    np.savetxt(table, X, delimiter=",", header=",".join(f"x{k}" for k in range(X.shape[1])), comments="")
    return {
        "default fit": lambda: rs.RobustGraph().fit(X),
        "cells=True": lambda: rs.RobustGraph(cells=True).fit(X),
        "intervals": fitted.edge_intervals,
        "robscore fit": lambda: _command("fit", str(table), "--out", str(folder / "out"), "--force"),
    }


def _command(*arguments: str) -> None:
    """A command in this process, silent unless it fails."""
    from robscore.cli import app

    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            app(list(arguments), standalone_mode=False)
        except BaseException:
            sys.__stderr__.write(output.getvalue())
            raise


def walks(n: int = 200, m: int = 10, only: str | None = None) -> dict[str, Walk]:
    """Every walk by name, or only one, on positive rows of a simulated graph with as many edges as columns."""
    X = square_root_data(n, m, m, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        return {name: Walk(work) for name, work in works(X, Path(folder)).items() if only in (None, name)}


def main(n: int = 200, m: int = 10) -> dict[str, dict[str, int]]:
    """Print the counts of every walk."""
    table = {name: walk.counts() for name, walk in walks(n, m).items()}
    print(f"Calls into robscore on {n} x {m} positive rows:")
    print(f"{'':14}" + "".join(f"{kind:>11}" for kind in ("functions", "files", "layers", "depth")))
    for name, counts in table.items():
        print(f"{name:14}" + "".join(f"{number:>11}" for number in counts.values()))
    print("Aim for a default fit: at most " + " and ".join(f"{most} {kind}" for kind, most in AIM.items()) + ".")
    return table


def listed(only: str | None = None) -> None:
    """Print the functions of every walk, or of one, file by file."""
    for name, walk in walks(only=only).items():
        print(f"{name}: " + ", ".join(f"{kind} {number}" for kind, number in walk.counts().items()))
        for file, functions in walk.by_file().items():
            print(f"  {file} ({len(functions)}): {', '.join(functions)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.walk", description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print the functions, file by file")
    parser.add_argument("--of", metavar="NAME", help="only this walk, such as 'default fit'")
    options = parser.parse_args()
    if options.list or options.of:
        listed(options.of)
    else:
        main()
