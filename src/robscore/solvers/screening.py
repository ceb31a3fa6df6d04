"""A path for many columns, of which only a growing working set of coordinates is ever solved for.

Of the blocks only the entries between coordinates of the set are held, a few dozen squared for a node. Coordinate
descent runs on those; then one product of n x m arrays gives the gradient of everything, whatever violates optimality
joins the set, and each alpha ends when nothing does. So the work follows the edges and not the pairs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from scipy.sparse import csc_array

from robscore._tools.progress import tell
from robscore._tools.threads import one_thread
from robscore._tools.typing import Array, IntArray
from robscore.solvers.descent import Trace, alpha_grid, check_descent, solve_one, take_if_better
from robscore.solvers.problem import Blocks, Penalty, Problem, check_location, check_variation

_MOST_NUMBERS = 120_000_000  # entries of blocks that may be held, about 1 GB
_AHEAD = 0.5  # of the way from the last penalty to this one, that gradients may go in the next step
_STEPS = 50  # rounds of violating coordinates for one alpha; a few are usual


class WorkingSet:
    """The coordinates looked at so far, with their part of the blocks.

    Parameters
    ----------
    penalty : Penalty
        Of a loss without coupling between nodes.

    Attributes
    ----------
    rows, nodes : integer arrays of shape (C,)
        Coordinate c is K_rows,nodes, both entries if symmetric; or eta_nodes where rows is m.
    weights : array of shape (C,)
    place : integer array of shape (m, p)
        Where an entry of z_j stands among those of node j in the set; -1 if it is not in it.
    """

    def __init__(self, penalty: Penalty) -> None:
        self.penalty = penalty
        loss, m = penalty.loss, penalty.loss.n_columns
        self.m = m
        self.width = m + (penalty.fit_location and not penalty.shifted)
        t, s = loss.coupling()
        self.linear = loss.g[:, : self.width].copy()
        self.t = self.slope = None
        diagonal = loss.diagonal()
        self.extra = penalty.diagonal_multiplier * diagonal[:, :m]
        if penalty.shifted:
            check_location(s)
            self.t = np.broadcast_to(t, (m, m))
            self.slope = self.t / s[:, None]
            check_variation(loss, diagonal[:, :m] + self.extra - self.slope * self.t)
            self.linear -= self.slope * loss.g[:, [m]]
        self.place = np.full((m, self.width), -1, dtype=np.int32)
        self.own_entries: list[IntArray] = [np.zeros(0, dtype=np.intp) for _ in range(m)]
        self.own_blocks: list[Array] = [np.zeros((0, 0)) for _ in range(m)]
        self.rows, self.nodes, self.weights = np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0)
        self.add(*self._at_the_start())

    def _at_the_start(self) -> tuple[IntArray, IntArray]:
        """The diagonal, the locations, and edges without a penalty."""
        W, m = self.penalty.weights, self.m
        free = (W == 0) & ~np.eye(m, dtype=bool)
        nodes, rows = np.nonzero(np.tril(free) if self.penalty.symmetric else free.T)
        every = np.arange(m)
        rows, nodes = np.append(every, rows), np.append(every, nodes)
        if self.width > m:
            rows, nodes = np.append(rows, np.full(m, m)), np.append(nodes, every)
        return rows, nodes

    @property
    def n_numbers(self) -> int:
        """Entries of blocks that are held."""
        return sum(block.size for block in self.own_blocks)

    def add(self, rows: IntArray, nodes: IntArray) -> None:
        """Take coordinates into the set that are not in it yet."""
        self.rows, self.nodes = np.append(self.rows, rows), np.append(self.nodes, nodes)
        self.weights = np.append(self.weights, self._weights_of(rows, nodes))
        both = (rows != nodes) & (rows < self.m) & self.penalty.symmetric
        all_rows, all_nodes = np.append(rows, nodes[both]), np.append(nodes, rows[both])
        order = np.argsort(all_nodes, kind="stable")
        changed, first = np.unique(all_nodes[order], return_index=True)
        with one_thread():  # small products: threads would only wait
            for node, new in zip(changed, np.split(all_rows[order], first[1:]), strict=True):
                self._extend(node, new)

    def _weights_of(self, rows: IntArray, nodes: IntArray) -> Array:
        penalty, weights = self.penalty, np.zeros(rows.size)
        off = (rows != nodes) & (rows < self.m)
        weights[off] = penalty.weights[rows[off], nodes[off]] * (2.0 if penalty.symmetric else 1.0)
        if penalty.penalize_diagonal:
            on = rows == nodes
            weights[on] = penalty.weights[rows[on], rows[on]]
        at = rows == self.m
        weights[at] = penalty.location_weights[nodes[at]]
        return weights

    def _extend(self, node: int, new: IntArray) -> None:
        """More entries of one node's block."""
        old, m = self.own_entries[node], self.m
        entries = np.append(old, new)
        grown = np.empty((entries.size, entries.size))
        added = self.penalty.loss.block(node, new, entries)
        if self.t is not None and self.slope is not None:
            added -= np.multiply.outer(self.slope[node, new], self.t[node, entries])
        inside = np.flatnonzero(new < m)
        added[inside, old.size + inside] += self.extra[node, new[inside]]
        grown[: old.size, : old.size] = self.own_blocks[node]
        grown[old.size :] = added
        grown[: old.size, old.size :] = added[:, : old.size].T
        self.place[node, new] = np.arange(old.size, entries.size)
        self.own_entries[node], self.own_blocks[node] = entries, grown

    def problem(self) -> Problem:
        """The penalised problem in the coordinates of the set."""
        blocks = Blocks.ragged(self.own_blocks)
        linear = np.concatenate([self.linear[node, own] for node, own in enumerate(self.own_entries)])
        own = blocks.firsts[self.nodes] + self.place[self.nodes, self.rows]
        mirror = np.full(own.size, -1)
        both = np.flatnonzero((self.rows != self.nodes) & (self.rows < self.m) & self.penalty.symmetric)
        mirror[both] = blocks.firsts[self.rows[both]] + self.place[self.rows[both], self.nodes[both]]
        return Problem.of(blocks, linear, own, mirror, self.weights)

    def solution(self, theta: Array) -> tuple[csc_array, Array | None]:
        """K, sparse, and eta if it is a coordinate, from the values of the coordinates."""
        m = self.m
        used = np.flatnonzero(((theta != 0) | (self.rows == self.nodes)) & (self.rows < m))
        rows, nodes, values = self.rows[used], self.nodes[used], theta[used]
        if self.penalty.symmetric:
            both = rows != nodes
            rows, nodes = np.append(rows, nodes[both]), np.append(nodes, rows[both])
            values = np.append(values, values[both])
        K = csc_array((values, (rows, nodes)), shape=(m, m))
        if self.width == m:
            return K, None
        eta, at = np.zeros(m), self.rows == m
        eta[self.nodes[at]] = theta[at]
        return K, eta

    def gradient(self, theta: Array) -> Array:
        """The loss's derivative in every entry of K, row j for node j, shape (m, m)."""
        K, eta = self.solution(theta)
        if eta is None:
            eta = np.zeros(self.m)
            if self.slope is not None:
                eta = -np.asarray(K.multiply(self.slope.T).sum(axis=0)).ravel()
        product = self.penalty.loss.gamma_times(K, eta)[:, : self.m]
        if self.penalty.diagonal_multiplier:
            product += self.extra * K.T.toarray()
        return np.asarray(product - self.linear[:, : self.m])


