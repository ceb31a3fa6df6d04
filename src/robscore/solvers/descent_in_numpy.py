"""Coordinate descent in NumPy, where there is no numba: each function replaces its namesake in descent_kernels.py."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robscore._tools.typing import Array, BoolArray, IntArray


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
    """Compute R = Q z, node by node; one product where all nodes share one block."""
    m = sizes.size
    if m > 1 and not starts.any() and Q.size == sizes[0] ** 2:
        p = sizes[0]
        np.matmul(z.reshape(m, p), Q.reshape(p, p), out=R.reshape(m, p))
    else:
        for start, first, size in zip(starts.tolist(), firsts.tolist(), sizes.tolist(), strict=True):
            own = z[first : first + size]
            used = own.nonzero()[0]
            block = Q[start : start + size * size].reshape(size, size)
            R[first : first + size] = own @ block if 2 * used.size > size else own[used] @ block[used]
    if len(last):
        parts, images = z.reshape(m, -1), R.reshape(m, -1)
        images[-1] += np.einsum("ji,jik->k", parts[:-1], last)
        images[:-1] += parts[-1] @ last_t


def descend(
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
    *,
    prox: Callable[..., float],
    violation: Callable[..., float],
) -> tuple[int, float, bool]:
    """Descend cyclically; a sweep goes only to what is further than ``enough`` from optimal when it begins.

    All distances at the start of a sweep come from one look at R. What a sweep itself makes worse waits for the next.
    """
    worst, changed, coupled = 0.0, True, len(last) > 0
    here, mirrored, slopes = own[working], mirror[working], linear[working]
    both = np.flatnonzero(mirrored >= 0)
    facts = list(
        zip(*(of.tolist() for of in (here, mirrored, slopes, strengths[working], curvature[working])), strict=True)
    )
    moves: dict[int, tuple[Array, Array]] = {}  # of an entry of z that was moved: its node's part of R, and its column
    for sweep in range(max_sweeps):
        gradient = R[here] - slopes
        gradient[both] += R[mirrored[both]]
        distances = [
            violation(theta, slope, fact[3], parameters)
            for theta, slope, fact in zip(z[here].tolist(), gradient.tolist(), facts, strict=True)
        ]
        worst, changed = 0.0, False
        for distance, (place, twin, slope, strength, bend) in zip(distances, facts, strict=True):
            if distance <= enough:
                continue
            gap = R.item(place) - slope + (R.item(twin) if twin >= 0 else 0.0)
            old = z.item(place)
            distance = violation(old, gap, strength, parameters)
            if distance <= enough:
                continue
            worst = max(worst, distance)
            if bend <= 0.0:
                continue
            new = prox(old * bend - gap, bend, strength, parameters)
            change = new - old
            if change == 0.0:
                continue
            changed = True
            for entry in (place, twin) if twin >= 0 else (place,):
                z[entry] = new
                if entry not in moves:
                    moves[entry] = _move(Q, starts, firsts, sizes, owners, R, entry)
                image, column = moves[entry]
                image += change * column
                if coupled:
                    node = owners[entry]
                    _couple(last, last_t, R, node, entry - firsts[node], change)
        if worst <= tol or not changed:
            return sweep + 1, worst, changed
    return max_sweeps, worst, changed


def _move(
    Q: Array, starts: IntArray, firsts: IntArray, sizes: IntArray, owners: IntArray, R: Array, entry: int
) -> tuple[Array, Array]:
    node = owners[entry]
    first, size = firsts[node], sizes[node]
    column = starts[node] + (entry - first) * size
    return R[first : first + size], Q[column : column + size]


def _couple(last: Array, last_t: Array, R: Array, j: int, i: int, change: float) -> None:
    images = R.reshape(len(last) + 1, -1)
    if j < len(last):
        images[-1] += change * last[j, i]
    else:
        images[:-1] += change * last_t[:, i]


def furthest_from_optimal(
    gradient: Array,
    weights: Array,
    known: Array,
    alpha: float,
    parameters: Array,
    tol: float,
    most: int,
    symmetric: bool,  # noqa: FBT001
    *,
    violation: Callable[..., float],
) -> tuple[float, int, IntArray, IntArray]:
    """Find entries of K that are zero and ought not to be, all in one look."""
    m = len(gradient)
    open_: BoolArray = known[:, :m] < 0
    np.fill_diagonal(open_, val=False)
    if symmetric:
        open_ &= np.tri(m, dtype=bool)
    strengths = np.broadcast_to(weights.T, (m, m))
    nodes, rows = np.nonzero(open_ & ~np.isinf(strengths))
    slopes, strength = gradient[nodes, rows], alpha * strengths[nodes, rows]
    if symmetric:
        slopes, strength = slopes + gradient[rows, nodes], 2.0 * strength
    distances = _at_zero(violation, slopes, strength, parameters)
    beyond = np.flatnonzero(distances > tol)
    first = beyond[:most]
    return float(distances.max(initial=0.0)), beyond.size, rows[first], nodes[first]


def _at_zero(violation: Callable[..., float], slopes: Array, strengths: Array, parameters: Array) -> Array:
    """Measure entries that are zero: at once where the penalty's arithmetic takes arrays, else one by one."""
    try:
        found = np.asarray(violation(0.0, slopes, strengths, parameters), dtype=float)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape == slopes.shape:
        return found
    each = zip(slopes.tolist(), strengths.tolist(), strict=True)
    return np.array([violation(0.0, slope, strength, parameters) for slope, strength in each])
