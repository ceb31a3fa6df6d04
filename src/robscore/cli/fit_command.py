"""``robscore fit``: a data file in, a graph and a report out.

Its options are those of the table in `command_options`.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robscore._tools.messages import Setting
from robscore.cli.command_options import FitRequest, in_options, refuse_unknown, requested, with_options
from robscore.cli.console import BAD_ARGUMENTS, INTERRUPTED, guarded, print_note, print_result, stop
from robscore.cli.signals import clearing_away

if TYPE_CHECKING:
    from robscore.cli.run_fit import Plan


_STANDARD_INPUT = Path("-")
# How files of each kind begin, and how their names end.
_BEGINNINGS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".feather",
    b"\x1f\x8b": ".csv.gz",
    b"BZh": ".csv.bz2",
    b"\xfd7zXZ": ".csv.xz",
    b"{": ".jsonl",
}
_PENALTY = ("alpha", "n_edges", "select")  # ways to choose it, of which there can be one


@with_options
def fit(
    data: Annotated[
        list[Path] | None,
        typer.Argument(
            help="A .csv, .tsv, .parquet, .xlsx or other file, several, a folder, or - for standard input: rows are "
            "observations.",
            metavar="[FILE]...",
            show_default=False,
        ),
    ] = None,
    **options: Any,
) -> None:
    """Learn a graph from a data file and write a report.

    Writes report.html, edges.csv, rows.csv, graph.graphml and model.json; earlier results of robscore are replaced,
    other files only with --force, input files never.

    Examples
    --------
    - robscore fit rain.csv

    - robscore fit rain.csv --id month --coords stations.csv --edges 45 --out results

    - robscore fit genes.tsv --family gaussian --exclude 'batch_*' --missing drop

    - zcat rain.csv.gz | robscore fit - --json --out results

    - robscore fit 2023.parquet 2024.parquet, or a folder: robscore fit rain/

    - robscore fit --from results/model.json
    """
    files, repeat = tuple(data or ()), options["repeat"]
    debug, quiet, as_json = options["debug"], options["quiet"], options["as_json"]
    request = requested(options)
    _refuse_contradictions(request, files, repeat)
    with _as_files(files) as sources:
        with guarded("robscore fit", debug=debug, quiet=quiet):
            from robscore.cli.fit_results import fit_outputs, summary, summary_json, write
            from robscore.cli.run_fit import Plan, run

            refuse_unknown(request.settings)
            plan = (
                Plan.first(sources, request.settings, request.reading)
                if repeat is None
                else _repeated(repeat, sources, request)
            )
            plan = replace(plan, **request.shown, is_stdin=files == (_STANDARD_INPUT,))
            is_unchanged = not (files or request.settings or request.reading or request.shown)
            folder = options["out"] or _default_folder(plan.data, repeat if is_unchanged else None)
            outputs = fit_outputs(plan, folder, force=options["force"])
        if not (quiet or as_json or plan.is_stdin or is_unchanged):
            outputs.ask()
        with guarded("robscore fit", debug=debug, quiet=quiet), outputs.prepared():
            fitted = run(plan)
            written = write(fitted, outputs)
    if not quiet:
        for remark in fitted.record.remarks:
            print_note(remark)
    if as_json:
        print_result(summary_json(fitted.record, folder, written))
    elif not quiet:
        print_result(summary(fitted.record, folder, written))


def _refuse_contradictions(request: FitRequest, files: tuple[Path, ...], repeat: Path | None) -> None:
    """Stop if options contradict each other, or no data are given."""
    chosen = request.settings
    if "outline" in request.shown and "coordinates" not in request.shown and repeat is None:
        stop("--outline draws lines under a map; give --coords too.", code=BAD_ARGUMENTS)
    penalty = [in_options(Setting(name)) for name in _PENALTY if name in chosen]
    if len(penalty) > 1:
        stop(f"{' and '.join(penalty)} contradict each other; give one of them.", code=BAD_ARGUMENTS)
    if "contamination" in chosen and "n_blocks" in chosen:
        stop("--contamination sets the number of blocks, and so does --n-blocks; give one of them.", code=BAD_ARGUMENTS)
    if not files and repeat is None:
        stop("Name a data file, or a model.json with --from.", code=BAD_ARGUMENTS)


def _repeated(repeat: Path, files: tuple[Path, ...], request: FitRequest) -> Plan:
    """Return the plan of a model.json, with the options given now in place of its own."""
    from robscore._version import __version__
    from robscore.cli.run_fit import plan_of
    from robscore.report.record import Record

    kept = Record.from_json(repeat)
    if kept.version != __version__:
        print_note(f"model.json was written by robscore {kept.version}, this is {__version__}: numbers may differ.")
    plan = plan_of(kept, repeat, files[0] if files else None, coordinates=request.shown.get("coordinates"))
    if files:
        plan = replace(plan, more=files[1:])
    settings = dict(plan.settings)
    if any(name in request.settings for name in _PENALTY):  # one way to choose the penalty replaces the others
        settings |= {"alpha": None, "n_edges": None, "select": "f1"}
    if "contamination" in request.settings or "n_blocks" in request.settings:
        settings |= {"contamination": None, "n_blocks": None}
    return replace(plan, settings=settings | request.settings, read=replace(plan.read, **request.reading))


def _default_folder(data: Path, repeated: Path | None) -> Path:
    """Beside the model.json that is repeated, else a folder here that is named for the data."""
    if repeated is not None:
        return repeated.parent
    from robscore.reading.read_files import ALL_ENDINGS

    name = data.name
    while Path(name).suffix.lower() in ALL_ENDINGS:
        name = Path(name).stem
    return Path(f"robscore-{name}")


@contextmanager
def _as_files(data: tuple[Path, ...]) -> Iterator[tuple[Path, ...]]:
    """The paths given; for ``-`` alone that of a file with what the standard input holds, removed in the end."""
    if data != (_STANDARD_INPUT,):
        yield data
        return
    with clearing_away(), tempfile.TemporaryDirectory(prefix="robscore-") as folder:
        held = Path(folder) / "stdin"
        try:
            with held.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
        except KeyboardInterrupt as ended:
            stop("Stopped; nothing was written.", code=getattr(ended, "code", INTERRUPTED))
        yield (held.rename(held.with_name(f"stdin{_ending(held)}")),)


def _ending(path: Path) -> str:
    with path.open("rb") as file:
        start = file.read(8)
    if start.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
            return ".xlsx" if any(name.startswith("xl/") for name in archive.namelist()) else ".zip"
    return next((ending for begin, ending in _BEGINNINGS.items() if start.startswith(begin)), ".csv")
