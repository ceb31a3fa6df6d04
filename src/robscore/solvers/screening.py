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

from robscore._tools.typing import Array, IntArray
from robscore.solvers.descent import Trace, alpha_grid, check_descent, solve_one, take_if_better
from robscore.solvers.penalised import PenalisedLoss
from robscore.solvers.problem import Problem
from robscore.solvers.working_set import WorkingSet

_MOST_NUMBERS = 120_000_000  # entries of blocks that may be held, about 1 GB
_AHEAD = 0.5  # of the way from the last penalty to this one, that gradients may go in the next step
_FURTHEST_AHEAD = 0.1  # of the penalty: where steps are long, far too many pairs would come in by the rule above
_STEPS = 50  # rounds of violating coordinates for one alpha; a few are usual


class _Screened:
    """Where a path for many columns has come to.

    Attributes
    ----------
    chosen : WorkingSet
    theta : array of shape (C,), the solution in the coordinates of the set
    gradient : array of shape (m, m), the loss's derivative in every entry of K
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
        from robscore.solvers.kernels import furthest_with

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
        """The largest violation outside of the set, and the rows and nodes of those beyond ``tol``."""
        chosen, symmetric = self.chosen, self.penalised.symmetric
        worst, _, rows, nodes = self.furthest(
            self.gradient, self.weights, chosen.place, alpha, self.parameters, tol, chosen.m**2, symmetric
        )
        return worst, rows, nodes

    def advance(self, alpha: float, tol: float, max_iter: int) -> tuple[int, float]:
        """Go on to the solution at alpha; how many sweeps that took, and the largest violation left."""
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
        """The largest violation at alpha of the solution as it is."""
        problem = self.chosen.problem()
        z = problem.entries(np.arange(self.theta.size), self.theta)
        worst, _, _ = self.missing(alpha, np.inf)
        return max(worst, float(problem.violations(z, problem.image(z), alpha).max(initial=0.0)))

    def _start(self, alpha: float, *, ahead: bool) -> tuple[Problem, Array, Array]:
        """The problem of the set, z and R = Q z: theta, or ahead on the line of the last two solutions if better."""
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
    penalised: PenalisedLoss,
    alphas: int | Sequence[float] | Array | None,
    keep: Callable[[csc_array, Array | None], bool],
    *,
    alpha_min_ratio: float,
    tol: float,
    max_iter: int,
) -> Trace:
    """Solve for every alpha, giving K and eta to ``keep``, until that says stop or the blocks fill the memory."""
    check_descent(tol, alpha_min_ratio, max_iter)
    state = _Screened(penalised)
    grid = alpha_grid(alphas, state.alpha_max, alpha_min_ratio)
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
