"""Every family the general laws run over, with data that live in its domain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import robscore as rs


def refused_checks(estimator):
    """Checks of scikit-learn that an estimator does not pass for good, and why; passing one of them is a failure."""
    if isinstance(estimator, rs.RobustScoreMatching):
        # What it asks for is asked in test_sample_weight.py.
        why = "9 different rows of 30 columns: no estimate without a penalty exists, with weights as with repeated rows"
        return {"check_sample_weight_equivalence_on_dense_data": why}
    return {}


@dataclass(frozen=True)
class Case:
    name: str
    family: rs.families.Family
    draw: Callable[[np.random.Generator, int, int], np.ndarray]
    scales: bool = True
    last_is_special: bool = False  # the last column cannot change places with others
    rows_needed: Callable[[int, bool], int] = lambda m, fit_location: m + fit_location

    def __repr__(self) -> str:
        return self.name


def positive(rng, n, m):
    shared = rng.gamma(2.0, size=(n, 1))
    return rng.gamma(1.5, size=(n, m)) * (0.5 + shared / 4) + 0.01


def real(rng, n, m):
    return rng.normal(size=(n, m)) @ (np.eye(m) + 0.4 * np.tri(m)) + np.arange(m)


def in_two_intervals(rng, n, m):
    return rng.uniform(0, 1, size=(n, m)) + 2 * rng.integers(0, 2, size=(n, m))


def in_box(rng, n, m):
    return rng.uniform(-1, 2, size=(n, m))


def compositions(rng, n, m):
    logs = rng.normal(size=(n, m)) @ (np.eye(m) + 0.3 * np.tri(m)) * 0.7
    return np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)


def tanh_pair(x, y):
    return -np.tanh(x) * np.tanh(y)


def half_square(x):
    return x**2 / 2


def minus(x):
    return -x


TANH = {
    "pair": (
        lambda x, y: -np.tanh(x) / np.cosh(y) ** 2,
        lambda x, y: 2 * np.tanh(x) * np.tanh(y) / np.cosh(y) ** 2,
    ),
    "single": (lambda x: -np.ones_like(x), np.zeros_like),
    "self": (lambda x: x, np.ones_like),
}


def circular(x):
    """Statistics of two columns that no pairwise family has."""
    import jax.numpy as jnp

    return jnp.stack([jnp.cos(x[0]) * x[1], x[0] ** 2, x[1] ** 2, jnp.log(1 + x[0] ** 2 * x[1] ** 2), x[0]])


F, B, D = rs.families, rs.boundary, rs.domains
CASES = [
    Case("sqrt", F.SquareRoot(), positive),
    Case("sqrt capped", F.SquareRoot(boundary=B.CappedPower(1.5, 1.2)), positive),
    Case("sqrt with MCP", F.SquareRoot(boundary=B.MCP(1.0, 1.5)), positive),
    Case("sqrt with a quantile cap", F.SquareRoot(boundary=B.QuantileCappedPower(1.5, 0.8)), positive),
    Case("sqrt levelled off", F.SquareRoot(boundary=B.LogPower(1.5, 1.2)), positive),
    Case("gamma", F.Gamma(), positive),
    Case("log-log", F.LogLog(), positive),
    Case("truncated Gaussian", F.TruncatedGaussian(), positive),
    Case("truncated Gaussian in a box", F.TruncatedGaussian(domain=D.Box(-1.0, 2.0)), in_box),
    Case("Gaussian", F.Gaussian(), real),
    Case("a=3/2 b=1/2", F.Power(1.5, 0.5), positive),
    Case("a=0 b=1", F.Power(0, 1), positive, scales=False),
    Case("a=2 b=0", F.Power(2, 0), positive),
    Case("sqrt on two intervals", F.SquareRoot(domain=D.Intervals([(0, 1), (2, 3)])), in_two_intervals),
    Case("sqrt below a plane", F.SquareRoot(domain=D.NonNegative() & D.Inequality(1.0, "<=", 60.0)), positive, False),
    Case("Gaussian outside a ball", F.Gaussian(domain=D.Inequality(1.0, ">=", 1e-3, power=2)), real, False),
    Case("pairwise tanh", F.Pairwise(tanh_pair, minus, t_self=half_square, derivatives=TANH), real, False),
    Case(
        "simplex",
        F.Simplex(),
        compositions,
        scales=False,
        last_is_special=True,
        rows_needed=lambda m, fit_location: 2 * m - 1 + 2 * fit_location,
    ),
    Case(
        "simplex with zero sums",
        F.Simplex(zero_sums=True, boundary=B.CappedPower(2, 0.3)),
        compositions,
        scales=False,
        last_is_special=True,
        rows_needed=lambda m, fit_location: 2 * m - 3 + 2 * fit_location,
    ),
]


def one(draw):
    return lambda rng, n, _m: draw(rng, n, 1)


U = F.univariate
STATISTICS = [
    Case("normal", U.Normal(), one(real)),
    Case("truncated normal", U.TruncatedNormal(), one(positive)),
    Case("truncated normal in a box", U.TruncatedNormal(domain=D.Box(-1.0, 2.0)), one(in_box)),
    Case("univariate gamma", U.UnivariateGamma(), one(positive)),
    Case("exponential", U.Exponential(), one(positive)),
    Case("Weibull 0.7", U.Weibull(0.7), one(positive)),
    Case("Weibull 2.5", U.Weibull(2.5), one(positive)),
    Case("circular by autodiff", F.ExponentialFamily(circular), lambda rng, n, _m: real(rng, n, 2), False),
]
