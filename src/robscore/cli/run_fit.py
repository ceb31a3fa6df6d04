"""From a data file to the files of a finished fit; the same for ``fit``, ``demo`` and a repeated run."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from robscore._tools.messages import About, Caution, UsageError, clipped, quoted
from robscore._tools.optional import require
from robscore._tools.progress import announce, stage
from robscore._tools.typing import Array, IntArray
from robscore.certainty.rows_left_out import rows_left_out
from robscore.certainty.stability import EdgeStability
from robscore.certainty.suspicious_cells import describe_cells
from robscore.cli.command_options import in_options
from robscore.cli.console import note, said, warnings_kept
from robscore.cli.fit_results import edge_columns, edges
from robscore.cli.output_files import Mark, Results, begins, csv_text, is_report
from robscore.estimators import RobustGraph
from robscore.graph import graphml_text
from robscore.reading import DataFile, ReadOptions, files_of, read_coordinates, read_data, read_groups, read_outline
from robscore.report.page import html_page
from robscore.report.record import LEVEL, Record, argument, as_json, full_weights, record
from robscore.report.sentences import cautions, findings, headline, how_sure, no_cautions
from robscore.rows.tables import columns_of

FILES = {
    "report.html": "open it in a browser",
    "edges.csv": "the edges, strongest first",
    "rows.csv": "the rows, most surprising first",
    "graph.graphml": "for Gephi, Cytoscape, igraph",
    "model.json": "every setting and number",
    # Only where there is something to say:
    "effects.csv": "what the covariates do",
    "cells.csv": "the cells that look wrong",
    "differences.csv": "what changes with a column",
}
# How each of them is recognised when a later fit would replace it.
MARKS = {
    "report.html": is_report,
    "edges.csv": begins(rb"source,target,interaction,association(,[a-z_]{1,20}){0,9}\r?\n"),
    "rows.csv": begins(rb"row,(label,)?score,p_value,rank,flagged,weight,variables(,together)?\r?\n"),
    "graph.graphml": begins(
        rb'<\?xml [^>]*>\s*<!-- robscore |<graphml [^>]*>\s*(<key [^>]*>\s*)*<key [^>]*attr\.name="association"'
    ),
    "model.json": begins(rb'\{"format":\d+,"version":"[^"]{1,40}","libraries":\{'),
}


# Written where there are covariates.
_ONLY_IF_GIVEN = ("given", "by", "header")  # ways of reading that older files do not have
EFFECTS: dict[str, Mark] = {"effects.csv": begins(rb"column,covariate,effect,effect_error,")}
# Written where wrong cells are looked for.
CELLS: dict[str, Mark] = {"cells.csv": begins(rb"row,column,value,expected,expected_low,")}
# Written where columns change the graph.
DIFFERENCES: dict[str, Mark] = {"differences.csv": begins(rb"source,target,moderator,of,against,difference,")}


@dataclass(frozen=True)
class Plan:
    """What to fit, and how.

    Attributes
    ----------
    data : the data file, or a folder of them
    read : how to read it
    settings : arguments of RobustGraph
    coordinates, outline : files for the map, or None
    compare : whether to fit classic score matching too
    title : of the report
    groups : file with the groups of the columns, or None
    is_stdin : whether the data came from the standard input, and cannot be read again
    more : further data files or folders
    stability : how many halves of the rows to fit too; None for none
    called : what the data file is called in the results, where it was stored under another name
    """

    data: Path
    read: ReadOptions
    settings: dict[str, Any]
    coordinates: Path | None = None
    outline: Path | None = None
    compare: bool = True
    title: str | None = None
    groups: Path | None = None
    is_stdin: bool = False
    more: tuple[Path, ...] = ()
    stability: int | None = None
    called: str | None = None

    @classmethod
    def first(cls, files: Sequence[Path], settings: Mapping[str, Any], reading: Mapping[str, Any]) -> Plan:
        """The plan of a first fit: what is not said is as good as is known, and the same every time."""
        data, *more = files
        return cls(data, ReadOptions(**reading), {"random_state": 0, "family": "auto", **settings}, more=tuple(more))

    @property
    def name(self) -> str:
        """Of the data."""
        return "standard input" if self.is_stdin else self.called or self.data.name


@dataclass(frozen=True)
class Fitted:
    """What came out."""

    model: RobustGraph
    classic: RobustGraph | None
    record: Record
    data: DataFile
    rows: Any


def run(plan: Plan) -> Fitted:
    """Read, fit, compare, record; nothing is written."""
    require("networkx")  # before any work is done
    with stage(f"reading {plan.name}"):
        data = read_data(plan.data, plan.read, plan.more)
        places = None if plan.coordinates is None else read_coordinates(plan.coordinates, data.names)
        lines = None if plan.outline is None else read_outline(plan.outline)
        groups = None if plan.groups is None else read_groups(plan.groups, data.names)
        if places is not None and places.labels is not None:
            called = f"{data.names[0]} is {places.labels[0]}"
            notes = (*data.notes, f"Columns are called by the names in {plan.coordinates}: {called}, for example.")
            data = replace(data, names=tuple(places.labels), notes=notes)
    X = _frame(data)
    with warnings_kept(), stage("robust fit"):  # what it warns of is among its cautions
        given: dict[str, Any] = {"covariates": data.given or None, "moderators": list(plan.read.by) or None}
        model = RobustGraph(**plan.settings).fit(X, **given)
    classic = _classic(model, X, given) if plan.compare else None
    stability, on_halves = _stability(model, X, given, plan.stability)
    with warnings_kept(), stage("inspecting the rows"):
        rows = model.suspicious_rows(level=LEVEL)
        made = record(
            model,
            classic=classic,
            title=plan.title or plan.name,
            labels=data.labels,
            coordinates=None if places is None else places.coordinates,
            outline=lines,
            data=_about(plan, data),
            remarks=[*on_halves, *_on_covariates(data, plan.read.by), *_on_cells(model, data), *data.notes],
            cautions=cautions_on_labels(model.fitted_.used[rows_left_out(model.fitted_).rows], data),
            rows=rows,
            speaker=in_options,
            first_row=1,
            groups=groups,
            stability=stability,
        )
    return Fitted(model, classic, made, data, rows)


def _on_covariates(data: DataFile, by: Sequence[str]) -> list[str]:
    """What the graph is given."""
    if not data.given:
        return []
    does = "it does" if len(data.given) == 1 else "they do"
    told = [f"The graph is conditional on {quoted(list(data.given))}; effects.csv lists what {does}."]
    if by:
        told.append(f"It is what all rows have in common; differences.csv says what changes with {quoted(list(by))}.")
    return told


def _on_cells(model: RobustGraph, data: DataFile) -> list[str]:
    """How many cells were filled in or looked wrong, and what these have in common."""
    fit = model.fitted_
    if not fit.prepared.describe_missing:
        return []
    said = [f"Cells: {fit.prepared.describe_missing}."]
    return [*said, *describe_cells(fit, first_row=1, labels=data.labels)] if model.cells else said


def _frame(data: DataFile) -> Any:
    import pandas as pd

    return pd.DataFrame(data.values, columns=list(data.names))


def _classic(model: RobustGraph, X: Any, given: Mapping[str, Any]) -> RobustGraph | None:
    """Classic score matching with as many edges: the model itself where all rows count the same after reweighting.

    None where the fit was asked to be classic, or where there is no classic fit.
    """
    if model.n_blocks_ == 1 and model.share_dropped_ is None:
        return None
    is_equal = np.ptp(model.row_weights_[model.row_weights_[:, 0] > 0]) == 0 and model.share_dropped_ == 0
    if is_equal and not model.cells:
        return model
    settings = {**model.get_params(deep=False), "n_blocks": 1, "contamination": None, "reweight": False, "cells": False}
    if model.family_ != "simplex":  # compositions are recognised again, and closed to one
        settings["family"] = model.family_
    settings |= {"alpha": None, "n_edges": int(model.path_.n_edges[model.position_])}
    with warnings_kept(), stage("classic fit, to compare"):
        try:
            return RobustGraph(**settings).fit(X, **given)
        except ValueError:  # bad rows can make it impossible
            return None


def _stability(
    model: RobustGraph, X: Any, given: Mapping[str, Any], n_halves: int | None
) -> tuple[EdgeStability | None, list[str]]:
    """How often edges recur in so many halves of the rows, and remarks; nothing where that was not requested."""
    if n_halves is None:
        return None, []
    options = {"n_jobs": model.n_jobs, "random_state": model.random_state, "progress": False}
    with warnings_kept() as told, stage("fitting halves of the rows"):
        try:
            found = model.edge_stability(X, n_pairs=(n_halves + 1) // 2, **options, **given)
        except ValueError as error:
            return None, [f"No stability: {said(error)}"]
    return found, told


def _about(plan: Plan, data: DataFile) -> dict[str, Any]:
    """Where the rows came from: enough to read them again."""
    return {
        "file": "" if plan.is_stdin else plan.called or str(plan.data),
        "more_files": [str(path) for path in plan.more],
        "sha256": fingerprint(plan.data, *plan.more),
        "read": {name: value for name, value in asdict(plan.read).items() if value or name not in _ONLY_IF_GIVEN},
        "label_name": data.label_name,
        "coordinates": None if plan.coordinates is None else str(plan.coordinates),
        "outline": None if plan.outline is None else str(plan.outline),
        "compare": plan.compare,
        **({} if plan.groups is None else {"groups": str(plan.groups)}),
        **({} if plan.stability is None else {"stability": plan.stability}),
    }


def fingerprint(*paths: Path) -> str:
    """SHA-256 of a file; of several, or of a folder, that of all of theirs."""
    files = [file for path in paths for file in files_of(path)]
    each = []
    for path in files:
        with path.open("rb") as file:
            each.append(hashlib.file_digest(file, "sha256").hexdigest())
    return each[0] if len(each) == 1 else hashlib.sha256("".join(each).encode()).hexdigest()


def plan_of(made: Record, model: Path, data: Path | None = None, coordinates: Path | None = None) -> Plan:
    """The plan that a record was made by; its files are looked for where they were, and beside model.json.

    With ``data`` that file is taken instead, else one that has changed is refused; the same for ``coordinates``.
    """
    about = made.data
    if not about.get("file"):
        raise ValueError(f"{model} was not made from a file, so it cannot be repeated from one.")
    beside = model.parent
    try:
        read: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in about["read"].items()
        }
        plan = Plan(
            data=data or _find(about["file"], beside, "give the data file as an argument"),
            read=ReadOptions(**read),
            settings={name: argument(value) for name, value in made.settings.items()},
            coordinates=coordinates or _find_if(about["coordinates"], beside, "give --coords"),
            outline=_find_if(about["outline"], beside, "give --outline"),
            compare=bool(about["compare"]),
            title=made.title if data is None else None,
            groups=_find_if(about.get("groups"), beside, "give --groups"),
            stability=about.get("stability"),
            more=()
            if data is not None
            else tuple(_find(name, beside, "give the data files as arguments") for name in about.get("more_files", ())),
        )
        RobustGraph(**plan.settings)
        unchanged = data is not None or fingerprint(plan.data, *plan.more) == about["sha256"]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{model} is not a whole model.json ({error}); run `robscore fit` on the data again."
        ) from None
    if not unchanged:
        raise ValueError(
            f"{plan.data} has changed since model.json was written, so the fit cannot be repeated; to fit it anyway, "
            f"pass it: robscore fit {plan.data} --from {model}"
        )
    return plan


def _find_if(name: str | None, beside: Path, remedy: str) -> Path | None:
    return None if name is None else _find(name, beside, remedy)


def _find(name: str, beside: Path, remedy: str) -> Path:
    for candidate in (Path(name), beside / name, beside / Path(name).name):
        if candidate.exists():
            return candidate
    raise ValueError(f"{name}, which model.json refers to, no longer exists; {remedy}.")


def results(plan: Plan, folder: Path, *, force: bool, more: Mapping[str, Mark] | None = None) -> Results:
    """Where the files of a fit go, with others of a command; the fit's inputs are never overwritten."""
    more = {
        **(EFFECTS if plan.read.covariates else {}),
        **(DIFFERENCES if plan.read.by else {}),
        **(CELLS if plan.settings.get("cells") else {}),
        **(more or {}),
    }
    inputs = {
        "the file of --coords": plan.coordinates,
        "that of --outline": plan.outline,
        "that of --groups": plan.groups,
    }
    for path in (plan.data, *plan.more):
        inputs |= {
            "the data file" if file == plan.data else f"the data file {file.name}": file for file in _files(path)
        }
    return Results(folder, {**MARKS, **more}, inputs, force)


