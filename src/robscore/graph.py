"""The result: a graph with named columns, as tables, for networkx, and as a summary."""

from __future__ import annotations

import bz2
import gzip
import re
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robscore._tools.files import write_whole
from robscore._tools.messages import About, Message, Phrase, Remark, Setting, signed, visible
from robscore._tools.networks import circle_svg, with_text
from robscore._tools.optional import require
from robscore._tools.typing import AnyData, Array, BoolArray, IntArray
from robscore._version import __version__
from robscore.links import Finding, KnownLinks
from robscore.rows.tables import Kind, as_table
from robscore.solvers.path import joined_support

if TYPE_CHECKING:
    import networkx as nx

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class FitFacts:
    """Facts about the fit behind a graph, for its summary."""

    n_rows: int
    reweighting: str | None
    family: str
    n_blocks: int
    effective_rows: tuple[float, float]
    alpha: float
    selection: str
    converged: bool
    kkt: float
    cautions: tuple[str, ...] = ()
    why_family: str = ""
    agreement: str = ""
    filled: str = ""
    sample: str = ""
    kinds: str = ""
    associated: str = ""
    finding: Finding | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A learnt graph.

    Attributes
    ----------
    names : tuple of str, one per column
    interaction : array of shape (m, m)
        K, precision-like: zero off the diagonal means no edge, negative means positive association.
    association : array of shape (m, m)
        -K_ij / sqrt(K_ii K_jj) off the diagonal and 1 on it: the partial correlation for Gaussian data.
    facts : FitFacts
    frame : name of the data-frame library for tables, or None to choose
    """

    names: tuple[str, ...]
    interaction: Array
    association: Array
    facts: FitFacts
    frame: str | None = None

    @property
    def adjacency(self) -> BoolArray:
        """Which pairs have an edge, shape (m, m); the diagonal is False."""
        return joined_support(self.interaction, "symmetric")

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return int(np.count_nonzero(self.adjacency)) // 2

    @property
    def degree(self) -> dict[str, int]:
        """Number of neighbours of every column."""
        return dict(zip(self.names, self.adjacency.sum(axis=1).tolist(), strict=True))

    def strongest_first(self) -> tuple[IntArray, IntArray]:
        """The columns that edges join, i < j, by decreasing size of the association."""
        i, j = np.nonzero(np.triu(self.adjacency))
        order = np.argsort(-np.abs(self.association[i, j]), kind="stable")
        return i[order], j[order]

    def edges(self) -> AnyData:
        """Table of edges: source, target, interaction, association; strongest association first.

        In the data-frame library of the input; for arrays pandas if it is installed, else a structured array.
        """
        i, j = self.strongest_first()
        columns: dict[str, tuple[Kind, Any]] = {
            "source": (str, [self.names[k] for k in i]),
            "target": (str, [self.names[k] for k in j]),
            "interaction": (float, self.interaction[i, j]),
            "association": (float, self.association[i, j]),
        }
        return as_table(columns, self.frame)

    def to_networkx(self) -> nx.Graph:
        """A networkx graph: every column a node, edges with ``interaction`` and ``association``."""
        require("networkx")
        import networkx as nx

        graph = nx.Graph()
        graph.add_nodes_from(self.names)
        for i, j in np.argwhere(np.triu(self.adjacency)):
            numbers = {"interaction": float(self.interaction[i, j]), "association": float(self.association[i, j])}
            graph.add_edge(self.names[i], self.names[j], **numbers)
        return graph

    def to_graphml(self, path: str | PathLike[str]) -> None:
        """Write the graph as GraphML, which Gephi, Cytoscape, igraph and others read; .gz and .bz2 are compressed."""
        content = graphml_text(self.to_networkx()).encode()
        if Path(path).suffix in (".gz", ".bz2"):
            content = gzip.compress(content) if Path(path).suffix == ".gz" else bz2.compress(content)
        write_whole(Path(path), content)

    def _links(self) -> KnownLinks:
        """The links with what is known of them."""
        i, j = self.strongest_first()
        edges = list(zip(i.tolist(), j.tolist(), self.association[i, j].tolist(), strict=True))
        return KnownLinks(len(self.names), edges, *(self.facts.finding or ()))

    def summary(self) -> str:
        """What was learnt from which data, in a few lines, cautions first."""
        facts, m = self.facts, len(self.names)
        i, j = self.strongest_first()
        association = self.association[i, j]
        links = self._links()
        listed = ", ".join(
            f"{visible(self.names[a])} – {visible(self.names[b])} ({signed(strength)})"
            for a, b, strength in links.strongest(3)
        )
        blocks = f"{facts.n_blocks}" if facts.n_blocks > 1 else "1 (classic score matching)"
        if facts.reweighting and not facts.reweighting.startswith("no"):
            blocks = ""
        lines = {
            "finding": links.headline if facts.finding is not None else "",
            "rows": f"{facts.n_rows}, effective sample size {min(facts.effective_rows):.0f}",
            "sample": facts.sample,
            "reweighted": facts.reweighting or "",
            "columns": f"{m}: {facts.kinds}" if facts.kinds else f"{m}",
            "cells": facts.filled,
            "family": facts.family
            + (f", {facts.why_family}" if facts.why_family else "")
            + (f": associations are those of {facts.associated}" if facts.associated else ""),
            "agreement": facts.agreement,
            "blocks": blocks,
            "penalty": f"alpha = {facts.alpha:.4g}, {facts.selection}",
            "edges": f"{self.n_edges} of {m * (m - 1) // 2} pairs: {np.count_nonzero(association > 0)} positive, "
            f"{np.count_nonzero(association < 0)} negative",
            "strongest": listed or "none",
            "converged": f"{'yes' if facts.converged else 'NO'}, {facts.kkt:.1e} alpha_max from optimal",
        }
        cautions = [("caution", f"\n{'':<11}".join(map(visible, caution.split("\n")))) for caution in facts.cautions]
        return "\n".join(f"{name:<11}{value}" for name, value in [*cautions, *lines.items()] if value)

    def _repr_html_(self) -> str:
        """For notebooks: a picture and the summary, without any script."""
        return with_text(circle_svg(self.names, self.association), self.summary())

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"<Graph of {len(self.names)} columns with {self.n_edges} edges>"


def graphml_text(graph: nx.Graph) -> str:
    """A networkx graph as GraphML; in names, what XML cannot hold is written as an escape."""
    import networkx as nx

    named = nx.relabel_nodes(graph, _names_in_xml(list(graph)))
    lines = '<?xml version="1.0" encoding="utf-8"?>', f"<!-- robscore {__version__} -->", *nx.generate_graphml(named)
    return "\n".join(lines) + "\n"


def _names_in_xml(names: list[str]) -> dict[str, str]:
    """For every name that XML cannot hold, one that it can, different from all others."""
    changed: dict[str, str] = {}
    taken = set(names)
    for name in names:
        if _NOT_XML.search(name):
            plain = clear = _NOT_XML.sub(lambda sign: visible(sign[0]) if sign[0] < "\ufffe" else "\ufffd", name)
            count = 1
            while clear in taken:
                count += 1
                clear = f"{plain} ({count})"
            taken.add(clear)
            changed[name] = clear
    return changed


def pair_associations(interaction: Array, i: IntArray, j: IntArray) -> Array:
    """-K_ij / sqrt(|K_ii K_jj|) of some pairs, the sign alone where that root is zero."""
    size = np.sqrt(np.abs(interaction.diagonal()))
    scale = size[i] * size[j]
    K = interaction[i, j]
    return np.asarray(np.where(scale > 0, -K / np.where(scale > 0, scale, 1.0), -np.sign(K)))


def association(interaction: Array) -> tuple[Array, list[Remark]]:
    """-K_ij / sqrt(K_ii K_jj) off the diagonal, 1 on it; with a remark where K_ii K_jj is not positive.

    There its absolute value is taken, and where it is zero the association is the sign alone.
    """
    diagonal = interaction.diagonal()
    edges = joined_support(interaction, "symmetric")
    result = np.zeros_like(interaction)
    i, j = np.nonzero(edges)
    result[i, j] = pair_associations(interaction, i, j)
    np.fill_diagonal(result, 1.0)
    positive = diagonal > 0
    if not edges[~positive].any():
        return result, []
    words = Message(
        "For some variables the data do not say how much they vary given the others (their diagonal entries of K are "
        "not positive), so do not go by the sizes of their associations; a larger ",
        Setting("alpha"),
        ", more rows or ",
        Phrase("a ", ""),
        Setting("diagonal_multiplier"),
        " may help.",
    )
    return result, [Remark(words, UserWarning, About.DIAGONAL)]
