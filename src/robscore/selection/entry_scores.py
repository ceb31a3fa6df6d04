"""How early pairs enter the path, in standard errors: how unlikely that is for a pair without an edge.

A pair outside the graph enters when the derivative of the loss in its K_ij reaches the penalty. Where the graph stays
as it is, that derivative is a straight line in alpha,

    d_ij(alpha) = -noise_ij - 2 alpha shift_ij

since the edges inside are shrunk in proportion to alpha, and pull others in. So its slope along the path says how much
of a derivative is shrinkage, and what is left is noise: a sum over rows with mean zero where there is no edge, whose
standard error follows from the squares of what every row adds. A diagonal that is shrunk itself (by a multiplier, or a
penalty) pulls too, by a known amount, which is taken off; as a rule it pulls against the noise, of which it is a share.
No graph is refitted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtr

from robscore._tools.progress import announce
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.losses.interaction_parts import both_ends
from robscore.losses.quadratic import QuadraticLoss
from robscore.selection.standard_errors import degrees_of_freedom, on_own_parameters, standard_errors
from robscore.solvers.path import Path, joined_support
from robscore.weighting.row_weights import WeightedRows

_FARTHEST = 1e8  # guards rounding: standard errors, so that their multiples are finite
_MOST_SHIFT = 1.5  # a pair that is pulled in by more than its penalty enters anyway
_MOST_FALL = 0.5  # of a derivative over that of alpha, so that lines cross
_EVERY = 2.0  # standard errors move little: they are found anew when alpha has fallen by this factor


@dataclass(frozen=True)
class Entries:
    """How far every pair stood out when it entered the path.

    Attributes
    ----------
    pairs : two integer arrays of shape (p,)
        The pairs i < j with a penalty; with moderators those of every part, as :meth:`Parts.pairs` counts them.
    score : array of shape (p,)
        In standard errors, at least 0; for pairs that did not enter, the least with which they would have.
    entered : boolean array of shape (p,)
    alpha : array of shape (p,)
        The penalty at which a pair entered, which may lie between two of the path's; 0 for those that did not.
    n_looked_at : int
        How many penalties of the path were looked at.
    """

    pairs: tuple[IntArray, IntArray]
    score: Array
    entered: BoolArray
    alpha: Array
    n_looked_at: int


class EntryScores:
    """Scores of all pairs along a path, of which ever more may be looked at.

    Parameters
    ----------
    loss, path : QuadraticLoss, Path
        The loss and its solutions.
    rows : WeightedRows
        Those that the loss is made of, or a sample of them.
    weights : array of the shape of K
        Those of the penalty.
    """

    def __init__(self, loss: QuadraticLoss, path: Path, rows: WeightedRows, weights: Array) -> None:
        self.loss, self.path, self.rows = loss, path, rows
        # The pairs i < j whose penalty is neither zero nor infinite.
        i, j = loss.parts.pairs(weights.shape[1])
        chosen = (weights[i, j] > 0) & np.isfinite(weights[i, j])
        self.pairs = i[chosen], j[chosen]
        self.own = on_own_parameters(loss, fit_location=path.fit_location)
        # Where standard errors are found: at the first alpha, the last, and those between that lie a factor apart.
        logs = np.log(np.maximum(path.alphas, np.finfo(float).tiny))
        steps = np.floor((logs[0] - logs) / np.log(_EVERY) + 1e-9)
        self.milestones = np.unique(np.append(np.flatnonzero(np.diff(steps, prepend=-1.0) > 0), path.alphas.size - 1))
        self.errors: dict[int, Array] = {}  # those found so far, by position
        self.freedom = degrees_of_freedom(loss, path, rows, self.pairs, self.own)
        self.limits = (2 if path.rule == "symmetric" else 1) * weights[self.pairs]
        count = self.pairs[0].size
        self.n_looked_at = 0
        self.score, self.alpha, self.entered = np.zeros(count), np.zeros(count), np.zeros(count, dtype=bool)
        self.shift, self.derivative, self.pull = np.zeros((3, 2, count))

    def within(self, most_edges: int) -> Entries:
        """Look at the part of the path that has at most so many edges, or that was looked at before if that is more."""
        too_many = np.flatnonzero(self.path.n_edges > most_edges)
        until = max(int(too_many[0]) if too_many.size else self.path.alphas.size, 1)
        for k in range(self.n_looked_at, until):
            announce("choosing among penalties", k + 1, until)
            self._look_at(k)
        self.n_looked_at = max(self.n_looked_at, until)
        score, last = self.score.copy(), self.path.alphas[self.n_looked_at - 1]
        score[~self.entered] = self._scores(last, last, ~self.entered)
        return Entries(self.pairs, score, self.entered.copy(), self.alpha.copy(), self.n_looked_at)

    def _look_at(self, k: int) -> None:
        """Look at the next position of the path."""
        path, alphas, (i, j) = self.path, self.path.alphas, self.pairs
        before, whole = self.derivative, self.derivative + self.pull
        inside = joined_support(path.interactions[k], path.rule)[i, j]
        self.derivative, self.pull = _derivatives(
            self.loss, path.interactions[k], path.locations[k], self.pairs, self.own, path.rule
        )
        new = inside & ~self.entered
        if new.any():
            # Where the line on which the derivative was moving crosses that of the penalty.
            growth = np.maximum(np.sign(whole) * self.shift, -_MOST_FALL)[:, new]
            crossing = (np.abs(whole[:, new]) / self.limits[new] + growth * alphas[max(k - 1, 0)]) / (1 + growth)
            self.alpha[new] = np.clip(self._of_ends(crossing), alphas[k], alphas[max(k - 1, 0)])
            self.score[new] = self._scores(float(np.sqrt(alphas[max(k - 1, 0)] * alphas[k])), self.alpha[new], new)
            self.entered |= new
        if k and alphas[k] < alphas[k - 1]:
            slope = (self.derivative - before) / (alphas[k - 1] - alphas[k]) / self.limits
            self.shift[:, ~inside] = np.clip(slope, -_MOST_SHIFT, _MOST_SHIFT)[:, ~inside]

    def _scores(self, alpha: float, entry: Array | float, some: BoolArray) -> Array:
        """Score some pairs, shape (q,), that enter at ``entry``, with standard errors at alpha.

        That is how a normal variable would stand out with the same tails as Student's t has on both sides:
        2 Phi(-score) = the tails' sum.
        """
        limit, shift, freedom = entry * self.limits[some], self.shift[:, some], self.freedom[some]
        noise = np.maximum(limit - np.sign(self.derivative + self.pull)[:, some] * self.pull[:, some], 0.0)
        error = self._errors_at(alpha, some)
        with np.errstate(all="ignore"):
            far, moved = (np.minimum(np.nan_to_num(part / error, nan=0.0), _FARTHEST) for part in (noise, limit))
        tails = stdtr(freedom, -far + moved * shift) + stdtr(freedom, -far - moved * shift)
        return self._of_ends(np.maximum(-ndtri(np.clip(tails / 2, np.finfo(float).tiny, 0.5)), 0.0))

    def _errors_at(self, alpha: float, some: BoolArray) -> Array:
        """Interpolate the standard errors of some pairs, shape (2, q), at any alpha, on logarithmic scales."""
        alphas = self.path.alphas[self.milestones]
        after = int(np.clip(np.searchsorted(-alphas, -alpha), 1, max(alphas.size - 1, 1)))
        low = self._errors_found(int(self.milestones[0 if alphas.size == 1 else after - 1]))[:, some]
        if alphas.size == 1 or alpha >= alphas[after - 1]:
            return low
        share = np.log(alphas[after - 1] / alpha) / np.log(alphas[after - 1] / alphas[after])
        tiny = np.finfo(float).tiny
        high = self._errors_found(int(self.milestones[after]))[:, some]
        return np.asarray(np.maximum(low, tiny) ** (1 - share) * np.maximum(high, tiny) ** share)

    def _errors_found(self, position: int) -> Array:
        """Find the standard errors of all pairs at a position of the path, once."""
        if position not in self.errors:
            self.errors[position] = standard_errors(self.loss, self.path, position, self.rows, self.pairs, self.own)
        return self.errors[position]

    def _of_ends(self, values: Array) -> Array:
        """Take the one that decides, shape (q,), of both ends of pairs, shape (2, q)."""
        return np.asarray(values.max(axis=0) if self.path.rule == "or" else values.min(axis=0))


def _derivatives(
    loss: QuadraticLoss, K: Array, eta: Array, pairs: tuple[IntArray, IntArray], own: Array, rule: str
) -> tuple[Array, Array]:
    """Differentiate the loss in K_ij for both ends of every pair, shape (2, p), the same where both are one parameter.

    Gives first what the derivatives would be if the node parameters had adapted, then what these add, not having.
    """
    m = loss.n_columns
    whole = loss.gamma_times(loss.completed(K), eta) - loss.g
    entries, nodes = loss.parts.own_entries(m, loss.n_locations), np.arange(m)
    pulled = own[0] * whole[nodes, entries[0], None]
    if not loss.zero_sums:
        for factor, at in zip(own[1:], entries[1:], strict=True):
            pulled += factor * whole[nodes, at, None]
    ends = [both_ends(part, pairs) for part in (whole[:, : loss.n_interactions] - pulled, pulled)]
    if rule == "symmetric":
        ends = [np.broadcast_to(part.sum(axis=0), part.shape) for part in ends]
    return ends[0], ends[1]
