"""Stein residuals of a fitted family: what has mean zero if the family is right, whatever its parameters.

For a function k_j(x) that vanishes at the boundary,  r(k) = k_j d_j log p + d_j k_j  has mean zero under p. With row
weights phi(x) the same holds for phi k_j, with the derivative of phi in it. Score matching without a penalty, node by
node, sets the means of r(h_j v_j) to zero; other k are free to show what the family misses. Their means at the estimate
have

    r~(k) = r(k) - C H^-1 r(h v),      C = mean(phi k v'),   H = mean(phi h v v')

as influence of a row: what the estimated parameters take away is projected out. Functions here are bounded, so that
r~ has light tails: on the orthant with y = t / (1 + t), on the real line with y = logistic(t),

    k_j = y (1 - y) P(y) q,      P a Legendre polynomial on (0, 1),   q of the other columns or 1
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import expit

from robscore._tools.typing import Array, IntArray
from robscore.families.family import Parameters
from robscore.families.given_covariates import GivenCovariates
from robscore.families.power import PowerFamily
from robscore.family_choice.common_loss import CommonWeight, Coordinates, is_comparable, node
from robscore.fitting.fit import Fit

_RIDGE = 1e-9
OWN = (0, 1, 2)  # degrees of P for the column itself
COUPLED = ((0, 1), (1, 1), (0, 2))  # degree of P, and power of the coupling


@dataclass(frozen=True)
class Bench:
    """Rows of a fit, with their weights, as residuals are taken from them.

    Attributes
    ----------
    family : PowerFamily
    weight : CommonWeight
        With the row weights of the fit; H and H1 are those of the estimate.
    slope : array of shape (n, m)
        t_j d_j phi, or d_j phi on the real line.
    """

    family: PowerFamily
    weight: CommonWeight
    slope: Array

    @classmethod
    def of(cls, fit: Fit, rows: IntArray) -> Bench | None:
        """Of some rows of a fit, by ascending positions; None where the family cannot be looked at so."""
        family = fit.prepared.preparation.scaled_family
        X, c = fit.prepared.rows.take(rows), None
        if type(family) is GivenCovariates:
            c = X[:, family.own_columns(X.shape[1]) :]
            family, X = family.base, X[:, : -family.n_given]
        is_real = not family.domain.is_non_negative and bool((X < 0).any())
        if not is_comparable(family, is_real=is_real):
            return None
        assert isinstance(family, PowerFamily)
        coordinates = Coordinates.of(X, is_real=is_real)
        t = coordinates(X)
        if not is_real and min(family.a, family.b) == 0 and not t.all():
            return None
        phi, slope = np.ones(len(t)), np.zeros_like(t)
        weights = fit.weights
        if weights.phi is not None and weights.slopes is not None:
            phi, bend = weights.phi[rows], weights.slopes[rows]
            if bend.any():  # of the surprise -log p under the fit that rows were judged by
                slope = -bend[:, None] * _slopes(family, coordinates, t, c, weights.parameters)
        counted = phi > 0
        weight = CommonWeight.weighted(t[counted], phi[counted], slope[counted], is_real=is_real)
        return cls(family, weight if c is None else replace(weight, c=c[counted]), slope[counted])

    def some(self, rows: slice) -> Bench:
        """Of some of the rows."""
        return Bench(self.family, self.weight.ordered(rows), self.slope[rows])

    def at(self, j: int) -> Node:
        """What node j needs."""
        m = self.weight.t.shape[1]
        V, W = self.weight.node(self.family, j, np.arange(m))
        H, H1 = self.weight.H[:, j, None], self.weight.H1[:, j, None]
        gamma = (H * V).T @ V
        hessian = gamma + np.diag(_RIDGE * np.maximum(np.diagonal(gamma), 1e-300))
        z = np.linalg.solve(hessian, -np.sum(H1 * V + H * W, axis=0))
        slopes = V @ z
        return Node(self, j, V, slopes, (H * slopes[:, None] + H1) * V + H * W, hessian, z)

    def of_column(self, j: int) -> Array:
        """Residuals of a column itself, and of how the others pull at it, shape (n, 6).

        How they pull is taken from the fit to the other half of the rows: a fit likes its own.
        """
        n = len(self.weight.t)
        whole, one = self.at(j), np.ones((n, 1))
        found = np.zeros((n, len(OWN) + len(COUPLED)))
        for column, degree in enumerate(OWN):
            found[:, column] = whole.residuals(degree, one)[:, 0]
        halves = slice(0, None, 2), slice(1, None, 2)
        nodes = [self.some(half).at(j) for half in halves]
        for half, here, there in zip(halves, nodes, nodes[::-1], strict=True):
            pull = there.pull(here.bench.weight.t)
            for column, (degree, power) in enumerate(COUPLED, start=len(OWN)):
                found[half, column] = here.residuals(degree, pull[power - 1][:, None])[:, 0]
        return found


def _slopes(family: PowerFamily, coordinates: Coordinates, t: Array, c: Array | None, given: Parameters) -> Array:
    """t_j d_j log p of rows, or d_j log p on the real line, at parameters of their columns as given, shape (n, m)."""
    m = t.shape[1]
    (K, eta), found = given, np.empty_like(t)
    if c is not None:
        eta = eta[:, 0] + c @ eta[:, 1:].T
    K, eta = coordinates.parameters(family, (K, eta))
    for j in range(m):
        V, _ = node(family, t, j, np.arange(m), is_real=coordinates.is_real)
        found[:, j] = V @ np.append(K[:, j], eta[j]) if c is None else V[:, :m] @ K[:, j] + V[:, m] * eta[:, j]
    return found


@dataclass(frozen=True)
class Node:
    """One column given the others.

    Attributes
    ----------
    bench : Bench
    j : int
    V : array of shape (n, m + 1), or with q covariates (n, m + 1 + q); likewise below
    slopes : array of shape (n,)
        t_j d_j log p at the estimate, or d_j log p on the real line.
    psi : array of shape (n, m + 1)
        What rows add to the estimating equations.
    hessian : array of shape (m + 1, m + 1)
        Their derivative, a sum over rows.
    z : array of shape (m + 1,)
        The estimate.
    """

    bench: Bench
    j: int
    V: Array
    slopes: Array
    psi: Array
    hessian: Array
    z: Array

    def residuals(self, degree: int, others: Array) -> Array:
        """r~ of k_j = y (1 - y) P(y) q for functions q of the other columns, shape (n, f), in that shape."""
        weight = self.bench.weight
        t = weight.t[:, self.j]
        y = expit(t) if weight.is_real else t / (1 + t)
        P, D = _legendre(y, degree)
        base = y * (1 - y)
        change = (1 - 2 * y) * P + base * D
        if weight.is_real:  # k, and its derivative
            k, derivative = base * P, change * base
        else:  # k / t, and the derivative of k
            k, derivative = (1 - y) ** 2 * P, change * (1 - y) ** 2
        plain = weight.phi * (k * self.slopes + derivative) + self.bench.slope[:, self.j] * k
        weighted = (weight.phi * k)[:, None] * others
        taken = np.linalg.solve(self.hessian, self.V.T @ weighted)
        left = weighted - weight.H[:, self.j, None] * (self.V @ taken)
        return np.asarray(plain[:, None] * others - self.psi @ taken + left * self.leverage[:, None])

    @cached_property
    def leverage(self) -> Array:
        """V' H^-1 r(h v), shape (n,): how much the estimate without a row would change the row's slope.

        With it residuals are as at an estimate that has not seen the row; else its mean would be off by one over n.
        """
        return np.einsum("ij,ij->i", self.V, np.linalg.solve(self.hessian, self.psi.T).T)

    def pull(self, t: Array) -> tuple[Array, Array]:
        """How the others of rows t, shape (n, m), pull at this column: a bounded number, and its centred square."""
        a, others = self.bench.family.a, self.z[: t.shape[1]].copy()
        others[self.j] = 0.0
        coupling = (t**a if a else np.log(t)) @ others
        away = coupling - np.median(coupling)
        spread = float(np.median(np.abs(away)))
        q = np.tanh(away / (1.5 * spread)) if spread > 0 else np.zeros(len(t))
        return q, q**2 - np.mean(q**2)

    def of_pairs(self) -> Array:
        """Residuals of the column with each of the others, shape (n, m)."""
        t = self.bench.weight.t
        bounded = np.tanh(t) if self.bench.weight.is_real else (t - 1) / (t + 1)
        return self.residuals(0, bounded)


def _legendre(y: Array, degree: int) -> tuple[Array, Array]:
    """P(2 y - 1) and its derivative in y."""
    polynomial = np.polynomial.Legendre.basis(degree)
    return np.asarray(polynomial(2 * y - 1)), np.asarray(2 * polynomial.deriv()(2 * y - 1))
