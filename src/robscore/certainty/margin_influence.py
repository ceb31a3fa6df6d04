"""What a row does to the moments of a copula's latent numbers by way of the margins, which are estimated too.

The margin of column j says where its latent numbers lie by its knots t_l: thresholds between values that many rows
share, and the points of values that are taken as they are. A row moves all of them,

    influence_i(t_l) = w_i (1{x_ij <= l} - F_j(l)) / phi(t_l)

and a knot moves what is expected of the rows. Let the latent axis be stretched about the knot by a field v that is 1
there, 0 at the next knots and straight between. Intervals stay where they are, and the density of z changes instead:

    d E[q(z) | intervals] / dt = E[v dq/dz_j | intervals] - Cov[q(z), v (K z - eta c)_j | intervals]

(v' is constant in an interval, so it has no covariance). Averages and covariances are those of the completions. Between
points, v is 1 in the one cell that lies at the knot. With all values points, this is what makes normal scores have
mean 0 and variance 1 whatever the rows: their correlations have the influence z_j z_k - r (z_j^2 + z_k^2) / 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from robscore._tools.memory import rows_within
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.cells.draw_cells import Bounds
from robscore.families.family import Parameters

_PIECE_BYTES = 5e7  # of derivatives at a time: it guards memory
_ROOT_2_PI = np.sqrt(2 * np.pi)


@dataclass(frozen=True)
class Knots:
    """Where the cells of a column begin and end on the latent axis.

    Attributes
    ----------
    at : array of shape (k,), ascending
        Thresholds and points.
    upper, lower : integer arrays of shape (n,)
        The knots at the ends of the cells; k where there is none.
    is_point, is_missing : boolean arrays of shape (n,)
    """

    at: Array
    upper: IntArray
    lower: IntArray
    is_point: BoolArray
    is_missing: BoolArray

    @classmethod
    def of(cls, lower: Array, upper: Array) -> Knots:
        """Those of the cells of a column, from their ends, shape (n,) each."""
        ends = np.append(lower, upper)
        at = np.unique(ends[np.isfinite(ends)])

        def places(end: Array) -> IntArray:
            return np.where(np.isfinite(end), np.searchsorted(at, end), at.size)

        is_missing = np.isinf(lower) & np.isinf(upper)
        return cls(at, places(upper), places(lower), lower == upper, is_missing)

    def shared(self, by_upper: Array, by_lower: Array, weights: Array) -> Array:
        """What every row does by way of all knots, shape (n, q).

        The arguments of shape (n, q) are what moving the upper and the lower knot of a row's own cell does to
        quantities of that row; ``weights`` have shape (n,).
        """
        n, k = self.upper.size, self.at.size
        moved = np.zeros((k + 1, by_upper.shape[1]))
        for place, derivative in ((self.upper, by_upper), (self.lower, by_lower)):
            moved += csr_array((weights, (place, np.arange(n))), shape=(k + 1, n)) @ derivative
        moved = moved[:k] * (_ROOT_2_PI * np.exp(self.at**2 / 2))[:, None]
        # A row lies below all knots from the upper end of its cell on; at a point, below half of that one.
        from_here = np.append(np.cumsum(moved[::-1], axis=0)[::-1], np.zeros((1, moved.shape[1])), axis=0)
        rows = from_here[self.upper]
        rows[self.is_point] -= moved[self.upper[self.is_point]] / 2
        weights = np.where(self.is_missing, 0.0, weights / weights[~self.is_missing].sum())
        return np.asarray(weights[:, None] * (rows - weights @ rows))


def on_moments(copies: Array, bounds: Bounds, weights: Array, drawn_by: Parameters) -> Array:
    """The influence of every row on the averages of z z', of z and of z c' by way of the margins.

    These are the columns of the result, in this order, of shape (n, m, m + 1 + q), where c are q covariates.

    Parameters
    ----------
    copies : array of shape (R, n, m + q)
        Completions of the latent numbers, and the covariates.
    bounds : two arrays of shape (n, m)
        Between which they are known to lie.
    weights : array of shape (n,), which sum to 1
    drawn_by : K and eta, arrays of shapes (m, m) and (m, 1 + q)
        On the scale of the bounds.

    Examples
    --------
    Normal scores have the same squares whatever the rows are:

    >>> import numpy as np
    >>> from scipy.special import ndtri
    >>> from robscore.certainty.margin_influence import on_moments
    >>> z = ndtri((np.random.default_rng(0).permuted(np.tile(np.arange(500), (2, 1)), axis=1).T + 0.5) / 500)
    >>> moved = on_moments(z[None], (z, z), np.full(500, 1 / 500), (np.eye(2), np.zeros((2, 1))))
    >>> round(float(np.corrcoef(moved[:, 0, 0], z[:, 0] ** 2)[0, 1]), 2)  # so margins take back what rows add to these
    -1.0
    """
    K, eta = drawn_by
    count, n, m = len(copies), copies.shape[1], len(K)
    copies, given = copies[:, :, :m], np.insert(copies[:, :, m:], 0, 1.0, axis=2)
    upper, lower = _fields(copies, bounds)
    with_given = np.concatenate([copies, given], axis=2)
    pull = copies @ K - given @ eta.T
    fields = [(field, np.ascontiguousarray((field * pull).transpose(1, 0, 2))) for field in (upper, lower)]
    knots = [Knots.of(low, high) for low, high in zip(*(ends.T for ends in bounds), strict=True)]
    moved = np.zeros((n, m, with_given.shape[2]))
    width = rows_within(_PIECE_BYTES, n * m, at_least=1)
    for a in range(m):
        for start in range(a, with_given.shape[2], width):
            some = np.arange(start, min(start + width, with_given.shape[2]))
            q = copies[:, :, [a]] * with_given[:, :, some]
            away = np.ascontiguousarray((q - q.mean(axis=0)).transpose(1, 2, 0)) / max(count - 1, 1)
            by_knots = []
            for field, pulled in fields:
                derivative = -(away @ pulled)  # of shape (n, q, m)
                derivative[:, :, a] += np.einsum("ri,riq->iq", field[:, :, a], with_given[:, :, some]) / count
                for place, b in enumerate(some[some < m]):
                    derivative[:, place, b] += np.einsum("ri,ri->i", field[:, :, b], copies[:, :, a]) / count
                by_knots.append(derivative)
            for j, own in enumerate(knots):
                moved[:, a, some] += own.shared(by_knots[0][:, :, j], by_knots[1][:, :, j], weights)
        moved[:, a + 1 :, a] = moved[:, a, a + 1 : m]
    return moved


def _fields(copies: Array, bounds: Bounds) -> tuple[Array, Array]:
    """The fields v of the upper and of the lower knot of every cell, at its completions, shape (R, n, m) each."""
    low, high = bounds
    has_low, has_high, is_point = np.isfinite(low), np.isfinite(high), low == high
    with np.errstate(invalid="ignore"):
        within = np.clip((copies - low) / np.where(is_point, 1.0, high - low), 0.0, 1.0)
    upper = np.where(has_low & has_high & ~is_point, within, np.where(has_high, 1.0, 0.0))
    return upper, np.where(is_point, 0.0, np.where(has_low, 1.0 - upper, 0.0))
