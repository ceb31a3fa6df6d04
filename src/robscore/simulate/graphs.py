"""Random graphs with parameters on them: the true models of a simulation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robscore._tools.errors import ArgumentError
from robscore._tools.randomness import as_generator
from robscore._tools.typing import Array, BoolArray, RandomState


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
        |K_ij| of an edge is uniform between them, with a random sign.
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
        pairs = f"the number of pairs of {n_columns} columns"
        raise ArgumentError("n_edges", n_edges, f"must lie between 0 and {n_pairs}, {pairs}.")
    if not min_eigenvalue > 0:
        raise ArgumentError("min_eigenvalue", min_eigenvalue, "must be positive, or the model has no density.")
    rng = as_generator(random_state)
    rows, columns = np.triu_indices(n_columns, k=1)
    chosen = rng.choice(n_pairs, size=n_edges, replace=False)
    values = rng.uniform(*strength, size=n_edges) * rng.choice([-1.0, 1.0], size=n_edges)
    interaction = np.zeros((n_columns, n_columns))
    interaction[rows[chosen], columns[chosen]] = values
    interaction += interaction.T
    least = float(np.linalg.eigvalsh(interaction)[0])
    np.fill_diagonal(interaction, min_eigenvalue - least)
    return Model(interaction, rng.choice(np.asarray(locations), size=n_columns))
