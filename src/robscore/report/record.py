"""A fit as plain numbers and words: every setting to repeat it, how certain it is, and all that a report shows.

Numbers are written to the last bit, and nothing depends on the clock or the machine's name, so the same fit gives the
same file.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import version as installed_version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robscore._tools.messages import Caution, Message, clipped
from robscore._tools.numbers import finite_or_none
from robscore._tools.typing import AnyData, Array
from robscore._version import __version__
from robscore.certainty.link_tests import LEVEL as LEVEL_OF_INTERVALS
from robscore.certainty.stability import EdgeStability
from robscore.estimators import RobustGraph
from robscore.families.column_kinds import kinds_in_words
from robscore.families.family import Family
from robscore.graph import association
from robscore.report.checking import broken_part, parsed
from robscore.report.sections import about_cells, about_given, is_cells, is_given
from robscore.rows.tables import columns_of, default_names

FORMAT = 1
LEVEL = 0.01  # share of good rows that may be flagged
Speaker = Callable[[Any], str]
_LIBRARIES = ("numpy", "scipy", "scikit-learn")
# What a page can carry and a reader can look at.
_MOST_GRAPHS = 60  # of the path, that the page's slider goes through
_MOST_LISTED_ROWS, _MOST_DRAWN_ROWS = 200, 3000
# Columns for which a report is worth the time that its estimates take.
_MOST_CHECKED = 150  # the family is checked column by column
_NOT_IN_OLDER_FILES: dict[str, Any] = {
    "cautions": [],
    "given": {},
    "cells": {},
    **dict.fromkeys(("certainty", "predictability", "check", "groups", "kinds")),
}


@dataclass(frozen=True)
class Record:
    """A fit as plain numbers and words; see :func:`record`.

    Attributes
    ----------
    format, version, libraries : of the file, of robscore, and of what it computes with
    title : str
    data : dict
        Where the rows came from and how they were read: enough to read them again. Empty for data from memory.
    settings : dict
        Every argument of :class:`robscore.RobustGraph`.
    names, coordinates, outline : columns, their latitudes and longitudes, and lines under the map; or None
    fit : dict
        Rows used and left out, blocks, penalty, optimality, in numbers and words.
    diagonal, location : lists with an entry per column
    edges : list of (i, j, interaction, association), strongest association first
    path : dict
        Numbers by alpha: alphas, n_edges, kkt, converged, criteria, chosen. And ``graphs``, of some of them: position,
        edges (positions in ``pairs``) and associations.
    classic : dict or None
        The same for classic score matching on the same data, with the position of the graph that has the most nearly
        equal number of edges for each of the graphs of ``path``.
    rows : dict
        The most surprising rows, and points to draw.
    cautions : list of [kind, sentence]
        What to be careful about, worst first.
    certainty : dict or None
        Estimates of the edges without shrinkage, with intervals, p-values and q-values, and how often they recur.
    predictability : list with an entry per column, or None
    check : dict or None
        Whether the family fits, and which columns it misses.
    groups : list of str with an entry per column, or None
        Groups that the columns were given.
    kinds : dict or None
        How many columns there are of each kind, in words; and for every column its kind, and what its values are.
    remarks : list of str
        Notes from reading the file.
    given : dict
        Effects of covariates and what moderators change, as ``robscore.report.sections`` shows them; empty without any.
    cells : dict
        Where cells are missing or look wrong, as ``robscore.report.sections`` shows them; empty where none
        were filled in.
    """

    format: int
    version: str
    libraries: dict[str, str]
    title: str
    data: dict[str, Any]
    settings: dict[str, Any]
    names: list[str]
    coordinates: list[list[float]] | None
    outline: list[list[list[float]]] | None
    fit: dict[str, Any]
    diagonal: list[float]
    location: list[float]
    edges: list[list[Any]]
    path: dict[str, Any]
    classic: dict[str, Any] | None
    rows: dict[str, Any]
    remarks: list[str]
    cautions: list[list[str]] = field(default_factory=list)
    given: dict[str, Any] = field(default_factory=dict)
    certainty: dict[str, Any] | None = None
    predictability: list[float] | None = None
    check: dict[str, Any] | None = None
    groups: list[str] | None = None
    cells: dict[str, Any] = field(default_factory=dict)
    kinds: dict[str, Any] | None = None

    def to_json(self) -> str:
        """The record as a JSON text."""
        return as_json(asdict(self)) + "\n"

    @classmethod
    def from_json(cls, path: str | PathLike[str]) -> Record:
        """Read a record from a file; raise, saying why, where it is not one."""
        try:
            content = parsed(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise ValueError(f"{path} cannot be read: {error.strerror or error}.") from None
        except json.JSONDecodeError:
            raise ValueError(f"{path} is not a model.json of robscore: it is not JSON.") from None
        except UnicodeDecodeError:
            raise ValueError(f"{path} is not a model.json of robscore: it is not JSON, nor text in UTF-8.") from None
        except ValueError as error:
            raise ValueError(f"{path} is not a model.json of robscore: {error}.") from None
        wanted = {member.name for member in fields(cls)}
        if isinstance(content, dict):
            content = {**_NOT_IN_OLDER_FILES, **content}
        if not isinstance(content, dict) or not wanted <= set(content):
            raise ValueError(f"{path} is not a model.json of robscore.")
        if content["format"] != FORMAT:
            raise ValueError(
                f"{path} has format {clipped(str(content['format']))}, written by robscore "
                f"{clipped(str(content['version']))}; this is robscore {__version__}, which reads format {FORMAT}. Run "
                "`robscore fit` on the data again."
            )
        if broken := broken_part(content) or _broken_section(content):
            raise ValueError(f"{path} is not a whole model.json: {broken!r} is broken. Run `robscore fit` again.")
        return cls(**{name: content[name] for name in wanted})


def _broken_section(content: Mapping[str, Any]) -> str | None:
    """The name of the first section that is not as it should be, or None."""
    checks = (("given", is_given), ("cells", is_cells))
    return next((name for name, check in checks if not check(content[name], len(content["names"]))), None)


def as_json(content: Any) -> str:
    """JSON in one line; halves of characters, which UTF-8 does not have, are written as escapes."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def record(
    model: RobustGraph,
    *,
    classic: RobustGraph | None = None,
    title: str = "",
    labels: Sequence[str] | None = None,
    coordinates: ArrayLike | None = None,
    outline: Sequence[ArrayLike] | None = None,
    data: dict[str, Any] | None = None,
    remarks: Sequence[str] = (),
    rows: AnyData | None = None,
    cautions: Sequence[Caution] = (),
    speaker: Speaker = str,
    groups: Sequence[str] | Mapping[str, str] | None = None,
    stability: EdgeStability | None = None,
    first_row: int = 0,
) -> Record:
    """The record of a fit.

    Parameters
    ----------
    model : fitted RobustGraph
    classic : fitted RobustGraph, optional
        Another fit of the same columns to compare with, usually with ``n_blocks=1``.
    title : str, optional
    labels : sequence of str, optional
        Names of the rows of the data.
    coordinates : array of shape (m, 2), optional
        Latitude and longitude of the columns, for a map.
    outline : sequence of arrays of shape (points, 2), optional
        Lines of latitude and longitude to draw under the map.
    data : dict, optional
        Where the rows came from.
    remarks : sequence of str, optional
    rows : table, optional
        The result of ``model.suspicious_rows(level=LEVEL)``, if already computed: it takes a simulation.
    cautions : sequence of Caution, optional
        Further cautions, listed before the model's own.
    speaker : callable, optional
        Rewords the arguments in cautions, for readers who do not write Python.
    groups : sequence of str, or dict of str by column, optional
        Groups of the columns, which the report shows by colour; columns that a dict does not have are in none.
    stability : EdgeStability, optional
        The result of ``model.edge_stability(X)``: how often every edge recurs in halves of the rows.
    first_row : int, default 0
        The number of the first row; 0 is what ``model.suspicious_rows()`` counts from.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> X = np.random.default_rng(0).normal(size=(300, 4)) @ np.tri(4)
    >>> kept = rs.report.record(rs.RobustGraph("gaussian").fit(X), title="A chain")
    >>> len(kept.edges), kept.names
    (3, ['x0', 'x1', 'x2', 'x3'])
    """
    graph, m = model.graph_, len(model.graph_.names)
    labels = model.row_labels if labels is None else labels
    if labels is not None and len(labels) != len(model.row_weights_):
        raise ValueError(f"labels has {len(labels)} entries for {len(model.row_weights_)} rows.")
    places = None if coordinates is None else np.asarray(coordinates, dtype=float)
    if places is not None and (places.shape != (m, 2) or not np.isfinite(places).all()):
        raise ValueError(f"coordinates has shape {places.shape}; one latitude and longitude for each of {m} columns.")
    if classic is not None and classic.graph_.names != graph.names:
        raise ValueError("classic was fitted to other columns; fit both to the same data.")
    same = (
        classic is not None
        and classic.cells == model.cells
        and np.allclose(classic.row_weights_, model.row_weights_, rtol=1e-9, atol=0)
    )
    if same:
        classic = None
    i, j = graph.strongest_first()
    path, beside = _paths(model, classic)
    return Record(
        format=FORMAT,
        version=__version__,
        libraries=_libraries(),
        title=title,
        data=data or {},
        settings={name: _plain(value) for name, value in model.get_params(deep=False).items()},
        names=list(graph.names),
        coordinates=None if places is None else places.tolist(),
        outline=None if outline is None else [np.asarray(line, dtype=float).tolist() for line in outline],
        fit=_fit(model, classic_is_same=same),
        diagonal=graph.interaction.diagonal().tolist(),
        location=model.location_.tolist(),
        edges=[
            [int(a), int(b), float(graph.interaction[a, b]), float(graph.association[a, b])]
            for a, b in zip(i, j, strict=True)
        ],
        path=path,
        classic=beside,
        rows=_rows(model, model.suspicious_rows(level=LEVEL) if rows is None else rows, labels, first_row),
        remarks=list(dict.fromkeys([*remarks, *_on_names(graph.names)])),
        cautions=[[caution.kind.name, caution.message.worded(speaker)] for caution in [*cautions, *model.cautions_]],
        given=about_given(model),
        certainty=certainty_of(model, stability, speaker),
        predictability=predictability_of(model),
        check=check_of(model, speaker),
        groups=_groups(groups, graph.names),
        cells=about_cells(model, labels, first_row),
        kinds=kinds_of(model),
    )


