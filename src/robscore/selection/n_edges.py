"""The penalty with a given number of edges, by bisection."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robscore._tools.remarks import Remark
from robscore._tools.typing import Array
from robscore._tools.words import Setting, Words
from robscore.solvers.path import Path

_ROUNDS = 14
_ALPHAS_A_ROUND = 6


def find_n_edges(path: Path, target: int, solve: Callable[[Array], Path]) -> tuple[Path, int, list[Remark]]:
    """Look for an alpha with exactly ``target`` edges; the path with it inserted, its position, and remarks.

    Parameters
    ----------
    path : Path
        Where to start.
    target : int
    solve : callable
        Gives the path of a list of alphas.

    If no alpha has exactly that many edges, the nearest number found is taken, with a remark.
    """
    tried = path
    for _ in range(3):  # the path may end too early
        if tried.n_edges.max() >= target or not tried.converged.all():
            break
        tried = tried.insert(solve(tried.alphas[-1] * np.geomspace(0.8, 0.05, 12)))
    for _ in range(_ROUNDS):
        if (tried.n_edges == target).any() or not (tried.n_edges > target).any():
            break
        first_above = int(np.argmax(tried.n_edges > target))
        low = tried.alphas[first_above]
        high = tried.alphas[first_above - 1] if first_above else tried.alpha_max
        if high <= low * (1 + 1e-12):
            break
        tried = tried.insert(solve(np.geomspace(high, low, _ALPHAS_A_ROUND + 2)[1:-1]))
    distance = np.abs(tried.n_edges - target)
    best = int(np.argmin(distance))
    remarks = []
    if distance[best]:
        nearest = f" edges; the nearest has {tried.n_edges[best]} (alpha = {tried.alphas[best]:.4g})."
        words = Words("No penalty found with exactly ", Setting("n_edges", target), nearest)
        remarks.append(Remark(words, UserWarning))
    alpha = tried.alphas[best]
    if alpha not in path.alphas:
        path = path.insert(tried.pick(np.array([best])))
    return path, int(np.argmax(path.alphas == alpha)), remarks
