"""The weights of the rows, whether from block medians or from tapers, and what they do to the loss and its gradient.

Gamma-hat and g-hat are weighted sums of the rows' elements. Medians of block means give a weight vector for each.
A taper gives one for both, and lets it depend on the row: score matching stays exact when every row is weighted by a
smooth function of itself, since for phi(x) >= 0 the identity behind it holds with phi h_j in place of h_j. Here phi
is a function of the surprise E(x) = -z0' t(x), which is -log p under a first fit z0 (of a family without a base
density), and falls from 1 to 0. Since h_j d_j phi v_j = -phi'(E) Gamma_j z0, the weighted elements are

    Gamma~ = phi Gamma,      g~ = phi g + phi'(E) Gamma z0

so nothing but two weighted averages is needed, for every family. Dropping rows (a phi that jumps) would bias the fit
on clean data, as truncation does; a taper does not, wherever it sets in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from robscore._tools.memory import chunks
from robscore._tools.numbers import whole_counts
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.elements import Elements, PairwiseElements
from robscore.elements.observed_entries import ObservedElements
from robscore.elements.row_elements import LossWeights
from robscore.families.family import Parameters
from robscore.losses.quadratic import Loss
from robscore.rows.row_source import some_of

_AT_A_TIME = 1_000_000  # guards memory: rows whose squares are held
_ROUNDING = 1e-9  # guards rounding: of the way from the end of a taper to its start


@dataclass(frozen=True, eq=False)
class RowWeights:
    """The weights of n rows; as a pair it is (gamma_weights, g_weights).

    Attributes
    ----------
    gamma_weights, g_weights : arrays of shape (n,)
        Not negative; each sums to one.
    phi : array of shape (n,), or None
        The taper: what is left of each row, between 0 and 1. None where weights come from blocks.
    slopes : array of shape (n,), or None
        The derivative of phi in the surprise, zero or negative.
    parameters : Parameters
        Those of the fit that the surprise was measured by: z0.
    frequency : array of shape (n,), or None
        How many copies every row stands for, which the weights include; None where each stands for one.
    """

    gamma_weights: Array
    g_weights: Array
    phi: Array | None = None
    slopes: Array | None = None
    parameters: Parameters = ()
    frequency: Array | None = None

    @classmethod
    def tapered(cls, phi: Array, slopes: Array, parameters: Parameters, frequency: Array | None = None) -> RowWeights:
        """Normalise phi, given with its slopes, both of shape (n,), for rows with these frequencies."""
        total = phi if frequency is None else phi * frequency
        share = total / max(float(total.sum()), np.finfo(float).tiny)
        return cls(share, share, phi, slopes, parameters, frequency)

    @classmethod
    def hard(cls, phi: Array, parameters: Parameters) -> RowWeights:
        """Weigh by a phi, shape (n,), that does not change with the surprise."""
        return cls.tapered(phi, np.broadcast_to(np.float64(0.0), phi.shape), parameters)

    @classmethod
    def between(
        cls, surprise: Array, start: float, end: float, parameters: Parameters, rate: Array | None = None
    ) -> RowWeights:
        """Weigh by phi = t^2 (3 - 2 t),  t = (end - surprise) / (end - start) within 0 and 1.

        The surprise has shape (n,) and may be infinite. Where it rises with -log p at another rate than 1, that is
        given, shape (n,).
        """
        if not (start < end < np.inf):  # nothing lies in between
            return cls.hard(np.where(surprise <= start, 1.0, 0.0), parameters)
        t = (end - np.clip(surprise, start, end)) / (end - start)
        t[t < _ROUNDING] = 0.0  # the taper ends at a row, which rounding must not let in
        slopes = 1 - t  # in place from here on: there may be very many rows
        slopes *= t
        slopes *= -6 / (end - start)
        if rate is not None:
            slopes *= rate
        phi = 3 - 2 * t
        phi *= t
        phi *= t
        return cls.tapered(phi, slopes, parameters)

    def times(self, share: Array) -> RowWeights:
        """Leave every row a share in [0, 1] of its weight, shape (n,), whatever its surprise."""
        assert self.phi is not None
        assert self.slopes is not None
        return RowWeights.tapered(self.phi * share, self.slopes * share, self.parameters, self.frequency)

    def __iter__(self) -> Iterator[Array]:
        return iter((self.gamma_weights, self.g_weights))

    def __getitem__(self, which: int) -> Array:
        return (self.gamma_weights, self.g_weights)[which]

    def __len__(self) -> int:
        return 2

    @property
    def is_tapered(self) -> bool:
        """Whether rows are weighed by themselves, and not by their blocks."""
        return self.phi is not None

    @property
    def n_rows(self) -> float:
        """How many rows there are: the sum of phi, each row as many times as its frequency says."""
        if self.frequency is not None:
            return float(self.frequency.sum() if self.phi is None else self.frequency @ self.phi)
        return float(self.gamma_weights.size if self.phi is None else self.phi.sum())

    @property
    def counted(self) -> IntArray:
        """Positions of the rows that are not left out."""
        return np.arange(self.gamma_weights.size) if self.phi is None else np.flatnonzero(self.phi)

    @property
    def share_dropped(self) -> float | None:
        """Share of the rows that are left out; None where weights come from blocks."""
        return None if self.phi is None else float(np.average(self.phi == 0, weights=self.frequency))

    def count(self, rows: BoolArray) -> int:
        """Count some rows, a boolean array of shape (n,): one of frequency 2 is two."""
        return int(np.count_nonzero(rows) if self.frequency is None else whole_counts(self.frequency @ rows))

    @cached_property
    def effective_rows(self) -> tuple[float, float]:
        """Effective sample sizes for Gamma and for g: 1 over the sum of squared weights."""
        gamma, g = (1.0 / squared_total(weights, self.frequency) for weights in self)
        return gamma, g

    @property
    def pulls(self) -> Array:
        """Slopes over the sum of phi, shape (n,): what multiplies Gamma z0 in g; zero without a taper."""
        if self.phi is None or self.slopes is None:
            return np.zeros(self.gamma_weights.size)
        if self.frequency is None:
            return np.asarray(self.slopes / self.phi.sum())
        return np.asarray(self.slopes * self.frequency / (self.phi @ self.frequency))

    def some(self, rows: IntArray) -> RowWeights:
        """Give the weights of some rows on their own, by their positions."""
        frequency = some_of(self.frequency, rows)
        if self.phi is not None and self.slopes is not None:
            return RowWeights.tapered(self.phi[rows], self.slopes[rows], self.parameters, frequency)
        gamma, g = (weights[rows] for weights in self)
        return RowWeights(gamma / gamma.sum(), g / g.sum(), frequency=frequency)

    def loss(self, elements: Elements) -> Loss:
        """Average the rows' elements to the weighted loss."""
        loss: Loss = elements.average(*self)
        pulls = self.pulls
        if pulls.any():
            loss.g += elements.gamma_times(pulls, *self.parameters)
        return loss

    def row_losses(self, elements: Elements | ObservedElements, parameters: Parameters) -> Array:
        """Compute what each copy of a row adds to a taper's loss (times the sum of phi), shape (n,).

        That is phi l(z) - phi'(E) z' Gamma z0, with z' Gamma z0 = l(z + z0) - l(z) - l(z0), l a row's plain loss.
        """
        assert self.phi is not None
        assert self.slopes is not None
        plain = elements.row_losses(*parameters)
        losses = self.phi * np.where(self.phi > 0, plain, 0.0)
        bent = np.flatnonzero(self.slopes)
        if bent.size:
            some = elements.subset(bent)
            both = some.row_losses(*(a + b for a, b in zip(parameters, self.parameters, strict=True)))
            losses[bent] -= self.slopes[bent] * (both - plain[bent] - some.row_losses(*self.parameters))
        return np.asarray(losses)

    def describe(self) -> str:
        """Describe how many rows were dropped, and how many count in part."""
        assert self.phi is not None
        n = self.count(self.phi >= 0)
        dropped = self.count(self.phi == 0)
        in_part = self.count((self.phi > 0) & (self.phi < 1))
        words = f"{dropped} of {n} rows ({dropped / n:.1%}) dropped"
        return f"{words}, {in_part} count in part" if in_part else words


