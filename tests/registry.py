"""Every family the general laws run over, with data that live in its domain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import robscore as rs


@dataclass(frozen=True)
class Case:
    name: str
    family: rs.families.Family
    draw: Callable[[np.random.Generator, int, int], np.ndarray]
    scales: bool = True

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


F, B, D = rs.families, rs.boundary, rs.domains
CASES = [
    Case("sqrt", F.SquareRoot(), positive),
    Case("sqrt capped", F.SquareRoot(boundary=B.CappedPower(1.5, 1.2)), positive),
    Case("sqrt with MCP", F.SquareRoot(boundary=B.MCP(1.0, 1.5)), positive),
    Case("sqrt with a quantile cap", F.SquareRoot(boundary=B.QuantileCappedPower(1.5, 0.8)), positive),
    Case("gamma", F.Gamma(), positive),
    Case("log-log", F.LogLog(), positive),
    Case("truncated Gaussian", F.TruncatedGaussian(), positive),
    Case("truncated Gaussian in a box", F.TruncatedGaussian(domain=D.Box(-1.0, 2.0)), in_box),
    Case("Gaussian", F.Gaussian(), real),
    Case("a=3/2 b=1/2", F.Power(1.5, 0.5), positive),
    Case("a=0 b=1", F.Power(0, 1), positive, scales=False),
    Case("a=2 b=0", F.Power(2, 0), positive),
    Case("sqrt on two intervals", F.SquareRoot(domain=D.Intervals([(0, 1), (2, 3)])), in_two_intervals),
]
