"""Gradients of a power family's statistics, node by node, in coordinates that are the same for all families.

On the orthant t = x / s, and everything is multiplied by t so that zeros and powers below zero do no harm:

    V_j = t_j v_j       = (-t_j^a u, t_j^b),                                            u = t^a, or log t where a = 0
    W_j = t_j^2 d_j v_j = (-(a-1) t_j^a u - t_j^a (t_j u'(t_j)) e_j, (b-1) t_j^b)

On the real line t = (x - c) / s and V_j = v_j, W_j = d_j v_j. The log density then has t_j d_j log p = V_j' z_j (or
d_j log p itself), with z_j = (K_1j, ..., K_mj, eta_j) in these coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from robscore._tools.deviations import MAD
from robscore._tools.typing import Array, IntArray
from robscore.families.base import Family, Parameters
from robscore.families.power import PowerFamily
from robscore.rows.arrays import as_rows
from robscore.rows.base import Rows
from robscore.rows.quantiles import column_quantiles


@dataclass(frozen=True)
class Coordinates:
    """How columns become t.

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
        """From all rows, shape (n, m): medians of what is positive; else median and 1.4826 times the deviation."""
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
        """K and eta of t, from those of the columns as given."""
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
    """Whether a family can be looked at in these coordinates: a power family on the orthant or the real line."""
    if not isinstance(family, PowerFamily):
        return False
    if is_real:
        return family.domain.is_real_line and family.a == family.b == 1
    return family.domain.only_boundary_is_zero or (family.domain.is_real_line and family.a == family.b == 1)


def node(family: PowerFamily, t: Array, j: int, among: IntArray, *, is_real: bool) -> tuple[Array, Array]:
    """V_j and W_j of rows t, shape (n, m), for some columns as neighbours, which j is one of; shape (n, k + 1) each."""
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
