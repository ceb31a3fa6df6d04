"""The files that a fit writes and how they are recognised, and the summaries that are printed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from robscore._tools.messages import UsageError
from robscore._tools.progress import announce
from robscore.cli.console import print_note
from robscore.cli.output_files import OutputFiles, Recognise, begins_with, csv_text, is_report
from robscore.cli.run_fit import Fitted, Plan
from robscore.estimators import RobustGraph
from robscore.graph import graphml_text
from robscore.reading import files_of
from robscore.report.page import html_page
from robscore.report.record import Record, as_json, full_weights
from robscore.report.sentences import cautions, findings, headline, how_sure, no_cautions
from robscore.rows.tables import columns_of


class ResultFile(NamedTuple):
    """What a file of results is for, and how an earlier one is recognised, which may be replaced."""

    use: str
    is_ours: Recognise


# In the order in which they are listed for the user.
FILES = {
    "report.html": ResultFile("open it in a browser", is_report),
    "edges.csv": ResultFile(
        "the edges, strongest first",
        begins_with(rb"source,target,interaction,association(,[a-z_]{1,20}){0,9}\r?\n"),
    ),
    "rows.csv": ResultFile(
        "the rows, most surprising first",
        begins_with(rb"row,(label,)?score,p_value,rank,flagged,weight,variables(,together)?\r?\n"),
    ),
    "graph.graphml": ResultFile(
        "for Gephi, Cytoscape, igraph",
        begins_with(
            rb'<\?xml [^>]*>\s*<!-- robscore |<graphml [^>]*>\s*(<key [^>]*>\s*)*<key [^>]*attr\.name="association"'
        ),
    ),
    "model.json": ResultFile(
        "every setting and number", begins_with(rb'\{"format":\d+,"version":"[^"]{1,40}","libraries":\{')
    ),
    # Written only by fits with covariates, fits that look for wrong cells, and fits with columns that change the graph:
    "effects.csv": ResultFile("what the covariates do", begins_with(rb"column,covariate,effect,effect_error,")),
    "cells.csv": ResultFile("the cells that look wrong", begins_with(rb"row,column,value,expected,expected_low,")),
    "differences.csv": ResultFile(
        "what changes with a column", begins_with(rb"source,target,moderator,of,against,difference,")
    ),
}
_EDGE_COLUMNS = ("source", "target", "interaction", "association")
_TEST_COLUMNS = ("estimate", "low", "high", "p_value", "q_value")  # of the association without shrinkage
_WORTH = "effective"  # rows: of latent numbers, that would say as much


def fit_outputs(plan: Plan, folder: Path, *, force: bool, more: Mapping[str, Recognise] | None = None) -> OutputFiles:
    """Return where the files of a fit go, with others of a command; the fit's inputs are never overwritten."""
    is_written = {
        "effects.csv": bool(plan.read.covariates),
        "cells.csv": bool(plan.settings.get("cells")),
        "differences.csv": bool(plan.read.by),
    }
    outputs = {name: file.is_ours for name, file in FILES.items() if is_written.get(name, True)}
    inputs = {
        "the file of --coords": plan.coordinates,
        "that of --outline": plan.outline,
        "that of --groups": plan.groups,
    }
    for path in (plan.data, *plan.more):
        for file in files_of(path) if path.exists() else [path]:  # the reader refuses a path that does not exist
            inputs["the data file" if file == plan.data else f"the data file {file.name}"] = file
    return OutputFiles(folder, {**outputs, **(more or {})}, inputs, force)


def write(fitted: Fitted, outputs: OutputFiles, more: Mapping[str, bytes] | None = None) -> list[str]:
    """Write all files, and others with them; the names of those that were written, as listed in FILES."""
    announce("writing")
    record, model = fitted.record, fitted.model
    contents: dict[str, str | bytes] = {
        "edges.csv": csv_text(edge_columns(record), edges(record)),
        "rows.csv": _rows_csv(fitted),
        "graph.graphml": _graphml(model, record),
        "model.json": record.to_json(),
        "report.html": html_page(record),
    }
    if model.cells:
        cells = columns_of(model.suspicious_cells())
        contents["cells.csv"] = _columns_csv({**cells, "row": cells["row"] + 1})
    of_given = {"effects.csv": model.effects if fitted.data.given else None}
    of_given["differences.csv"] = model.differences if model.moderations_ else None
    for name, table in of_given.items():
        try:
            contents.update({name: _columns_csv(columns_of(table()))} if table else {})
        except UsageError as error:
            print_note(f"No {name}: {error}")
    outputs.write({**contents, **(more or {})})
    return [name for name in FILES if name in contents]


