"""Random graphs with parameters on them: the true models of a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from robscore._tools.messages import ArgumentError
from robscore._tools.randomness import as_generator
from robscore._tools.typing import Array, BoolArray, IntArray, RandomState

Shape: TypeAlias = Literal["random", "chain", "hub", "grid", "scale-free"]
_COLUMNS_A_HUB = 10


@dataclass(frozen=True)
class Model:
    """True parameters of a pairwise family.

    Attributes
    ----------
    interaction : array of shape (m, m)
        K, precision-like: K_ij = 0 off the diagonal means no edge, K_ij < 0 positive association.
    location : array of shape (m,)
        eta.
    """

    interaction: Array
    location: Array

    @property
    def adjacency(self) -> BoolArray:
        """Which pairs have an edge, shape (m, m); the diagonal is False."""
        edges = self.interaction != 0
        np.fill_diagonal(edges, val=False)
        return edges


def random_model(
    n_columns: int,
    n_edges: int,
    *,
    strength: tuple[float, float] = (0.5, 1.0),
    min_eigenvalue: float = 0.1,
    locations: tuple[float, ...] = (0.0, 0.5, -0.5),
    random_state: RandomState = None,
) -> Model:
    """A graph drawn uniformly from those with so many edges, with parameters as in the paper (section 5.1).

    Parameters
    ----------
    n_columns, n_edges : int
    strength : (low, high)
        ``|K_ij|`` of an edge is uniform between them, with a random sign.
    min_eigenvalue : float, default 0.1
        The diagonal of K is one common value that gives K this least eigenvalue.
    locations : tuple of float
        Each eta_j is drawn from these.
    random_state : int, Generator or None

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> model = rs.simulate.random_model(5, 5, random_state=0)
    >>> int(model.adjacency.sum() // 2), round(float(np.linalg.eigvalsh(model.interaction)[0]), 12)
    (5, 0.1)
    """
    n_pairs = n_columns * (n_columns - 1) // 2
    if n_columns < 1 or not 0 <= n_edges <= n_pairs:
        raise ArgumentError(
            "n_edges", n_edges, f"must lie between 0 and {n_pairs}, the number of pairs of {n_columns} columns."
        )
    rng = as_generator(random_state)
    rows, columns = np.triu_indices(n_columns, k=1)
    chosen = rng.choice(n_pairs, size=n_edges, replace=False)
    return _with_parameters(n_columns, rows[chosen], columns[chosen], strength, min_eigenvalue, locations, rng)


def shaped_model(
    shape: Shape,
    n_columns: int,
    *,
    strength: tuple[float, float] = (0.5, 1.0),
    min_eigenvalue: float = 0.1,
    locations: tuple[float, ...] = (0.0, 0.5, -0.5),
    random_state: RandomState = None,
) -> Model:
    """A graph of a known shape, with parameters as those of :func:`random_model`.

    Parameters
    ----------
    shape : {"random", "chain", "hub", "grid", "scale-free"}
        As many edges as columns at random; one column after the other; a hub for every ten columns; a square lattice;
        or a tree that grows one column at a time, each joined to one that is likely to have many edges already.
    n_columns : int
    strength, min_eigenvalue, locations, random_state : as in :func:`random_model`

    Examples
    --------
    >>> import robscore as rs
    >>> model = rs.simulate.shaped_model("chain", 5, random_state=0)
    >>> model.adjacency.sum(axis=0).tolist()
    [1, 2, 2, 2, 1]
    """
    if n_columns < 2:
        raise ArgumentError("n_columns", n_columns, "must be at least 2.")
    rng = as_generator(random_state)
    every = np.arange(n_columns)
    if shape == "random":
        rows, columns = np.triu_indices(n_columns, k=1)
        chosen = rng.choice(rows.size, size=min(n_columns, rows.size), replace=False)
        rows, columns = rows[chosen], columns[chosen]
    elif shape == "chain":
        rows, columns = every[:-1], every[1:]
    elif shape == "hub":
        columns = every[every % _COLUMNS_A_HUB > 0]
        rows = _COLUMNS_A_HUB * (columns // _COLUMNS_A_HUB)
    elif shape == "grid":
        width = int(np.sqrt(n_columns))
        across = every[:-1][(every[:-1] + 1) % width > 0]
        rows = np.append(across, every[:-width])
        columns = np.append(across + 1, every[width:])
    elif shape == "scale-free":
        rows, columns = _grown_tree(n_columns, rng)
    else:
        raise ArgumentError("shape", shape, f"is not known; use one of {', '.join(map(repr, get_args(Shape)))}.")
    return _with_parameters(n_columns, rows, columns, strength, min_eigenvalue, locations, rng)


def _grown_tree(n_columns: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Pairs of a tree in which a new column joins an old one with a probability that grows with its edges."""
    ends, joined = [0, 1], [0]
    for column in range(2, n_columns):
        joined.append(int(rng.choice(ends)))
        ends += [joined[-1], column]
    return np.array(joined), np.arange(1, n_columns)


def _with_parameters(
    n_columns: int,
    rows: IntArray,
    columns: IntArray,
    strength: tuple[float, float],
    min_eigenvalue: float,
    locations: tuple[float, ...],
    rng: np.random.Generator,
) -> Model:
    """Interactions of random strength and sign on the edges, a common diagonal, and random locations."""
    if not min_eigenvalue > 0:
        raise ArgumentError("min_eigenvalue", min_eigenvalue, "must be positive, or the model has no density.")
    values = rng.uniform(*strength, size=rows.size) * rng.choice([-1.0, 1.0], size=rows.size)
    interaction = np.zeros((n_columns, n_columns))
    interaction[rows, columns] = values
    interaction += interaction.T
    least = float(np.linalg.eigvalsh(interaction)[0])
    np.fill_diagonal(interaction, min_eigenvalue - least)
    return Model(interaction, rng.choice(np.asarray(locations), size=n_columns))
