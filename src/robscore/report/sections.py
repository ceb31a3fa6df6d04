"""The sections of the page that need no script: covariates and groups, and missing and wrong cells.

For each, ``about_...`` turns a fit into plain numbers and words, which a record keeps; ``is_...`` says whether a file
holds such numbers; ``..._section`` turns them into a part of the page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

import numpy as np

from robscore._tools.messages import UsageError, visible
from robscore._tools.numbers import finite_or_none
from robscore.certainty.suspicious_cells import kinds_of_cells
from robscore.estimators import RobustGraph
from robscore.report.checking import below, count, has, list_of, number, optional, text, tuple_of
from robscore.rows.tables import columns_of

_MOST_EFFECTS, _MOST_DIFFERENCES, _MOST_LISTED = 100, 100, 200  # rows of the tables

# The picture of what changes: lengths are those of its view box.
# Colours can be distinguished with any colour vision (Okabe and Ito), on light and on dark ground.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999933", "#882255")
_LINE_WIDTH, _PICTURE_FONT, _RADIUS = 2.5, 12.0, 6.0
_SMALLEST, _ROOM = 520.0, 105.0  # side of the picture at least, and its side over the root of the number of columns
_EFFECTS = ("column", "covariate", "effect", "effect_low", "effect_high", "p_value", "significant")
_DIFFERENCES = ("source", "target", "moderator", "of", "against", "difference", "p_value", "significant")
_EFFECTS_HEADER = ("variable", "covariate", "effect", "from", "to", "p", "significant")
_NUMBERS = ("value", "expected", "expected_low", "expected_high", "probability")
_CHANGE = "change of K (below 0: more together)"
_CHANGES_HEADER = ("variable", "and", "with", "of", "against", _CHANGE, "p", "significant")

# The map of cells, in pixels.
_MOST_LINES = 200  # of the map; with more rows, several are one line
_KINDS = {"1": ("missing", "var(--both)"), "2": ("too low", "var(--positive)"), "3": ("too high", "var(--negative)")}
_MAP_WIDTH, _NARROWEST, _WIDEST = 900.0, 15.0, 40.0  # of the map, and of a column, at least and at most
_MAP_HEIGHT, _LEAST_HEIGHT, _TALLEST = 480.0, 3.0, 14.0  # of the map, and of a line, at least and at most
_LEFT, _MAP_FONT, _LETTER = 56.0, 11.0, 6.6
_LONGEST = 15  # letters of a name above the map
_TICKS = 6


def about_given(model: RobustGraph) -> dict[str, Any]:
    """What is shown of covariates and moderators; nothing where a fit has none.

    ``changes`` are, for every level of a group and every number, the pairs whose interaction it changes in the graph.
    """
    if model.effects_ is None:
        return {}
    found: dict[str, Any] = {"effects": _first_rows(model.effects, _EFFECTS, _MOST_EFFECTS), "changes": []}
    for term, K in (model.moderations_ or {}).items():
        i, j = np.nonzero(np.triu(K, k=1))
        found["changes"].append([term, [[int(a), int(b), float(K[a, b])] for a, b in zip(i, j, strict=True)]])
    if model.moderations_:
        found["differences"] = _first_rows(model.differences, _DIFFERENCES, _MOST_DIFFERENCES)
    return found


def _first_rows(asked: Callable[[], Any], names: Sequence[str], most: int) -> list[list[Any]]:
    """The first rows of a table; none where the rows are too few for an estimate without a penalty."""
    try:
        columns = columns_of(asked())
    except UsageError:
        return []
    some = [columns[name][:most].tolist() for name in names]
    return [[_plain(cell) for cell in row] for row in zip(*some, strict=True)]


def _plain(cell: Any) -> Any:
    return finite_or_none(cell) if isinstance(cell, float) else cell


def is_given(value: Any, m: int) -> bool:
    """Whether this is what :func:`about_given` gives of m columns."""
    checks = {
        "effects": list_of(list_of(_is_cell_of_table, len(_EFFECTS))),
        "differences": list_of(list_of(_is_cell_of_table, len(_DIFFERENCES))),
        "changes": list_of(tuple_of(text, list_of(tuple_of(below(m), below(m), number)))),
    }
    return isinstance(value, Mapping) and all(check(value.get(name, [])) for name, check in checks.items())


def _is_cell_of_table(cell: Any) -> bool:
    return cell is None or isinstance(cell, bool | str) or number(cell)


def given_section(record: Any, places: Sequence[Sequence[float]]) -> str:
    """The section on covariates and groups, if any. ``places`` are those of the columns in the picture, from 0 to 1."""
    about = record.given
    if not about:
        return ""
    parts = ['<section aria-labelledby="given-title"><h2 id="given-title">Covariates and groups</h2>']
    if about["changes"]:
        changes = _table("changes", "What changes, pair by pair", _CHANGES_HEADER, about["differences"])
        parts += [_picture(record, places), changes]
    parts += [_table("effects", "Effects on single variables", _EFFECTS_HEADER, about["effects"]), "</section>"]
    return "\n".join(parts)


def _picture(record: Any, where: Sequence[Sequence[float]]) -> str:
    """The edges that all rows share in grey; in colour those that a group or a number changes, dashed where K rises."""
    places = np.array(where, dtype=float).reshape(-1, 2) * max(_SMALLEST, _ROOM * np.sqrt(len(record.names)))
    low, high = places.min(axis=0) - 4 * _PICTURE_FONT, places.max(axis=0) + 4 * _PICTURE_FONT
    lines = [_line((places, record.names), i, j, "var(--line)", 0.0, "in all rows") for i, j, *_ in record.edges]
    legend = ['<span style="color:var(--soft)">grey: in all rows</span>']
    for k, (term, changes) in enumerate(record.given["changes"]):
        colour = _COLOURS[k % len(_COLOURS)]
        word = "pair" if len(changes) == 1 else "pairs"
        legend.append(f'<span style="color:{colour}">{escape(visible(term))}: changes {len(changes)} {word}</span>')
        aside = (k + 1) * 1.2 * _LINE_WIDTH
        for i, j, rise in changes:
            what = f"{term}, more {'against each other' if rise > 0 else 'together'}"
            lines.append(_line((places, record.names), i, j, colour, aside, what, dashed=rise > 0))
    legend.append("<span>solid: more together there, dashed: more against each other</span>")
    nodes = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}" fill="var(--node)" stroke="var(--node-line)"/>'
        f'<text x="{x:.1f}" y="{y - 1.4 * _RADIUS:.1f}" font-size="{_PICTURE_FONT}" text-anchor="middle" '
        f'fill="var(--ink)">{escape(visible(name))}</text>'
        for (x, y), name in zip(places, record.names, strict=True)
    )
    box = f"{low[0]:.1f} {low[1]:.1f} {high[0] - low[0]:.1f} {high[1] - low[1]:.1f}"
    return (
        f'<p class="legend">{"".join(legend)}</p><svg viewBox="{box}" role="img" style="max-height:640px;width:100%" '
        f'aria-label="The common graph, with what changes in colour">{"".join(lines)}{nodes}</svg>'
    )


def _line(
    drawn: tuple[Any, Sequence[str]], i: int, j: int, colour: str, aside: float, what: str, *, dashed: bool = False
) -> str:
    """An edge, a little aside so that several between two variables are all seen."""
    places, names = drawn
    along = places[j] - places[i]
    shift = aside * np.array([-along[1], along[0]]) / max(float(np.hypot(*along)), 1e-9)
    (x1, y1), (x2, y2) = places[i] + shift, places[j] + shift
    dash = f' stroke-dasharray="{2 * _LINE_WIDTH} {1.5 * _LINE_WIDTH}"' if dashed else ""
    title = escape(f"{visible(names[i])} – {visible(names[j])}: {visible(what)}")
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{_LINE_WIDTH}"'
        f"{dash}>"
        f"<title>{title}</title></line>"
    )


def about_cells(model: RobustGraph, labels: Sequence[str] | None, first_row: int) -> dict[str, Any]:
    """What is shown of missing and wrong cells; nothing where none were filled in or looked for.

    ``map`` has a text for every column, with a digit for every ``together`` rows: 0 all fit, 1 one is missing, 2 one is
    too low, 3 one is too high. ``listed`` are the cells that look wrong, most likely first.
    """
    fit = model.fitted_
    if fit.prepared.filling is None:
        return {}
    kinds = kinds_of_cells(fit)
    n = len(kinds)
    together = -(-n // _MOST_LINES)
    shown = np.maximum.reduceat(kinds, np.arange(0, n, together), axis=0)
    position = {name: j for j, name in enumerate(fit.names)}
    listed = []
    if fit.prepared.filling.suspects is not None:
        table = columns_of(model.suspicious_cells())
        listed = [
            [
                int(table["row"][k]) + first_row,
                None if labels is None else str(labels[int(table["row"][k])]),
                position[str(table["column"][k])],
                *(finite_or_none(table[name][k]) for name in _NUMBERS),
            ]
            for k in np.flatnonzero(table["flagged"])[:_MOST_LISTED]
        ]
    return {
        "first": first_row,
        "n_rows": n,
        "n_missing": int(np.count_nonzero(kinds == 1)),
        "n_wrong": int(np.count_nonzero(kinds >= 2)),
        "looked": fit.prepared.filling.suspects is not None,
        "together": together,
        "map": ["".join(map(str, column)) for column in shown.T.tolist()],
        "listed": listed,
    }


def is_cells(value: Any, m: int) -> bool:
    """Whether this is what :func:`about_cells` gives of m columns."""
    if not isinstance(value, Mapping):
        return False
    if not value:
        return True
    counts = dict.fromkeys(("first", "n_rows", "n_missing", "n_wrong"), count)
    positive = {"together": lambda own: count(own) and own > 0}
    cell = tuple_of(count, optional(text), below(m), *[optional(number)] * len(_NUMBERS))
    if not has(value, **counts, **positive, map=list_of(text, m), listed=list_of(cell)):
        return False
    lines = -(-value["n_rows"] // value["together"])
    return all(len(column) == lines and set(column) <= set("0123") for column in value["map"])


def cells_section(record: Any) -> str:
    """The section on cells; empty where none are missing and none were looked for that are wrong."""
    about = record.cells
    if not about or not (about["n_missing"] or about["looked"]):
        return ""
    head = '<section aria-labelledby="cells-title"><h2 id="cells-title">Cells</h2>'
    body = [f'<p class="hint" id="cells-words">{escape(_words(about))}</p>']
    if about["n_missing"] or about["n_wrong"]:
        body += [_legend(about), _map(record.names, about)]
    if about["listed"]:
        body.append(_listed_cells(record.names, about))
    return "\n".join([head, *body, "</section>"])


def _words(about: Mapping[str, Any]) -> str:
    total = about["n_rows"] * len(about["map"])
    sentences = []
    if about["looked"]:
        wrong = about["n_wrong"]
        who = f"1 of {total} cells looks" if wrong == 1 else f"{wrong or 'None'} of {total} cells look"
        sentences.append(f"{who} wrong, given the rest of {'its row' if wrong == 1 else 'their rows'}.")
    if about["n_missing"]:
        sentences.append(f"{about['n_missing']} of {total} were missing, and were filled in.")
    if about["n_missing"] or about["n_wrong"]:
        several = f"; {about['together']} rows are one line" if about["together"] > 1 else ""
        sentences.append(f"The map has rows from top to bottom{several}.")
    if about["n_wrong"] > len(about["listed"]) > 0:
        sentences.append(f"The table has the {len(about['listed'])} most likely.")
    return " ".join(sentences)


def _legend(about: Mapping[str, Any]) -> str:
    kinds = sorted(set("".join(about["map"])) - {"0"}, reverse=True)
    return '<p class="legend">' + "".join(
        f'<span><i style="border-radius:2px;background:{_KINDS[kind][1]}{";opacity:.45" if kind == "1" else ""}"></i>'
        f"{_KINDS[kind][0]}</span>"
        for kind in kinds
    ) + "</p>"  # fmt: skip


def _map(names: Sequence[str], about: Mapping[str, Any]) -> str:
    """Rectangles, one for every run of lines of the same kind in a column."""
    lines = len(about["map"][0])
    height = float(np.clip(_MAP_HEIGHT / lines, _LEAST_HEIGHT, _TALLEST))
    cell = float(np.clip(_MAP_WIDTH / len(names), _NARROWEST, _WIDEST))
    shown = [visible(name) for name in names]
    shown = [name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…" for name in shown]
    top = 14 + _LETTER * max(map(len, shown))
    width, bottom = _LEFT + cell * len(names) + 8, top + height * lines
    parts = [
        f'<rect x="{_LEFT}" y="{top}" width="{cell * len(names)}" height="{height * lines:.1f}" fill="var(--panel)" '
        'stroke="var(--line)"/>'
    ]
    for j, (name, short, column) in enumerate(zip(names, shown, about["map"], strict=True)):
        x, start = _LEFT + cell * j, 0
        at = f"{x + cell / 2 + _MAP_FONT / 3:.1f}"
        parts.append(
            f'<text transform="translate({at} {top - 5}) rotate(-90)" font-size="{_MAP_FONT}" fill="var(--ink)">'
            f"{escape(short)}</text>"
        )
        for kind, run in groupby(column):
            length = sum(1 for _ in run)
            if kind != "0":
                word, colour = _KINDS[kind]
                faint = ' opacity="0.45"' if kind == "1" else ""
                title = escape(f"{visible(name)}, {_rows(about, start, length)}: {word}")
                parts.append(
                    f'<rect x="{x + 1:.1f}" y="{top + height * start:.1f}" width="{cell - 2:.1f}" '
                    f'height="{height * length:.1f}" fill="{colour}"{faint}><title>{title}</title></rect>'
                )
            start += length
    parts += [
        f'<text x="{_LEFT - 6}" y="{top + height * (line + 0.5) + _MAP_FONT / 3:.1f}" font-size="{_MAP_FONT}" '
        f'text-anchor="end" fill="var(--soft)">{about["first"] + line * about["together"]}</text>'
        for line in np.unique(np.linspace(0, lines - 1, min(_TICKS, lines)).astype(int)).tolist()
    ]
    label = f"Map of cells: {about['n_wrong']} look wrong, {about['n_missing']} are missing"
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Map of cells" style="max-height:none">'
        f'<svg viewBox="0 0 {width:.0f} {bottom + 6:.0f}" width="{width:.0f}" height="{bottom + 6:.0f}" role="img" '
        f'aria-label="{label}">{"".join(parts)}</svg></div>'
    )


def _rows(about: Mapping[str, Any], start: int, length: int) -> str:
    """Which rows some lines are."""
    first = about["first"] + start * about["together"]
    last = about["first"] + min((start + length) * about["together"], about["n_rows"]) - 1
    return f"row {first}" if first == last else f"rows {first} to {last}"


def _listed_cells(names: Sequence[str], about: Mapping[str, Any]) -> str:
    has_labels = any(cell[1] is not None for cell in about["listed"])
    header = ["row", *(["label"] if has_labels else []), "variable", "value", "expected", "from", "to", "probability"]
    rows = []
    for row, label, j, *values in about["listed"]:
        shown = ["" if value is None else f"{value:.4g}" for value in values[:-1]]
        sure = "" if values[-1] is None else f"{values[-1]:.0%}"
        rows.append([str(row), *([label or ""] if has_labels else []), names[j], *shown, sure])
    return _table("cells", "Cells that look wrong", header, rows)


def _table(name: str, title: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table under a title, in a frame that scrolls if it is too wide."""
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in header)
    body = "".join(f"<tr>{''.join(f'<td>{escape(_cell(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return (
        f'<h3 id="{name}-listed">{title}</h3>'
        f'<div class="scroll" tabindex="0" role="region" aria-labelledby="{name}-listed"><table id="{name}"><thead><tr>'
        f"{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(cell: Any) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else ""
    return "" if cell is None else f"{cell:.3g}" if isinstance(cell, float) else visible(str(cell))
