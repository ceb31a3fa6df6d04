"""A small picture of a graph as SVG, for notebooks: no script, no library, no overlapping names."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from robscore._tools.networks import clustered_order
from robscore._tools.typing import Array
from robscore._tools.words import clipped, signed, visible

_SIDE, _MARGIN, _LONGEST = 460.0, 130.0, 20
_POSITIVE, _NEGATIVE = "#0072B2", "#D55E00"


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
        told = escape(f"{visible(names[i])} – {visible(names[j])}: {signed(strength)}")
        parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" opacity=".8" '
            f'stroke-width="{0.8 + 3.5 * min(abs(strength), 1):.1f}"{dash}><title>{told}</title></line>'
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


def with_words(svg: str, words: str) -> str:
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
