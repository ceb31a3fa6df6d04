"""``python -m robscore.cli.worker``: read or fit one data file for a program that watches, the page of robscore app.

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
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from robscore._tools.messages import clipped, visible
from robscore._tools.progress import ProgressLine, announce, stage, watched_by
from robscore._tools.typing import Array
from robscore.cli.command_options import command_line, in_options, pairs_in_form, requested_on_page
from robscore.cli.console import message_of, warnings_kept
from robscore.families.column_kinds import ColumnKind
from robscore.family_choice.choose_family import choose_family
from robscore.reading import DataFile, ReadOptions, read_data
from robscore.rows import ArrayRows

Send: TypeAlias = Callable[[dict[str, Any]], None]
ANSWER, RESULTS = "answer.json", "results"
_BETWEEN_REPORTS = 0.1  # seconds between two reports of one step


def main() -> None:
    """Get ready, wait for the request, do it."""
    send = _sender()
    import networkx  # noqa: F401 - libraries are loaded while there is nothing to do yet
    import pandas  # noqa: F401

    import robscore.cli.fit_results  # noqa: F401

    line = sys.stdin.buffer.readline()
    if line:
        threading.Thread(target=_end_with_the_program, daemon=True).start()
        serve_request(json.loads(line), send)
    os._exit(0)  # nothing is left to be cleared away, and the memory is wanted back


def _sender() -> Send:
    """Send lines to where the standard output went; what libraries print goes to the standard error instead."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    lock = threading.Lock()

    def send(message: dict[str, Any]) -> None:
        with lock:
            out.write(json.dumps(message) + "\n")
            out.flush()

    return send


def _end_with_the_program() -> None:
    """Leave when the program has ended, which closes the standard input."""
    while os.read(0, 1):
        pass
    os._exit(1)


def serve_request(request: dict[str, Any], send: Send) -> None:
    """Do what is asked, and send how it ended; every message names the file as the user knows it."""
    import typer

    def send_error(message: str) -> None:
        name = Path(request["data"]).name
        send({"error": message.replace(request["data"], request["called"]).replace(name, request["called"])})

    os.chdir(request["folder"])
    printed = io.StringIO()
    try:
        with watched_by(_watcher(send)), redirect_stderr(printed):
            answer = {"look": _look, "fit": _fit}[request["task"]](request)
        notes = [line.removeprefix("note: ") for line in printed.getvalue().splitlines() if line.startswith("note: ")]
        answer["notes"] = [*answer["notes"], *notes]
        Path(ANSWER).write_text(json.dumps(answer, allow_nan=False), encoding="utf-8")
        send({"over": True})
    except typer.Exit:  # its reason has been printed
        send_error(printed.getvalue().strip().removeprefix("robscore: "))
    except typer.BadParameter as error:
        send_error(error.format_message())
    except MemoryError as error:
        send_error(f"There is not enough memory ({error}); take fewer columns.")
    except (ValueError, TypeError, OSError, ImportError) as error:
        send_error(message_of(error))
    except Exception as error:
        traceback.print_exc()
        send_error(f"Unexpected {type(error).__name__}: {error}. The terminal has the details; report it, please.")


def _watcher(send: Send) -> Callable[[str, int, int], None]:
    """Report every step, and some of its counts."""
    line = ProgressLine("", shown=False)
    last, when = "", 0.0

    def report(step: str, done: int, total: int) -> None:
        nonlocal last, when
        line.announce(step, done, total)
        now = time.monotonic()
        if step != last or now - when >= _BETWEEN_REPORTS:
            send({"step": step, "done": done, "total": total, "left": line.left()})
            last, when = step, now

    return report


def _look(request: dict[str, Any]) -> dict[str, Any]:
    """Read the file; what is in it, as the page shows it."""
    wanted = requested_on_page(pairs_in_form(request["options"]))
    with stage(f"reading {request['called']}"):
        data = read_data(Path(request["data"]), ReadOptions(**wanted.reading))
    return overview(data, wanted.settings.get("random_state", 0))


