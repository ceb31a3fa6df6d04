"""How surprising rows are under a fit, beside rows simulated from it.

A row's surprise is -log p(x), up to a constant. No model is quite true, so the surprise of simulated rows is moved and
stretched to agree with the less surprising half of the data: what is compared is how the tail goes on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from robscore._tools.typing import Array, BoolArray
from robscore.families.base import Family, Parameters
from robscore.rows.base import Rows
from robscore.weighting.tails import largest_usual_surprise

_SIMULATED, _SIMULATED_BY_SLICES = 4000, 1000
_SWEEPS = 10  # of chains that start at rows of the data

_BULK = (0.1, 0.5)  # quantiles in which simulated rows and data are made to agree
_ERRORS = 4.0  # standard errors that an excess must exceed
_LEEWAY = 1.0  # over the root of n: how much wider than measured the bulk may be
_FAR = 2.0  # a row so many times as far from the middle as the furthest simulated one is bad, even if it is alone
_LOWEST = 0.9  # quantile of the simulated rows from which on an excess is looked for


@dataclass(frozen=True)
class Comparison:
    """The rows beside rows simulated from a fit.

    Attributes
    ----------
    parameters : those compared with, which have a density
    surprise : array of shape (n,)
        -log p of every row up to a constant; infinite for rows that overflow.
    drawn : array of shape (N,), or None
        The same for simulated rows, in order; None where the family cannot be sampled.
    known_share : share of bad rows as far as known
    """

    parameters: Parameters
    surprise: Array
    drawn: Array | None
    known_share: float

    @cached_property
    def simulated(self) -> Array | None:
        """What the data are compared with: ``drawn`` made to agree with the data in the bulk of the good rows."""
        return None if self.drawn is None else _matched(self.drawn, self.surprise, self.known_share)

    @property
    def share(self) -> float:
        """Share of the rows that are more surprising than simulated ones; without those, that stand out.

        Of all rows; those that overflow are left out anyway.
        """
        if self.simulated is None:
            return float(np.mean(self.surprise > largest_usual_surprise(self.surprise)))
        return max(_excess(self.surprise, self.simulated), float(np.mean(self.is_far)))

    @property
    def is_far(self) -> BoolArray:
        """Rows that lie where none can: twice as far out as the furthest simulated one, shape (n,)."""
        middle = np.median(self.surprise)
        furthest = largest_usual_surprise(self.surprise)
        if self.simulated is not None:
            middle, furthest = self.simulated[self.simulated.size // 2], self.simulated[-1]
        return self.surprise > middle + _FAR * (furthest - middle)


def compare(
    family: Family, overflow: BoolArray, rows: Rows, parameters: Parameters, weights: Array, share: float
) -> Comparison:
    """The surprise of the rows beside that of rows simulated from the fit; always the same simulation.

    ``overflow``, shape (n,), says which rows count as infinitely surprising; ``weights``, shape (n,), which rows chains
    may start from; ``share`` is the share of bad rows as far as known.
    """
    drawn: Array | None = None
    proper = _proper(family, parameters) if family.is_pairwise else None
    if proper is not None:
        parameters = proper
        drawn = _draw(family, proper, rows, weights)
    surprise = surprise_of(family, overflow, rows, parameters)
    simulated = None if drawn is None else np.sort(-family.log_density(drawn, *parameters))
    return Comparison(parameters, surprise, simulated, share)


def surprise_of(family: Family, overflow: BoolArray, rows: Rows, parameters: Parameters) -> Array:
    """-log p of every row up to a constant, shape (n,); infinite for rows that overflow."""
    surprise: Array = rows.gather(partial(surprise_of_rows, family, parameters))
    surprise[overflow] = np.inf
    return surprise


def surprise_of_rows(family: Family, parameters: Parameters, X: Array) -> Array:
    """-log p of rows X, shape (n, m), up to a constant, shape (n,); infinite where it is not a number."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        surprise = -family.log_density(X, *parameters)
    return np.asarray(np.where(np.isnan(surprise), np.inf, surprise))


def _matched(simulated: Array, surprise: Array, share: float) -> Array:
    """The simulated surprise, moved and stretched to have two lower quantiles of the good rows.

    And a little more, by what those quantiles may be wrong.
    """
    low, middle = np.quantile(simulated, _BULK)
    at_low, at_middle = np.quantile(surprise, (1 - share) * np.array(_BULK), method="lower")
    stretch = (at_middle - at_low) / (middle - low) * (1 + _LEEWAY / np.sqrt(surprise.size))
    return np.asarray(at_middle + (simulated - middle) * stretch)


def _excess(surprise: Array, simulated: Array) -> float:
    """Share of rows that are more surprising than simulated ones (in order), beyond chance; 0 if none."""
    n, N = surprise.size, simulated.size
    least = simulated[min(int(np.ceil(_LOWEST * N)) - 1, N - 1)]  # what lies below is not looked at
    tail = np.sort(surprise[surprise > least])
    expected = np.searchsorted(simulated, tail, side="left") / N
    observed = np.arange(n - tail.size, n) / n  # the share of rows below each row
    at_most = np.minimum(expected, 1 - 1 / N)
    error = np.sqrt(at_most * (1 - at_most) * (1 / n + 1 / N))
    clear = (expected >= _LOWEST) & (expected - observed > _ERRORS * error)
    return float((1 - observed[clear] / expected[clear]).max(initial=0.0))


def _draw(family: Family, parameters: Parameters, rows: Rows, weights: Array) -> Array | None:
    """Rows from the fit; None where the family cannot be sampled."""
    K, eta = parameters
    rng, sampler = np.random.default_rng(0), family.sampler()
    if sampler.is_quick:
        return sampler.draw(K, eta, _SIMULATED, burn_in=100, thin=3, start=None, rng=rng).X
    chosen = rng.choice(rows.n_rows, size=_SIMULATED_BY_SLICES, p=weights / weights.sum())
    try:
        return sampler.draw(K, eta, chosen.size, burn_in=_SWEEPS, thin=1, start=rows.take(chosen), rng=rng).X
    except (ValueError, TypeError):  # a domain or parameters that cannot be sampled
        return None


def _proper(family: Family, parameters: Parameters) -> Parameters | None:
    """The parameters, interactions (and location, if need be) shrunk until there is a density; None if none helps."""
    interaction, location = parameters
    diagonal = np.diag(np.diagonal(interaction))
    for shrunk in (1.0, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3, 0.0):
        K = diagonal + shrunk * (interaction - diagonal)
        for eta in (location, shrunk * location):
            try:
                family.check_parameters(K, eta)
            except ValueError:
                continue
            return K, eta
    return None
