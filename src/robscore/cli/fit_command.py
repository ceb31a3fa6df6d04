"""``robscore fit``: a data file in, a graph and a report out.

The parameters of `fit` are called like the arguments that their options stand for; `command_options` sorts them.
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
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from robscore._tools.messages import Setting
from robscore.cli.command_options import FitRequest, in_options, refuse_unknown, requested
from robscore.cli.console import BAD_ARGUMENTS, INTERRUPTED, Debug, guarded, note, stop, tell_result
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
_reading = partial(typer.Option, rich_help_panel="Reading the file")
_graph = partial(typer.Option, rich_help_panel="The graph")
_results = partial(typer.Option, rich_help_panel="Results")


def fit(
    ctx: typer.Context,
    data: Annotated[
        list[Path] | None,
        typer.Argument(
            help="A .csv, .tsv, .parquet, .xlsx or other file, several, a folder, or - for standard input: rows are "
            "observations.",
            metavar="[FILE]...",
            show_default=False,
        ),
    ] = None,
    *,
    out: Annotated[
        Path | None,
        _results(
            "--out",
            "-o",
            metavar="FOLDER",
            help="Folder for the results. [default: robscore-NAME, or where model.json is]",
        ),
    ] = None,
    force: Annotated[bool, _results("--force", metavar="", help="Replace files that robscore did not write.")] = False,
    quiet: Annotated[bool, _results("--quiet", "-q", metavar="", help="Print errors only.")] = False,
    as_json: Annotated[
        bool, _results("--json", metavar="", help="Print one summary as JSON instead of sentences.")
    ] = False,
    title: Annotated[str | None, _results("--title", metavar="TEXT", help="Title of the report.")] = None,
    groups: Annotated[
        Path | None,
        _results("--groups", metavar="FILE", help="File with name, group: colours the variables by their group."),
    ] = None,
    coordinates: Annotated[
        Path | None,
        _results("--coords", metavar="FILE", help="File with name, latitude, longitude: draws a map."),
    ] = None,
    outline: Annotated[
        Path | None,
        _results("--outline", metavar="FILE", help="File with latitude, longitude: lines under the map."),
    ] = None,
    stability: Annotated[
        int | None,
        _results(
            "--stability",
            metavar="NUMBER",
            min=2,
            help="Also fit this many random halves of the rows, to see how often each edge recurs.",
        ),
    ] = None,
    no_compare: Annotated[
        bool, _results("--no-compare", metavar="", help="Skip the classic fit for comparison.")
    ] = False,
    columns: Annotated[
        list[str] | None,
        _reading(
            "--columns",
            "-c",
            metavar="NAME",
            help="Columns to take: a name or pattern such as 'rain_*'; may be repeated.",
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        _reading("--exclude", "-x", metavar="NAME", help="Columns to leave out: a name or pattern; may be repeated."),
    ] = None,
    id: Annotated[
        str | None, _reading("--id", metavar="NAME", help="Column that labels the rows: a date or an id.")
    ] = None,
    missing: Annotated[
        Literal["raise", "drop", "impute", "available"] | None,
        _reading(
            "--missing", help="Incomplete rows: raise, drop, impute, or average what is available. [default: raise]"
        ),
    ] = None,
    cells: Annotated[
        bool, _graph("--cells", metavar="", help="Look for single wrong cells too; they are listed in cells.csv.")
    ] = False,
    na: Annotated[
        list[str] | None,
        _reading("--na", metavar="TEXT", help="Another text that means missing, such as -999; may be repeated."),
    ] = None,
    given: Annotated[
        list[str] | None,
        _reading(
            "--given",
            metavar="NAME",
            help="Covariate that shifts the columns but is not in the graph: season, batch; may be repeated.",
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        _reading("--by", metavar="NAME", help="A column that changes the graph: groups, or numbers; may be repeated."),
    ] = None,
    separator: Annotated[
        str | None, _reading("--sep", metavar="SIGN", help="Column separator; detected by default.")
    ] = None,
    decimal: Annotated[
        Literal[".", ","] | None, _reading("--decimal", help="Decimal separator; detected by default.")
    ] = None,
    no_header: Annotated[
        bool, _reading("--no-header", metavar="", help="The first line holds data, not names.")
    ] = False,
    sheet: Annotated[
        str | None, _reading("--sheet", metavar="NAME", help="Sheet of an Excel file: name or number.")
    ] = None,
    family: Annotated[
        str | None,
        _graph(
            "--family",
            "-f",
            metavar="NAME",
            help="sqrt or gamma (rain, counts, concentrations), truncated-gaussian, log-log, gaussian (any sign), "
            "simplex (shares). [default: auto, chosen from the data]",
        ),
    ] = None,
    contamination: Annotated[
        float | None,
        _graph("--contamination", metavar="SHARE", help="Share of bad rows, if known; otherwise the data decide."),
    ] = None,
    n_blocks: Annotated[
        str | None,
        _graph(
            "--n-blocks", metavar="NUMBER", help="Blocks for the median of means: a number, auto, or 1 for classic."
        ),
    ] = None,
    alpha: Annotated[
        float | None, _graph("--alpha", metavar="NUMBER", help="The penalty, instead of choosing one.")
    ] = None,
    select: Annotated[
        str | None,
        _graph("--select", metavar="RULE", help="Rule for the penalty: f1, ebic, cv, stars. [default: f1]"),
    ] = None,
    n_edges: Annotated[
        int | None, _graph("--edges", "-e", metavar="NUMBER", help="Choose the penalty by its number of edges.")
    ] = None,
    scale: Annotated[
        Literal["median", "none"] | None,
        _graph("--scale", help="Scale columns robustly first, or not at all. [default: median]"),
    ] = None,
    shuffle: Annotated[
        bool, _graph("--shuffle", metavar="", help="Cut blocks from a random order, for sorted rows.")
    ] = False,
    random_state: Annotated[
        int | None, _graph("--seed", metavar="NUMBER", min=0, help="Random seed. [default: 0]")
    ] = None,
    n_jobs: Annotated[
        int | None,
        _graph("--jobs", "-j", metavar="NUMBER", min=1, help="Fits at a time for cv, stars and --stability."),
    ] = None,
    assignments: Annotated[
        list[str] | None,
        _graph("--set", metavar="NAME=VALUE", help="Any other argument of RobustGraph, as NAME=VALUE."),
    ] = None,
    repeat: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FILE", help="Repeat the fit of a model.json; options given here replace its own."
        ),
    ] = None,
    debug: Debug = False,
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
    files = tuple(data or ())
    request = requested(ctx.params)
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
            folder = out or _default_folder(plan.data, repeat if is_unchanged else None)
            outputs = fit_outputs(plan, folder, force=force)
        outputs.ask(asks=not (quiet or as_json or plan.is_stdin or is_unchanged))
        with guarded("robscore fit", debug=debug, quiet=quiet), outputs.prepared():
            fitted = run(plan)
            written = write(fitted, outputs)
    if not quiet:
        for remark in fitted.record.remarks:
            note(remark)
    if as_json:
        tell_result(summary_json(fitted.record, folder, written))
    elif not quiet:
        tell_result(summary(fitted.record, folder, written))


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
    """The plan of a model.json, with the options given now in place of its own."""
    from robscore._version import __version__
    from robscore.cli.run_fit import plan_of
    from robscore.report.record import Record

    kept = Record.from_json(repeat)
    if kept.version != __version__:
        note(f"model.json was written by robscore {kept.version}, this is {__version__}: numbers may differ.")
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
    """The paths given; for ``-`` alone that of a file with what the standard input holds, gone in the end."""
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