def _files(path: Path) -> list[Path]:
    """What is to be read; the reader refuses a path that does not exist."""
    return files_of(path) if path.exists() else [path]


def write(fitted: Fitted, to: Results, more: Mapping[str, bytes] | None = None) -> list[str]:
    """Write all files, and others with them; the names of those that were written, as listed in FILES."""
    announce("writing")
    made, model = fitted.record, fitted.model
    contents: dict[str, str | bytes] = {
        "edges.csv": csv_text(edge_columns(made), edges(made)),
        "rows.csv": _rows_csv(fitted),
        "graph.graphml": _graphml(model, made),
        "model.json": made.to_json(),
        "report.html": html_page(made),
    }
    if fitted.data.given:
        contents["effects.csv"] = _table_csv(model.effects())
    if model.cells:
        cells = columns_of(model.suspicious_cells())
        contents["cells.csv"] = _columns_csv({**cells, "row": cells["row"] + 1})
    if model.moderations_:
        try:
            contents["differences.csv"] = _table_csv(model.differences())
        except UsageError as error:
            note(f"No differences.csv: {error}")
    to.write({**contents, **(more or {})})
    return [name for name in FILES if name in contents]


def _table_csv(table: Any) -> str:
    return _columns_csv(columns_of(table))


def _columns_csv(columns: Mapping[str, Any]) -> str:
    return csv_text(tuple(columns), zip(*(column.tolist() for column in columns.values()), strict=True))


