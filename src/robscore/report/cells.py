"""Missing and wrong cells in the report: a map, rows by columns, and a table of the cells that look wrong.

``about_cells`` turns a fit into plain numbers, which a record keeps; ``cells_section`` turns these into a part of the
page that needs no script.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from itertools import groupby
from typing import Any

import numpy as np

from robscore._tools.words import visible
from robscore.certainty.suspicious_cells import kinds_of_cells
from robscore.estimators import RobustGraph
from robscore.report.checking import count, has, list_of, number, optional, text
from robscore.rows.tables import columns_of

_MOST_LINES = 200  # of the map; of more rows several are one line
_MOST_LISTED = 200
_NUMBERS = ("value", "expected", "expected_low", "expected_high", "probability")
_KINDS = {"1": ("missing", "var(--both)"), "2": ("too low", "var(--positive)"), "3": ("too high", "var(--negative)")}
_WIDTH, _NARROWEST, _WIDEST = 900.0, 15.0, 40.0  # of the map, and of a column, at least and at most
_HEIGHT, _LEAST_HEIGHT, _TALLEST = 480.0, 3.0, 14.0  # of the map, and of a line, at least and at most
_LEFT, _FONT, _LETTER = 56.0, 11.0, 6.6
_LONGEST = 15  # letters of a name above the map
_TICKS = 6


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
                *(_number(table[name][k]) for name in _NUMBERS),
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


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def is_cells(value: Any, m: int) -> bool:
    """Whether this is what :func:`about_cells` gives of m columns."""
    if not isinstance(value, Mapping):
        return False
    if not value:
        return True
    counts = dict.fromkeys(("first", "n_rows", "n_missing", "n_wrong"), count)
    positive = {"together": lambda own: count(own) and own > 0}
    if not has(value, **counts, **positive, map=list_of(text, m), listed=list_of(partial(_is_cell, m))):
        return False
    lines = -(-value["n_rows"] // value["together"])
    return all(len(column) == lines and set(column) <= set("0123") for column in value["map"])


def _is_cell(m: int, cell: Any) -> bool:
    kinds = (count, optional(text), lambda j: count(j) and j < m, *[optional(number)] * len(_NUMBERS))
    is_list = isinstance(cell, list) and len(cell) == len(kinds)
    return is_list and all(check(part) for check, part in zip(kinds, cell, strict=True))


def cells_section(record: Any) -> str:
    """The part of the page; nothing where there are no such cells to speak of."""
    about = record.cells
    if not about or not (about["n_missing"] or about["looked"]):
        return ""
    head = '<section aria-labelledby="cells-title"><h2 id="cells-title">Cells</h2>'
    body = [f'<p class="hint" id="cells-words">{escape(_words(about))}</p>']
    if about["n_missing"] or about["n_wrong"]:
        body += [_legend(about), _map(record.names, about)]
    if about["listed"]:
        body.append(_table(record.names, about))
    return "\n".join([head, *body, "</section>"])


def _words(about: Mapping[str, Any]) -> str:
    total = about["n_rows"] * len(about["map"])
    said = []
    if about["looked"]:
        wrong = about["n_wrong"]
        who = f"1 of {total} cells looks" if wrong == 1 else f"{wrong or 'None'} of {total} cells look"
        said.append(f"{who} wrong, given the rest of {'its row' if wrong == 1 else 'their rows'}.")
    if about["n_missing"]:
        said.append(f"{about['n_missing']} of {total} were missing, and were filled in.")
    if about["n_missing"] or about["n_wrong"]:
        several = f"; {about['together']} rows are one line" if about["together"] > 1 else ""
        said.append(f"The map has rows from top to bottom{several}.")
    if about["n_wrong"] > len(about["listed"]) > 0:
        said.append(f"The table has the {len(about['listed'])} most likely.")
    return " ".join(said)


def _legend(about: Mapping[str, Any]) -> str:
    there = sorted(set("".join(about["map"])) - {"0"}, reverse=True)
    return '<p class="legend">' + "".join(
        f'<span><i style="border-radius:2px;background:{_KINDS[kind][1]}{";opacity:.45" if kind == "1" else ""}"></i>'
        f"{_KINDS[kind][0]}</span>"
        for kind in there
    ) + "</p>"  # fmt: skip


def _map(names: Sequence[str], about: Mapping[str, Any]) -> str:
    """Rectangles, one for every run of lines of the same kind in a column."""
    lines = len(about["map"][0])
    height = float(np.clip(_HEIGHT / lines, _LEAST_HEIGHT, _TALLEST))
    cell = float(np.clip(_WIDTH / len(names), _NARROWEST, _WIDEST))
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
        at = f"{x + cell / 2 + _FONT / 3:.1f}"
        parts.append(
            f'<text transform="translate({at} {top - 5}) rotate(-90)" font-size="{_FONT}" fill="var(--ink)">'
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
        f'<text x="{_LEFT - 6}" y="{top + height * (line + 0.5) + _FONT / 3:.1f}" font-size="{_FONT}" '
        f'text-anchor="end" fill="var(--soft)">{about["first"] + line * about["together"]}</text>'
        for line in np.unique(np.linspace(0, lines - 1, min(_TICKS, lines)).astype(int)).tolist()
    ]
    said = f"Map of cells: {about['n_wrong']} look wrong, {about['n_missing']} are missing"
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Map of cells" style="max-height:none">'
        f'<svg viewBox="0 0 {width:.0f} {bottom + 6:.0f}" width="{width:.0f}" height="{bottom + 6:.0f}" role="img" '
        f'aria-label="{said}">{"".join(parts)}</svg></div>'
    )


def _rows(about: Mapping[str, Any], start: int, length: int) -> str:
    """Which rows some lines are."""
    first = about["first"] + start * about["together"]
    last = about["first"] + min((start + length) * about["together"], about["n_rows"]) - 1
    return f"row {first}" if first == last else f"rows {first} to {last}"


def _table(names: Sequence[str], about: Mapping[str, Any]) -> str:
    has_labels = any(cell[1] is not None for cell in about["listed"])
    header = ["row", *(["label"] if has_labels else []), "variable", "value", "expected", "from", "to", "probability"]
    head = "".join(f'<th scope="col">{name}</th>' for name in header)
    body = []
    for row, label, j, *values in about["listed"]:
        shown = ["" if value is None else f"{value:.4g}" for value in values[:-1]]
        sure = "" if values[-1] is None else f"{values[-1]:.0%}"
        cells = [str(row), *([visible(label or "")] if has_labels else []), visible(names[j]), *shown, sure]
        body.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    return (
        '<h3 id="cells-listed">Cells that look wrong</h3>'
        '<div class="scroll" tabindex="0" role="region" aria-labelledby="cells-listed"><table id="cells"><thead><tr>'
        f"{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )
