"""Covariates and moderators in the report: effects, and the graphs of groups in one picture.

``about_given`` turns a fit into plain numbers and words, which a record keeps; ``given_section`` turns these into a
part of the page that needs no script.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any

import numpy as np

from robscore._tools.errors import UsageError
from robscore._tools.words import visible
from robscore.estimators import RobustGraph
from robscore.report.checking import count, list_of, number, text
from robscore.rows.tables import columns_of

_MOST_EFFECTS, _MOST_DIFFERENCES = 100, 100
# Told apart with any colour vision (Okabe and Ito), on light and on dark ground.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999933", "#882255")
_WIDTH, _FONT, _RADIUS = 2.5, 12.0, 6.0
_SMALLEST, _ROOM = 520.0, 105.0  # side of the picture, at least, and for every column
_EFFECTS = ("column", "covariate", "effect", "effect_low", "effect_high", "p_value", "significant")
_DIFFERENCES = ("source", "target", "moderator", "of", "against", "difference", "p_value", "significant")

_CHANGES_HEADER = (
    "variable",
    "and",
    "with",
    "of",
    "against",
    "change of K (below 0: more together)",
    "p",
    "significant",
)


def about_given(model: RobustGraph) -> dict[str, Any]:
    """What is shown of covariates and moderators; nothing where a fit has none.

    ``changes`` are, for every level of a group and every number, the pairs whose interaction it changes in the graph.
    """
    if model.effects_ is None:
        return {}
    found: dict[str, Any] = {"effects": _rows(model.effects, _EFFECTS, _MOST_EFFECTS), "changes": []}
    for term, K in (model.moderations_ or {}).items():
        i, j = np.nonzero(np.triu(K, k=1))
        found["changes"].append([term, [[int(a), int(b), float(K[a, b])] for a, b in zip(i, j, strict=True)]])
    if model.moderations_:
        found["differences"] = _rows(model.differences, _DIFFERENCES, _MOST_DIFFERENCES)
    return found


def _rows(asked: Callable[[], Any], names: Sequence[str], most: int) -> list[list[Any]]:
    """The first rows of a table; none where the rows are too few for an estimate without a penalty."""
    try:
        columns = columns_of(asked())
    except UsageError:
        return []
    some = [columns[name][:most].tolist() for name in names]
    return [[_plain(cell) for cell in row] for row in zip(*some, strict=True)]


def _plain(cell: Any) -> Any:
    if isinstance(cell, float):
        return cell if np.isfinite(cell) else None
    return cell


def is_given(value: Any, m: int) -> bool:
    """Whether this is what :func:`about_given` gives of m columns."""
    if not isinstance(value, Mapping):
        return False
    if not value:
        return True

    tables = [(value.get("effects", []), len(_EFFECTS)), (value.get("differences", []), len(_DIFFERENCES))]
    changes = value.get("changes", [])
    return (
        all(list_of(partial(_is_row, n))(table) for table, n in tables)
        and list_of(lambda own: isinstance(own, list) and len(own) == 2)(changes)
        and all(text(term) and list_of(partial(_is_change, m))(pairs) for term, pairs in changes)
    )


def _is_row(n: int, row: Any) -> bool:
    is_cell = (cell is None or isinstance(cell, bool | str) or number(cell) for cell in row)
    return isinstance(row, list) and len(row) == n and all(is_cell)


def _is_change(m: int, change: Any) -> bool:
    is_change = isinstance(change, list) and len(change) == 3
    return is_change and all(count(k) and k < m for k in change[:2]) and number(change[2])


def given_section(record: Any, places: Sequence[Sequence[float]]) -> str:
    """The part of the page; nothing where there are no covariates. ``places`` are those of the columns, from 0 to 1."""
    about = record.given
    if not about:
        return ""
    parts = ['<section aria-labelledby="given-title"><h2 id="given-title">Covariates and groups</h2>']
    if about["changes"]:
        changes = _table(_CHANGES_HEADER, about["differences"])
        parts += [_picture(record, places), "<h3>What changes, pair by pair</h3>", changes]
    header = "variable", "covariate", "effect", "from", "to", "p", "significant"
    parts += ["<h3>Effects on single variables</h3>", _table(header, about["effects"]), "</section>"]
    return "\n".join(parts)


def _table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(_cell(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(cell: Any) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else ""
    return "" if cell is None else f"{cell:.3g}" if isinstance(cell, float) else visible(str(cell))


def _picture(record: Any, where: Sequence[Sequence[float]]) -> str:
    """The edges that all rows share in grey; in colour those that a group or a number changes, dashed where K rises."""
    places = np.array(where, dtype=float).reshape(-1, 2) * max(_SMALLEST, _ROOM * np.sqrt(len(record.names)))
    low, high = places.min(axis=0) - 4 * _FONT, places.max(axis=0) + 4 * _FONT
    lines = [_line((places, record.names), i, j, "var(--line)", 0.0, "in all rows") for i, j, *_ in record.edges]
    legend = ['<span style="color:var(--soft)">grey: in all rows</span>']
    for k, (term, changes) in enumerate(record.given["changes"]):
        colour = _COLOURS[k % len(_COLOURS)]
        word = "pair" if len(changes) == 1 else "pairs"
        legend.append(f'<span style="color:{colour}">{escape(visible(term))}: changes {len(changes)} {word}</span>')
        aside = (k + 1) * 1.2 * _WIDTH
        for i, j, rise in changes:
            what = f"{term}, more {'against each other' if rise > 0 else 'together'}"
            lines.append(_line((places, record.names), i, j, colour, aside, what, dashed=rise > 0))
    legend.append("<span>solid: more together there, dashed: more against each other</span>")
    nodes = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}" fill="var(--node)" stroke="var(--node-line)"/>'
        f'<text x="{x:.1f}" y="{y - 1.4 * _RADIUS:.1f}" font-size="{_FONT}" text-anchor="middle" '
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
    dash = f' stroke-dasharray="{2 * _WIDTH} {1.5 * _WIDTH}"' if dashed else ""
    title = escape(f"{visible(names[i])} – {visible(names[j])}: {visible(what)}")
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{_WIDTH}"'
        f"{dash}>"
        f"<title>{title}</title></line>"
    )