def _rows_csv(fitted: Fitted) -> str:
    model, labels, table = fitted.model, fitted.data.labels, columns_of(fitted.rows)
    rows = table["row"]
    weight = full_weights(model)[rows]
    header = ["row", *(["label"] if labels else []), "score", "p_value", "rank", "flagged", "weight"]
    header += ["variables", "together"]
    columns = [table[name].tolist() for name in ("score", "p_value", "rank", "flagged")]
    columns[1] = ["" if np.isnan(value) else value for value in columns[1]]  # where the fit cannot be sampled
    named = [[labels[k] for k in rows]] if labels else []
    told = [table[name].tolist() for name in ("variables", "together")]
    return csv_text(header, zip((rows + 1).tolist(), *named, *columns, weight.tolist(), *told, strict=True))


def _graphml(model: RobustGraph, made: Record) -> str:
    graph = model.graph_.to_networkx()
    for name, degree in model.graph_.degree.items():
        graph.nodes[name]["degree"] = degree
    for name, place in zip(made.names, made.coordinates or [], strict=False):
        graph.nodes[name].update(latitude=place[0], longitude=place[1])
    return graphml_text(graph)


def summary(made: Record, folder: Path, written: Sequence[str]) -> str:
    """What was found and where it is, for the terminal."""
    careful = [f"Caution: {words}" for words in cautions(made)]
    lines = [
        *careful,
        *([""] if careful else []),
        f"{headline(made)}.",
        f"  {how_sure(made)}",
        *([] if careful else [f"  {no_cautions(made)}"]),
        *(f"  {words}" for words in findings(made)),
        "",
    ]
    width = max(len(str(folder / name)) for name in written)
    lines += [f"{folder / name!s:<{width}}  {FILES[name]}" for name in written]
    return "\n".join(lines)


