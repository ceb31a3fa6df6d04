"""Which rows count after a first robust fit, and how much: decided by the data.

A row's surprise is -log p(x) under the fit, up to a constant. Rows are simulated from the fit, and the
distribution of their surprise is compared with that of the data: where good rows lie below c with probability F0(c),
and a share Fn(c) of the data does, at least 1 - Fn(c) / F0(c) of the data are bad. The largest such share that chance
cannot explain estimates the share of bad rows. So many rows, those of largest surprise, lose their weight, by a smooth
taper unless there is a gap between them and the others; the model is fitted again, until this settles. No
model is quite true, so the simulated surprise is first moved and stretched to agree with the less surprising half of
the data: what is compared is how the tail goes on.

Before that, the classic fit of all rows but those that are far out by the robust fit is put to the same test. If
nothing speaks against it, it is the answer: on clean data hardly ever a row is dropped, and nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from robscore._tools.deviations import largest_usual
from robscore._tools.typing import Array, BoolArray
from robscore.elements import Elements
from robscore.families.base import Family, Parameters
from robscore.losses.quadratic import Loss
from robscore.rows.base import Rows
from robscore.weighting.taper import Taper

START_CONTAMINATION = 0.1  # what the first fit guards against where nothing is said: K = 0.4 n
_ITERATIONS = 20
_INERTIA = 0.7  # of the share from one iteration to the next
_LARGEST_SHARE = 0.45

_SIMULATED, _SIMULATED_BY_SLICES = 4000, 1000
_SWEEPS = 10  # of chains that start at rows of the data

_BULK = (0.1, 0.5)  # quantiles in which simulated rows and data are made to agree
_ERRORS = 4.0  # standard errors that an excess must exceed
_LEEWAY = 1.0  # over the root of n: how much wider than measured the bulk may be
_FAR = 2.0  # a row so many times as far from the middle as the furthest simulated one is bad, even if it is alone
_LOWEST = 0.9  # quantile of the simulated rows from which on an excess is looked for
_ESCAPED = 1.2  # bad rows that resemble good ones escape the comparison: so many times the excess are left out

_WIDTH, _LARGEST_WIDTH = 3.0, 0.5  # rows in the taper: so many times the bad ones, at most this share of the others
_NEAR = 2.0  # a gap may leave out so many times more or fewer rows
_APART = 0.15  # and must be so wide, relative to the distance of its start from the median, or wider


@dataclass(frozen=True)
class Reweighted:
    """What reweighting found.

    Attributes
    ----------
    taper : weights and slopes of all rows
    loss : the tapered loss
    parameters : its fit
    failed : bool
        Whether so many rows would go that the family cannot be right.
    """

    taper: Taper
    loss: Loss
    parameters: Parameters
    failed: bool = False


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


def reweigh(
    elements: Elements, rows: Rows, family: Family, start: Parameters, fit: Callable[[Loss], Parameters]
) -> Reweighted:
    """Weights for the rows by their surprise, fitted again until they settle.

    Parameters
    ----------
    elements : of all rows
    rows : Rows
        The same, as the family sees them.
    family : Family
    start : parameters of a robust fit
    fit : callable
        The parameters that a loss leads to.
    """
    n = elements.n_rows
    parameters, weights = start, np.where(elements.overflow, 0.0, 1.0)
    found = compare(family, elements.overflow, rows, parameters, weights, 0.0)
    answer = _classic_if_nothing_speaks_against_it(elements, rows, family, found, weights, fit)
    if answer is not None:
        return answer
    taper: Taper | None = None
    share, settled, n_iter = found.share, False, 0
    while not settled and n_iter < _ITERATIONS:
        n_iter += 1
        taper = None  # one at a time: there may be very many rows
        taper = taper_for(found, share)
        loss = taper.loss(elements)
        try:
            parameters = fit(loss)
        except ValueError:  # what is left does not determine the model
            return Reweighted(taper, loss, parameters, failed=True)
        settled = np.array_equal(weights, taper.weights)
        weights = taper.weights
        found = compare(family, elements.overflow, rows, parameters, weights, share)
        last, share = share, _INERTIA * share + (1 - _INERTIA) * found.share
        settled = settled or bool(abs(share - last) * n <= 1)
    assert taper is not None
    return Reweighted(taper, loss, parameters, failed=_ESCAPED * share >= _LARGEST_SHARE)


def _classic_if_nothing_speaks_against_it(
    elements: Elements,
    rows: Rows,
    family: Family,
    found: Comparison,
    weights: Array,
    fit: Callable[[Loss], Parameters],
) -> Reweighted | None:
    """The fit of all rows but those far out by a robust one, if no more of them are too surprising under it."""
    near = np.where(found.is_far, 0.0, weights)
    plain = Taper.hard(near, found.parameters)
    loss = plain.loss(elements)
    try:
        classic = fit(loss)
    except ValueError:  # what is near does not determine the model
        return Reweighted(plain, loss, found.parameters, failed=True)
    judged = compare(family, elements.overflow, rows, classic, near, 0.0)
    if judged.simulated is not None and judged.share * elements.n_rows < np.count_nonzero(near == 0) + 0.5:
        return Reweighted(plain, loss, classic)
    return None


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
    surprise: Array = rows.gather(partial(_surprise, family, parameters))
    surprise[overflow | np.isnan(surprise)] = np.inf
    return surprise


def _surprise(family: Family, parameters: Parameters, rows: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return -family.log_density(rows, *parameters)


def largest_usual_surprise(surprise: Array) -> float:
    """What does not stand out, by the median deviation: of the cube root of the excess over the least, near normal."""
    least = surprise.min()
    return float(least + largest_usual(np.cbrt(surprise - least)) ** 3)


def taper_for(found: Comparison, share: float) -> Taper:
    """A taper that leaves out about that share of the rows, those of largest surprise."""
    n = found.surprise.size
    share = min(_ESCAPED * share, _LARGEST_SHARE)
    if share * n < 1:
        return Taper.hard(np.where(np.isinf(found.surprise), 0.0, 1.0), found.parameters)
    ordered = np.sort(found.surprise)
    gap = _gap(ordered, share)
    if gap is not None:
        return Taper.between(found.surprise, *gap, found.parameters)
    width = min(_WIDTH * share, _LARGEST_WIDTH * (1 - share))
    end = ordered[min(int(np.ceil((1 - share) * n)), n - 1)]
    start = min(ordered[int((1 - share - width) * n)], ordered[max(np.searchsorted(ordered, end) - 1, 0)])
    return Taper.between(found.surprise, start, end, found.parameters)


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


def _gap(ordered: Array, share: float) -> tuple[float, float] | None:
    """The ends of a gap above which about that share of the rows lie; None where they are not so clearly apart."""
    n = ordered.size
    first, last = int(max(1 - _NEAR * share, 0.55) * n), min(int((1 - share / _NEAR) * n), n - 2)
    middle = ordered[n // 2]
    at_least = ordered[3 * n // 4] - middle
    with np.errstate(invalid="ignore", divide="ignore"):
        below = ordered[first : last + 1]
        width = (ordered[first + 1 : last + 2] - below) / np.maximum(below - middle, at_least)
    left_out = 1 - np.arange(first + 1, last + 2) / n
    away = np.maximum(np.abs(np.log2(left_out / share)) - 0.4, 0.0)
    needed = _APART * (1 + 3 * away)  # the further from the share, the wider
    k = int(np.argmax(np.nan_to_num(width / needed, nan=0.0, posinf=np.inf)))
    return (ordered[first + k], ordered[first + k + 1]) if width[k] > needed[k] else None


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
