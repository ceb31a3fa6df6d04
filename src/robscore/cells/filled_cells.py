"""What a fit knows of the cells that were filled in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robscore._tools.typing import Array, BoolArray
from robscore.cells.draw_cells import DrawingOrder
from robscore.cells.wrong_cells import Suspects


@dataclass(frozen=True, eq=False)
class FilledCells:
    """How cells were filled in.

    Attributes
    ----------
    missing : boolean array of shape (n, m)
        Cells of the rows that were used that were not there.
    holes : boolean array of shape (n, m)
        These, and cells that were taken for wrong.
    copies : array of shape (R, n, m)
        Completions of the scaled rows, which the loss is averaged over.
    observed : array of shape (n, m)
        The scaled rows with what was there; in missing cells anything.
    order : of draws
    linked : boolean array of shape (m, m)
        Pairs with an edge in the graph that cells were drawn by.
    suspects : what is known of wrong cells; None where none were looked for
    rounds : how many there were
    change : relative change of the parameters in the last rounds
    converged : bool
    """

    missing: BoolArray
    holes: BoolArray
    copies: Array
    observed: Array
    order: DrawingOrder
    linked: BoolArray
    suspects: Suspects | None = None
    rounds: int = 0
    change: float = np.inf
    converged: bool = False

    @property
    def pairs_there(self) -> Array:
        """Share of the rows in which both cells of a pair are there, shape (m, m)."""
        there = (~self.holes).astype(float)
        return np.asarray(there.T @ there / max(len(there), 1))

    @property
    def certainty(self) -> Array:
        """How many times as many standard errors a pair stands out as completed rows say, shape (m, m).

        With a share s of a pair's cells there, a derivative has noise of size sqrt(s). Cells that are drawn without an
        edge add no noise; drawn with one they repeat what the others say, and make it look s times as certain.
        """
        root = np.sqrt(np.maximum(self.pairs_there, 1.0 / max(len(self.holes), 1)))
        return np.where(self.linked, root, 1 / root)

    def describe(self, names: Sequence[str]) -> str:
        """How many cells were missing or wrong, and of which columns most."""
        n, m = self.missing.shape
        said = []
        if self.missing.any():
            counts = self.missing.sum(axis=0)
            most = ", ".join(f"{names[j]} ({counts[j]})" for j in np.argsort(-counts, kind="stable")[:3] if counts[j])
            said.append(
                f"{counts.sum()} of {n * m} missing ({counts.sum() / (n * m):.1%}) and filled in, most in {most}"
            )
        if self.suspects is not None:
            wrong = int(np.count_nonzero(self.suspects.likely_wrong))
            said.append(f"{wrong or 'none'} of {n * m} more likely wrong than not" + (" and redrawn" if wrong else ""))
        pairs = self.pairs_there[~np.eye(m, dtype=bool)].mean() if m > 1 else 1.0
        said.append(f"pairs are present in {pairs:.0%} of the rows, like {pairs * n:.0f} complete ones")
        return "; ".join(said)
