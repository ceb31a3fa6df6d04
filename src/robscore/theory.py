"""The paper's constants and guarantees as functions: Theorem 3.1, its lemma, Theorem 4.3, breakdown points.

The names follow the paper: delta is the confidence level, tau < 1/2 the share of blocks that may be bad, K the number
of blocks, S_0 the support of the true parameter theta_0 = (Theta_0, eta_0) in the extended parametrisation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robscore._tools.messages import ArgumentError, Message, Setting
from robscore._tools.numbers import check_number, check_whole
from robscore._tools.typing import Array
from robscore.elements import Elements
from robscore.losses.quadratic import QuadraticLoss
from robscore.rows.partition import check_n_blocks

_ROUNDING = 1e-9  # guards rounding only: products of decimal fractions are floored as on paper


def _check(*, delta: float | None = None, tau: float | None = None) -> None:
    """Raise unless delta and tau are what the theorems take."""
    for name, value in (("delta", delta), ("tau", tau)):
        if value is not None:
            check_number(name, value)
    if delta is not None and not 0 < delta <= 1:
        raise ArgumentError("delta", delta, "must lie in (0, 1]: it is the probability that the bound may fail.")
    if tau is not None and not 0 <= tau < 0.5:
        raise ArgumentError("tau", tau, "must lie in [0, 1/2): it is the share of blocks that may be bad.")


def psi(alpha: float, p: float) -> float:
    """(1 - alpha) log((1 - alpha) / (1 - p)) + alpha log(alpha / p), for 0 < p, alpha < 1.

    Examples
    --------
    >>> import robscore as rs
    >>> 1 / rs.theory.psi(1 / 4, 1 / 8) >= 17
    True
    """
    check_number("alpha", alpha)
    check_number("p", p)
    if not (0 < alpha < 1 and 0 < p < 1):
        raise ArgumentError("alpha", alpha, Message("and ", Setting("p", p), " must lie between 0 and 1."))
    return float((1 - alpha) * (np.log1p(-alpha) - np.log1p(-p)) + alpha * np.log(alpha / p))


def _rate(tau: float) -> float:
    """(1 - tau) psi(2p / (1 - tau), p) with p = (1/2 - tau)^2 / 2."""
    _check(tau=tau)
    p = (0.5 - tau) ** 2 / 2
    return (1 - tau) * psi(2 * p / (1 - tau), p)


def k_of_tau(tau: float) -> float:
    """k(tau) of Theorem 3.1: blocks per unit of log(1 / delta).

    Examples
    --------
    >>> import robscore as rs
    >>> round(rs.theory.k_of_tau(0.0), 2)
    17.34
    """
    return 1.0 / _rate(tau)


def c_of_tau(tau: float) -> float:
    """c(tau) of Theorem 3.1: the factor of its radius.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.theory.c_of_tau(0.0) < rs.theory.c_of_tau(0.2) < rs.theory.c_of_tau(0.4)
    True
    """
    rate = _rate(tau)
    return float(2 * (0.75 - tau**2) / ((0.5 - tau) * np.sqrt(0.5 - 2 * tau**2) * np.sqrt(rate)))


def blocks_for(delta: float, tau: float) -> int:
    """K(delta, tau) = floor(k(tau) log(1 / delta)) + 1.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.theory.blocks_for(0.05, 0.2)
    99
    """
    _check(delta=delta, tau=tau)
    return int(np.floor(-k_of_tau(tau) * np.log(delta))) + 1


def bad_rows_allowed(delta: float, tau: float) -> int:
    """Rows that may be corrupted: floor(tau (floor(17 log(1 / delta)) + 1)).

    Examples
    --------
    >>> import robscore as rs
    >>> rs.theory.bad_rows_allowed(0.05, 0.2)
    10
    """
    _check(delta=delta, tau=tau)
    return int(np.floor(tau * (np.floor(-17 * np.log(delta) + _ROUNDING) + 1) + _ROUNDING))


def delta_for(n_bad: int, tau: float) -> float:
    """The largest delta at which so many bad rows are allowed: exp(-(ceil(n_bad / tau) - 1) / 17) (Corollary 3.2).

    Examples
    --------
    >>> import robscore as rs
    >>> rs.theory.bad_rows_allowed(rs.theory.delta_for(30, 0.2), 0.2) >= 30
    True
    """
    return float(np.exp(-_log_inverse_delta(n_bad, tau)))


def _log_inverse_delta(n_bad: int, tau: float) -> float:
    """log(1 / delta) of Corollary 3.2: (ceil(n_bad / tau) - 1) / 17."""
    _check(tau=tau)
    check_number("n_bad", n_bad, at_least=0.0)
    if n_bad != int(n_bad) or (n_bad > 0 and tau == 0):
        problem = Message("must be a whole number, and ", Setting("tau", tau), " positive where there are bad rows.")
        raise ArgumentError("n_bad", n_bad, problem)
    return max(float(np.ceil(n_bad / tau - _ROUNDING)) - 1, 0.0) / 17 if n_bad else 0.0


def blocks_for_bad_rows(n_bad: int, tau: float) -> int:
    """K(n_c) of Corollary 3.2: the blocks of Theorem 3.1 at the delta that allows so many bad rows.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.theory.blocks_for_bad_rows(31, 0.2)
    298
    """
    return int(np.floor(k_of_tau(tau) * _log_inverse_delta(n_bad, tau))) + 1


def radius(delta: float, tau: float, trace: float, n: int) -> float:
    """Theorem 3.1: with probability 1 - delta the median of means is within this distance of the mean.

    Parameters
    ----------
    delta, tau : float
    trace : float
        Trace of the covariance of one row's vector.
    n : int
        Rows; K(delta, tau) <= n / 2 is needed.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.theory.radius(0.05, 0.1, trace=1.0, n=4000) < rs.theory.radius(0.05, 0.1, trace=1.0, n=1000)
    True
    """
    K = blocks_for(delta, tau)
    check_whole("n", n, at_least=1)
    check_number("trace", trace, at_least=0.0)
    if n < 2 * K:
        raise ArgumentError("n", n, f"rows are too few: K(delta, tau) = {K} blocks need at least {2 * K}.")
    return c_of_tau(tau) * float(np.sqrt(np.log(4 / ((1 - tau) ** 2 * delta)) * trace / n))


def radius_with_multiplier(delta: float, tau: float, trace: float, n: int) -> float:
    """The lemma to Theorem 4.3: twice the radius, for (1 + b) o median of means in the maximum norm.

    It holds for every vector b with ``|b|_inf`` <= :func:`multiplier_bound` at K(delta, tau) blocks.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.theory.radius_with_multiplier(0.1, 0.1, 1.0, 1000) / rs.theory.radius(0.1, 0.1, 1.0, 1000)
    2.0
    """
    return 2.0 * radius(delta, tau, trace, n)


def multiplier_bound(norm: float, trace: float, n: int, n_blocks: int) -> float:
    """Largest diagonal multiplier of the lemma and of Theorem 4.3: ``1 / (1 + |mu| / sqrt(2 tr) sqrt(n / K))``.

    Parameters
    ----------
    norm, trace : float
        ``|mu|_2`` (Frobenius norm of Gamma_0) and the trace of the covariance.
    n, n_blocks : int

    Examples
    --------
    >>> import robscore as rs
    >>> round(rs.theory.multiplier_bound(norm=1.0, trace=0.5, n=100, n_blocks=25), 3)
    0.333
    """
    check_whole("n", n, at_least=1)
    check_n_blocks(n_blocks, n)
    check_number("norm", norm, at_least=0.0)
    check_number("trace", trace)
    if not trace > 0:
        raise ArgumentError("trace", trace, "must be positive.")
    return 1.0 / (1.0 + norm / float(np.sqrt(2 * trace)) * float(np.sqrt(n / n_blocks)))


def breakdown_point(n: int, n_blocks: int) -> float:
    """Smallest share of rows that can carry the estimate away: floor((K + 1) / 2) / n.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.theory.breakdown_point(1000, 200), rs.theory.breakdown_point(1000, 1)
    (0.1, 0.001)
    """
    check_whole("n", n, at_least=1)
    check_n_blocks(n_blocks, n)
    return ((n_blocks + 1) // 2) / n


class Moments(NamedTuple):
    """Mean and total variance of the elements of one row.

    Attributes
    ----------
    loss : QuadraticLoss with Gamma_0 and g_0
    gamma_norm : Frobenius norm of Gamma_0
    gamma_trace, g_trace : traces of the covariances of Gamma(x) and g(x)
    """

    loss: QuadraticLoss
    gamma_norm: float
    gamma_trace: float
    g_trace: float


def moments(elements: Elements) -> Moments:
    """Moments of the elements over the given rows; with many simulated rows, those of the model.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> X = np.random.default_rng(0).gamma(2.0, size=(500, 3))
    >>> rs.theory.moments(rs.score_elements("sqrt", X)).gamma_trace > 0
    True
    """
    equal = np.full(elements.n_rows, 1.0 / elements.n_rows)
    loss = elements.average()
    if not isinstance(loss, QuadraticLoss):
        raise TypeError("Theorem 4.3 is about pairwise families; these elements have statistics only.")
    traces = []
    for part in ("gamma", "g"):
        mean = elements.mean_squared_norm(part, elements.mean(part, equal))
        traces.append(max(float(equal @ elements.squared_norms(part)) - mean, 0.0))
    return Moments(loss, float(np.linalg.norm(loss.gamma)), *traces)


@dataclass(frozen=True)
class Guarantee:
    """Constants of Definition 4.2 and their consequences by Theorem 4.3.

    Attributes
    ----------
    d_theta : int
        Largest number of parameters of a node that are not zero.
    c_theta : float
        Largest absolute sum of a node's parameters. The paper writes Theta_0 alone; its proof needs eta_0 as well.
    c_gamma : float
        Maximum-row-sum norm of the inverse of Gamma_0 on S_0.
    incoherence : float
        I of Definition 4.2; the condition is I <= 1 - alpha.
    alpha : float
        1 - I: not positive where the irrepresentability condition fails, and then there is no guarantee.
    """

    d_theta: int
    c_theta: float
    c_gamma: float
    incoherence: float

    @property
    def alpha(self) -> float:
        """Alpha = 1 - I, which Theorem 4.3 needs to be positive."""
        return 1.0 - self.incoherence

    @property
    def irrepresentable(self) -> bool:
        """Whether the irrepresentability condition holds."""
        return self.alpha > 0

    def _require(self) -> None:
        if not self.irrepresentable:
            raise ValueError(f"The irrepresentability condition fails (I = {self.incoherence:.3g} >= 1): no guarantee.")

    def rows_needed(self, delta: float, tau: float, gamma_trace: float) -> float:
        """Theorem 4.3's lower bound on n."""
        self._require()
        _check(delta=delta, tau=tau)
        check_number("gamma_trace", gamma_trace, at_least=0.0)
        factor = 24 * self.d_theta * self.c_gamma * c_of_tau(tau) / self.alpha
        return factor**2 * float(np.log(4 / ((1 - tau) ** 2 * delta))) * gamma_trace

    def penalty_needed(self, delta: float, tau: float, gamma_trace: float, g_trace: float, n: int) -> float:
        """Theorem 4.3's lower bound on lambda at n rows."""
        self._require()
        _check(delta=delta, tau=tau)
        for name, value in (("gamma_trace", gamma_trace), ("g_trace", g_trace)):
            check_number(name, value, at_least=0.0)
        check_whole("n", n, at_least=1)
        size = max(2 * self.c_theta * gamma_trace**0.5, g_trace**0.5)
        factor = 6 * c_of_tau(tau) * (2 - self.alpha) / self.alpha
        return factor * float(np.sqrt(np.log(4 / ((1 - tau) ** 2 * delta)) / n)) * size

    def penalty_for_errors(self, gamma_error: float, g_error: float) -> float:
        """The deterministic core: lambda must exceed this where errors of Gamma and g are below these."""
        self._require()
        return 3 * (2 - self.alpha) / self.alpha * max(self.c_theta * gamma_error, g_error)

    def largest_gamma_error(self) -> float:
        """The deterministic core needs ``|Gamma - Gamma_0|_inf`` below this: alpha / (6 c_gamma d_theta)."""
        self._require()
        return self.alpha / (6 * self.c_gamma * self.d_theta)

    def error_bound(self, penalty: float) -> float:
        """2 c_gamma lambda / (2 - alpha): the largest error of any parameter.

        The paper prints half of this. Its proof gives
        ``|(Gamma_SS)^-1| (lambda + 2 alpha lambda / (3 (2 - alpha)))`` with ``|(Gamma_SS)^-1|`` at most
        6 c_gamma / (6 - alpha), which is the bound here; the printed one already fails where Gamma is the identity and
        g is off by a little.
        """
        self._require()
        return 2 * self.c_gamma * penalty / (2 - self.alpha)


