"""Where the columns of a graph stand in a picture, the same in all to be compared, and where their names fit."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from robscore._tools.messages import cut_names
from robscore._tools.optional import require
from robscore._tools.typing import Array, IntArray
from robscore.solvers.path import joined_support

Side: TypeAlias = tuple[int, int]
# Where a name may go relative to its place: (right, up), in order of preference.
_SIDES: tuple[Side, ...] = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
_LETTER_WIDTH, _LETTER_HEIGHT = 0.6, 1.25  # in font sizes
_LENGTHS = (30, 24, 18, 14, 11, 8, 6, 4)  # to which names are cut, one after the other
# What it costs a name to cover a place whole, to be crossed by a line, and to stand one side further down the list.
_PLACE_COST, _EDGE_COST, _SIDE_COST = 4.0, 0.5, 0.02
_MOST_BY_DISTANCES = 120  # columns that are laid out by all distances between them
_FAR = 4.0  # steps; no pair is kept further apart, so that separate pieces stay in the picture


def shared_layout(graph: ArrayLike) -> Array:
    """Positions for the columns, shape (m, 2), near each other where few edges lie between them.

    Compute it once, from the truth or from one of the graphs, and draw every graph with it.

    Parameters
    ----------
    graph : array of shape (m, m)
        K or an adjacency matrix.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.plot.shared_layout(np.ones((3, 3))).shape
    (3, 2)
    """
    require("networkx")
    import networkx as nx

    adjacency = joined_support(np.asarray(graph), "symmetric")
    m = len(adjacency)
    net = nx.from_numpy_array(adjacency)
    if m > _MOST_BY_DISTANCES:
        positions = nx.spring_layout(net, k=1.6 / np.sqrt(m), iterations=100, seed=0, method="force")
    else:
        steps = dict(nx.all_pairs_shortest_path_length(net))
        far = min(_FAR, max(max(row.values()) for row in steps.values()) + 1.0)
        distances = {a: {b: min(float(steps[a].get(b, far)), far) for b in net} for a in net}
        positions = nx.kamada_kawai_layout(net, dist=distances)
    return spread(np.array([positions[node] for node in net]))


def spread(positions: Array, closest: float = 0.45) -> Array:
    """Push apart places that stand too close, shape (m, 2); ``closest`` in mean distances of a square lattice."""
    m = len(positions)
    if m < 2:
        return positions
    moved = positions - positions.mean(axis=0)
    size = np.ptp(moved, axis=0).max()
    moved = moved / (size if size > 0 else 1.0)
    needed = closest / np.sqrt(m)
    rng = np.random.default_rng(0)
    for _ in range(100):
        difference = moved[:, None] - moved[None]
        distance = np.linalg.norm(difference, axis=2)
        np.fill_diagonal(distance, 1e9)
        close = distance < needed
        if not close.any():
            break
        same = close & (distance == 0)
        difference[same] = rng.normal(size=(np.count_nonzero(same), 2)) * needed
        distance[same] = needed / 2
        push = np.where(close, (needed - distance) / distance / 2, 0.0)
        moved = moved + np.einsum("ij,ijk->ik", push, difference)
    return np.asarray(moved)


def map_layout(coordinates: ArrayLike, *, like: ArrayLike | None = None) -> Array:
    """Positions on a flat map, shape (m, 2): east and north, in degrees of latitude.

    Parameters
    ----------
    coordinates : array of shape (m, 2)
        Latitude and longitude in degrees.
    like : array of shape (k, 2), optional
        Other coordinates whose map these are to be put on.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.plot.map_layout([[60.0, 10.0], [60.0, 12.0]]).round(6).tolist()
    [[-0.5, 60.0], [0.5, 60.0]]
    """
    places = _checked(coordinates)
    frame = places if like is None else _checked(like)
    middle = middle_longitude(frame)
    width = np.cos(np.radians((frame[:, 0].min() + frame[:, 0].max()) / 2))
    return np.column_stack([(longitudes_near(places[:, 1], middle) - middle) * width, places[:, 0]])


def middle_longitude(coordinates: Array) -> float:
    """The longitude in the middle of some places, shape (m, 2), whichever way round they lie."""
    return float(np.degrees(np.angle(np.exp(1j * np.radians(coordinates[:, 1])).sum())))


def longitudes_near(longitude: Array, middle: float) -> Array:
    """Longitudes counted the short way round from a middle, so that no map is torn at the date line."""
    return np.asarray(middle + (longitude - middle + 180) % 360 - 180)


def pieces_within(line: Array, low: Array, high: Array) -> list[Array]:
    """The parts of a line, shape (points, 2), that lie in a box; each ends at its side."""
    inside = np.asarray(((line >= low) & (line <= high)).all(axis=1))
    shown = inside[:-1] | inside[1:]  # steps from a point to the next
    ends = np.flatnonzero(np.diff(np.concatenate([[False], shown, [False]]).astype(int)))
    pieces = []
    for first, last in zip(ends[::2], ends[1::2], strict=True):
        piece = line[first : last + 1].copy()
        if not inside[first]:
            piece[0] = _at_the_side(piece[1], piece[0], low, high)
        if not inside[last]:
            piece[-1] = _at_the_side(piece[-2], piece[-1], low, high)
        pieces.append(piece)
    return pieces


def _at_the_side(within: Array, beyond: Array, low: Array, high: Array) -> Array:
    """Where the way from a point in a box to one beyond leaves it."""
    way = beyond - within
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(way > 0, (high - within) / way, np.where(way < 0, (low - within) / way, 1.0))
    return np.asarray(within + way * min(1.0, float(share.min())))


def _checked(coordinates: ArrayLike) -> Array:
    places = np.asarray(coordinates, dtype=float)
    if places.ndim != 2 or places.shape[1] != 2 or not np.isfinite(places).all() or (np.abs(places[:, 0]) > 90).any():
        raise ValueError(
            f"coordinates must hold a latitude (-90 to 90) and a longitude for each column; got shape {places.shape}."
        )
    return places


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
        for dislike, side in enumerate(_SIDES):
            box = _box(positions[k], side, widths[k], size, radius)
            if _overlap(box, taken).any() or (frame is not None and _beyond(box, frame)):
                continue
            covered = _PLACE_COST * _overlap(box, others).sum() / (2 * radius) ** 2
            cost = covered + _EDGE_COST * _crossings(box, ends) + _SIDE_COST * dislike
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
            choices = [(_box(positions[k], side, text_width(texts[k]) * size, size, radius), side) for side in _SIDES]
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
    return sum(1.1 if unicodedata.east_asian_width(letter) in "WF" else _LETTER_WIDTH for letter in text)


def _box(place: Array, side: Side, width: float, size: float, radius: float) -> Array:
    """Left, low, right, high of a name."""
    right, up = side
    height, gap = _LETTER_HEIGHT * size, radius + 0.2 * size
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
