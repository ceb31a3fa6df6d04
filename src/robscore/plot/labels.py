"""Names beside their places so that they do not lie over each other."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from robscore._tools.messages import cut_names
from robscore._tools.typing import Array, IntArray

Side: TypeAlias = tuple[int, int]
# Where a name may go relative to its place: (right, up), in order of preference.
SIDES: tuple[Side, ...] = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
_WIDTH, _HEIGHT = 0.6, 1.25  # of a letter, in font sizes
_LENGTHS = (30, 24, 18, 14, 11, 8, 6, 4)  # to which names are cut, one after the other
_PLACE_COST, _EDGE_COST, _DISLIKE = 4.0, 0.5, 0.02


def place_labels(
    positions: Array,
    names: Sequence[str],
    *,
    size: float,
    radius: float,
    edges: IntArray | None = None,
    frame: Array | None = None,
) -> list[Side | None]:
    """The side on which each name stands; None where it would cover another one on every side.

    Parameters
    ----------
    positions : array of shape (m, 2)
        Right and up, in the same unit as sizes.
    names : sequence of m str
    size : float
        Of the font.
    radius : float
        Of the places.
    edges : integer array of shape (number of edges, 2), optional
        Lines that names should avoid.
    frame : array of shape (4,), optional
        Left, low, right and high ends that names must stay within.
    """
    m = len(positions)
    widths = np.array([text_width(name) * size for name in names])
    ends = np.zeros((0, 2, 2)) if edges is None or not len(edges) else positions[np.asarray(edges)]
    places = np.column_stack([positions - radius, positions + radius])
    crowding = (np.linalg.norm(positions[:, None] - positions[None], axis=2) < 6 * size).sum(axis=1)
    taken = np.zeros((0, 4))
    sides: list[Side | None] = [None] * m
    for k in np.argsort(-crowding, kind="stable"):
        others = np.delete(places, k, axis=0)
        best, least = None, np.inf
        for dislike, side in enumerate(SIDES):
            box = _box(positions[k], side, widths[k], size, radius)
            if _overlap(box, taken).any() or (frame is not None and _beyond(box, frame)):
                continue
            covered = _PLACE_COST * _overlap(box, others).sum() / (2 * radius) ** 2
            cost = covered + _EDGE_COST * _crossings(box, ends) + _DISLIKE * dislike
            if cost < least:
                best, least = side, cost
        sides[k] = best
        if best is not None:
            taken = np.vstack([taken, _box(positions[k], best, widths[k], size, radius)])
    return sides


def fitted_labels(
    positions: Array, names: Sequence[str], *, size: float, radius: float, edges: IntArray | None, frame: Array
) -> list[tuple[str, Side]]:
    """A text and a side for every name: all of it where there is room, else cut; never none.

    Names are cut to the length at which all of them find a place within ``frame`` (left, low, right, high), and those
    that have more room are longer again.

    Parameters
    ----------
    positions, names, size, radius, edges : as for :func:`place_labels`
    frame : array of shape (4,)

    Examples
    --------
    >>> places = np.array([[10.0, 10.0], [14.0, 10.0], [18.0, 10.0]])
    >>> found = fitted_labels(places, ["a long name"] * 3, size=4, radius=1, edges=None, frame=np.array([0, 0, 28, 20]))
    >>> len(found), all(len(text) < 11 for text, _ in found)
    (3, True)
    """
    texts, sides = list(names), place_labels(positions, names, size=size, radius=radius, edges=edges, frame=frame)
    cut = {most: cut_names(names, most) for most in _LENGTHS}
    for most in _LENGTHS:
        if None not in sides:
            break
        texts = cut[most]
        sides = place_labels(positions, texts, size=size, radius=radius, edges=edges, frame=frame)
    boxes = [
        _box(place, side or (1, 0), text_width(text) * size, size, radius)
        for place, side, text in zip(positions, sides, texts, strict=True)
    ]
    for k in range(len(names)):
        others = np.array([box for j, box in enumerate(boxes) if j != k]).reshape(-1, 4)
        if sides[k] is None:  # nowhere is room: where it covers least
            choices = [(_box(positions[k], side, text_width(texts[k]) * size, size, radius), side) for side in SIDES]
            boxes[k], sides[k] = min(choices, key=lambda one: _overlap(one[0], others).sum() + _beyond(one[0], frame))
        for longer in (names[k], *(texts_cut[k] for texts_cut in cut.values())):
            if len(longer) <= len(texts[k]):
                break
            side = sides[k]
            assert side is not None
            box = _box(positions[k], side, text_width(longer) * size, size, radius)
            if not _overlap(box, others).any() and not _beyond(box, frame):
                texts[k], boxes[k] = longer, box
                break
    return [(text, side or (1, 0)) for text, side in zip(texts, sides, strict=True)]


def _beyond(box: Array, frame: Array) -> float:
    """How far a box leaves a frame, in all."""
    return float(np.maximum(frame[:2] - box[:2], 0).sum() + np.maximum(box[2:] - frame[2:], 0).sum())


def text_width(text: str) -> float:
    """About how wide a text is, in font sizes."""
    return sum(1.1 if unicodedata.east_asian_width(letter) in "WF" else _WIDTH for letter in text)


def _box(place: Array, side: Side, width: float, size: float, radius: float) -> Array:
    """Left, low, right, high of a name."""
    right, up = side
    height, gap = _HEIGHT * size, radius + 0.2 * size
    if right and up:
        gap *= 0.8
    left = place[0] + (gap if right > 0 else -gap - width if right < 0 else -width / 2)
    low = place[1] + (gap if up > 0 else -gap - height if up < 0 else -height / 2)
    return np.array([left, low, left + width, low + height])


def _overlap(box: Array, others: Array) -> Array:
    """Areas that a box shares with others."""
    width = np.minimum(box[2], others[:, 2]) - np.maximum(box[0], others[:, 0])
    height = np.minimum(box[3], others[:, 3]) - np.maximum(box[1], others[:, 1])
    return np.asarray(np.maximum(width, 0) * np.maximum(height, 0))


def _crossings(box: Array, ends: Array) -> int:
    """How many lines, by their ends, shape (lines, 2, 2), go through a box."""
    start, way = ends[:, 0], ends[:, 1] - ends[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = (box[:2] - start) / way, (box[2:] - start) / way
    enters = np.nanmax(np.minimum(first, second), axis=1, initial=0.0)
    leaves = np.nanmin(np.maximum(first, second), axis=1, initial=1.0)
    # A line along an axis is inside the box in the other direction throughout, or never.
    along = (way == 0) & ((start < box[:2]) | (start > box[2:]))
    return int(np.count_nonzero((enters < leaves) & ~along.any(axis=1)))