def trace_screened(
    penalty: Penalty,
    alphas: int | Sequence[float] | Array | None,
    keep: Callable[[csc_array, Array | None], bool],
    *,
    alpha_min_ratio: float,
    tol: float,
    max_iter: int,
) -> Trace:
    """Solve for every alpha, giving K and eta to ``keep``, until that says stop or the blocks fill the memory."""
    from robscore.solvers.kernels import furthest_from_optimal

    check_descent(tol, alpha_min_ratio, max_iter)
    chosen = WorkingSet(penalty)
    problem = chosen.problem()
    theta = problem.values(problem.null_solution())
    W = np.ones((1, 1)) if (penalty.weights == 1).all() else penalty.weights
    gradient = chosen.gradient(theta)
    alpha_max = _alpha_max(penalty, problem, theta, gradient)
    grid = alpha_grid(alphas, alpha_max, alpha_min_ratio)
    unit = alpha_max if alpha_max > 0 else max(float(np.abs(penalty.loss.g).max()), 1e-300)
    n_iter, kkt = np.zeros(grid.size, dtype=np.intp), np.zeros(grid.size)
    bounded, previous, last = True, alpha_max, (theta, alpha_max)
    full = False
    for k, alpha in enumerate(grid):
        if bounded and alpha < previous:
            # Half of what the strong rule takes in: the other half seldom comes in, and its blocks cost.
            _, _, rows, nodes = furthest_from_optimal(
                gradient, W, chosen.place, alpha - _AHEAD * (previous - alpha), 0.0, chosen.m**2, penalty.symmetric
            )
            here = (theta, previous)
            for _ in range(_STEPS):
                if rows.size:
                    chosen.add(rows, nodes)
                    full = chosen.n_numbers > _MOST_NUMBERS
                problem = chosen.problem()
                theta, old = (
                    np.append(values, np.zeros(chosen.rows.size - values.size)) for values in (theta, last[0])
                )
                z = problem.entries(np.arange(theta.size), theta)
                R = problem.image(z)
                if last[1] > previous:  # go on in a straight line from the last two solutions
                    share = (alpha - previous) / (previous - last[1])
                    ahead = problem.entries(np.arange(theta.size), theta + share * (theta - old))
                    take_if_better(problem, z, R, ahead, problem.image(ahead), alpha)
                    last = (last[0], previous)  # once an alpha
                used, bounded = solve_one(problem, z, R, alpha, previous, tol * unit, max_iter - n_iter[k])
                n_iter[k] += used
                theta = problem.values(z)
                gradient = chosen.gradient(theta)
                worst, count, rows, nodes = furthest_from_optimal(
                    gradient, W, chosen.place, alpha, tol * unit, chosen.m**2, penalty.symmetric
                )
                inside = problem.violations(z, R, alpha).max(initial=0.0)
                kkt[k] = max(worst, inside) / unit
                tell(f"penalty {k + 1} of {grid.size}: {np.count_nonzero(theta) - chosen.m} edges")
                if not count or not bounded or n_iter[k] >= max_iter or full:
                    break
            last, previous = here, alpha
        tell("penalty", k + 1, grid.size)
        if full and k + 1 < grid.size:
            warnings.warn(
                f"The path ends at alpha = {alpha:.3g}, {k + 1} of {grid.size}: denser graphs would take more memory "
                "than is good; say where to end with max_edges, or with alpha_min_ratio.",
                UserWarning,
                stacklevel=2,
            )
        if keep(*chosen.solution(theta)) or full:
            grid, n_iter, kkt = grid[: k + 1], n_iter[: k + 1], kkt[: k + 1]
            break
    return Trace(grid, alpha_max, n_iter, kkt)


def _alpha_max(penalty: Penalty, problem: Problem, theta: Array, gradient: Array) -> float:
    """Max |gradient| / weight over all penalised coordinates, at the null solution."""
    total = np.abs(gradient + gradient.T) / 2 if penalty.symmetric else np.abs(gradient.T)
    np.fill_diagonal(total, 0.0)
    total[total <= 1e-14 * np.abs(penalty.loss.g).max()] = 0.0  # nothing but rounding
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where((penalty.weights > 0) & np.isfinite(penalty.weights), total / penalty.weights, 0.0)
    inside = np.abs(problem.gradient(problem.image(problem.entries(np.arange(theta.size), theta))))[problem.penalised]
    return max(float(ratio.max(initial=0.0)), float((inside / problem.weights[problem.penalised]).max(initial=0.0)))