def _fit(request: dict[str, Any]) -> dict[str, Any]:
    """Fit and write all files; the summary of the fit, as the page shows it."""
    from robscore.cli.fit_results import FILES, fit_outputs, write
    from robscore.cli.run_fit import Plan, run
    from robscore.report.sentences import cautions, headline, how_sure

    options = pairs_in_form(request["options"])
    wanted = requested_on_page(options)
    plan = Plan.first([Path(request["data"])], wanted.settings, wanted.reading)
    plan = replace(plan, **wanted.shown, called=request["called"])
    fitted = run(plan)
    Path(RESULTS).mkdir()
    written = write(fitted, fit_outputs(plan, Path(RESULTS), force=False))
    record = fitted.record
    return {
        "headline": headline(record),
        "how_sure": how_sure(record),
        "cautions": cautions(record),
        "notes": list(record.remarks),
        "command": command_line(request["called"], options),
        "files": {name: FILES[name].use for name in written},
    }


def overview(data: DataFile, seed: int = 0) -> dict[str, Any]:
    """Return what a data file holds, before any fit: columns and what became of each, missing cells, the family.

    Examples
    --------
    >>> values = np.array([[1.0, 2.0], [np.nan, 3.0], [4.0, 5.5]])
    >>> data = DataFile(values, ("a", "b"), None, None, fates={"a": "", "b": "", "town": "not numeric"})
    >>> read = overview(data)
    >>> read["rows"], read["missing"], [column["why"] for column in read["columns"]]
    (3, {'cells': 1, 'rows': 1, 'columns': 1}, ['', '', 'not numeric'])
    """
    is_missing = np.isnan(data.values)
    for name, limits in data.limits.items():
        is_missing[:, data.names.index(name)] &= np.isnan(limits).all(axis=0)
    numbers = dict(zip(data.names, data.values.T, strict=True))
    return {
        "rows": len(data.values),
        "variables": len(data.names),
        "columns": [
            {
                "name": name,
                "shown": visible(name),
                "why": why,
                "text": name in data.texts,
                **_about(name, data, numbers),
            }
            for name, why in data.fates.items()
        ],
        "missing": {
            "cells": int(is_missing.sum()),
            "rows": int(is_missing.any(axis=1).sum()),
            "columns": int(is_missing.any(axis=0).sum()),
        },
        "labels": data.label_name,
        "notes": [visible(note) for note in data.notes],
        "family": _family(data, seed),
    }


def _about(name: str, data: DataFile, columns: Mapping[str, Array]) -> dict[str, Any]:
    """Return what a variable is, how many values are missing, the least, middle and largest; nothing of the others."""
    if name not in columns:
        return {}
    values, levels = columns[name], data.levels.get(name, ())
    observed = values[~np.isnan(values)]
    kind = ColumnKind.of(values, levels=levels)
    low, middle, high = (
        visible(clipped(levels[int(value)])) if levels else f"{float(value):.5g}"
        for value in np.quantile(observed, [0, 0.5, 1], method="nearest")
    )
    return {"kind": kind.word, "missing": int(values.size - observed.size), "low": low, "middle": middle, "high": high}


def _family(data: DataFile, seed: int) -> dict[str, str]:
    """Return the family that "auto" chooses, and why; or why it can choose none."""
    announce("choosing a family")
    try:
        with warnings_kept(), np.errstate(all="ignore"):
            choice = choose_family(ArrayRows(data.values, list(data.names), whole=False), seed)
    except ValueError as error:
        return {"name": "", "reason": message_of(error)}
    remarks = [remark.message.worded(in_options) for remark in choice.remarks]
    return {"name": choice.name, "reason": visible(" ".join([f"{choice.reason}.", *remarks]))}


if __name__ == "__main__":
    main()
