"""Where the columns of a graph stand in a picture, the same in all to be compared, and where their names fit."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
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
_MOST_BY_DISTANCES = 120  # columns that are laid out by all distances between them, which takes time
_FAR = 4.0  # edges; no pair is kept further apart, so that separate parts of a graph stay in the picture


def shared_layout(graph: ArrayLike) -> Array:
    """Return positions for the columns, shape (m, 2), near each other where few edges lie between them.

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
    """Return positions on a flat map, shape (m, 2): east and north, in degrees of latitude.

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
    """Return the longitude in the middle of some places, shape (m, 2), whichever way round they lie."""
    return float(np.degrees(np.angle(np.exp(1j * np.radians(coordinates[:, 1])).sum())))


def longitudes_near(longitude: Array, middle: float) -> Array:
    """Return longitudes counted the short way round from a middle, so that no map is torn at the date line."""
    return np.asarray(middle + (longitude - middle + 180) % 360 - 180)


def pieces_within(line: Array, low: Array, high: Array) -> list[Array]:
    """Return the parts of a line, shape (points, 2), that lie in a box; each ends at its side."""
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
    """Return where the way from a point in a box to one beyond leaves it."""
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


@dataclass(frozen=True)
class LabelRoom:
    """The room for names beside their places in a picture; all lengths in one unit.

    Attributes
    ----------
    positions : array of shape (m, 2)
        Places, right and up.
    size : float
        Of the font.
    radius : float
        Of the places.
    edges : integer array of shape (number of edges, 2)
        Lines between places that names should avoid.
    frame : array of shape (4,)
        Left, low, right and high ends that names must stay within.
    """

    positions: Array
    size: float
    radius: float
    edges: IntArray
    frame: Array

    def box(self, k: int, side: Side, text: str) -> Array:
        """Return left, low, right and high of a text beside a place."""
        (x, y), (right, up) = self.positions[k], side
        width, height, gap = text_width(text) * self.size, _LETTER_HEIGHT * self.size, self.radius + 0.2 * self.size
        if right and up:  # on a diagonal the corner of a text is nearer to its place than a side would be
            gap *= 0.8
        left = x + (gap if right > 0 else -gap - width if right < 0 else -width / 2)
        low = y + (gap if up > 0 else -gap - height if up < 0 else -height / 2)
        return np.array([left, low, left + width, low + height])

    def sides(self, texts: Sequence[str]) -> list[Side | None]:
        """Choose the side on which each text stands; None where it would cover another one on every side."""
        m = len(self.positions)
        ends = self.positions[self.edges]
        places = np.column_stack([self.positions - self.radius, self.positions + self.radius])
        apart = np.linalg.norm(self.positions[:, None] - self.positions[None], axis=2)
        crowding = (apart < 6 * self.size).sum(axis=1)
        taken = np.zeros((0, 4))
        sides: list[Side | None] = [None] * m
        for k in np.argsort(-crowding, kind="stable"):  # those with many neighbours have the fewest choices
            others = np.delete(places, k, axis=0)
            least = np.inf
            for order, side in enumerate(_SIDES):
                box = self.box(k, side, texts[k])
                if _overlap(box, taken).any() or _beyond(box, self.frame):
                    continue
                covered = _PLACE_COST * _overlap(box, others).sum() / (2 * self.radius) ** 2
                cost = covered + _EDGE_COST * _crossings(box, ends) + _SIDE_COST * order
                if cost < least:
                    sides[k], chosen, least = side, box, cost
            if sides[k] is not None:
                taken = np.vstack([taken, chosen])
        return sides

    def labels(self, names: Sequence[str]) -> list[tuple[str, Side]]:
        """Choose a text and a side for every name: all of it where there is room, else cut; never none.

        Names are cut to the length at which all of them find a place within the frame, and those that have more room
        are longer again.

        Examples
        --------
        >>> places = np.array([[10.0, 10.0], [14.0, 10.0], [18.0, 10.0]])
        >>> room = LabelRoom(places, 4, 1, np.zeros((0, 2), dtype=int), np.array([0, 0, 28, 20]))
        >>> found = room.labels(["a long name"] * 3)
        >>> len(found), all(len(text) < 11 for text, _ in found)
        (3, True)
        """
        texts, sides = list(names), self.sides(names)
        shorter = [cut_names(names, most) for most in _LENGTHS]
        for cut in shorter:
            if None not in sides:
                break
            texts, sides = list(cut), self.sides(cut)
        boxes = [self.box(k, side or _SIDES[0], text) for k, (side, text) in enumerate(zip(sides, texts, strict=True))]
        found: list[tuple[str, Side]] = []
        for k, (name, text, side) in enumerate(zip(names, texts, sides, strict=True)):
            others = np.array(boxes[:k] + boxes[k + 1 :]).reshape(-1, 4)
            if side is None:  # nowhere is room: where it covers least
                choices = [(self.box(k, other, text), other) for other in _SIDES]
                boxes[k], side = min(
                    choices, key=lambda one: _overlap(one[0], others).sum() + _beyond(one[0], self.frame)
                )
            for longer in (name, *(cut[k] for cut in shorter)):
                if len(longer) <= len(text):
                    break
                box = self.box(k, side, longer)
                if not _overlap(box, others).any() and not _beyond(box, self.frame):
                    text, boxes[k] = longer, box
                    break
            found.append((text, side))
        return found


def _beyond(box: Array, frame: Array) -> float:
    """Return how far a box leaves a frame, all sides added up."""
    return float(np.maximum(frame[:2] - box[:2], 0).sum() + np.maximum(box[2:] - frame[2:], 0).sum())


def text_width(text: str) -> float:
    """Return about how wide a text is, in font sizes."""
    return sum(1.1 if unicodedata.east_asian_width(letter) in "WF" else _LETTER_WIDTH for letter in text)


def _overlap(box: Array, others: Array) -> Array:
    """Return the areas that a box shares with others."""
    width = np.minimum(box[2], others[:, 2]) - np.maximum(box[0], others[:, 0])
    height = np.minimum(box[3], others[:, 3]) - np.maximum(box[1], others[:, 1])
    return np.asarray(np.maximum(width, 0) * np.maximum(height, 0))


def _crossings(box: Array, ends: Array) -> int:
    """Count the lines, given by their ends, shape (lines, 2, 2), that go through a box."""
    start, way = ends[:, 0], ends[:, 1] - ends[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = (box[:2] - start) / way, (box[2:] - start) / way
    enters = np.nanmax(np.minimum(first, second), axis=1, initial=0.0)
    leaves = np.nanmin(np.maximum(first, second), axis=1, initial=1.0)
    # A line along an axis is inside the box in the other direction throughout, or never.
    along = (way == 0) & ((start < box[:2]) | (start > box[2:]))
    return int(np.count_nonzero((enters < leaves) & ~along.any(axis=1)))
