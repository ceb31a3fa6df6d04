"""From a data file to the files of a finished fit; the same for ``fit``, ``demo`` and a repeated run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robscore._tools.optional import require
from robscore._tools.progress import stage, tell
from robscore._tools.typing import Array
from robscore._tools.words import quoted
from robscore.certainty.left_out import rows_left_out
from robscore.cli.console import warnings_kept
from robscore.cli.labels import cautions_on_labels
from robscore.cli.reading import DataFile, ReadOptions, read_coordinates, read_data, read_outline
from robscore.cli.results import Mark, Results, begins, csv_text, is_report
from robscore.cli.speaker import in_options
from robscore.estimators import RobustGraph
from robscore.graph import graphml_text
from robscore.report.page import html_page
from robscore.report.record import LEVEL, Record, argument, record
from robscore.report.words import cautions, findings, headline
from robscore.rows.tables import columns_of

FILES = {
    "report.html": "open it in a browser",
    "edges.csv": "the edges, strongest first",
    "rows.csv": "the rows, most surprising first",
    "graph.graphml": "for Gephi, Cytoscape, igraph",
    "model.json": "every setting and number",
}
# How each of them is known again when a later fit would take its place.
MARKS = {
    "report.html": is_report,
    "edges.csv": begins(rb"source,target,interaction,association\r?\n"),
    "rows.csv": begins(rb"row,(label,)?score,p_value,rank,flagged,weight,variables(,together)?\r?\n"),
    "graph.graphml": begins(
        rb'<\?xml [^>]*>\s*<!-- robscore |<graphml [^>]*>\s*(<key [^>]*>\s*)*<key [^>]*attr\.name="association"'
    ),
    "model.json": begins(rb'\{"format":\d+,"version":"[^"]{1,40}","libraries":\{'),
}


# Written where there are covariates.
EFFECTS: dict[str, Mark] = {"effects.csv": begins(rb"column,covariate,effect,effect_error,")}


@dataclass(frozen=True)
class Plan:
    """What to fit, and how.

    Attributes
    ----------
    data : the data file
    read : how to read it
    settings : arguments of RobustGraph
    coordinates, outline : files for the map, or None
    compare : whether to fit classic score matching too
    title : of the report
    """

    data: Path
    read: ReadOptions
    settings: dict[str, Any]
    coordinates: Path | None = None
    outline: Path | None = None
    compare: bool = True
    title: str | None = None


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
    with stage(f"reading {plan.data.name}"):
        data = read_data(plan.data, plan.read)
        places = None if plan.coordinates is None else read_coordinates(plan.coordinates, data.names)
        lines = None if plan.outline is None else read_outline(plan.outline)
    X = _frame(data)
    with warnings_kept(), stage("robust fit"):  # what it warns of is among its cautions
        model = RobustGraph(**plan.settings).fit(X, covariates=data.given or None)
    classic = _classic(model, X, data.given or None) if plan.compare else None
    with warnings_kept(), stage("looking at the rows"):
        rows = model.suspicious_rows(level=LEVEL)
        made = record(
            model,
            classic=classic,
            title=plan.title or plan.data.name,
            labels=data.labels,
            coordinates=places,
            outline=lines,
            data=_about(plan, data),
            remarks=[*_on_covariates(data), *data.notes],
            cautions=cautions_on_labels(rows_left_out(model.fitted_), data),
            rows=rows,
            speaker=in_options,
        )
    return Fitted(model, classic, made, data, rows)


def _on_covariates(data: DataFile) -> list[str]:
    """What the graph is given."""
    if not data.given:
        return []
    return [f"The graph is that of the columns given {quoted(list(data.given))}; effects.csv says what these do."]


def _frame(data: DataFile) -> Any:
    import pandas as pd

    return pd.DataFrame(data.values, columns=list(data.names))


def _classic(model: RobustGraph, X: Any, covariates: Any) -> RobustGraph | None:
    """Classic score matching with as many edges; None where the fit is classic itself, or where there is none."""
    if model.n_blocks_ == 1 and model.share_dropped_ is None:
        return None
    settings = {**model.get_params(deep=False), "n_blocks": 1, "contamination": None, "reweight": False}
    settings["family"] = model.family_
    settings |= {"alpha": None, "n_edges": model.graph_.n_edges}
    with warnings_kept(), stage("classic fit, to compare"):
        try:
            return RobustGraph(**settings).fit(X, covariates=covariates)
        except ValueError:  # bad rows can make it impossible
            return None


def _about(plan: Plan, data: DataFile) -> dict[str, Any]:
    """Where the rows came from: enough to read them again."""
    return {
        "file": str(plan.data),
        "sha256": fingerprint(plan.data),
        "read": {name: value for name, value in asdict(plan.read).items() if value or name != "given"},
        "label_name": data.label_name,
        "coordinates": None if plan.coordinates is None else str(plan.coordinates),
        "outline": None if plan.outline is None else str(plan.outline),
        "compare": plan.compare,
    }


def fingerprint(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
        )
        RobustGraph(**plan.settings)
        unchanged = data is not None or fingerprint(plan.data) == about["sha256"]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{model} is not a whole model.json ({error}); run `robscore fit` on the data again."
        ) from None
    if not unchanged:
        raise ValueError(
            f"{plan.data} has changed since model.json was written, so the fit cannot be repeated; to fit it all the "
            f"same, name it: robscore fit {plan.data} --from {model}"
        )
    return plan


def _find_if(name: str | None, beside: Path, remedy: str) -> Path | None:
    return None if name is None else _find(name, beside, remedy)


def _find(name: str, beside: Path, remedy: str) -> Path:
    for candidate in (Path(name), beside / name, beside / Path(name).name):
        if candidate.is_file():
            return candidate
    raise ValueError(f"{name}, which model.json names, is not there any more; {remedy}.")


def results(plan: Plan, folder: Path, *, force: bool, more: Mapping[str, Mark] | None = None) -> Results:
    """Where the files of a fit go, beside others of a command; none of the fit's inputs is ever written to."""
    more = {**(EFFECTS if plan.read.given else {}), **(more or {})}
    inputs = {"the data file": plan.data, "the file of --coords": plan.coordinates, "that of --outline": plan.outline}
    return Results(folder, {**MARKS, **more}, inputs, force)