def edge_columns(record: Record) -> tuple[str, ...]:
    """Return the columns of edges.csv: tests where there are some, stability where it was requested."""
    stability = () if _shares(record) is None else ("stability",)
    return (*_EDGE_COLUMNS, *_test_columns(_tests(record)), *stability)


def edges(record: Record) -> Iterator[Sequence[Any]]:
    """Yield the edges, strongest first, with a value for every column; None where an edge was not tested."""
    shares, tests = _shares(record), _tests(record)
    n_columns = len(_test_columns(tests))
    untested: list[float | None] = [None] * n_columns  # not among those that half of the rows chose
    for i, j, interaction, strength in record.edges:
        found = tests.get((i, j), untested)[:n_columns]
        yield (
            record.names[i],
            record.names[j],
            interaction,
            strength,
            *found,
            *([] if shares is None else [shares[i, j]]),
        )


def _test_columns(tests: Mapping[tuple[int, int], Sequence[float | None]]) -> tuple[str, ...]:
    """Return the columns of tests, with effective rows where a pair has some."""
    if not tests:
        return ()
    return (*_TEST_COLUMNS, _WORTH) if any(found[-1] is not None for found in tests.values()) else _TEST_COLUMNS


def _tests(record: Record) -> dict[tuple[int, int], list[float | None]]:
    """Return the tests of pairs; none where the rows do not allow any."""
    return {} if record.certainty is None else {(i, j): found for i, j, *found in record.certainty["pairs"]}


def _shares(record: Record) -> Mapping[tuple[int, int], float] | None:
    """Return the share of halves of the rows that have each edge; None without them."""
    stability = None if record.certainty is None else record.certainty["stability"]
    if stability is None:
        return None
    return defaultdict(float, {(i, j): share for i, j, share in stability["pairs"]})


def _columns_csv(columns: Mapping[str, Any]) -> str:
    return csv_text(tuple(columns), zip(*(column.tolist() for column in columns.values()), strict=True))


def _rows_csv(fitted: Fitted) -> str:
    table, labels = columns_of(fitted.rows), fitted.data.labels
    rows, p_values = table["row"], np.asarray(table["p_value"], dtype=object)
    p_values[np.isnan(table["p_value"])] = ""  # where the fit cannot be sampled
    return _columns_csv(
        {
            "row": rows + 1,
            **({"label": np.array(labels, dtype=object)[rows]} if labels else {}),
            "score": table["score"],
            "p_value": p_values,
            "rank": table["rank"],
            "flagged": table["flagged"],
            "weight": full_weights(fitted.model)[rows],
            "variables": table["variables"],
            "together": table["together"],
        }
    )


def _graphml(model: RobustGraph, record: Record) -> str:
    graph = model.graph_.to_networkx()
    for name, degree in model.graph_.degree.items():
        graph.nodes[name]["degree"] = degree
    for name, place in zip(record.names, record.coordinates or [], strict=False):
        graph.nodes[name].update(latitude=place[0], longitude=place[1])
    return graphml_text(graph)


def summary(record: Record, folder: Path, written: Sequence[str]) -> str:
    """Return what was found and where it is, for the terminal."""
    careful = [f"Caution: {words}" for words in cautions(record)]
    lines = [
        *careful,
        *([""] if careful else []),
        f"{headline(record)}.",
        f"  {how_sure(record)}",
        *([] if careful else [f"  {no_cautions(record)}"]),
        *(f"  {words}" for words in findings(record)),
        "",
    ]
    width = max(len(str(folder / name)) for name in written)
    lines += [f"{folder / name!s:<{width}}  {FILES[name].use}" for name in written]
    return "\n".join(lines)


def summary_json(record: Record, folder: Path, written: Sequence[str]) -> str:
    """Return the same for programs, as one line of JSON."""
    content = {
        "headline": headline(record),
        "how_sure": how_sure(record),
        "cautions": cautions(record),
        "findings": findings(record),
        "notes": record.remarks,
        "n_columns": len(record.names),
        "n_edges": len(record.edges),
        "edges": [dict(zip(edge_columns(record), edge, strict=True)) for edge in edges(record)],
        "fit": record.fit,
        "files": {name: str(folder / name) for name in written},
        "version": record.version,
    }
    return as_json(content)
