"""The main Alpine ridge, which rain seldom crosses, and simulated rain at towns on both sides of it."""

from __future__ import annotations

import csv
from importlib import resources
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robscore._tools.messages import ArgumentError
from robscore._tools.randomness import as_generator
from robscore._tools.typing import Array, BoolArray, RandomState
from robscore.simulate.models import sample


class AlpineRain(NamedTuple):
    """Simulated monthly rain.

    Attributes
    ----------
    X : array of shape (n, 30)
        Monthly totals in mm.
    names : towns
    coordinates : array of shape (30, 2)
        Latitude and longitude in degrees.
    interaction, location : arrays of shape (30, 30) and (30,)
        The true parameters of the square-root model, in the units of X.
    """

    X: Array
    names: tuple[str, ...]
    coordinates: Array
    interaction: Array
    location: Array


def alpine_ridge() -> Array:
    """Return the main ridge from west to east as a line of (latitude, longitude), shape (34, 2).

    Examples
    --------
    >>> import robscore as rs
    >>> rs.datasets.alpine_ridge().shape
    (34, 2)
    """
    return np.array([[float(row["lat"]), float(row["lon"])] for row in _lines_of("alps_main_ridge.csv")])


def _lines_of(name: str) -> list[dict[str, str]]:
    """Read a table that comes with the package."""
    text = resources.files("robscore.datasets").joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def crosses_ridge(coordinates: ArrayLike) -> BoolArray:
    """Return which pairs of places lie on different sides of the ridge.

    Parameters
    ----------
    coordinates : array of shape (m, 2)
        Latitude and longitude in degrees.

    Returns
    -------
    boolean array of shape (m, m)
        True where the straight line between two places crosses the ridge an odd number of times.

    Examples
    --------
    >>> import robscore as rs
    >>> zurich, lucerne, milan = (47.37, 8.54), (47.05, 8.31), (45.46, 9.19)
    >>> rs.datasets.crosses_ridge([zurich, lucerne, milan])[0]
    array([False, False,  True])
    """
    places, ridge = np.asarray(coordinates, dtype=float), alpine_ridge()
    if places.ndim != 2 or places.shape[1] != 2 or not np.isfinite(places).all():
        raise ValueError(f"coordinates must hold a latitude and a longitude for each place; got shape {places.shape}.")
    a, b = places[:, None, None], places[None, :, None]
    c, d = ridge[:-1], ridge[1:]
    apart = (_side(c, d, a) != _side(c, d, b)) & (_side(a, b, c) != _side(a, b, d))
    return np.asarray(apart.sum(axis=-1) % 2 == 1)


def _side(p: Array, q: Array, r: Array) -> BoolArray:
    """Return whether r lies to the left of the line from p to q."""
    first, second = q - p, r - p
    return np.asarray(first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0] > 0)


def simulated_alpine_rain(n_rows: int = 261, *, random_state: RandomState = 0) -> AlpineRain:
    """Simulate monthly rain at 30 Alpine towns: neighbours on the same side of the ridge depend on each other.

    The graph joins every town to its nearest neighbours that can be reached without crossing the ridge; rain follows
    a square-root model on it, with the towns' usual amounts. It is not a measurement of anything.

    Parameters
    ----------
    n_rows : int, default 261
    random_state : int, Generator or None, default 0

    Examples
    --------
    >>> import robscore as rs
    >>> rain = rs.datasets.simulated_alpine_rain(50)
    >>> rain.X.shape, int((rain.interaction != 0).sum() - 30) // 2
    ((50, 30), 45)
    """
    if n_rows < 1:
        raise ArgumentError("n_rows", n_rows, "must be at least 1.")
    towns = _lines_of("alpine_towns.csv")  # degrees, and mean monthly rain in mm, rounded
    names = tuple(town["name"] for town in towns)
    coordinates = np.array([[float(town["lat"]), float(town["lon"])] for town in towns])
    amounts = np.array([float(town["rain"]) for town in towns])
    adjacency = _neighbours(coordinates, n_edges=45)
    K = np.where(adjacency, -1.0, 0.0)
    degree = adjacency.sum(axis=1)
    np.fill_diagonal(K, 1.15 * degree + 0.6)
    size = np.sqrt(K.diagonal())
    K /= np.multiply.outer(size, size)
    eta = np.full(len(names), 0.8)
    # The scale rests on 2000 rows whatever n_rows is, so that the model is the same for any number of rows.
    draws = sample("sqrt", K, eta, n_rows=max(n_rows, 2000), random_state=as_generator(random_state))
    scale = amounts / draws[:2000].mean(axis=0)
    # With x = s y, K_ij is divided by sqrt(s_i s_j) and eta_j by sqrt(s_j).
    root = np.sqrt(scale)
    X = np.round(draws[:n_rows] * scale, 1)
    return AlpineRain(X, names, coordinates, K / np.multiply.outer(root, root), eta / root)


def _neighbours(coordinates: Array, n_edges: int) -> BoolArray:
    """Link each place with its nearest one, then the nearest pairs, without links across the ridge."""
    east = coordinates[:, 1] * np.cos(np.radians(46.5))
    flat = np.column_stack([coordinates[:, 0], east])
    distance = np.linalg.norm(flat[:, None] - flat[None], axis=2)
    distance[crosses_ridge(coordinates)] = np.inf
    np.fill_diagonal(distance, np.inf)
    edges = np.zeros(distance.shape, dtype=bool)
    nearest = distance.argmin(axis=1)
    edges[np.arange(len(edges)), nearest] = edges[nearest, np.arange(len(edges))] = True
    rows, columns = np.triu_indices(len(edges), k=1)
    for k in np.argsort(distance[rows, columns], kind="stable"):
        if np.count_nonzero(edges) // 2 >= n_edges:
            break
        edges[rows[k], columns[k]] = edges[columns[k], rows[k]] = True
    return edges