def _libraries() -> dict[str, str]:
    """Versions of what a fit is computed with; numba is not everywhere."""
    from robscore._tools.compiling import COMPILES

    names = [*_LIBRARIES, "numba"] if COMPILES else _LIBRARIES
    return {"python": platform.python_version(), **{name: installed_version(name) for name in names}}


def _fit(model: RobustGraph, *, classic_is_same: bool) -> dict[str, Any]:
    """Facts about the fit behind the graph: rows, family, penalty, convergence."""
    facts = model.graph_.facts
    return {
        "n_rows": len(model.row_weights_),
        "n_rows_used": model.n_rows_used_,
        "share_dropped": model.share_dropped_,
        "effective_rows": list(facts.effective_rows),
        "family": facts.family,
        "why_family": facts.why_family,
        "agreement": model.family_agreement,
        "n_blocks": model.n_blocks_,
        "reweighting": facts.reweighting,
        "alpha": model.alpha_,
        "selection": facts.selection,
        "converged": model.converged_,
        "kkt": facts.kkt,
        "n_iter": model.n_iter_,
        "classic_is_same": classic_is_same,
    }


def _on_names(names: Sequence[str]) -> list[str]:
    """A remark that says how to get names of columns, where they have none but numbers."""
    if list(names) != list(default_names(len(names))):
        return []
    return [
        "The columns have no names, so they are called x0, x1, ...: fit a data frame to keep its names. A scikit-learn "
        "scaler keeps them with scaler.set_output(transform='pandas')."
    ]


