"""The penalty with a given number of edges, by bisection."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from robscore._typing import Array
from robscore.solvers.path import Path

_ROUNDS = 14
_ALPHAS_A_ROUND = 6


def find_n_edges(path: Path, target: int, solve: Callable[[Array], Path]) -> tuple[Path, int]:
    """Look for an alpha with exactly ``target`` edges; the path with it inserted, and its position.

    Parameters
    ----------
    path : Path
        Where to start.
    target : int
    solve : callable
        Gives the path of a list of alphas.

    Warns
    -----
    UserWarning
        If no alpha has exactly that many edges; the nearest number found is taken then.
    """
    for _ in range(3):  # the path may end too early
        if path.n_edges.max() >= target or not path.converged.all():
            break
        path = path.insert(solve(path.alphas[-1] * np.geomspace(0.8, 0.05, 12)))
    for _ in range(_ROUNDS):
        if (path.n_edges == target).any() or not (path.n_edges > target).any():
            break
        first_above = int(np.argmax(path.n_edges > target))
        low = path.alphas[first_above]
        high = path.alphas[first_above - 1] if first_above else path.alpha_max
        if high <= low * (1 + 1e-12):
            break
        tried = solve(np.geomspace(high, low, _ALPHAS_A_ROUND + 2)[1:-1])
        # Keep only the nearest on either side, so that the path stays a readable grid.
        distance = np.abs(tried.n_edges - target)
        above = tried.n_edges > target
        kept = np.zeros(distance.size, dtype=bool)
        for side in (above, ~above):
            if side.any():
                kept[np.flatnonzero(side)[np.argmin(distance[side])]] = True
        path = path.insert(tried.pick(np.flatnonzero(kept)))
    distance = np.abs(path.n_edges - target)
    best = int(np.argmin(distance))
    if distance[best]:
        warnings.warn(
            f"No penalty found with exactly n_edges={target} edges; the nearest has {path.n_edges[best]} "
            f"(alpha = {path.alphas[best]:.4g}).",
            UserWarning,
            stacklevel=4,
        )
    return path, best
