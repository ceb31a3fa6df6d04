"""How many blocks to take, without knowing how many rows are bad.

With too few blocks bad rows reach too many of them; with too many the medians of skewed elements are biased. Neither
shows in the blocks' own held-out loss, which is as biased as the fit. But reweighting rows gives a loss that bad rows
hardly affect and that is not biased by blocks: the chosen K is the one whose fit has the smallest such loss. On clean
data that loss is the classic one, and K = 1. This fails where reweighting does: where bad rows cannot be distinguished
from good ones by how likely they are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robscore._tools.messages import ArgumentError, Message, Setting
from robscore.families.family import Parameters
from robscore.losses.quadratic import Loss
from robscore.solvers.unpenalised import SingularLossError

# Numbers of blocks that are tried, over n: finer where few rows are bad.
_SHARES = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.85, 1.0)


def block_grid(n_rows: int) -> list[int]:
    """List the numbers of blocks to try, from 1 to n."""
    return sorted({max(1, round(share * n_rows)) for share in _SHARES})


def choose_n_blocks(
    grid: list[int], loss_of: Callable[[int], Loss], fit: Callable[[Loss], Parameters], judge: Loss
) -> dict[int, float]:
    """Compute the judge's loss at the fit of every K of the grid; infinite where there is no fit.

    Parameters
    ----------
    grid : list of int
        Numbers of blocks.
    loss_of : callable
        From K to the loss of its median of means; may raise ValueError.
    fit : callable
        From a loss to parameters.
    judge : Loss
        The loss that decides.
    """
    values: dict[int, float] = {}
    for n_blocks in grid:
        try:
            values[n_blocks] = judge.value(*fit(loss_of(n_blocks)))
        except (SingularLossError, ValueError):
            values[n_blocks] = np.inf
    return values


def least_blocks(values: dict[int, float]) -> int:
    """Find the K with the least value, the smallest of equal ones."""
    if not np.isfinite(list(values.values())).any():
        problem = Message("found no number of blocks with a fit; give ", Setting("n_blocks"), ", or use more rows.")
        raise ArgumentError("n_blocks", "auto", problem)
    return min(values, key=lambda n_blocks: (values[n_blocks], n_blocks))