def guarantee(loss: QuadraticLoss, interaction: Array, location: Array) -> Guarantee:
    """The constants of Definition 4.2.

    Parameters
    ----------
    loss : QuadraticLoss
        With Gamma_0, for example from :func:`moments`.
    interaction, location : arrays of shape (m, m) and (m,)
        The true K and eta.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> loss = rs.score_elements("gaussian", np.random.default_rng(0).normal(size=(5000, 3))).average()
    >>> rs.theory.guarantee(loss, np.eye(3), np.zeros(3)).d_theta
    1
    """
    if loss.gamma_last is not None:
        raise ValueError("Theorem 4.3 is about blocks that are not coupled; on the simplex they are.")
    m = loss.n_columns
    if np.shape(interaction) != (m, m) or np.shape(location) != (m,):
        raise ValueError(f"interaction must have shape ({m}, {m}) and location ({m},), as the loss has {m} columns.")
    z = np.concatenate([np.asarray(interaction), np.asarray(location)[None]]).T
    support = z != 0
    c_gamma, incoherence = 0.0, 0.0
    for block, own in zip(loss.gamma, support, strict=True):
        if not own.any():
            continue
        try:
            inverse = np.linalg.inv(block[np.ix_(own, own)])
        except np.linalg.LinAlgError:
            raise ValueError("Gamma_0 is singular on the support of the true parameter; use more rows.") from None
        c_gamma = max(c_gamma, float(np.abs(inverse).sum(axis=1).max()))
        if not own.all():
            incoherence = max(incoherence, float(np.abs(block[np.ix_(~own, own)] @ inverse).sum(axis=1).max()))
    return Guarantee(
        d_theta=int(support.sum(axis=1).max()),
        c_theta=float(np.abs(z).sum(axis=1).max()),
        c_gamma=c_gamma,
        incoherence=incoherence,
    )
