"""Which penalty has a given number of edges: found by repeated refinement of the path around it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robscore._tools.messages import Message, Remark, Setting
from robscore._tools.typing import Array
from robscore.solvers.path import Path

_ROUNDS, _ALPHAS_A_ROUND = 14, 6  # each round solves for so many penalties between the two around the number
_LEAST = 1e-6  # of the penalty above it, in place of one that is zero


def find_n_edges(path: Path, target: int, solve: Callable[[Array], Path]) -> tuple[Path, int, list[Remark]]:
    """Look for an alpha with exactly ``target`` edges; give the path with it inserted, its position, and remarks.

    Parameters
    ----------
    path : Path
        Where to start.
    target : int
    solve : callable
        Gives the path of a list of alphas.

    If no alpha has exactly that many edges, the nearest number found is taken, with a remark.
    """
    tried, origin = path, np.arange(path.alphas.size)  # where solutions stand on the path; -1 for new ones

    def add(alphas: Array) -> None:
        nonlocal tried, origin
        more = solve(alphas)
        tried, order = tried.merged(more)
        origin = np.append(origin, np.full(more.alphas.size, -1))[order]

    for _ in range(3):  # the path may end too early
        if tried.n_edges.max() >= target or not tried.converged.all():
            break
        add(tried.alphas[-1] * np.geomspace(0.8, 0.05, 12))
    for _ in range(_ROUNDS):
        if (tried.n_edges == target).any() or not (tried.n_edges > target).any():
            break
        first_above = int(np.argmax(tried.n_edges > target))
        high = tried.alphas[first_above - 1] if first_above else tried.alpha_max
        low = max(tried.alphas[first_above], _LEAST * high)
        if high <= low * (1 + 1e-12):
            break
        add(np.geomspace(high, low, _ALPHAS_A_ROUND + 2)[1:-1])
    distance = np.abs(tried.n_edges - target)
    best = int(np.argmin(distance))
    remarks = []
    if distance[best]:
        words = Message(
            "No penalty found with exactly ",
            Setting("n_edges", target),
            f" edges; the nearest has {tried.n_edges[best]} (alpha = {tried.alphas[best]:.4g}).",
        )
        remarks.append(Remark(words, UserWarning))
    if origin[best] >= 0:
        return path, int(origin[best]), remarks
    path, order = path.merged(tried.pick(np.array([best])))
    return path, int(np.argmax(order)), remarks  # the last of those joined is the new one
