"""``python -m robscore.cli.worker``: read or fit one data file for a program that watches.

The program sends one line of JSON: the task, the folder to work in, the name of the file in it and what to call it, the
options. It gets lines of JSON: ``{"step", "done", "total", "left"}`` as work goes on; at the end ``{"over": true}``,
with the answer in answer.json, or ``{"error": ...}``. When the program ends, so does this process.
"""

from __future__ import annotations

import io
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from robscore._tools.messages import visible
from robscore._tools.progress import announce
from robscore._tools.typing import Array
from robscore.cli.command_options import in_options
from robscore.cli.console import said, warnings_kept
from robscore.family_choice.choose_family import choose_family
from robscore.reading import DataFile
from robscore.rows import ArrayRows

Say: TypeAlias = Callable[[dict[str, Any]], None]
ANSWER, RESULTS = "answer.json", "results"
_OFTEN = 0.1  # seconds between two reports of one step


def main() -> None:
    """Get ready, wait for the request, do it."""
    say = _speaker()
    import networkx  # noqa: F401 - libraries are loaded while there is nothing to do yet
    import pandas  # noqa: F401

    import robscore.cli.run_fit  # noqa: F401

    line = sys.stdin.buffer.readline()
    if line:
        threading.Thread(target=_end_with_the_program, daemon=True).start()
        _done(json.loads(line), say)
    os._exit(0)  # nothing is left to be cleared away, and the memory is wanted back


def _speaker() -> Say:
    """What is said goes where the standard output went; what libraries print goes to the standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    lock = threading.Lock()

    def say(what: dict[str, Any]) -> None:
        with lock:
            out.write(json.dumps(what) + "\n")
            out.flush()

    return say


def _end_with_the_program() -> None:
    while os.read(0, 1):
        pass
    os._exit(1)


def _done(request: dict[str, Any], say: Say) -> None:
    """Do what is asked, and say how it ended; every message names the file as the user knows it."""
    import typer

    from robscore._tools.progress import watched_by
    from robscore.cli.console import said

    def tell_error(message: str) -> None:
        name = Path(request["data"]).name
        say({"error": message.replace(request["data"], request["called"]).replace(name, request["called"])})

    os.chdir(request["folder"])
    printed = io.StringIO()
    try:
        with watched_by(_watcher(say)), redirect_stderr(printed):
            answer = {"look": _look, "fit": _fit}[request["task"]](request)
        answer["notes"] = [*answer["notes"], *_notes(printed.getvalue())]
        Path(ANSWER).write_text(json.dumps(answer, allow_nan=False), encoding="utf-8")
        say({"over": True})
    except typer.Exit:  # it has said why
        tell_error(printed.getvalue().strip().removeprefix("robscore: "))
    except typer.BadParameter as error:
        tell_error(error.format_message())
    except MemoryError as error:
        tell_error(f"There is not enough memory ({error}); take fewer columns.")
    except (ValueError, TypeError, OSError, ImportError) as error:
        tell_error(said(error))
    except Exception as error:
        traceback.print_exc()
        tell_error(f"Unexpected {type(error).__name__}: {error}. The terminal has the details; report it, please.")


def _notes(printed: str) -> list[str]:
    return [line.removeprefix("note: ") for line in printed.splitlines() if line.startswith("note: ")]


def _watcher(say: Say) -> Callable[[str, int, int], None]:
    """Says every step, and some of its counts."""
    from robscore._tools.progress import ProgressLine

    line = ProgressLine("", shown=False)
    last, when = "", 0.0

    def announce(step: str, done: int, total: int) -> None:
        nonlocal last, when
        line.announce(step, done, total)
        now = time.monotonic()
        if step != last or now - when >= _OFTEN:
            say({"step": step, "done": done, "total": total, "left": line.left()})
            last, when = step, now

    return announce


def _look(request: dict[str, Any]) -> dict[str, Any]:
    from robscore._tools.progress import stage
    from robscore.cli.command_options import asked, options_of
    from robscore.cli.worker import what_was_read
    from robscore.reading import ReadOptions, read_data

    wanted = asked(options_of(request["options"]))
    with stage(f"reading {request['called']}"):
        data = read_data(Path(request["data"]), ReadOptions(**wanted.reading))
    seed = wanted.settings.get("random_state", 0)
    return what_was_read(data, seed)


def _fit(request: dict[str, Any]) -> dict[str, Any]:
    from robscore.cli.command_options import asked, command, options_of
    from robscore.cli.run_fit import FILES, Plan, results, run, write
    from robscore.report.sentences import cautions, headline, how_sure

    options = options_of(request["options"])
    wanted = asked(options)
    plan = replace(
        Plan.first([Path(request["data"])], wanted.settings, wanted.reading), **wanted.shown, called=request["called"]
    )
    fitted = run(plan)
    Path(RESULTS).mkdir()
    written = write(fitted, results(plan, Path(RESULTS), force=False))
    made = fitted.record
    return {
        "headline": headline(made),
        "how_sure": how_sure(made),
        "cautions": cautions(made),
        "notes": list(made.remarks),
        "command": command(request["called"], options),
        "files": {name: FILES[name] for name in written},
    }


if __name__ == "__main__":
    main()


def what_was_read(data: DataFile, seed: int = 0) -> dict[str, Any]:
    """Of a data file, as JSON can hold it.

    Examples
    --------
    >>> values = np.array([[1.0, 2.0], [np.nan, 3.0], [4.0, 5.5]])
    >>> data = DataFile(values, ("a", "b"), None, None, fates={"a": "", "b": "", "town": "not numeric"})
    >>> read = what_was_read(data)
    >>> read["rows"], read["missing"], [column["why"] for column in read["columns"]]
    (3, {'cells': 1, 'rows': 1, 'columns': 1}, ['', '', 'not numeric'])
    """
    holes = np.isnan(data.values)
    numbers = dict(zip(data.names, data.values.T, strict=True))
    return {
        "rows": len(data.values),
        "variables": len(data.names),
        "columns": [_column(name, why, numbers.get(name), name in data.texts) for name, why in data.fates.items()],
        "missing": {
            "cells": int(holes.sum()),
            "rows": int(holes.any(axis=1).sum()),
            "columns": int(holes.any(axis=0).sum()),
        },
        "labels": data.label_name,
        "notes": [visible(note) for note in data.notes],
        "family": _family(data, seed),
    }


def _column(name: str, why: str, values: Array | None, is_text: bool) -> dict[str, Any]:  # noqa: FBT001
    told: dict[str, Any] = {"name": name, "shown": visible(name), "why": why, "text": is_text}
    if values is not None:
        there = values[~np.isnan(values)]
        low, middle, high = (float(value) for value in np.quantile(there, [0, 0.5, 1], method="nearest"))
        told |= {"missing": int(values.size - there.size), "low": _short(low), "middle": _short(middle)}
        told |= {"high": _short(high)}
    return told


def _short(value: float) -> str:
    return f"{value:.5g}"


def _family(data: DataFile, seed: int) -> dict[str, str]:
    """The family that "auto" takes, and why; or why it can take none."""
    announce("choosing a family")
    try:
        with warnings_kept(), np.errstate(all="ignore"):
            taken = choose_family(ArrayRows(data.values, list(data.names), whole=False), seed)
    except ValueError as error:
        return {"name": "", "reason": said(error)}
    careful = [remark.message.worded(in_options) for remark in taken.remarks]
    return {"name": taken.name, "reason": visible(" ".join([f"{taken.reason}.", *careful]))}
