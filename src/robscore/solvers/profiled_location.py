"""A free location, profiled out in closed form.

    eta~_j = eta_j + t' K_j / s,    s = Gamma_eta,eta,  t = Gamma_K,eta

does not meet K_j within its block any more: eta~_j = g_eta / s at the optimum, and what is left of the block is

    Q_j = Gamma_KK - t t' / s,      l_j = g_K - t g_eta / s

With q covariates t has 1 + q columns and s is a matrix of that size: a small solve per node.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array

from robscore._tools.messages import Message, Setting
from robscore._tools.typing import Array
from robscore.losses.quadratic import QuadraticLoss, as_location, location_rows
from robscore.solvers.unsolvable_columns import ColumnsError

_VARIES = 1e-13  # guards rounding: the share of a diagonal entry that must be left


class HardlyVaryError(ColumnsError):
    """Columns that determine nothing once the location is profiled out."""

    problem = Message(
        "hardly vary, compared with their size, over the rows that count; where a family ends at zero, zeros do not "
        "count. Drop these columns, give ",
        Setting("family", "gaussian"),
        ", use fewer blocks, or pass ",
        Setting("fit_location", value=False),
        ".",
    )


class NoLocationError(ColumnsError):
    """Columns of which no value counts in the loss."""

    problem = Message(
        "hold nothing but zeros in the rows that count, and zeros do not count where a family ends there. Drop these "
        "columns, give ",
        Setting("family", "gaussian"),
        ", or pass ",
        Setting("fit_location", value=False),
        ".",
    )


def shift_location(loss: QuadraticLoss) -> tuple[Array, Array, Array | None]:
    """Change variables to eta~_j = eta_j + t' K_j / s: blocks, linear part, coupling; it meets no K_j any more."""
    m = loss.n_interactions
    s, t = loss.blocks[:, m:, m:], loss.blocks[:, :m, m:]
    check_location(np.einsum("jkk->jk", s))
    slope = slopes_of(s, t)
    blocks = np.empty_like(loss.blocks)
    np.matmul(slope, t.transpose(0, 2, 1), out=blocks[:, :m, :m])
    np.subtract(loss.blocks[:, :m, :m], blocks[:, :m, :m], out=blocks[:, :m, :m])
    blocks[:, :m, m:] = 0.0
    blocks[:, m:, :m] = 0.0
    blocks[:, m:, m:] = s
    g = loss.g.copy()
    g[:, :m] -= (slope * loss.g[:, None, m:]).sum(axis=2)
    if loss.gamma_last is None:
        return blocks, g, None
    last = loss.gamma_last.copy()
    last[:, :m] -= slope[:-1] @ last[:, m:]
    last[:, :, :m] -= last[:, :, m:] @ slope[-1].T
    return blocks, g, last


def slopes_of(s: Array, t: Array) -> Array:
    """Compute the products t s^-1 of every node, shape (nodes, m, L), from s, (nodes, L, L), and t, (nodes, m, L)."""
    if s.shape[-1] == 1:
        return t / s
    return np.asarray(np.linalg.solve(s, t.transpose(0, 2, 1)).transpose(0, 2, 1))


def unshift_location(loss: QuadraticLoss, K: Array | csc_array, shifted: Array | None) -> Array:
    """Find eta, shape (m,) or (m, L), from K and eta~; or from K alone where eta~ is the optimum."""
    best = loss.best_location(loss.g[:, loss.n_interactions :]) if shifted is None else location_rows(shifted).T
    return as_location(best - loss.best_location(loss.pulls_of(K)))


def check_location(s: Array) -> None:
    """Raise unless every eta_j enters the loss, by s of shape (m, L)."""
    if not (s > 0).all():
        raise NoLocationError(np.flatnonzero(~(s > 0).all(axis=1)).tolist())


def check_variation(loss: QuadraticLoss, left: Array) -> None:
    """Raise where next to nothing is left of the diagonals, shape (m or 1, m), once the location is profiled out."""
    m = loss.n_columns
    kept = left > _VARIES * loss.diagonal()[: len(left), : left.shape[1]]
    if loss.zero_sums:
        kept |= np.eye(m, dtype=bool)
    if not kept.all():
        nodes = ~kept.any(axis=1) if len(kept) == m else np.zeros(m, dtype=bool)
        columns = np.flatnonzero(nodes if nodes.any() else ~kept.all(axis=0)) % m
        raise HardlyVaryError(np.unique(columns).tolist())
