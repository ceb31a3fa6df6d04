"""The report: one HTML file that carries its data, its style and its libraries, and needs no network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from robscore._tools.files import write_whole
from robscore._tools.messages import visible
from robscore._tools.networks import centrality, clustered_order
from robscore._tools.typing import Array
from robscore.estimators import RobustGraph
from robscore.plot.positions import map_layout, pieces_within, shared_layout
from robscore.report import sentences
from robscore.report.record import Record, as_json, record
from robscore.report.sections import cells_section, given_section

_LIBRARIES = ("cytoscape.min.js", "chart.umd.min.js")
# In this order, in one scope of their own: later ones use what earlier ones declare.
_SCRIPTS = (
    "content.js", "labels.js", "picture.js", "matrix.js", "pointing.js", "tables.js", "sections.js", "charts.js",
    "saving.js", "controls.js",
)  # fmt: skip


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
    >>> "3 clear links among 6 pairs of variables" in page.read_text()
    True
    """
    write_whole(Path(path), html_page(what if isinstance(what, Record) else record(what, **about)))


class Page:
    """A report as one HTML text: it shows itself in a notebook, and ``save`` writes it.

    Attributes
    ----------
    title : str
    html : str
        The whole page.
    """

    def __init__(self, made: Record) -> None:
        self.title, self.html = made.title, html_page(made)

    @classmethod
    def of(cls, model: RobustGraph, **about: Any) -> Page:
        """The report of a fit; arguments as for :func:`robscore.report.record`."""
        return cls(record(model, **about))

    def save(self, path: str | PathLike[str]) -> None:
        """Write it to a file."""
        write_whole(Path(path), self.html)

    def _repr_html_(self) -> str:
        frame = 'width="100%" height="900" style="border:1px solid #ccc" sandbox="allow-scripts allow-downloads"'
        title, content = escape(self.title, quote=True), escape(self.html, quote=True)
        return f'<iframe title="{title}" {frame} srcdoc="{content}"></iframe>'

    def __repr__(self) -> str:
        return f"<Page {self.title!r}>"


def html_page(record: Record) -> str:
    """The page as one text."""
    title = visible(record.title) or "A sparse graph"
    drawn = _drawn(record)
    parts = {
        "cautions": _cautions(record),
        "title": escape(title),
        "headline": escape(sentences.headline(record)),
        "sure": escape(sentences.how_sure(record)),
        "findings": _items(sentences.findings(record)),
        "flagged": escape(sentences.about_flagged(record)),
        "fits": escape(sentences.about_fit(record)),
        "methods": escape(sentences.methods(record)),
        "citation": escape(sentences.citation(record)),
        "version": escape(record.version),
        "style": _asset("report.css"),
        "libraries": "\n".join(f"<script>{_library(name)}</script>" for name in _LIBRARIES),
        "to_given": '<a href="#given-title">Covariates and groups</a>' if record.given else "",
        "given": given_section(record, drawn["layouts"]["network"]["places"]),
        "cells": cells_section(record),
        "data": _as_script({"record": record.__dict__, **drawn}),
        "script": _script(),
    }
    page = _asset("report.html")
    first, *rest = page.split("{{")
    # One pass, so that nothing that comes from the data is taken for a place to fill.
    return first + "".join(parts[name] + after for name, after in (part.split("}}", 1) for part in rest))


def _cautions(record: Record) -> str:
    """A list under a heading, or a line that there are none."""
    if not record.cautions:
        return f'<p id="no-cautions">{escape(sentences.no_cautions(record))}</p>'
    items = _items(sentences.cautions(record))
    return f'<h2 id="cautions-title">Be careful</h2><ul id="cautions" aria-labelledby="cautions-title">{items}</ul>'


def _items(lines: Sequence[str]) -> str:
    return "".join(f"<li>{escape(line)}</li>" for line in lines)


def _script() -> str:
    """All scripts in one function, so that nothing of them is visible to the libraries."""
    parts = "\n".join(_asset("script", name) for name in _SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def _library(name: str) -> str:
    """A library, without the address of its source map: the page asks no network for anything."""
    text = _asset(name, folder="vendor")
    return "\n".join(line for line in text.splitlines() if not line.startswith("//# sourceMappingURL"))


def _asset(*path: str, folder: str = "assets") -> str:
    return resources.files("robscore.report").joinpath(folder, *path).read_text(encoding="utf-8")


def _as_script(content: Any) -> str:
    """JSON that no name can break out of: every character that means something to HTML is written as a number."""
    text = as_json(content)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _drawn(record: Record) -> dict[str, Any]:
    """What the pictures need: where the columns stand, how central each is, and an order for the matrix."""
    m = len(record.names)
    association = np.eye(m)
    for i, j, _, strength in record.edges:
        association[i, j] = association[j, i] = strength
    layouts = {"network": _layout(evened(shared_layout(association)), keep_shape=False)}
    if record.coordinates is not None:
        flat = map_layout(record.coordinates)
        lines = [map_layout(line, like=record.coordinates) for line in record.outline or []]
        layouts["map"] = _layout(flat, lines, keep_shape=True)
    return {
        "layouts": layouts,
        "central": centrality(association)._asdict(),
        "order": clustered_order(association),
    }


def evened(places: Array) -> Array:
    """Places halfway to their ranks, column by column: the crowded get more room, and no order changes."""
    unit = np.ptp(places, axis=0)
    at = (places - places.min(axis=0)) / np.where(unit > 0, unit, 1.0)
    ranks = np.argsort(np.argsort(at, axis=0, kind="stable"), axis=0) / max(len(places) - 1, 1)
    return np.asarray((at + ranks) / 2)


def _layout(places: Array, lines: Sequence[Array] = (), *, keep_shape: bool) -> dict[str, Any]:
    """Places between 0 and 1 with y downwards, and lines under the picture, cut to its surroundings.

    A network may be stretched to fill its frame; a map may not, and ``ratio`` is its height over its width.
    """
    low, size = places.min(axis=0), np.ptp(places, axis=0)
    unit = np.where(size > 0, size, max(float(size.max()), 1.0))
    margin = 0.04
    around = np.full(2, -margin), np.full(2, 1 + margin)
    near = [piece for line in lines for piece in pieces_within((line - low) / unit, *around)]

    def turned(at: Array) -> list[list[float]]:
        return np.column_stack([at[:, 0], 1 - at[:, 1]]).round(5).tolist()

    return {
        "places": turned((places - low) / unit),
        "lines": [turned(line) for line in near],
        "ratio": float(unit[1] / unit[0]) if keep_shape else None,
    }