def squared_total(weights: Array, frequency: Array | None) -> float:
    """Sum the squares of weights, shape (n,); c^2 / f for a row that stands for f copies, of which each has c / f."""
    pieces = chunks(weights.size, _AT_A_TIME)
    if frequency is None:
        return float(sum(np.sum(weights[piece] ** 2) for piece in pieces))
    return float(sum(np.sum(weights[piece] ** 2 / frequency[piece]) for piece in pieces))


@dataclass(frozen=True)
class WeightedRows:
    """Elements of n rows with their weights, all or a piece of those that a loss is made of.

    What every row adds to the gradient of the weighted loss is the one thing that standard errors are made of.

    Attributes
    ----------
    elements : PairwiseElements
    gamma_weights, g_weights : arrays of shape (n,)
    pulls : array of shape (n,)
        What multiplies Gamma z0 in g; zero without a taper.
    parameters : Parameters
        The fit z0 of the taper, or nothing.
    frequency : array of shape (n,), or None
        How many copies every row stands for, which its weights include.
    """

    elements: PairwiseElements
    gamma_weights: Array
    g_weights: Array
    pulls: Array
    parameters: Parameters
    frequency: Array | None = None

    @classmethod
    def of(cls, elements: Elements, weights: RowWeights) -> WeightedRows:
        """Take all rows of a loss."""
        assert isinstance(elements, PairwiseElements)
        counts = weights.gamma_weights, weights.g_weights, weights.pulls
        return cls(elements, *counts, weights.parameters, weights.frequency)

    def times(self, factor: float | Array) -> WeightedRows:
        """Multiply all weights, by one number or one each."""
        gamma_weights, g_weights, pulls = (factor * part for part in self._counts)
        return replace(self, gamma_weights=gamma_weights, g_weights=g_weights, pulls=pulls)

    @property
    def n_rows(self) -> float:
        """How many rows have a weight, copies included."""
        counted = self.gamma_weights > 0
        return float(np.count_nonzero(counted) if self.frequency is None else self.frequency[counted].sum())

    def gradients(self, z: Parameters, rows: IntArray, nodes: IntArray, *, symmetric: bool) -> Array:
        """Compute what every row adds to the gradient at z in some parameters, shape (n, d), as ``row_gradients`` does.

        Gamma z, g and Gamma z0 of every row follow from gradients of plain losses, Gamma z - g, at z, 2 z and z + z0.
        """

        def gradients(interaction: Array, location: Array) -> Array:
            return self.elements.row_gradients(interaction, location, rows, nodes, symmetric=symmetric)

        at_once, at_twice = gradients(*z), gradients(2 * z[0], 2 * z[1])
        gamma_weights, g_weights = self.gamma_weights[:, None], self.g_weights[:, None]
        total: Array = gamma_weights * (at_twice - at_once) - g_weights * (at_twice - 2 * at_once)
        bent = np.flatnonzero(self.pulls)
        if bent.size:
            both = gradients(*(a + b for a, b in zip(z, self.parameters, strict=True)))
            total[bent] -= self.pulls[bent, None] * (both - at_once)[bent]
        total[self.elements.overflow] = 0.0
        return total

    def pair_squares(self, z: Parameters, own: Array) -> Array:
        """Sum squared gradients in every K_ij at z over rows, as :meth:`PairwiseElements.pair_squares` does."""
        return self.elements.pair_squares(self._rooted(1 / 2), z, self.parameters, own)

    def pair_kurtosis(self, z: Parameters, own: Array) -> Array:
        """Compute the kurtosis of these gradients over rows, shape (m, m); 3, as of normal ones, if unknown."""
        centre = np.average(self.elements.columns(), axis=0, weights=self.gamma_weights)
        with np.errstate(all="ignore"):  # gradients beyond the largest number give no kurtosis
            squares, fourths = self.elements.pair_powers(self._rooted(1 / 2), z, self.parameters, own, centre)
            if self.frequency is not None:
                _, fourths = self.elements.pair_powers(self._rooted(3 / 4), z, self.parameters, own, centre)
            kurtosis = fourths * self.n_rows / squares**2
        return np.nan_to_num(kurtosis, nan=3.0, posinf=3.0)

    @property
    def _counts(self) -> LossWeights:
        return LossWeights(self.gamma_weights, self.g_weights, self.pulls)

    def _rooted(self, power: float) -> LossWeights:
        """Divide weights by a power of the frequency f: f copies of weight c / f have the squares c^2 / f."""
        if self.frequency is None:
            return self._counts
        return LossWeights(*(part / self.frequency**power for part in self._counts))
