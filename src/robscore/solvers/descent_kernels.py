"""Compiled coordinate descent; imported when first needed, since numba takes time to load.

Kernels that depend on the penalty are compiled once for each class of penalties, with its ``prox`` and ``violation``
in the midst of the loop: calling them costs half as much again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from robscore._tools.compiling import compiled, compiled_in_place, compiled_with
from robscore._tools.typing import Array, IntArray
from robscore.solvers.penalties import Penalty

prox, violation = Penalty.prox, Penalty.violation  # stand for those of the penalty that a kernel is compiled with


@compiled
def couple(last: Array, last_t: Array, R: Array, j: int, i: int, change: float) -> None:
    """Update R for a change of entry i of z_j through the coupling of the last node with all others."""
    n_coupled, p = last.shape[0], last.shape[1]
    if j < n_coupled:
        for k in range(p):
            R[n_coupled * p + k] += change * last[j, i, k]
        return
    for other in range(n_coupled):
        for k in range(p):
            R[other * p + k] += change * last_t[other, i, k]


@compiled_in_place
def add_column(
    Q: Array, starts: IntArray, firsts: IntArray, sizes: IntArray, R: Array, node: int, place: int, change: float
) -> None:
    """Update a node's part of R for a change of z at a place that belongs to it."""
    first, size = firsts[node], sizes[node]
    # Unsigned, so that no index can be counted from the end, which would keep the loop from being vectorised.
    image, column = np.uint64(first), np.uint64(starts[node] + (place - first) * size)
    for k in range(np.uint64(size)):
        R[image + k] += change * Q[column + k]


@compiled
def refresh(
    Q: Array,
    starts: IntArray,
    firsts: IntArray,
    sizes: IntArray,
    owners: IntArray,
    last: Array,
    last_t: Array,
    z: Array,
    R: Array,
) -> None:
    """Compute R = Q z from the non-zero entries of z, which removes the rounding of many updates."""
    n_coupled = last.shape[0]
    R[:] = 0.0
    for place in range(z.size):
        if z[place] != 0.0:
            add_column(Q, starts, firsts, sizes, R, owners[place], place, z[place])
            if n_coupled:
                couple(last, last_t, R, owners[place], place - firsts[owners[place]], z[place])


def _descend(
    Q: Array,
    starts: IntArray,
    firsts: IntArray,
    sizes: IntArray,
    owners: IntArray,
    last: Array,
    last_t: Array,
    linear: Array,
    z: Array,
    R: Array,
    own: IntArray,
    mirror: IntArray,
    strengths: Array,
    parameters: Array,
    curvature: Array,
    working: IntArray,
    enough: float,
    tol: float,
    max_sweeps: int,
) -> tuple[int, float, bool]:
    """Descend cyclically over the working set, updating z and R = Q z in place.

    A coordinate that violates optimality by no more than ``enough`` is left as it is, which spares two rows of R.
    Returns the number of sweeps, the largest distance to the subdifferential met in the last one, and whether
    that one changed anything (rounding may leave nothing to change before the tolerance is reached).
    """
    worst, changed, n_coupled = 0.0, True, last.shape[0]
    for sweep in range(max_sweeps):
        worst, changed = 0.0, False
        for c in working:
            here, there, strength = own[c], mirror[c], strengths[c]
            place, twin = np.uint64(here), np.uint64(there)
            gradient = R[place] - linear[c]
            if there >= 0:
                gradient += R[twin]
            old = z[place]
            distance = violation(old, gradient, strength, parameters)
            if distance <= enough:
                continue
            worst = max(worst, distance)
            if curvature[c] <= 0.0:
                continue
            new = prox(old * curvature[c] - gradient, curvature[c], strength, parameters)
            change = new - old
            if change == 0.0:
                continue
            changed = True
            z[here] = new
            add_column(Q, starts, firsts, sizes, R, owners[here], here, change)
            if n_coupled:
                couple(last, last_t, R, owners[here], here - firsts[owners[here]], change)
            if there >= 0:
                z[there] = new
                add_column(Q, starts, firsts, sizes, R, owners[there], there, change)
                if n_coupled:
                    couple(last, last_t, R, owners[there], there - firsts[owners[there]], change)
        if worst <= tol or not changed:
            return sweep + 1, worst, changed
    return max_sweeps, worst, changed


def _furthest_from_optimal(
    gradient: Array,
    weights: Array,
    known: Array,
    alpha: float,
    parameters: Array,
    tol: float,
    most: int,
    symmetric: bool,  # noqa: FBT001
) -> tuple[float, int, IntArray, IntArray]:
    """Find entries of K that are zero and ought not to be, of those not yet known.

    ``gradient`` and ``weights`` have shape (m, m), row j for node j; weights may have shape (1, 1). Gives the largest
    violation, how many are beyond ``tol``, and the rows and nodes of the first ``most`` of them.
    """
    m, one = gradient.shape[0], weights.size == 1
    worst, count = 0.0, 0
    rows, nodes = np.empty(most, np.intp), np.empty(most, np.intp)
    for j in range(m):
        for i in range(j if symmetric else m):
            if i == j or known[j, i] >= 0:
                continue
            weight = weights[0, 0] if one else weights[i, j]
            if np.isinf(weight):
                continue
            slope, strength = gradient[j, i], alpha * weight
            if symmetric:
                slope, strength = slope + gradient[i, j], 2.0 * strength
            distance = violation(0.0, slope, strength, parameters)
            worst = max(worst, distance)
            if distance > tol:
                if count < most:
                    rows[count], nodes[count] = i, j
                count += 1
    return worst, count, rows[: min(count, most)], nodes[: min(count, most)]


@cache
def descend_with(kind: type[Penalty]) -> Callable[..., Any]:
    """Compile :func:`_descend` for a class of penalties."""
    return compiled_with(_descend, prox=kind.prox, violation=kind.violation)


@cache
def furthest_with(kind: type[Penalty]) -> Callable[..., Any]:
    """Compile :func:`_furthest_from_optimal` for a class of penalties."""
    return compiled_with(_furthest_from_optimal, violation=kind.violation)
