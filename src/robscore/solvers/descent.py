"""Coordinate descent along a path of penalties, for any problem in coordinates.

One step minimises the objective in one coordinate, with curvature q_c and gradient d_c of the loss at theta,

    theta_c <- prox(q_c theta_c - d_c),      soft thresholding by alpha w_c, over q_c, for the l1 penalty

Each alpha starts from the solution before it. The gradient of every coordinate is kept up to date by R = Q z, so
checking all of them is cheap: the working set starts from the strong rule and grows by whatever violates optimality,
and each alpha ends when no coordinate at all does by more than tol * alpha_max. Where sweeps are slow, three devices
help, each taken only if it lowers the objective: a straight line from the last two solutions, Anderson's
extrapolation of the last sweeps, and jumps to the minimum on the support.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy.linalg.lapack import dpotrf, dpotrs

from robscore._tools.memory import chunks
from robscore._tools.messages import ArgumentError, UsageError
from robscore._tools.numbers import as_numbers, check_number
from robscore._tools.progress import watched_by
from robscore._tools.threads import one_thread
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.solvers.problem import Problem

# All of these decide how fast the descent is, not where it ends.
DEFAULT_ALPHAS = 100
_EASY_SWEEPS = 8  # the first ones settle the support; after them, extrapolate
_SWEEPS_A_SNAPSHOT, _SNAPSHOTS = 2, 5  # of the iterates that are extrapolated
_ONE_SWEEP_MORE = 3.0  # violations met in a sweep are about so much larger than those it leaves
_FIRST_CHECK = 125  # sweeps; at twice as many, and again each time they double, look at what is so slow
_FIRST_JUMP = 24  # sweeps, and again after half as many more: slow problems need a better step than another sweep
_FIRST_JUMP_IF_SLOW = 8  # where the penalty before needed more than that
_IN_VAIN, _MANY_SWEEPS, _FAR = 3, 1000, 0.01  # as many penalties, all sweeps of so many each, and kkt still above
_NODES_A_TASK = 10  # nodes that are solved together where none has to do with another
_LARGEST_JUMP, _LARGEST_EARLY_JUMP = 1500, 500  # parameters in the linear system that may then be solved
_MOST_DROPPED = 0.25  # of the support, before another factor is worth its while


class PathOptions(NamedTuple):
    """Which penalties to solve for, and how exactly; arguments as of ``rs.solve_path``."""

    alphas: int | Sequence[float] | Array | None
    alpha_min_ratio: float
    tol: float
    max_iter: int

    def check(self) -> None:
        """Raise on invalid settings, but for the penalties, which are checked when their grid is made."""
        check_number("tol", self.tol)
        check_number("alpha_min_ratio", self.alpha_min_ratio)
        if not 0 < self.tol < 1:
            raise ArgumentError("tol", self.tol, "must lie between 0 and 1.")
        check_number("max_iter", self.max_iter, at_least=1)


class Trace(NamedTuple):
    """How the descent went, one entry per alpha; ``alphas`` decrease, ``kkt`` is relative to alpha_max."""

    alphas: Array
    alpha_max: float
    n_iter: IntArray
    kkt: Array


def trace_path(
    problem: Problem, options: PathOptions, keep: Callable[[Array], bool], alpha_max: float | None = None
) -> Trace:
    """Solve the problem for every alpha, giving each solution Z, to be copied, to ``keep``, until that says stop.

    ``alpha_max``, if given, is that of a larger problem which this one is a part of. Where the objective has no
    minimum, or the last penalties used all their sweeps far from one, Z stays as it is for all that follow.
    """
    options.check()
    tol, max_iter = options.tol, options.max_iter
    Z = problem.null_solution()
    R = problem.image(Z)
    if alpha_max is None:
        alpha_max = _finite(problem.alpha_max(R))
    grid = alpha_grid(options.alphas, alpha_max, options.alpha_min_ratio)
    unit = (alpha_max if alpha_max > 0 else max(float(np.abs(problem.linear).max()), 1e-300)) / problem.slack
    n_iter, kkt = np.zeros(grid.size, dtype=np.intp), np.zeros(grid.size)
    bounded, previous, in_vain = True, alpha_max, 0
    last: tuple[Array, Array, float] | None = None
    for k, alpha in enumerate(grid):
        if bounded and (alpha < previous or problem.violations(Z, R, alpha).max(initial=0.0) > tol * unit):
            here = (Z.copy(), R.copy(), previous)
            if last is not None:  # solutions are piecewise linear in alpha: a straight line may be a better start
                last_Z, last_R, last_alpha = last
                share = (alpha - previous) / (previous - last_alpha)
                take_if_better(problem, Z, R, Z + share * (Z - last_Z), R + share * (R - last_R), alpha)
            was_slow = k > 0 and n_iter[k - 1] > _FIRST_JUMP
            found = solve_one(problem, Z, R, alpha, previous, tol * unit, max_iter, was_slow=was_slow)
            n_iter[k], bounded, worst = found
            last, previous = here, alpha
        else:
            worst = problem.violations(Z, R, alpha).max(initial=0.0)
        kkt[k] = worst / unit
        lost = n_iter[k] >= max(max_iter, _MANY_SWEEPS) and kkt[k] > _FAR
        in_vain = in_vain + 1 if lost and problem.singular else 0
        bounded = bounded and in_vain < _IN_VAIN
        if keep(Z):
            grid, n_iter, kkt = grid[: k + 1], n_iter[: k + 1], kkt[: k + 1]
            break
    return Trace(grid, alpha_max, n_iter, kkt)


def trace_nodes(problem: Problem, options: PathOptions, keep: Callable[[Array], bool], n_jobs: int | None) -> Trace:
    """Do as :func:`trace_path` for a problem whose nodes have nothing to do with each other: a few nodes per task.

    Which nodes are together does not depend on ``n_jobs``, so neither do the solutions.
    """
    options.check()
    Z = problem.null_solution()
    alpha_max = _finite(problem.alpha_max(problem.image(Z)))
    grid = alpha_grid(options.alphas, alpha_max, options.alpha_min_ratio)
    options = options._replace(alphas=grid)
    parts = [problem.of_nodes(nodes) for nodes in chunks(problem.blocks.sizes.size, _NODES_A_TASK)]
    calls = (delayed(_trace_part)(part, options, alpha_max) for part in parts)
    with one_thread():
        found = list(Parallel(n_jobs=n_jobs, prefer="threads")(calls))
    n_iter, kkt = (np.max([trace[k] for _, trace in found], axis=0) for k in (2, 3))
    for k in range(grid.size):
        if keep(np.concatenate([solutions[k] for solutions, _ in found])):
            grid, n_iter, kkt = grid[: k + 1], n_iter[: k + 1], kkt[: k + 1]
            break
    return Trace(grid, alpha_max, n_iter, kkt)


def _trace_part(part: Problem, options: PathOptions, alpha_max: float) -> tuple[list[Array], Trace]:
    solutions: list[Array] = []

    def keep(Z: Array) -> bool:
        solutions.append(Z.copy())
        return False

    with one_thread(), watched_by(None):
        trace = trace_path(part, options, keep, alpha_max)
    return solutions, trace


def _finite(alpha_max: float) -> float:
    """Pass the largest penalty on; raise if the loss is beyond floating-point range."""
    if not np.isfinite(alpha_max):
        raise UsageError("The loss is beyond floating-point range; scale the columns of X first, or drop large rows.")
    return alpha_max


def take_if_better(problem: Problem, Z: Array, R: Array, other_Z: Array, other_R: Array, alpha: float) -> None:
    """Replace Z and R, in place, where the other ones have a lower objective."""
    if problem.objective(other_Z, other_R, alpha) < problem.objective(Z, R, alpha):
        Z[:], R[:] = other_Z, other_R


def solve_one(
    problem: Problem,
    Z: Array,
    R: Array,
    alpha: float,
    previous: float,
    tol: float,
    max_iter: int,
    *,
    was_slow: bool = False,
) -> tuple[int, bool, float]:
    """Bring Z and R, in place, to the optimum at alpha.

    Gives the sweeps used, whether the objective is bounded below as far as was seen, and the largest violation left.
    """
    from robscore.solvers.descent_kernels import descend_with, refresh

    penalty, weights = problem.penalty, problem.finite_weights
    descend, parameters = descend_with(type(penalty)), np.array(penalty.parameters, dtype=float)
    strong = problem.penalised & penalty.outside(problem.gradient(R), weights, alpha, previous)
    chosen = (problem.weights == 0) | strong | (problem.values(Z) != 0)
    snapshots: list[tuple[Array, Array]] = []
    checkpoint, checked_at = Z.copy(), _FIRST_CHECK
    jump_at = _FIRST_JUMP_IF_SLOW if was_slow else _FIRST_JUMP
    sweeps, calls = 0, 0
    while sweeps < max_iter:
        used, worst, changed = descend(
            *problem.quadratic,
            problem.linear_by_coordinate,
            Z,
            R,
            problem.own,
            problem.mirror,
            alpha * weights,
            parameters,
            problem.curvature,
            np.flatnonzero(chosen),
            0.6 * tol if sweeps < _FIRST_CHECK else 0.0,  # slow problems need every step
            _ONE_SWEEP_MORE * tol,
            min(_EASY_SWEEPS if calls == 0 else _SWEEPS_A_SNAPSHOT, max_iter - sweeps),
        )
        sweeps, calls = sweeps + used, calls + 1
        if worst > _ONE_SWEEP_MORE * tol and changed:
            snapshots.append((Z.copy(), R.copy()))
            if sweeps >= 2 * checked_at:
                if problem.is_unbounded_below(checkpoint, Z, alpha):
                    Z[:] = checkpoint
                    refresh(*problem.quadratic, Z, R)
                    return sweeps, False, float(problem.violations(Z, R, alpha).max(initial=0.0))
                checkpoint, checked_at = Z.copy(), sweeps
            if sweeps >= jump_at:
                early = sweeps < 2 * _FIRST_CHECK and not was_slow
                jump_on_support(problem, Z, R, alpha, _LARGEST_EARLY_JUMP if early else _LARGEST_JUMP)
                jump_at = 3 * sweeps // 2
                snapshots.clear()
            if len(snapshots) == _SNAPSHOTS:
                _extrapolate(problem, snapshots, Z, R, alpha)
                snapshots.clear()
            continue
        snapshots.clear()
        refresh(*problem.quadratic, Z, R)
        violations = problem.violations(Z, R, alpha)
        violating = violations > tol
        if not violating.any() or not (changed or (violating & ~chosen).any()):
            return sweeps, True, float(violations.max(initial=0.0))
        chosen |= violating
    refresh(*problem.quadratic, Z, R)
    return sweeps, True, float(problem.violations(Z, R, alpha).max(initial=0.0))


def _extrapolate(problem: Problem, snapshots: list[tuple[Array, Array]], Z: Array, R: Array, alpha: float) -> None:
    """Extrapolate the last snapshots as Anderson does, in place, where that lowers the objective.

    Taken is the combination whose steps cancel best: coefficients that sum to 1 and minimise |sum_k a_k step_k|^2.
    """
    steps = np.diff([problem.values(z) for z, _ in snapshots], axis=0)
    gram = steps @ steps.T
    if not np.trace(gram) > 0:
        return
    gram[np.diag_indices(len(gram))] += 1e-10 * np.trace(gram)
    coefficients = np.linalg.solve(gram, np.ones(len(gram)))
    total = coefficients.sum()
    if not total > 0:
        return
    coefficients /= total
    candidate_Z = np.tensordot(coefficients, np.array([z for z, _ in snapshots[1:]]), axes=1)
    candidate_R = np.tensordot(coefficients, np.array([r for _, r in snapshots[1:]]), axes=1)
    take_if_better(problem, Z, R, candidate_Z, candidate_R, alpha)


def alpha_grid(alphas: int | Sequence[float] | Array | None, alpha_max: float, alpha_min_ratio: float) -> Array:
    """Give the penalties of a path, decreasing; raise on invalid ones."""
    if alphas is None:
        alphas = DEFAULT_ALPHAS
    if isinstance(alphas, int | np.integer) and not isinstance(alphas, bool):
        if alphas < 1:
            raise ArgumentError("alphas", alphas, "must be at least 1, or a list of penalties.")
        if not 0 < alpha_min_ratio < 1:
            raise ArgumentError("alpha_min_ratio", alpha_min_ratio, "must lie between 0 and 1.")
        if alpha_max == 0:
            return np.zeros(1)  # nothing is penalised, so all penalties give the same answer
        return np.geomspace(alpha_max, alpha_max * alpha_min_ratio, alphas)
    try:
        grid = np.sort(np.atleast_1d(as_numbers("alphas", alphas)))[::-1].copy()
    except (TypeError, ValueError):
        raise ArgumentError("alphas", alphas, "must be a number of penalties, or the penalties themselves.") from None
    if isinstance(alphas, bool) or grid.ndim != 1 or grid.size == 0 or not np.isfinite(grid).all() or (grid < 0).any():
        raise ArgumentError("alphas", alphas, "must be finite penalties of at least 0.")
    return grid


def jump_on_support(problem: Problem, Z: Array, R: Array, alpha: float, largest: int) -> None:
    """Bring Z and R, in place, to a minimum on the support, or as near as steps that lower the objective lead.

    Where columns nearly determine each other, sweeps creep along a narrow valley. On the support, with the signs as
    they are, the objective is quadratic, and one linear system leads to its minimum

        (H + diag rho'') theta = l - rho' + rho'' theta-now

    Coordinates that would change their sign on the way are zero from there on, and the minimum of the rest is the next
    aim: that of the same system with theta_D = 0 for the coordinates D that were dropped, which needs no other factor,

        theta = u - A (A_D)^-1 u_D,      u = solution of the system,  A = columns D of its inverse.

    Nothing is done where more than ``largest`` coordinates are not zero.
    """
    theta = problem.values(Z)
    support = np.flatnonzero((theta != 0) | (problem.weights == 0))
    if support.size > largest:
        return
    weights, penalised = problem.finite_weights[support], problem.penalised[support]
    bend = problem.penalty.bend(theta[support], weights, alpha)
    hessian = problem.hessian_on(support)
    hessian[np.diag_indices(support.size)] += bend
    factor, failed = dpotrf(hessian.T, lower=1, overwrite_a=1)  # as LAPACK stores it, so that it is not copied
    if failed:  # not convex up to rounding: no minimum to go to
        return
    dropped, inverse = np.zeros(0, dtype=np.intp), np.zeros((support.size, 0))
    while dropped.size <= _MOST_DROPPED * support.size:
        here = problem.values(Z)[support]
        slope, now = (of(here, weights, alpha) for of in (problem.penalty.slope, problem.penalty.bend))
        kept = np.ones(support.size, dtype=bool)
        kept[dropped] = False
        if not np.array_equal(now[kept], bend[kept]):  # another system
            return
        aim, _ = dpotrs(factor, problem.linear_by_coordinate[support] - slope + bend * here, lower=1)
        if dropped.size:
            aim -= inverse @ np.linalg.lstsq(inverse[dropped], aim[dropped], rcond=None)[0]
            aim[dropped] = 0.0
        crossing = penalised & (here * aim < 0)
        reached = _go(problem, support, (here, aim), crossing, (Z, R), alpha)
        if reached is None:
            return
        new = np.flatnonzero(crossing & (reached == 0))
        if not new.size:
            return
        units = np.zeros((support.size, new.size))
        units[new, np.arange(new.size)] = 1.0
        dropped, inverse = np.append(dropped, new), np.hstack([inverse, dpotrs(factor, units, lower=1)[0]])


def _go(
    problem: Problem,
    support: IntArray,
    line: tuple[Array, Array],
    crossing: BoolArray,
    now: tuple[Array, Array],
    alpha: float,
) -> Array | None:
    """Go from one end of the line towards the other, coordinates that reach zero staying there.

    Up to where the first does; or the second, the fourth and so on, as long as the objective falls. Z and R are
    replaced in place. Gives the values on the support; None where nothing lowers the objective.
    """
    (here, aim), (Z, R) = line, now
    shares = np.full(here.size, np.inf)
    shares[crossing] = here[crossing] / (here[crossing] - aim[crossing])
    turns = np.sort(shares[crossing])
    best: tuple[float, Array, Array, Array] | None = None
    for share in [*turns[2 ** np.arange(turns.size.bit_length()) - 1], 1.0]:
        values = np.where(shares <= share, 0.0, here + share * (aim - here))
        z = problem.entries(support, values)
        image = problem.image(z)
        height = problem.objective(z, image, alpha)
        if best is not None and not height < best[0]:
            break
        best = height, values, z, image
    assert best is not None
    height, values, z, image = best
    if problem.is_level(z - Z) or not height < problem.objective(Z, R, alpha):
        return None
    Z[:], R[:] = z, image
    return values
