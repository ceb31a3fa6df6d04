"""Positions of the columns of a graph in a picture, the same for all graphs to be compared."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robscore._tools.optional import require
from robscore._tools.typing import Array
from robscore.solvers.path import joined_support

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
