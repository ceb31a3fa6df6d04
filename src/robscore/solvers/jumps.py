"""Steps to the minimum on the support, for problems in which coordinate descent is slow.

Where columns nearly determine each other, sweeps creep along a narrow valley. On the support, with the signs as they
are, the objective is quadratic, and one linear system leads to its minimum

    (H + diag rho'') theta = l - rho' + rho'' theta-now

Coordinates that would change their sign on the way are zero from there on, and the minimum of the rest is the next
aim: that of the same system with theta_D = 0 for the coordinates D that were dropped, which needs no other factor,

    theta = u - A (A_D)^-1 u_D,      u = solution of the system,  A = columns D of its inverse.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.solvers.problem import Problem

_MOST_DROPPED = 0.25  # of the support, before another factor is worth its while


def jump_on_support(problem: Problem, Z: Array, R: Array, alpha: float, largest: int) -> None:
    """Bring Z and R, in place, to a minimum on the support, or as near as steps that lower the objective lead.

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
        there, _ = dpotrs(factor, problem.linear_by_coordinate[support] - slope + bend * here, lower=1)
        if dropped.size:
            there -= inverse @ np.linalg.lstsq(inverse[dropped], there[dropped], rcond=None)[0]
            there[dropped] = 0.0
        crossing = penalised & (here * there < 0)
        reached = _go(problem, support, (here, there), crossing, (Z, R), alpha)
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
    (here, there), (Z, R) = line, now
    shares = np.full(here.size, np.inf)
    shares[crossing] = here[crossing] / (here[crossing] - there[crossing])
    turns = np.sort(shares[crossing])
    best: tuple[float, Array, Array, Array] | None = None
    for share in [*turns[2 ** np.arange(turns.size.bit_length()) - 1], 1.0]:
        values = np.where(shares <= share, 0.0, here + share * (there - here))
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
