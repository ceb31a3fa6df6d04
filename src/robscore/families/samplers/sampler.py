"""What a sampler must provide, and how many independent rows those of a chain are worth."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from robscore._tools.typing import Array


class Draws(NamedTuple):
    """Rows from a family, and how many independent ones each column is worth.

    Attributes
    ----------
    X : array of shape (n, m)
    effective_size : array of shape (m,)
        Where the rows come from one chain, this follows from their autocorrelation. Where every row ends a chain of
        its own, it is n less what the columns still remember of where the chains were halfway.
    """

    X: Array
    effective_size: Array


class Chains(NamedTuple):
    """How chains run, in samplers that run chains; the others ignore it.

    Attributes
    ----------
    burn_in, thin : int
        Sweeps before the first row, and from one row of a chain to the next.
    start : array of shape (n, m), or None
        Where the chains of single rows start: by default at rows that the domain finds inside itself.
    """

    burn_in: int
    thin: int
    start: Array | None


class Sampler(ABC):
    """Draws rows with a given K, shape (m, m), and eta, shape (m,), which must have a density.

    Attributes
    ----------
    from_start : bool
        Whether :meth:`simulate` runs one chain from each row of ``start``; its last rows are where these chains end.
    """

    from_start: bool = False

    @abstractmethod
    def draw(self, K: Array, eta: Array, n_rows: int, chains: Chains, rng: Generator) -> Draws:
        """Draw this many rows."""

    @abstractmethod
    def simulate(self, K: Array, eta: Array, *, seed: int, start: Array, sweeps: int) -> Array:
        """Draw many rows to compare data with, shape (N, m); each sampler knows how many it can afford.

        The same seed gives the same random numbers for every K and eta, so that rows of two fits differ by these
        alone. ``start``, rows inside the domain, and ``sweeps`` are for samplers whose chains start from rows.
        """

    def draw_each(self, K: Array, eta: Array, *, start: Array, sweeps: int, rng: Generator) -> Array:
        """Draw one row for each row of eta, shape (n, m); chains make ``sweeps`` from the rows of ``start``, (n, m)."""
        raise TypeError(f"{type(self).__name__} cannot draw rows with a location each, so it takes no covariates.")

    def law_given(self, own: float | Array, rest: Array, eta: float | Array, x: Array) -> tuple[Array, Array] | None:
        """The law of one column given the others, at x: the log density and the residual; None if not known.

        The residual is the standard normal quantile of the probability below x.

        Parameters
        ----------
        own : K_jj, positive, a number or an array of shape (n,)
        rest : array of shape (n,)
            The sum of K_jk u_k over the other columns k, with u = x^a or log x.
        eta : of the column, a number or an array of shape (n,)
        x : array of shape (n,)
        """
        return None


def effective_sample_size(chain: Array) -> Array:
    """Effective sample size of every column of a chain, by Geyer's initial positive sequence.

    It is n / (1 + 2 sum of autocorrelations), summed in pairs of neighbouring lags for as long as these are positive.

    Parameters
    ----------
    chain : array of shape (n, m)
        Rows in the order they were drawn.

    Returns
    -------
    array of shape (m,)
        At most n.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> sizes = rs.simulate.effective_sample_size(np.random.default_rng(0).normal(size=(1000, 2)))
    >>> bool((sizes > 800).all())
    True
    """
    X = np.asarray(chain, dtype=float)
    if X.ndim != 2 or len(X) < 4 or not np.isfinite(X).all():
        raise ValueError(f"chain must hold at least 4 rows of finite numbers, shape (n, m); got shape {X.shape}.")
    n = len(X)
    centred = X - X.mean(axis=0)
    spectrum = np.fft.rfft(centred, n=2 * n, axis=0)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, axis=0)[:n]
    sizes = np.empty(X.shape[1])
    for j, values in enumerate(covariance.T):
        if not values[0] > 0:
            sizes[j] = n  # a constant column carries no noise
            continue
        pairs = (values[: n - n % 2] / values[0]).reshape(-1, 2).sum(axis=1)
        stop = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else pairs.size
        pairs = np.minimum.accumulate(pairs[:stop])
        sizes[j] = n / max(2 * pairs.sum() - 1, 1.0)
    return sizes
