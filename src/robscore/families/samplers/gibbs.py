"""Power families on [0, inf) by Gibbs sweeps with exact conditionals.

With y = x^a a power family whose b is a or 0 has the density

    p(y)  ~  exp(-y' M y + 2 l' y) times y_1^p_1 ... y_m^p_m,      M = K / 2a

    b = a   l = eta / 2a,    p_j = 1/a - 1              truncated Gaussian: p = 0, square root: p = 1
    b = 0   l = 0,           p_j = (eta_j + 1)/a - 1    gamma: p = 2 eta + 1

Given the rest of its row, t = sqrt(M_jj) y_j has density f(t) ~ t^p exp(-(t - c)^2), where c sqrt(M_jj) is
l_j - sum_{k != j} M_jk y_k, which is sampled exactly by rejection, from one of three envelopes:

    p >= 0, c > 0.2   normal about the mode t*, variance 1/2; as (log f)'' <= -2, accept with ((t/t*) exp(1 - t/t*))^p
    p < 0, c > 0.8    up to s = c/2 t^p alone, accept with exp((s - c)^2 - (t - c)^2); beyond s a normal about c of
                      variance 1/2, accept with (t/s)^p
    else              gamma of shape p + 1 and rate r = sqrt(c^2 + 2 (p + 1)) - c; accept with exp(-(t - (p + 1)/r)^2)

For p >= 0 the first and the last envelope accept more than half of their proposals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import erfc, erfcx, log_ndtr, ndtri_exp

from robscore._tools.typing import Array
from robscore.families.samplers.sampler import Chains, Draws, Sampler, effective_sample_size

# Of rows that are simulated. Quantiles far out need many rows more than they need independent ones: the law of a column
# given the others is drawn from anew in every sweep.
_FEWEST, _MOST, _BURN_IN, _LARGEST_THIN = 2_000, 16_000, 100, 2
_WORK, _MOST_UPDATES = 80_000_000, 4_000_000  # updates times columns, and updates: they bound the time
_FAR = 100.0  # from where on a series keeps more digits than the closed form


@dataclass(frozen=True)
class PowerSampler(Sampler):
    """Draws rows by one chain, in compiled code.

    Attributes
    ----------
    a, b : float
        Of the family, b = a or b = 0.
    """

    a: float
    b: float

    def draw(self, K: Array, eta: Array, n_rows: int, chains: Chains, rng: Generator) -> Draws:
        """Take the rows of the chain after ``burn_in`` sweeps, ``thin`` sweeps apart."""
        X = self._chain(K, eta, n_rows, chains.burn_in, chains.thin, rng)
        return Draws(X, effective_sample_size(X) if n_rows >= 4 else np.full(len(K), float(n_rows)))

    def simulate(self, K: Array, eta: Array, *, seed: int, start: Array, sweeps: int) -> Array:
        """Run one chain, thinned as much as a fixed number of updates allows."""
        sweeps = min(_WORK // len(K), _MOST_UPDATES) // len(K)
        count = int(np.clip(sweeps, _FEWEST, _MOST))
        thin = int(np.clip(sweeps // count, 1, _LARGEST_THIN))
        return self._chain(K, eta, count, _BURN_IN, thin, np.random.default_rng(seed))

    def draw_each(self, K: Array, eta: Array, *, start: Array, sweeps: int, rng: Generator) -> Array:
        """Run a chain for every row."""
        from robscore.families.samplers.gibbs_kernels import gibbs_rows

        y = np.sqrt(start) if self.a == 0.5 else start**self.a
        return self._from_y(gibbs_rows(K / (2 * self.a), *self._linear_and_power(eta), y, sweeps, rng))

    def draw_given(self, own: float | Array, rest: Array, eta: float | Array, rng: Generator) -> Array:
        """Draw one column given the others, shape (n,); NaN where these are not numbers, or there is no density.

        Parameters
        ----------
        own : K_jj, positive, a number or an array of shape (n,)
        rest : array of shape (n,)
            The sum of K_jk x_k^a over the other columns k.
        eta : of the column, a number or an array of shape (n,)
        rng : Generator
        """
        root = np.sqrt(own / (2 * self.a))
        linear, power = self._linear_and_power(np.broadcast_to(np.asarray(eta, dtype=float), rest.shape))
        c = (linear - rest / (2 * self.a)) / root
        known = np.isfinite(c) & (power > -1)
        drawn = np.full(c.shape, np.nan)
        drawn[known] = draw_conditionals(c[known], power[known], rng)
        return self._from_y(drawn / root)

    def law_given(self, own: float | Array, rest: Array, eta: float | Array, x: Array) -> tuple[Array, Array] | None:
        """The law has a closed form where p is 0 or 1: for truncated Gaussian and square-root families."""
        if self.b == 0 or self.a not in (0.5, 1.0):
            return None
        root, p = np.sqrt(own / (2 * self.a)), round(1 / self.a) - 1
        c = (eta - rest) / (2 * self.a * root)
        t = root * (np.sqrt(x) if p else x)
        log_area = _log_area_beyond(np.zeros_like(t), c, p)
        # the density of t times dt/dx, in which all powers of x cancel
        log_density = (p + 1) * np.log(root) + np.log(self.a) - (t - c) ** 2 - log_area
        return log_density, -ndtri_exp(np.minimum(_log_area_beyond(t, c, p) - log_area, 0.0))

    def _chain(self, K: Array, eta: Array, n_rows: int, burn_in: int, thin: int, rng: Generator) -> Array:
        from robscore.families.samplers.gibbs_kernels import gibbs_chain

        M = np.ascontiguousarray(K / (2 * self.a))
        return self._from_y(gibbs_chain(M, *self._linear_and_power(eta), n_rows, burn_in, thin, rng))

    def _linear_and_power(self, eta: Array) -> tuple[Array, Array]:
        """The l and the p of every column, in the shape of eta."""
        eta = np.ascontiguousarray(eta)  # kernels are compiled for one order of arrays
        if self.b == 0:
            return np.zeros_like(eta), (eta + 1) / self.a - 1
        return eta / (2 * self.a), np.full_like(eta, 1 / self.a - 1)

    def _from_y(self, Y: Array) -> Array:
        return np.asarray(Y**2 if self.a == 0.5 else Y ** (1 / self.a))


def _log_area_beyond(t: Array, c: Array, p: int) -> Array:
    """The logarithm of the integral of s^p exp(-(s - c)^2) over s > t >= 0, for p = 0 or 1, shape (n,)."""
    if p == 0:
        return np.asarray(0.5 * np.log(np.pi) + log_ndtr(np.sqrt(2) * (c - t)))
    u = t - c
    far = np.maximum(u, 1.0)
    scaled = np.sqrt(np.pi) * erfcx(np.maximum(u, 0.0))
    with np.errstate(all="ignore"):
        by_series = t / far - c / far**3 * (0.5 - 0.75 / far**2)  # 1 + c scaled, whose digits cancel
        above = -(u**2) + np.log(0.5 * np.where(u > _FAR, by_series, 1 + c * scaled))
        below = np.log(0.5 * np.exp(-(u**2)) + 0.5 * np.sqrt(np.pi) * c * erfc(np.minimum(u, 0.0)))
    return np.where(u > 0, above, below)


def draw_conditionals(c: Array, p: Array, rng: np.random.Generator) -> Array:
    """Exact draws from the densities ~ t^p exp(-(t - c)^2) on t > 0, for all of c and p, finite, shape (n,).

    They are drawn from the envelopes described above, for many at a time; what is rejected is drawn again.
    """
    steep, spiked = (p >= 0) & (c > 0.2), (p < 0) & (c > 0.8)
    mode, rate = 0.5 * (c + np.hypot(c, np.sqrt(2.0 * np.maximum(p, 0.0)))), np.hypot(c, np.sqrt(2.0 * (p + 1.0))) - c
    drawn, left = np.empty_like(c), np.arange(c.size)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # of envelopes that are not taken
        while left.size:
            by_normal, spread, center, power = steep[left], rate[left], mode[left], p[left]
            t = np.where(
                by_normal,
                center + np.sqrt(0.5) * rng.standard_normal(left.size),
                rng.standard_gamma(power + 1.0) / spread,
            )
            share = t / center
            odds = np.where(
                by_normal, (share * np.exp(1.0 - share)) ** power, np.exp(-((t - (power + 1.0) / spread) ** 2))
            )
            in_two = np.flatnonzero(spiked[left])
            if in_two.size:
                t[in_two], odds[in_two] = _in_two_pieces(c[left[in_two]], power[in_two], rng)
            taken = (t > 0) & (rng.random(left.size) < odds)
            drawn[left[taken]] = t[taken]
            left = left[~taken]
    return drawn


def _in_two_pieces(c: Array, p: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Proposals for p < 0 and large c, and the probabilities to accept them."""
    s = 0.5 * c
    near = s ** (p + 1.0) / (p + 1.0) * np.exp(-((s - c) ** 2))
    is_near = rng.random(c.size) * (near + s**p * np.sqrt(np.pi)) < near
    t = np.where(is_near, s * rng.random(c.size) ** (1.0 / (p + 1.0)), c + np.sqrt(0.5) * rng.standard_normal(c.size))
    return t, np.where(is_near, np.exp((s - c) ** 2 - (t - c) ** 2), np.where(t < s, 0.0, (t / s) ** p))
