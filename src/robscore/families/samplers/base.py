"""The interface of samplers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from robscore._tools.typing import Array


class Draws(NamedTuple):
    """Rows from a family, and how many independent ones each column is worth.

    Attributes
    ----------
    X : array of shape (n, m)
    effective_size : array of shape (m,)
        By the autocorrelation of the rows where they come from one chain. Where every row ends a chain of its own,
        less what the columns still remember of where the chains were halfway.
    """

    X: Array
    effective_size: Array


class Sampler(ABC):
    """Draws rows with a given K, shape (m, m), and eta, shape (m,), which have a density.

    Attributes
    ----------
    from_start : bool
        Whether rows are simulated by chains from given rows, one each; the last simulated rows are where these end.
    """

    from_start: bool = False

    @abstractmethod
    def draw(
        self,
        K: Array,
        eta: Array,
        n_rows: int,
        *,
        burn_in: int,
        thin: int,
        start: Array | None,
        rng: np.random.Generator,
    ) -> Draws:
        """So many rows; ``burn_in``, ``thin`` and ``start`` are for samplers that run chains."""

    @abstractmethod
    def simulate(self, K: Array, eta: Array, *, seed: int, start: Array, sweeps: int) -> Array:
        """Many rows to compare data with, shape (N, m).

        Uses the same random numbers for every K and eta, so that rows of two fits differ by these alone. ``start``,
        rows inside the domain, and ``sweeps`` are for samplers whose chains start from rows.
        """

    def surprises(self, K: Array, eta: Array) -> Array | None:
        """-log p of its rows, up to p's constant: evenly spread quantiles, ascending; None if not known."""
        return None

    def draw_each(self, K: Array, eta: Array, *, start: Array, sweeps: int, rng: np.random.Generator) -> Array:
        """One row for every row of eta, shape (n, m); chains make so many sweeps from the rows of ``start``, (n, m)."""
        raise TypeError(f"{type(self).__name__} cannot draw rows with a location each, so it takes no covariates.")

    def law_given(self, own: float | Array, rest: Array, eta: float | Array, x: Array) -> tuple[Array, Array] | None:
        """Of one column given the others: the log of its density at x, and the residual of x; None if not known.

        The residual is the standard normal quantile of the share below x.

        Parameters
        ----------
        own : K_jj, positive, a number or an array of shape (n,)
        rest : array of shape (n,)
            The sum of K_jk u_k over the other columns k, with u = x^a or log x.
        eta : of the column, a number or an array of shape (n,)
        x : array of shape (n,)
        """
        return None