def _groups(groups: Sequence[str] | Mapping[str, str] | None, names: Sequence[str]) -> list[str] | None:
    """One group per column; empty where a column is in none."""
    if groups is None:
        return None
    if isinstance(groups, Mapping):
        return [str(groups.get(name, "")) for name in names]
    if len(groups) != len(names):
        raise ValueError(f"groups has {len(groups)} entries for {len(names)} columns.")
    return [str(group) for group in groups]


def _plain(value: Any) -> Any:
    """An argument as JSON has it; arrays become lists, infinity a word."""
    if isinstance(value, Family):
        return repr(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(entry) for entry in np.asarray(value).tolist()]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    return value.item() if isinstance(value, np.generic) else repr(value)


def argument(value: Any) -> Any:
    """An argument as the estimator takes it, from its form in :func:`_plain`."""
    if isinstance(value, list):
        array = [argument(entry) for entry in value]
        return array if array and isinstance(array[0], str) else np.array(array, dtype=float)
    return float(value) if value in ("inf", "-inf") else value


def _paths(model: RobustGraph, classic: RobustGraph | None) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The numbers of the paths, and graphs of as many positions as a page can carry."""
    positions = _to_show(model, model.position_)
    own = _path(model, positions)
    if classic is None:
        return own, None
    counts = classic.path_.n_edges
    nearest = [int(np.argmin(np.abs(counts - model.path_.n_edges[k]))) for k in positions]
    nearest[positions.index(model.position_)] = classic.position_
    shown = sorted(set(nearest))
    return own, _path(classic, shown) | {"beside": [shown.index(k) for k in nearest]}


def _to_show(model: RobustGraph, chosen: int) -> list[int]:
    """Positions of the path for the slider: different graphs, none much denser than can be looked at."""
    counts = model.path_.n_edges
    m = model.n_features_in_
    most = max(2 * int(counts[chosen]) + 20, 3 * m, 100)
    usable = np.flatnonzero(counts <= most)
    if usable.size > _MOST_GRAPHS:
        usable = usable[np.unique(np.linspace(0, usable.size - 1, _MOST_GRAPHS).round().astype(int))]
    return sorted({*usable.tolist(), chosen})


def _path(model: RobustGraph, positions: Sequence[int]) -> dict[str, Any]:
    """Numbers of all positions of a path, and the graphs of some."""
    path = model.path_
    return {
        "alphas": path.alphas.tolist(),
        "n_edges": path.n_edges.tolist(),
        "kkt": path.kkt.tolist(),
        "converged": path.converged.tolist(),
        "criteria": {name: [finite_or_none(value) for value in values] for name, values in model.criteria_.items()},
        "chosen": model.position_,
        "graphs": [_graph(model, k) for k in positions],
    }


def _graph(model: RobustGraph, position: int) -> dict[str, Any]:
    """The edges at a position of the path, for drawing: pairs i m + j, and associations to four digits."""
    strength, _ = association(model.fitted_.interaction_at(position))
    m = len(strength)
    i, j = np.nonzero(np.triu(strength, k=1))
    return {
        "position": position,
        "pairs": (i * m + j).tolist(),
        "associations": [float(f"{value:.4g}") for value in strength[i, j]],
    }


def full_weights(model: RobustGraph) -> Array:
    """Row weights, shape (n,): after reweighting 1 is a row that counts in full, else 1 is the average row."""
    weight = model.row_weights_[:, 0]
    return np.asarray(weight * model.n_rows_used_ if model.share_dropped_ is None else weight / weight.max())


def _rows(model: RobustGraph, suspicious: AnyData, labels: Sequence[str] | None, first_row: int) -> dict[str, Any]:
    """The most surprising rows by name, and points to draw: all rows that are flagged, and some of the others."""
    table = columns_of(suspicious)
    row, score, p_value, flagged = (table[name] for name in ("row", "score", "p_value", "flagged"))
    weight = full_weights(model)[row]
    shown = np.arange(row.size) < max(20, min(int(flagged.sum()), _MOST_LISTED_ROWS))
    drawn = np.flatnonzero(flagged)[: _MOST_DRAWN_ROWS // 2]
    others = np.flatnonzero(~flagged)
    drawn = np.concatenate([drawn, others[:: max(1, -(-others.size // (_MOST_DRAWN_ROWS // 2)))]])
    return {
        "level": LEVEL,
        "n_flagged": int(flagged.sum()),
        "n_dropped": None if model.share_dropped_ is None else int(np.count_nonzero(weight == 0)),
        "first": first_row,
        "n_drawn": int(drawn.size),
        "listed": [
            {
                "row": int(row[k]) + first_row,
                "label": None if labels is None else labels[row[k]],
                "score": finite_or_none(score[k]),
                "p_value": finite_or_none(p_value[k]),
                "weight": float(weight[k]),
                "flagged": bool(flagged[k]),
                "variables": str(table["variables"][int(k)]),
            }
            for k in np.flatnonzero(shown)
        ],
        "points": [
            [int(row[k]) + first_row, float(f"{score[k]:.5g}") if np.isfinite(score[k]) else None, int(flagged[k])]
            for k in sorted(drawn, key=lambda k: row[k])
        ],
    }


def certainty_of(model: RobustGraph, stability: EdgeStability | None, speaker: Speaker) -> dict[str, Any]:
    """Intervals and tests of the edges, and of other pairs that are clear; and how often edges recur, if given.

    ``pairs`` has (i, j, estimate without shrinkage, low, high, p, q, effective rows: None but for the copula);
    ``why_not`` is empty, or says why there are none.
    """
    tested = model.link_tests
    return {
        "level": LEVEL_OF_INTERVALS,
        "fdr": tested.fdr,
        "n_tested": len(tested.pairs),
        "split": tested.is_split,
        "pairs": tested.of(set(zip(*(ends.tolist() for ends in model.graph_.strongest_first()), strict=True))),
        "why_not": tested.why_not.worded(speaker),
        "stability": None if stability is None else _stability(stability),
    }


def _stability(stability: EdgeStability) -> dict[str, Any]:
    i, j = np.nonzero(np.triu(stability.frequency, k=1))
    return {
        "n_halves": stability.n_done,
        "threshold": stability.threshold,
        "expected_false": float(stability.expected_false()),
        "pairs": [[int(a), int(b), float(stability.frequency[a, b])] for a, b in zip(i, j, strict=True)],
    }


def check_of(model: RobustGraph, speaker: Speaker) -> dict[str, Any]:
    """Whether the family fits, and which columns it misses; ``verdict`` is None where that cannot be checked."""
    m = len(model.graph_.names)
    nothing: dict[str, Any] = {"verdict": None, "p_value": None, "columns": []}
    if m > _MOST_CHECKED:
        return nothing | {"why_not": f"{m} columns are too many for a report"}
    try:
        found = model.check_fit()
    except ValueError as error:
        return nothing | {"why_not": _reason(error, speaker)}
    table = columns_of(found.columns)
    columns = [
        [*(finite_or_none(table[name][k]) for name in ("shape", "dependence", "p_value")), str(table["misses"][k])]
        for k in range(m)
    ]
    return {"verdict": found.verdict, "p_value": finite_or_none(found.p_value), "columns": columns, "why_not": ""}


def predictability_of(model: RobustGraph) -> list[float] | None:
    """How well each column is predicted by its neighbours, from 0 to 1; None where that cannot be computed."""
    try:
        with np.errstate(all="ignore"):
            values = columns_of(model.predictability())["predictability"]
    except (ValueError, np.linalg.LinAlgError):
        return None
    return values.tolist() if np.isfinite(values).all() else None


def kinds_of(model: RobustGraph) -> dict[str, Any]:
    """What the columns are: in words, and one by one."""
    kinds = model.column_kinds.values()
    return {"words": kinds_in_words(kinds), "columns": [[kind.word, kind.describe] for kind in kinds]}


def _reason(error: Exception, speaker: Speaker) -> str:
    """The message of an error, with arguments in the reader's terms."""
    message = getattr(error, "message", None)
    return message.worded(speaker) if isinstance(message, Message) else str(error)