def summary_json(made: Record, folder: Path, written: Sequence[str]) -> str:
    """The same for programs, as one line of JSON."""
    content = {
        "headline": headline(made),
        "how_sure": how_sure(made),
        "cautions": cautions(made),
        "findings": findings(made),
        "notes": made.remarks,
        "n_columns": len(made.names),
        "n_edges": len(made.edges),
        "edges": [dict(zip(edge_columns(made), edge, strict=True)) for edge in edges(made)],
        "fit": made.fit,
        "files": {name: str(folder / name) for name in written},
        "version": made.version,
    }
    return as_json(content)


def data_csv(names: Sequence[str], values: Array, labels: Sequence[str] | None = None, label_name: str = "") -> str:
    """A data set as CSV text, numbers to the last bit."""
    header = [*([label_name] if labels else []), *names]
    rows = np.asarray(values).tolist()
    return csv_text(header, ([labels[k], *row] if labels else row for k, row in enumerate(rows)))


_FEWEST = 5  # rows left out
_MOST = 2 / 3  # of them have the label
_LIFT = 1.5  # times its share among all rows
_MOST_LABELS = 0.5  # different labels, as a share of the rows: more is a name of rows


def cautions_on_labels(left: IntArray, data: DataFile) -> list[Caution]:
    """A caution for every column of text with a label that most of the rows left out have, by their positions."""
    if left.size < _FEWEST:
        return []
    out = left.tolist()
    found = []
    for name, labels in data.texts.items():
        told = _label_of(labels, out)
        if told is not None:
            label, count = told
            who = f"all {len(out)}" if count == len(out) else f"{count} of the {len(out)}"
            everywhere = labels.count(label)
            words = (
                f"{who[0].upper()}{who[1:]} rows left out have {clipped(name)} = {clipped(label)}, as {everywhere} of "
                f"{len(labels)} rows do: {clipped(name)} identifies them. Fit its groups separately."
            )
            found.append(Caution(words, About.GROUP))
    return found


def _label_of(labels: Sequence[str], out: Sequence[int]) -> tuple[str, int] | None:
    """The label that most of the rows have, but far fewer of all rows, and how many; None where there is none."""
    if len(set(labels)) > _MOST_LABELS * len(labels):
        return None
    label, count = Counter(labels[k] for k in out).most_common(1)[0]
    if count < _MOST * len(out) or count / len(out) < _LIFT * labels.count(label) / len(labels):
        return None
    return label, count
