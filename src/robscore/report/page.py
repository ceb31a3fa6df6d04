"""The report: one HTML file that carries its data, its style and its libraries, and asks nothing of any network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from robscore._tools.files import write_whole
from robscore._tools.typing import Array, IntArray
from robscore._tools.words import visible
from robscore.estimators import RobustGraph
from robscore.plot.labels import place_labels
from robscore.plot.layout import map_layout, pieces_within, shared_layout
from robscore.report.record import Record, as_json, record
from robscore.report.words import cautions, findings, headline

# Sizes in the page's own units; see assets/script for what is drawn with them.
_FONT, _RADIUS = 12.0, 6.0
_ROOM = 105.0  # side of the square that a column has in the picture
_SMALLEST_SIDE = 520.0
_LIBRARIES = ("cytoscape.min.js", "chart.umd.min.js")
# In this order, in one scope of their own: later ones use what earlier ones declare.
_SCRIPTS = ("content.js", "pictures.js", "pointing.js", "tables.js", "charts.js", "controls.js")


def write_html(what: RobustGraph | Record, path: str | PathLike[str], **about: Any) -> None:
    """Write a report that opens in any browser, without a network.

    Parameters
    ----------
    what : fitted RobustGraph, or the Record of one
    path : of the HTML file
    **about
        For a RobustGraph, what :func:`robscore.report.record` takes: classic, title, labels, coordinates, outline,
        remarks.

    Examples
    --------
    >>> import numpy as np, robscore as rs, tempfile, pathlib
    >>> X = np.random.default_rng(0).normal(size=(300, 4)) @ np.tri(4)
    >>> page = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> rs.report.write_html(rs.RobustGraph("gaussian").fit(X), page, title="A chain")
    >>> "3 of 6 pairs of variables are linked directly" in page.read_text()
    True
    """
    write_whole(Path(path), html_page(what if isinstance(what, Record) else record(what, **about)))


def html_page(record: Record) -> str:
    """The page as one text."""
    title = visible(record.title) or "A sparse graph"
    told = "".join(f"<li>{escape(sentence)}</li>" for sentence in findings(record))
    careful = "".join(f"<li>{escape(sentence)}</li>" for sentence in cautions(record))
    parts = {
        "cautions": f'<ul id="cautions" aria-label="Cautions">{careful}</ul>' if careful else "",
        "title": escape(title),
        "headline": escape(headline(record)),
        "findings": told,
        "version": escape(record.version),
        "style": _asset("report.css"),
        "libraries": "\n".join(f"<script>{_library(name)}</script>" for name in _LIBRARIES),
        "data": _as_script({"record": record.__dict__, "layouts": _layouts(record)}),
        "script": _script(),
    }
    page = _asset("report.html")
    first, *rest = page.split("{{")
    # One pass, so that nothing that comes from the data is taken for a place to fill.
    return first + "".join(parts[name] + after for name, after in (part.split("}}", 1) for part in rest))


def _asset(name: str) -> str:
    return resources.files("robscore.report").joinpath("assets", *name.split("/")).read_text(encoding="utf-8")


def _script() -> str:
    parts = "\n".join(_asset(f"script/{name}") for name in _SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def _library(name: str) -> str:
    text = resources.files("robscore.report").joinpath("vendor", name).read_text(encoding="utf-8")
    return "\n".join(line for line in text.splitlines() if not line.startswith("//# sourceMappingURL"))


def _as_script(content: Any) -> str:
    """JSON that no name can break out of: every character that means something to HTML is written as a number."""
    text = as_json(content)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _layouts(record: Record) -> dict[str, Any]:
    """Where the columns stand, as a network and on a map, and on which side their names."""
    m = len(record.names)
    pairs = np.array([[i, j] for i, j, _, _ in record.edges], dtype=np.intp).reshape(-1, 2)
    adjacency = np.zeros((m, m), dtype=bool)
    adjacency[pairs[:, 0], pairs[:, 1]] = adjacency[pairs[:, 1], pairs[:, 0]] = True
    side = max(_SMALLEST_SIDE, _ROOM * np.sqrt(m))
    layouts = {"network": _layout(record, shared_layout(adjacency), pairs, side)}
    if record.coordinates is not None:
        flat = map_layout(record.coordinates)
        lines = [map_layout(line, like=record.coordinates) for line in record.outline or []]
        layouts["map"] = _layout(record, flat, pairs, 1.1 * side, lines)
    return layouts


def _layout(record: Record, places: Array, pairs: IntArray, side: float, lines: Sequence[Array] = ()) -> dict[str, Any]:
    """Places in the page's units, with y downwards; names' sides; lines under the picture, cut to its surroundings."""
    low, size = places.min(axis=0), np.ptp(places, axis=0).max()
    unit = side / (size if size > 0 else 1.0)
    at = (places - low) * unit
    sides = place_labels(at, record.names, size=_FONT, radius=_RADIUS, edges=pairs)
    flip = np.array([1.0, -1.0])
    margin = 0.04 * side
    box = at.min(axis=0) - margin, at.max(axis=0) + margin
    near = [piece for line in lines for piece in pieces_within((line - low) * unit, *box)]
    return {
        "places": (at * flip).round(2).tolist(),
        "sides": [None if side is None else list(side) for side in sides],
        "lines": [(line * flip).round(2).tolist() for line in near],
        "font": _FONT,
        "radius": _RADIUS,
    }
