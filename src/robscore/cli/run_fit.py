"""From a plan to a fit and its record: read, fit, compare, inspect; the same for `fit`, `demo` and a repeated run."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from robscore._tools.messages import About, Caution, clipped, quoted
from robscore._tools.optional import require
from robscore._tools.progress import stage
from robscore._tools.typing import IntArray
from robscore.certainty.rows_left_out import rows_left_out
from robscore.certainty.stability import EdgeStability
from robscore.certainty.suspicious_cells import describe_cells
from robscore.cli.command_options import in_options
from robscore.cli.console import message_of, warnings_kept
from robscore.estimators import RobustGraph
from robscore.reading import DataFile, ReadOptions, files_of, read_coordinates, read_data, read_groups, read_outline
from robscore.report.record import LEVEL, Record, argument, record

_ONLY_IF_GIVEN = ("given", "by", "header", "two_texts", "limits")  # ways of reading that older files do not have

# When a caution says that a label identifies the rows that were left out:
_FEWEST_LEFT_OUT = 5
_LEAST_SHARE = 2 / 3  # of the rows left out have the label
_LEAST_LIFT = 1.5  # times its share among all rows
_MOST_LABELS = 0.5  # different labels, as a share of the rows: a column with more of them names single rows


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
        """Plan a first fit, which chooses the family unless one is given and gives the same result every time."""
        data, *more = files
        return cls(data, ReadOptions(**reading), {"random_state": 0, "family": "auto", **settings}, more=tuple(more))

    @property
    def name(self) -> str:
        """What the data are called in messages and in the report."""
        return "standard input" if self.is_stdin else self.called or self.data.name


@dataclass(frozen=True)
class Fitted:
    """What came of a plan.

    Attributes
    ----------
    model, classic : the robust fit, and the classic one or None
    record : all that the report shows
    data : what was read
    rows : the table of suspicious rows
    """

    model: RobustGraph
    classic: RobustGraph | None
    record: Record
    data: DataFile
    rows: Any


def run(plan: Plan) -> Fitted:
    """Read, fit, compare, record; nothing is written."""
    require("networkx")  # before any work is done
    with stage(f"reading {plan.name}"):
        two_texts = plan.settings.get("family") == "copula"  # other families take few values for measurements
        data = read_data(plan.data, replace(plan.read, two_texts=two_texts), plan.more)
        places = None if plan.coordinates is None else read_coordinates(plan.coordinates, data.names)
        lines = None if plan.outline is None else read_outline(plan.outline)
        groups = None if plan.groups is None else read_groups(plan.groups, data.names)
        if places is not None and places.labels is not None:
            example = f"{data.names[0]} is {places.labels[0]}"
            notes = (*data.notes, f"Columns have the names that {plan.coordinates} gives them; {example}, for example.")
            called = dict(zip(data.names, places.labels, strict=True))
            levels = {called[name]: own for name, own in data.levels.items()}
            limits = {called[name]: own for name, own in data.limits.items()}
            data = replace(data, names=tuple(places.labels), notes=notes, levels=levels, limits=limits)
    X = data.frame()
    with warnings_kept(), stage("robust fit"):  # what it warns of is among its cautions
        given: dict[str, Any] = {"covariates": data.given or None, "moderators": list(plan.read.by) or None}
        given |= data.bounds()
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
    """Say what the graph is conditional on, and where to read what changes it."""
    if not data.given:
        return []
    remarks = [f"The graph is conditional on {quoted(list(data.given))}."]
    if by:
        remarks.append(
            f"It is what all rows have in common; differences.csv says what changes with {quoted(list(by))}."
        )
    return remarks


def _on_cells(model: RobustGraph, data: DataFile) -> list[str]:
    """Say how many cells were filled in or looked wrong, and what these have in common."""
    fit = model.fitted_
    if not fit.prepared.describe_missing:
        return []
    wrong = describe_cells(fit, first_row=1, labels=data.labels) if model.cells else []
    return [f"Cells: {fit.prepared.describe_missing}.", *wrong]


def _classic(model: RobustGraph, X: Any, given: Mapping[str, Any]) -> RobustGraph | None:
    """Fit classic score matching with as many edges.

    The model itself is returned where all rows have equal weight after reweighting, None where the fit was asked to be
    classic, or where there is no classic fit.
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
    """Return how often edges recur in so many halves of the rows, and remarks; nothing where that was not requested."""
    if n_halves is None:
        return None, []
    options = {"n_jobs": model.n_jobs, "random_state": model.random_state, "progress": False}
    with warnings_kept() as warned, stage("fitting halves of the rows"):
        try:
            found = model.edge_stability(X, n_pairs=(n_halves + 1) // 2, **options, **given)
        except ValueError as error:
            return None, [f"No stability: {message_of(error)}"]
    return found, warned


def cautions_on_labels(left_out: IntArray, data: DataFile) -> list[Caution]:
    """Caution against every column of text with a label that most of the rows left out, given by position, have."""
    rows = left_out.tolist()
    if len(rows) < _FEWEST_LEFT_OUT:
        return []
    cautions = []
    for name, labels in data.texts.items():
        label, count = Counter(labels[k] for k in rows).most_common(1)[0]
        n, everywhere = len(labels), labels.count(label)
        names_rows = len(set(labels)) > _MOST_LABELS * n
        if names_rows or count < _LEAST_SHARE * len(rows) or count / len(rows) < _LEAST_LIFT * everywhere / n:
            continue
        who = f"All {count}" if count == len(rows) else f"{count} of the {len(rows)}"
        words = (
            f"{who} rows left out have {clipped(name)} = {clipped(label)}, as {everywhere} of {n} rows do: "
            f"{clipped(name)} identifies them. Fit its groups separately."
        )
        cautions.append(Caution(words, About.GROUP))
    return cautions


def _about(plan: Plan, data: DataFile) -> dict[str, Any]:
    """Return where the rows came from: enough to read them again."""
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
    """Return the SHA-256 of a file; of several, or of a folder, that of all of theirs."""
    each = []
    for file in (file for path in paths for file in files_of(path)):
        with file.open("rb") as content:
            each.append(hashlib.file_digest(content, "sha256").hexdigest())
    return each[0] if len(each) == 1 else hashlib.sha256("".join(each).encode()).hexdigest()


def plan_of(earlier: Record, model: Path, data: Path | None = None, coordinates: Path | None = None) -> Plan:
    """Return the plan that an earlier record was made by.

    Its files are looked for where they were, and beside model.json.

    With ``data`` that file is taken instead, else one that has changed is refused; the same for ``coordinates``.
    """
    about = earlier.data
    if not about.get("file"):
        raise ValueError(f"{model} was not made from a file, so it cannot be repeated from one.")

    def find(name: str, remedy: str) -> Path:
        for candidate in (Path(name), model.parent / name, model.parent / Path(name).name):
            if candidate.exists():
                return candidate
        raise ValueError(f"{name}, which model.json refers to, no longer exists; {remedy}.")

    def find_for(option: str) -> Path | None:
        name = about.get(option)
        return None if name is None else find(name, f"give --{'coords' if option == 'coordinates' else option}")

    try:
        read: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in about["read"].items()
        }
        more = [] if data is not None else about.get("more_files", ())
        plan = Plan(
            data=data or find(about["file"], "give the data file as an argument"),
            read=ReadOptions(**read),
            settings={name: argument(value) for name, value in earlier.settings.items()},
            coordinates=coordinates or find_for("coordinates"),
            outline=find_for("outline"),
            compare=bool(about["compare"]),
            title=earlier.title if data is None else None,
            groups=find_for("groups"),
            stability=about.get("stability"),
            more=tuple(find(name, "give the data files as arguments") for name in more),
        )
        RobustGraph(**plan.settings)
        is_unchanged = data is not None or fingerprint(plan.data, *plan.more) == about["sha256"]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{model} is not a whole model.json ({error}); run `robscore fit` on the data again."
        ) from None
    if not is_unchanged:
        raise ValueError(
            f"{plan.data} has changed since model.json was written, so the fit cannot be repeated; to fit it anyway, "
            f"pass it: robscore fit {plan.data} --from {model}"
        )
    return plan
