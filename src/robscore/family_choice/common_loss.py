"""One score-matching loss for all families, in the same coordinates and with the same weights, to compare them by.

**Coordinates.** On the orthant t = x / s, and everything is multiplied by t so that zeros and powers below zero do no
harm:

    V_j = t_j v_j       = (-t_j^a u, t_j^b),                                            u = t^a, or log t where a = 0
    W_j = t_j^2 d_j v_j = (-(a-1) t_j^a u - t_j^a (t_j u'(t_j)) e_j, (b-1) t_j^b)

On the real line t = (x - c) / s and V_j = v_j, W_j = d_j v_j. The log density then has t_j d_j log p = V_j' z_j (or
d_j log p itself), with z_j = (K_1j, ..., K_mj, eta_j) in these coordinates.

**Weights.** With the same weights h_j(x) the score-matching loss is half the weighted Fisher divergence of the model
from the truth less a constant of the data. Here h_j = phi(x) min(t_j, cap)^2, safe for all families on the orthant
(h_j = phi on the real line). phi falls smoothly from 1 to 0 with a robust distance of the row from the middle, whatever
the family: a family's own row weights would drop the very rows that contradict it. The derivative of phi enters g, so
that the comparison stays exact wherever phi sets in; rows far out merely have less weight.

    D = |z - mean|_P,   w = D^(2/3), nearly normal;   phi = 1 up to median + 2 sd, 0 from median + 4 sd, a cubic between
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from robscore._tools.deviations import MAD
from robscore._tools.typing import Array, IntArray
from robscore.families.family import Family, Parameters
from robscore.families.power import PowerFamily
from robscore.rows.quantiles import column_quantiles
from robscore.rows.row_source import Rows, as_rows
from robscore.weighting.central_rows import Scatter, find_central_rows
from robscore.weighting.row_rule import RowRule


@dataclass(frozen=True)
class Coordinates:
    """How columns become the common coordinates t.

    Attributes
    ----------
    centre, scale : arrays of shape (m,)
    is_real : bool
        Whether there are values below zero, so that t has no boundary.
    """

    centre: Array
    scale: Array
    is_real: bool

    @classmethod
    def of(cls, X: Array | Rows, *, is_real: bool) -> Coordinates:
        """Find them by all rows, shape (n, m): medians of positive values; else medians and deviations from these."""
        rows = as_rows(X)
        zero = np.zeros(rows.n_columns)
        centre = column_quantiles(rows, 0.5) if is_real else zero
        scale = column_quantiles(rows.mapped(partial(_positive, centre)), 0.5)
        if is_real:
            usual = MAD * column_quantiles(rows.mapped(partial(_deviation, centre)), 0.5)
            scale = np.where(usual > 0, usual, MAD * scale)
        return cls(centre, np.where(scale > 0, scale, 1.0), is_real)

    def __call__(self, X: Array) -> Array:
        """The rows X, shape (n, m), as t."""
        largest = np.sqrt(np.finfo(float).max)
        with np.errstate(over="ignore"):
            t = np.clip((X - self.centre) / self.scale, -largest, largest)
        return t if self.is_real else np.maximum(t, 0.0)

    def parameters(self, family: PowerFamily, given: Parameters) -> Parameters:
        """The K and eta of t, from those of the columns as given."""
        (K, eta), s = given, self.scale
        if self.is_real:
            eta = eta - K @ self.centre
        if family.a == 0:
            return K, eta - K @ np.log(s)
        return K * s[:, None] ** family.a * s**family.a, eta * s**family.b


def _positive(centre: Array, X: Array) -> Array:
    away = np.abs(X - centre)
    return np.where(away > 0, away, np.nan)


def _deviation(centre: Array, X: Array) -> Array:
    return np.abs(X - centre)


def is_comparable(family: Family, *, is_real: bool) -> bool:
    """Whether the loss of a family is known in these coordinates: a power family on the orthant or the real line."""
    if not isinstance(family, PowerFamily) or family.has_margins:
        return False
    if is_real:
        return family.domain.is_real_line and family.a == family.b == 1
    return family.domain.only_boundary_is_zero or (family.domain.is_real_line and family.a == family.b == 1)


def gradients_of_node(family: PowerFamily, t: Array, j: int, among: IntArray, *, is_real: bool) -> tuple[Array, Array]:
    """V_j and W_j of rows t, shape (n, m), with some columns as neighbours, among them j; shape (n, k + 1) each."""
    a, b = family.a, family.b
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        u = t[:, among] ** a if a else np.log(t[:, among])
        x = t[:, j]
        if is_real:  # a = b = 1
            V = np.column_stack([-u, np.ones(len(t))])
            W = np.zeros_like(V)
            W[:, :-1][:, among == j] = -1.0
            return V, W
        power = x**a
        V = np.column_stack([-power[:, None] * u, x**b])
        W = np.column_stack([(1 - a) * power[:, None] * u, (b - 1) * V[:, -1]])
        W[:, :-1][:, among == j] -= (power * (a * power if a else 1.0))[:, None]
    return V, W


CAP = 3.0  # medians of a column, beyond which its boundary weight does not grow
_POWERS = (0.0, 0.125, 0.25, 0.5, 1.0)  # from which the one is taken that makes a column most symmetric; 0 is log
_OUTER = (0.1, 0.5, 0.9)  # quantiles by which symmetry is judged
_START, _END = 2.0, 4.0  # deviations above the median distance, between which phi falls from 1 to 0
_QUARTER = 0.6745  # the upper quartile of the standard normal distribution
_FAR = 1e3  # deviations, at which z is cut off so that its squares stay finite
_LEAST = 1e-12  # smallest distance, so that its negative powers stay finite


@dataclass(frozen=True)
class CommonWeight:
    """Rows in common coordinates with their row weights and boundary weights.

    Attributes
    ----------
    t : array of shape (n, m)
    phi : array of shape (n,)
        The row weights.
    H : array of shape (n, m)
        h_j / t_j^2, or h_j on the real line.
    H1 : array of shape (n, m)
        The derivative of h_j in t_j, over t_j; or itself on the real line.
    is_real : bool
    c : array of shape (n, q), or None
        Covariates, which the location follows.
    """

    t: Array
    phi: Array
    H: Array
    H1: Array
    is_real: bool
    c: Array | None = None

    @classmethod
    def of(cls, t: Array, *, is_real: bool) -> CommonWeight:
        """Learn the row weights from the rows t, shape (n, m), themselves."""
        return cls.weighted(t, *DistanceWeight.of(t, is_real=is_real)(t), is_real=is_real)

    @classmethod
    def weighted(cls, t: Array, phi: Array, slope: Array, *, is_real: bool) -> CommonWeight:
        """Take given row weights, shape (n,), and t_j times their derivatives in t_j (or these), shape (n, m)."""
        if is_real:
            return cls(t, phi, np.broadcast_to(phi[:, None], t.shape), slope, is_real)
        capped = np.minimum(1.0, CAP / np.maximum(t, _LEAST)) ** 2  # h / t^2
        return cls(t, phi, phi[:, None] * capped, phi[:, None] * np.where(t > CAP, 0.0, 2.0) + slope * capped, is_real)

    def ordered(self, order: IntArray | slice) -> CommonWeight:
        """The rows in another order, or some of them."""
        c = None if self.c is None else self.c[order]
        return CommonWeight(self.t[order], self.phi[order], self.H[order], self.H1[order], self.is_real, c)

    def gradients(self, family: PowerFamily, j: int, among: IntArray) -> tuple[Array, Array]:
        """V_j and W_j of all rows; every covariate adds the column of eta_j times the covariate."""
        V, W = gradients_of_node(family, self.t, j, among, is_real=self.is_real)
        if self.c is None:
            return V, W
        return np.column_stack([V, V[:, [-1]] * self.c]), np.column_stack([W, W[:, [-1]] * self.c])

    def sums(self, family: PowerFamily, j: int, among: IntArray, starts: IntArray) -> tuple[Array, Array]:
        """Sums of Gamma_j and g_j over blocks of rows that begin at ``starts``, shape (G, k+1, k+1) and (G, k+1)."""
        V, W = self.gradients(family, j, among)
        H, H1 = self.H[:, j, None], self.H1[:, j, None]
        ends = np.append(starts[1:], len(V))
        gamma = np.stack([(H[a:b] * V[a:b]).T @ V[a:b] for a, b in zip(starts, ends, strict=True)])
        return gamma, -np.add.reduceat(H1 * V + H * W, starts, axis=0)


@dataclass(frozen=True)
class DistanceWeight:
    """The row weight phi, a function of the distance of a row from the middle, in the common coordinates.

    Attributes
    ----------
    powers, middle, deviation : arrays of shape (m,)
        How columns are made nearly symmetric and put on one scale: z = (t^power - middle) / deviation.
    scatter : of the rows in the middle of z
    start, end : float
        Where D^(2/3) lies below the start phi is 1, and beyond the end it is 0.
    is_real : bool
    """

    powers: Array
    middle: Array
    deviation: Array
    scatter: Scatter
    start: float
    end: float
    is_real: bool

    @classmethod
    def of(cls, t: Array, *, is_real: bool) -> DistanceWeight:
        """Learn the weight from rows t, shape (n, m)."""
        powers = np.ones(t.shape[1]) if is_real else np.array([_power(column) for column in t.T])
        y = _bent(t, powers)
        middle = np.median(y, axis=0)
        deviation = MAD * np.median(np.abs(y - middle), axis=0)
        spread = y.std(axis=0)  # for columns of which half of the values are equal
        deviation = np.where(deviation > 0, deviation, np.where(spread > 0, spread, 1.0))
        z = np.clip((y - middle) / deviation, -_FAR, _FAR)
        scatter, _ = find_central_rows(z, np.ones(len(z), dtype=bool), RowRule.central, RowRule.shrinkage)
        w = _distance(z, scatter)[1] ** (2 / 3)
        usual = float(np.median(w))
        step = max((usual - float(np.quantile(w, 0.25))) / _QUARTER, 1e-3 * usual)
        return cls(powers, middle, deviation, scatter, usual + _START * step, usual + _END * step, is_real)

    def standard(self, t: Array) -> Array:
        """The rows t, shape (n, m), as z: nearly symmetric, with median 0 and deviation 1."""
        return np.clip((_bent(t, self.powers) - self.middle) / self.deviation, -_FAR, _FAR)

    def undone(self, z: Array) -> Array:
        """The rows t, shape (n, m), of z; no entry is below zero on the orthant."""
        y = z * self.deviation + self.middle
        if self.is_real:
            return y
        with np.errstate(all="ignore"):
            return np.where(self.powers > 0, np.maximum(y, 0.0) ** (1 / np.maximum(self.powers, 1e-9)), np.exp(y))

    def __call__(self, t: Array) -> tuple[Array, Array]:
        """The row weight phi of rows t, shape (n,), and t_j d_j phi (d_j phi on the real line), shape (n, m)."""
        y = _bent(t, self.powers)
        z = self.standard(t)
        slope = np.where(self.powers > 0, self.powers * y, 1.0) / self.deviation
        if self.is_real:
            slope = np.broadcast_to(1.0 / self.deviation, t.shape)
        pulled, distance = _distance(z, self.scatter)
        width = self.end - self.start
        left = np.clip((self.end - distance ** (2 / 3)) / width, 0.0, 1.0)
        bend = -6 * left * (1 - left) / width * (2 / 3) * distance ** (-4 / 3)
        return left**2 * (3 - 2 * left), bend[:, None] * pulled * slope


def _bent(t: Array, powers: Array) -> Array:
    """Columns of t to these powers; 0 stands for the logarithm."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(powers == 1, t, np.where(powers > 0, np.abs(t) ** powers, np.log(np.abs(t))))


def _distance(z: Array, scatter: Scatter) -> tuple[Array, Array]:
    """P (z - mean), shape (n, m), and the distance D, shape (n,)."""
    centred = z - scatter.mean
    pulled = centred @ scatter.precision
    return pulled, np.sqrt(np.maximum(np.einsum("ij,ij->i", pulled, centred), _LEAST))


def _power(column: Array) -> float:
    """The power that makes quantiles of a column most symmetric; no logarithm of zeros."""
    low, middle, high = np.quantile(column, _OUTER)
    powers = _POWERS[1:] if column.min() <= 0 else _POWERS
    best, least = powers[-1], np.inf
    for power in powers:
        a, b, c = (value**power if power else np.log(value) for value in (low, middle, high))
        skew = abs(a + c - 2 * b) / (c - a) if c > a else 0.0
        if skew < least:
            best, least = power, skew
    return best
