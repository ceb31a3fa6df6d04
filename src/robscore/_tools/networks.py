"""What can be seen of a graph without matplotlib: centrality, communities, an order of its columns, a small picture.

The picture is SVG for notebooks: no script, no library, no overlapping names.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from robscore._tools.messages import clipped, signed, visible
from robscore._tools.optional import require
from robscore._tools.typing import Array

_SIDE, _MARGIN, _LONGEST = 460.0, 130.0, 20  # of the picture: pixels, pixels for names, letters of a name
_POSITIVE, _NEGATIVE = "#0072B2", "#D55E00"


class Centrality(NamedTuple):
    """Measures of each variable, lists with one entry per column.

    Attributes
    ----------
    degree : number of links
    strength : sum of the sizes of their associations
    betweenness : share of the shortest paths between two others that lead through it; strong links are short
    community : number of the community, from 0, the largest first; -1 for variables without links
    """

    degree: list[int]
    strength: list[float]
    betweenness: list[float]
    community: list[int]


def centrality(association: Array) -> Centrality:
    """Centrality and communities of a graph, from its associations of shape (m, m).

    Betweenness is networkx's with length 1 / |association| (Opsahl, Agneessens and Skvoretz, 2010, with exponent 1), as
    in qgraph and bootnet; communities are those of greedy modularity (Clauset, Newman and Moore, 2004).

    Examples
    --------
    >>> import numpy as np
    >>> A = np.eye(4)
    >>> for i, j in ((0, 1), (1, 2)):
    ...     A[i, j] = A[j, i] = 0.5
    >>> found = centrality(A)
    >>> found.degree, found.betweenness, found.community
    ([1, 2, 1, 0], [0.0, 0.3333333333333333, 0.0, 0.0], [0, 0, 0, -1])
    """
    require("networkx")
    import networkx as nx

    size = np.abs(np.where(np.isfinite(association), association, 0.0))
    np.fill_diagonal(size, 0.0)
    m = len(size)
    net = nx.Graph()
    net.add_nodes_from(range(m))
    net.add_weighted_edges_from((int(i), int(j), float(size[i, j])) for i, j in np.argwhere(np.triu(size)))
    for _, _, facts in net.edges(data=True):
        facts["length"] = 1.0 / facts["weight"]
    between = nx.betweenness_centrality(net, weight="length")
    community = [-1] * m
    linked = net.subgraph([k for k in net if net.degree(k)])
    found = nx.community.greedy_modularity_communities(linked, weight="weight") if linked else []
    for number, members in enumerate(sorted(found, key=lambda some: (-len(some), min(some)))):
        for k in members:
            community[k] = number
    return Centrality(
        [int(net.degree(k)) for k in range(m)], size.sum(axis=1).tolist(), [between[k] for k in range(m)], community
    )


def clustered_order(association: Array) -> list[int]:
    """Columns in an order in which strongly linked ones are next to each other: leaves of average linkage.

    The distance of two columns is 1 - |association|.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.eye(4)
    >>> A[0, 2] = A[2, 0] = 0.9
    >>> A[1, 3] = A[3, 1] = 0.8
    >>> clustered_order(A)
    [0, 2, 3, 1]
    """
    m = len(association)
    if m < 3:
        return list(range(m))
    distance = 1.0 - np.minimum(np.abs(np.where(np.isfinite(association), association, 0.0)), 1.0)
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), method="average", optimal_ordering=m <= 300)
    return [int(k) for k in leaves_list(tree)]


def circle_svg(names: Sequence[str], association: Array) -> str:
    """Columns on a circle, those with strong links beside each other, names outwards; links by sign and strength.

    Examples
    --------
    >>> import numpy as np
    >>> circle_svg(["a", "b"], np.array([[1, 0.5], [0.5, 1]])).count("<line")
    1
    """
    m = len(names)
    order = np.array(clustered_order(association))
    angle = np.empty(m)
    angle[order] = 2 * np.pi * np.arange(m) / max(m, 1)
    radius = _SIDE / 2 - _MARGIN
    at = _SIDE / 2 + radius * np.column_stack([np.cos(angle), np.sin(angle)])
    font = float(np.clip(2 * np.pi * radius / max(m, 1) * 0.8, 3.0, 12.0))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_SIDE:.0f} {_SIDE:.0f}" width="{_SIDE:.0f}" '
        f'height="{_SIDE:.0f}" style="max-width:100%;height:auto" font-family="sans-serif" font-size="{font:.1f}" '
        'role="img" aria-label="The graph">'
    ]
    for i, j in np.argwhere(np.triu(association, k=1)):
        strength = float(association[i, j])
        colour, dash = (_POSITIVE, "") if strength > 0 else (_NEGATIVE, ' stroke-dasharray="5 3"')
        (x1, y1), (x2, y2) = at[i], at[j]
        title = escape(f"{visible(names[i])} – {visible(names[j])}: {signed(strength)}")
        parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" opacity=".8" '
            f'stroke-width="{0.8 + 3.5 * min(abs(strength), 1):.1f}"{dash}><title>{title}</title></line>'
        )
    for (x, y), turn, name in zip(at, angle, names, strict=True):
        left = np.cos(turn) < -1e-9
        degrees = np.degrees(turn) + (180 if left else 0)
        full, short = escape(visible(name)), escape(visible(clipped(name, _LONGEST)))
        anchor, gap = ("end", -7) if left else ("start", 7)
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="#fff" stroke="#555"><title>{full}</title></circle>'
            f'<text transform="translate({x:.1f} {y:.1f}) rotate({degrees:.1f})" x="{gap}" dominant-baseline="central" '
            f'text-anchor="{anchor}" fill="currentColor">{short}<title>{full}</title></text>'
        )
    return "".join([*parts, "</svg>"])


def with_text(svg: str, words: str) -> str:
    """A picture with a text beside it, as HTML."""
    text = "<br>".join(escape(visible(line)) for line in words.split("\n"))
    legend = (
        f'<span style="color:{_POSITIVE}">━━</span> move together, <span style="color:{_NEGATIVE}">╍╍</span> '
        "move against each other, given all others; thicker is stronger"
    )
    return (
        f'<div style="display:flex;flex-wrap:wrap;gap:1.5em;align-items:center"><div>{svg}<div style="font-size:small">'
        f'{legend}</div></div><div style="font-family:monospace;font-size:small;max-width:46em">{text}</div></div>'
    )
