"""A path for many columns, of which only a growing working set of coordinates is ever solved for.

Of the blocks only the entries between coordinates of the set are held, a few dozen squared for a node. Coordinate
descent runs on those; then one product of n x m arrays gives the gradient of everything, whatever violates optimality
joins the set, and each alpha ends when nothing does. So the work follows the edges and not the pairs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy.sparse import csc_array

from robscore._tools.threads import one_thread
from robscore._tools.typing import Array, IntArray
from robscore.losses.quadratic import as_location, location_rows
from robscore.solvers.descent import PathOptions, Trace, alpha_grid, solve_one, take_if_better
from robscore.solvers.penalised_loss import PenalisedLoss, check_location, check_variation, slopes_of
from robscore.solvers.problem import Blocks, Problem

_MOST_NUMBERS = 120_000_000  # guards memory: entries of blocks that may be held, about 1 GB
_AHEAD = 0.5  # of the way from the last penalty to this one, that gradients may go in the next step
_FURTHEST_AHEAD = 0.1  # of the penalty: where steps are long, far too many pairs would come in by the rule above
_STEPS = 50  # rounds of violating coordinates for one alpha; a few are usual


class _Screened:
    """The state of a path for many columns at one of its penalties.

    Attributes
    ----------
    chosen : WorkingSet
    theta : array of shape (C,)
        The solution in the coordinates of the set.
    gradient : array of shape (m, m)
        The loss's derivative in every entry of K.
    alpha_max, size : float
        ``size`` is how large the terms of gradients are.
    previous : float
        The alpha of theta.
    bounded : bool
        Whether the objective had a minimum.
    full : bool
        Whether the blocks fill the memory that they may have.
    """

    def __init__(self, penalised: PenalisedLoss) -> None:
        from robscore.solvers.descent_kernels import furthest_with

        self.chosen = WorkingSet(penalised)
        self.penalised, self.penalty = penalised, penalised.penalty
        self.furthest = furthest_with(type(self.penalty))
        self.parameters = np.array(self.penalty.parameters, dtype=float)
        self.weights = np.ones((1, 1)) if (penalised.weights == 1).all() else penalised.weights
        self.size = float(np.abs(penalised.loss.g).max())
        problem = self.chosen.problem()
        z = problem.null_solution()
        self.theta = problem.values(z)
        self.gradient = self.chosen.gradient(self.theta)
        self.alpha_max = self._alpha_max(problem, problem.image(z))
        self.previous, self.bounded, self.full = self.alpha_max, True, False
        self.before = (self.theta, self.alpha_max)  # the solution before theta, and its alpha

    def _alpha_max(self, problem: Problem, R: Array) -> float:
        symmetric, weights = self.penalised.symmetric, self.penalised.weights.copy()
        np.fill_diagonal(weights, 0.0)  # in the set from the start, with everything else that is not an edge
        edges = self.gradient + self.gradient.T if symmetric else self.gradient.T
        return max(
            self.penalty.alpha_max(edges, 2.0 * weights if symmetric else weights, self.size),
            self.penalty.alpha_max(problem.gradient(R), problem.weights, self.size),
        )

    def missing(self, alpha: float, tol: float) -> tuple[float, IntArray, IntArray]:
        """Find the largest violation outside of the set, and the rows and nodes of those beyond ``tol``."""
        chosen, symmetric = self.chosen, self.penalised.symmetric
        worst, _, rows, nodes = self.furthest(
            self.gradient, self.weights, chosen.place, alpha, self.parameters, tol, chosen.m**2, symmetric
        )
        return worst, rows, nodes

    def advance(self, alpha: float, tol: float, max_iter: int) -> tuple[int, float]:
        """Go on to the solution at alpha; give how many sweeps that took, and the largest violation left."""
        # Half of what the strong rule takes in: the other half seldom comes in, and its blocks cost.
        ahead = min(_AHEAD * (self.previous - alpha), _FURTHEST_AHEAD * alpha)
        _, rows, nodes = self.missing(alpha - ahead, 0.0)
        here, sweeps, violation = (self.theta, self.previous), 0, 0.0
        for step in range(_STEPS):
            if rows.size:
                self.chosen.add(rows, nodes)
                self.full = self.chosen.n_numbers > _MOST_NUMBERS
            problem, z, R = self._start(alpha, ahead=step == 0)
            used, self.bounded, _ = solve_one(problem, z, R, alpha, self.previous, tol, max_iter - sweeps)
            sweeps += used
            self.theta = problem.values(z)
            self.gradient = self.chosen.gradient(self.theta)
            worst, rows, nodes = self.missing(alpha, tol)
            violation = max(worst, problem.violations(z, R, alpha).max(initial=0.0))
            if not rows.size or not self.bounded or sweeps >= max_iter or self.full:
                break
        self.before, self.previous = here, alpha
        return sweeps, violation

    def violation(self, alpha: float) -> float:
        """Measure the largest violation at alpha of the solution as it is."""
        problem = self.chosen.problem()
        z = problem.entries(np.arange(self.theta.size), self.theta)
        worst, _, _ = self.missing(alpha, np.inf)
        return max(worst, float(problem.violations(z, problem.image(z), alpha).max(initial=0.0)))

    def _start(self, alpha: float, *, ahead: bool) -> tuple[Problem, Array, Array]:
        """Start from theta, or ``ahead`` on the line of the last two solutions if better: problem, z, Q z."""
        problem, size = self.chosen.problem(), self.chosen.rows.size
        every = np.arange(size)
        self.theta, old = (np.append(values, np.zeros(size - values.size)) for values in (self.theta, self.before[0]))
        z = problem.entries(every, self.theta)
        R = problem.image(z)
        if ahead and self.before[1] > self.previous:
            share = (alpha - self.previous) / (self.previous - self.before[1])
            other = problem.entries(every, self.theta + share * (self.theta - old))
            take_if_better(problem, z, R, other, problem.image(other), alpha)
        return problem, z, R


def trace_screened(
    penalised: PenalisedLoss, options: PathOptions, keep: Callable[[csc_array, Array | None], bool]
) -> Trace:
    """Solve for every alpha, giving K and eta to ``keep``, until that says stop or the blocks fill the memory."""
    options.check()
    tol, max_iter = options.tol, options.max_iter
    state = _Screened(penalised)
    grid = alpha_grid(options.alphas, state.alpha_max, options.alpha_min_ratio)
    unit = state.alpha_max if state.alpha_max > 0 else max(state.size, 1e-300)
    n_iter, kkt = np.zeros(grid.size, dtype=np.intp), np.zeros(grid.size)
    for k, alpha in enumerate(grid):
        if state.bounded and (alpha < state.previous or state.violation(alpha) > tol * unit):
            n_iter[k], violation = state.advance(alpha, tol * unit, max_iter)
            kkt[k] = violation / unit
        else:
            kkt[k] = state.violation(alpha) / unit
        if state.full and k + 1 < grid.size:
            warnings.warn(
                f"The path ends at alpha = {alpha:.3g}, {k + 1} of {grid.size}: denser graphs would take too much "
                "memory; set its end with max_edges or alpha_min_ratio.",
                UserWarning,
                stacklevel=2,
            )
        if keep(*state.chosen.solution(state.theta)) or state.full:
            grid, n_iter, kkt = grid[: k + 1], n_iter[: k + 1], kkt[: k + 1]
            break
    return Trace(grid, state.alpha_max, n_iter, kkt)


class WorkingSet:
    """The coordinates looked at so far, with their part of the blocks.

    Parameters
    ----------
    penalised : PenalisedLoss
        Of a loss without coupling between nodes.

    Attributes
    ----------
    rows, nodes : integer arrays of shape (C,)
        Coordinate c is K_rows,nodes, both entries if symmetric; or of the locations of nodes from m on.
    weights : array of shape (C,)
    place : integer array of shape (m, p)
        Where an entry of z_j stands among those of node j in the set; -1 if it is not in it.
    """

    def __init__(self, penalised: PenalisedLoss) -> None:
        self.penalised = penalised
        loss, m = penalised.loss, penalised.loss.n_columns
        self.m = m
        self.width = m + loss.n_locations * (penalised.fit_location and not penalised.shifted)
        t, s = loss.couplings()
        self.linear = loss.g[:, : self.width].copy()
        self.t = self.slope = None
        diagonal = loss.diagonal()
        self.extra = penalised.diagonal_multiplier * diagonal[:, :m]
        if penalised.shifted:
            check_location(np.einsum("jkk->jk", s))
            self.t, self.slope = (np.broadcast_to(part, (m, *t.shape[1:])) for part in (t, slopes_of(s, t)))
            check_variation(loss, diagonal[:, :m] + self.extra - (self.slope * self.t).sum(axis=2))
            self.linear -= (self.slope * loss.g[:, None, m:]).sum(axis=2)
        self.place = np.full((m, self.width), -1, dtype=np.int32)
        self.own_entries: list[IntArray] = [np.zeros(0, dtype=np.intp) for _ in range(m)]
        self.own_blocks: list[Array] = [np.zeros((0, 0)) for _ in range(m)]
        self.rows, self.nodes, self.weights = np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0)
        self.add(*self._at_the_start())

    def _at_the_start(self) -> tuple[IntArray, IntArray]:
        """Begin with the diagonal, the locations, and edges without a penalty."""
        W, m = self.penalised.weights, self.m
        free = (W == 0) & ~np.eye(m, dtype=bool)
        nodes, rows = np.nonzero(np.tril(free) if self.penalised.symmetric else free.T)
        every = np.arange(m)
        rows, nodes = np.append(every, rows), np.append(every, nodes)
        if self.width > m:
            rows = np.append(rows, np.repeat(np.arange(m, self.width), m))
            nodes = np.append(nodes, np.tile(every, self.width - m))
        return rows, nodes

    @property
    def n_numbers(self) -> int:
        """Entries of blocks that are held."""
        return sum(block.size for block in self.own_blocks)

    def add(self, rows: IntArray, nodes: IntArray) -> None:
        """Take coordinates into the set that are not in it yet."""
        self.rows, self.nodes = np.append(self.rows, rows), np.append(self.nodes, nodes)
        self.weights = np.append(self.weights, self._weights_of(rows, nodes))
        both = (rows != nodes) & (rows < self.m) & self.penalised.symmetric
        all_rows, all_nodes = np.append(rows, nodes[both]), np.append(nodes, rows[both])
        order = np.argsort(all_nodes, kind="stable")
        changed, first = np.unique(all_nodes[order], return_index=True)
        with one_thread():  # small products: threads would only wait
            for node, new in zip(changed, np.split(all_rows[order], first[1:]), strict=True):
                self._extend(node, new)

    def _weights_of(self, rows: IntArray, nodes: IntArray) -> Array:
        penalised, weights = self.penalised, np.zeros(rows.size)
        off = (rows != nodes) & (rows < self.m)
        weights[off] = penalised.weights[rows[off], nodes[off]] * (2.0 if penalised.symmetric else 1.0)
        if penalised.penalize_diagonal:
            on = rows == nodes
            weights[on] = penalised.weights[rows[on], rows[on]]
        at = rows >= self.m
        weights[at] = location_rows(penalised.location_weights)[rows[at] - self.m, nodes[at]]
        return weights

    def _extend(self, node: int, new: IntArray) -> None:
        """Add entries to one node's block."""
        old, m = self.own_entries[node], self.m
        entries = np.append(old, new)
        grown = np.empty((entries.size, entries.size))
        added = self.penalised.loss.block(node, new, entries)
        if self.t is not None and self.slope is not None:
            added -= self.slope[node, new] @ self.t[node, entries].T
        inside = np.flatnonzero(new < m)
        added[inside, old.size + inside] += self.extra[node, new[inside]]
        grown[: old.size, : old.size] = self.own_blocks[node]
        grown[old.size :] = added
        grown[: old.size, old.size :] = added[:, : old.size].T
        self.place[node, new] = np.arange(old.size, entries.size)
        self.own_entries[node], self.own_blocks[node] = entries, grown

    def problem(self) -> Problem:
        """Write the penalised problem in the coordinates of the set."""
        blocks = Blocks.ragged(self.own_blocks)
        linear = np.concatenate([self.linear[node, own] for node, own in enumerate(self.own_entries)])
        own = blocks.firsts[self.nodes] + self.place[self.nodes, self.rows]
        mirror = np.full(own.size, -1)
        both = np.flatnonzero((self.rows != self.nodes) & (self.rows < self.m) & self.penalised.symmetric)
        mirror[both] = blocks.firsts[self.rows[both]] + self.place[self.rows[both], self.nodes[both]]
        return Problem(blocks, linear, own, mirror, self.weights, self.penalised.penalty)

    def solution(self, theta: Array) -> tuple[csc_array, Array | None]:
        """Give K, sparse, and eta if it is a coordinate, from the values of the coordinates."""
        m = self.m
        used = np.flatnonzero(((theta != 0) | (self.rows == self.nodes)) & (self.rows < m))
        rows, nodes, values = self.rows[used], self.nodes[used], theta[used]
        if self.penalised.symmetric:
            both = rows != nodes
            rows, nodes = np.append(rows, nodes[both]), np.append(nodes, rows[both])
            values = np.append(values, values[both])
        K = csc_array((values, (rows, nodes)), shape=(m, m))
        if self.width == m:
            return K, None
        eta, at = np.zeros((m, self.width - m)), self.rows >= m
        eta[self.nodes[at], self.rows[at] - m] = theta[at]
        return K, as_location(eta)

    def gradient(self, theta: Array) -> Array:
        """Differentiate the loss in every entry of K, row j for node j, shape (m, m)."""
        K, eta = self.solution(theta)
        if eta is None:
            eta = np.zeros(self.penalised.loss.location_shape)
            if self.slope is not None:
                each = np.moveaxis(self.slope, 2, 0)
                eta = as_location(np.column_stack([-np.asarray(K.multiply(own.T).sum(axis=0)).ravel() for own in each]))
        product = self.penalised.loss.gamma_times(K, eta)[:, : self.m]
        if self.penalised.diagonal_multiplier:
            product += self.extra * K.T.toarray()
        return np.asarray(product - self.linear[:, : self.m])
