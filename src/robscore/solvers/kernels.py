"""Compiled coordinate descent; imported when first needed."""

from __future__ import annotations

from robscore._compile import compiled
from robscore._typing import Array, IntArray


@compiled
def couple(last: Array, last_t: Array, R: Array, j: int, i: int, change: float) -> None:
    """What a change of entry i of z_j does to R through the coupling of the last node with all others."""
    n_coupled = last.shape[0]
    if j < n_coupled:
        for k in range(R.shape[1]):
            R[n_coupled, k] += change * last[j, i, k]
        return
    for other in range(n_coupled):
        for k in range(R.shape[1]):
            R[other, k] += change * last_t[other, i, k]


@compiled
def descend(
    Q: Array,
    last: Array,
    last_t: Array,
    linear: Array,
    Z: Array,
    R: Array,
    rows: IntArray,
    nodes: IntArray,
    thresholds: Array,
    curvature: Array,
    working: IntArray,
    symmetric: bool,  # noqa: FBT001
    enough: float,
    tol: float,
    max_sweeps: int,
) -> tuple[int, float, bool]:
    """Cyclic coordinate descent over the working set, updating Z (rows z_j) and R (rows (Q z)_j) in place.

    A coordinate that violates optimality by no more than ``enough`` is left as it is, which spares two rows of R.
    Returns the number of sweeps, the largest distance to the subdifferential met in the last one, and whether
    that one changed anything (rounding may leave nothing to change before the tolerance is reached).
    """
    m = Z.shape[0]
    shared, n_coupled = Q.shape[0] == 1, last.shape[0]
    worst, changed = 0.0, True
    for sweep in range(max_sweeps):
        worst, changed = 0.0, False
        for c in working:
            i, j, threshold = rows[c], nodes[c], thresholds[c]
            mirrored = symmetric and i < m and i != j
            gradient = R[j, i] - linear[c]
            if mirrored:
                gradient += R[i, j]
            old = Z[j, i]
            if old > 0.0:
                violation = abs(gradient + threshold)
            elif old < 0.0:
                violation = abs(gradient - threshold)
            else:
                violation = abs(gradient) - threshold
            if violation <= enough:
                continue
            worst = max(worst, violation)
            if curvature[c] <= 0.0:
                continue
            target = old * curvature[c] - gradient
            if target > threshold:
                new = (target - threshold) / curvature[c]
            elif target < -threshold:
                new = (target + threshold) / curvature[c]
            else:
                new = 0.0
            change = new - old
            if change == 0.0:
                continue
            changed = True
            Z[j, i] = new
            column = Q[0 if shared else j, i]
            for k in range(column.size):
                R[j, k] += change * column[k]
            if n_coupled:
                couple(last, last_t, R, j, i, change)
            if mirrored:
                Z[i, j] = new
                column = Q[0 if shared else i, j]
                for k in range(column.size):
                    R[i, k] += change * column[k]
                if n_coupled:
                    couple(last, last_t, R, i, j, change)
        if worst <= tol or not changed:
            return sweep + 1, worst, changed
    return max_sweeps, worst, changed


@compiled
def refresh(Q: Array, last: Array, last_t: Array, Z: Array, R: Array) -> None:
    """R = Q z from the non-zero entries of z, which removes the rounding of many updates."""
    shared, n_coupled = Q.shape[0] == 1, last.shape[0]
    R[:] = 0.0
    for j in range(Z.shape[0]):
        for i in range(Z.shape[1]):
            value = Z[j, i]
            if value != 0.0:
                column = Q[0 if shared else j, i]
                for k in range(column.size):
                    R[j, k] += value * column[k]
                if n_coupled:
                    couple(last, last_t, R, j, i, value)
