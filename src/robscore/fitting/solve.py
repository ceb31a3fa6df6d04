"""Fourth stage: solutions of the penalised problem along a path of penalties."""

from __future__ import annotations

from collections.abc import Sequence

from robscore._tools.typing import Array
from robscore.fitting.settings import GraphSettings
from robscore.losses.quadratic import QuadraticLoss
from robscore.solvers.path import Path, solve_quietly


def solve(
    loss: QuadraticLoss,
    settings: GraphSettings,
    alphas: int | Sequence[float] | Array | None = None,
    *,
    max_edges: int | None = None,
) -> Path:
    """The path of a loss; for the penalties of the settings, as far as these allow, or for others."""
    if alphas is None:
        alphas = settings.alphas if settings.alpha is None else [settings.alpha]
        max_edges = settings.most_edges(loss.n_columns)
    return solve_quietly(loss, alphas, max_edges=max_edges, **settings.descent, **settings.problem)