def write(fitted: Fitted, to: Results, more: Mapping[str, bytes] | None = None) -> None:
    """Write all files, and others with them."""
    tell("writing")
    made, model = fitted.record, fitted.model
    contents: dict[str, str | bytes] = {
        "edges.csv": csv_text(("source", "target", "interaction", "association"), _edges(made)),
        "rows.csv": _rows_csv(fitted),
        "graph.graphml": _graphml(model, made),
        "model.json": made.to_json(),
        "report.html": html_page(made),
    }
    if fitted.data.given:
        table = columns_of(model.effects())
        rows = zip(*(column.tolist() for column in table.values()), strict=True)
        contents["effects.csv"] = csv_text(tuple(table), rows)
    to.write({**contents, **(more or {})})


def _edges(made: Record) -> Iterator[Sequence[Any]]:
    for i, j, interaction, strength in made.edges:
        yield made.names[i], made.names[j], interaction, strength


def _rows_csv(fitted: Fitted) -> str:
    model, labels, table = fitted.model, fitted.data.labels, columns_of(fitted.rows)
    rows = table["row"]
    weight: Array = model.row_weights_[rows, 0] * model.n_rows_used_
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


def summary(made: Record, folder: Path) -> str:
    """What was found, and where it is, for the terminal."""
    careful = [f"Caution: {words}" for words in cautions(made)]
    lines = [
        *careful,
        *([""] if careful else []),
        f"{headline(made)}.",
        *(f"  {words}" for words in findings(made)),
        "",
    ]
    width = max(len(str(folder / name)) for name in FILES)
    lines += [f"{folder / name!s:<{width}}  {what}" for name, what in FILES.items()]
    return "\n".join(lines)


def data_csv(names: Sequence[str], values: Array, labels: Sequence[str] | None = None, label_name: str = "") -> str:
    """A data set as CSV text, numbers to the last bit."""
    header = [*([label_name] if labels else []), *names]
    rows = np.asarray(values).tolist()
    return csv_text(header, ([labels[k], *row] if labels else row for k, row in enumerate(rows)))
