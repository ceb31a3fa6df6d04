"""Slice sampling of pairwise families on any domain, one coordinate at a time, many chains at once.

Given the rest of its row, x_j has a log density f(x_j), which the family knows, on the intervals where the domain
lets it move. A level below f(x_j) is drawn, and the slice is where f lies above it. An interval that holds all of the
slice is found (its ends must not depend on where in the slice x_j is, or the chain would have another distribution),
and shrunk towards x_j until a uniform draw lies in the slice (Neal, 2003). Families that can draw from a conditional
exactly do so instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.random import Generator
from scipy.stats import rankdata

from robscore._tools.typing import Array
from robscore.families.samplers.sampler import Chains, Draws, Sampler

if TYPE_CHECKING:
    from robscore.families.family import Family


_KEPT = 4  # last sweeps of a chain, each of which gives a simulated row: more rows for little more work


class Uniforms(Protocol):
    """The random numbers that slices use; a NumPy generator has them."""

    def random(self, size: int) -> Array:
        """Draw uniform numbers on [0, 1)."""

    def standard_exponential(self, size: int) -> Array:
        """Draw exponential numbers with mean 1."""


@dataclass(frozen=True)
class SliceSampler(Sampler):
    """Draws every row as the end of a chain of its own."""

    family: Family
    from_start = True

    def draw(self, K: Array, eta: Array, n_rows: int, chains: Chains, rng: Generator) -> Draws:
        """Run chains of ``burn_in`` sweeps; there is nothing to thin."""
        start = self.family.domain.some_rows(n_rows, len(K), rng) if chains.start is None else chains.start
        halfway = slice_sample(self.family, K, eta, start, chains.burn_in // 2, rng)
        X = slice_sample(self.family, K, eta, halfway, chains.burn_in - chains.burn_in // 2, rng)
        return Draws(X, _effective_size(halfway, X))

    def simulate(self, K: Array, eta: Array, *, seed: int, start: Array, sweeps: int) -> Array:
        """Run the chains that start at the given rows, and take their rows after each of their last sweeps."""
        rng = np.random.default_rng(seed)
        kept = min(_KEPT, sweeps)
        states = [slice_sample(self.family, K, eta, start, sweeps - kept + 1, rng)]
        while len(states) < kept:
            states.append(slice_sample(self.family, K, eta, states[-1], 1, rng))
        return np.concatenate(states)

    def draw_each(self, K: Array, eta: Array, *, start: Array, sweeps: int, rng: Generator) -> Array:
        """Run the chains that start at the given rows."""
        return slice_sample(self.family, K, eta, start, sweeps, rng)


def slice_sample(family: Family, K: Array, eta: Array, start: Array, n_sweeps: int, rng: Generator) -> Array:
    """Advance every row of ``start``, shape (n, m), all inside the domain, by ``n_sweeps`` sweeps."""
    X = start.copy()
    for _ in range(n_sweeps):
        order = family.domain.sweep_order(X.shape[1], rng)
        turned = sweep_slices(family, K[np.ix_(order, order)], eta[..., order], X[:, order], 1, rng)
        X = turned[:, np.argsort(order)]
    return X


def sweep_slices(family: Family, K: Array, eta: Array, start: Array, n_sweeps: int, rng: Generator) -> Array:
    """Do as :func:`slice_sample`, columns always in their order: for parameters that cannot change places with them."""
    X = start
    for _ in range(n_sweeps):
        for j in family.domain.free_columns(X.shape[1]):
            X = family.domain.replaced(X, j, draw_coordinate(family, K, eta, X, j, rng))
    return X


def draw_coordinate(
    family: Family,
    K: Array,
    eta: Array,
    X: Array,
    j: int,
    rng: Generator,
    within: tuple[Array, Array] | None = None,
) -> Array:
    """Draw column j given the rest of each row of X, shape (n, m), which is inside the domain; shape (n,).

    It is drawn ``within`` limits, two arrays of shape (n,), where these are given.
    """
    lower, upper = _intervals(family, X, j)
    if within is not None:  # exact draws may be on the whole domain
        ends = np.maximum(lower, within[0][:, None]), np.minimum(upper, within[1][:, None])
        return _by_slices(family, K, eta, X, j, ends, rng)
    exact = family.draw_conditional(X, j, K, eta, lower, upper, rng)
    return _by_slices(family, K, eta, X, j, (lower, upper), rng) if exact is None else exact


def slice_coordinate(family: Family, K: Array, eta: Array, X: Array, j: int, rng: Uniforms) -> Array:
    """Draw as :func:`draw_coordinate`, but always by slices: the k-th step uses the k-th random number of every row."""
    return _by_slices(family, K, eta, X, j, _intervals(family, X, j), rng)


def _intervals(family: Family, X: Array, j: int) -> tuple[Array, Array]:
    """Ends of the intervals where column j may lie, shape (n, q) each."""
    lower, upper = family.domain.segments_of(X, j)
    return np.maximum(lower, 0.0) if family.domain.is_non_negative else lower, upper


def _by_slices(
    family: Family, K: Array, eta: Array, X: Array, j: int, within: tuple[Array, Array], rng: Uniforms
) -> Array:
    lower, upper = within
    conditional = family.conditional(X, j, K, eta)

    def log_density(x: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            value = conditional(x)
        inside = ((x[:, None] >= lower) & (x[:, None] <= upper)).any(axis=1)
        return np.where(inside & ~np.isnan(value), value, -np.inf)

    x = X[:, j]
    level = log_density(x) - rng.standard_exponential(x.size)
    nonempty = lower <= upper
    low = np.where(nonempty, lower, np.inf).min(axis=1)
    high = np.where(nonempty, upper, -np.inf).max(axis=1)
    high = np.where(np.isinf(high), _beyond(log_density, level, x, 1.0), high)
    low = np.where(np.isinf(low), _beyond(log_density, level, x, -1.0), low)
    new, waiting = x.copy(), np.arange(x.size)
    for _ in range(1000):  # each step about halves what is left, so that this ends long before
        proposal = low + rng.random(x.size) * (high - low)
        accepted = log_density(proposal) >= level
        done = waiting[accepted[waiting]]
        new[done] = proposal[done]
        waiting = waiting[~accepted[waiting]]
        if not waiting.size:
            break
        below = proposal < x
        low = np.where(~accepted & below, proposal, low)
        high = np.where(~accepted & ~below, proposal, high)
    return new


def _beyond(log_density: Callable[[Array], Array], level: Array, x: Array, sign: float) -> Array:
    """A power of two beyond which the density stays below the level, on the side of the given sign.

    Powers of two keep the ends from depending on where in the slice x is.
    """
    size = 2.0 ** np.ceil(np.log2(np.maximum(sign * x, 1.0)) + 1e-9)
    for _ in range(200):  # beyond all numbers that a float can square
        reached = (log_density(sign * size) < level) & (log_density(sign * 2 * size) < level)
        if reached.all():
            return sign * size
        size = np.where(reached, size, 2 * size)
    raise ValueError("The density does not fall off far away: with these parameters the model is not a distribution.")


def _effective_size(first: Array, last: Array) -> Array:
    """Sizes n (1 - r^2) of every column, r the rank correlation of the ends of all chains with their middles.

    Correlations within three standard errors of zero, 3 / sqrt(n), are taken for chance.
    """
    n = len(first)
    if n < 4:  # too few for a correlation
        return np.full(first.shape[1], float(n))
    ranks = [rankdata(rows, axis=0) for rows in (first, last)]
    centred = [rank - rank.mean(axis=0) for rank in ranks]
    scale = np.sqrt((centred[0] ** 2).sum(axis=0) * (centred[1] ** 2).sum(axis=0))
    with np.errstate(invalid="ignore"):
        squared = np.nan_to_num(((centred[0] * centred[1]).sum(axis=0) / scale) ** 2)
    sizes: Array = n * (1.0 - np.where(squared > 9.0 / n, squared, 0.0))
    return sizes
