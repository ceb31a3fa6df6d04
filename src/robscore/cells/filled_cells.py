"""Which cells of a fit are observed, missing or wrong, and what was drawn in their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robscore._tools.numbers import whole_counts
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.cells.draw_cells import Bounds, DrawingOrder
from robscore.cells.wrong_cells import SuspectCells


@dataclass(frozen=True, eq=False)
class FilledCells:
    """The cells of the rows that a fit uses, and how some of them were filled in.

    Attributes
    ----------
    missing : boolean array of shape (n, m)
        Cells that were not observed.
    drawn : boolean array of shape (n, m)
        The cells that were filled in: missing ones, and those that were taken for wrong.
    copies : array of shape (R, n, m)
        Completions of the scaled rows, which the loss is averaged over.
    given : array of shape (n, m)
        The cells as they were given, NaN where they have no value.
    observed : array of shape (n, m)
        The scaled rows as they were observed; their values in missing cells do not matter.
    order : DrawingOrder
    linked : boolean array of shape (m, m)
        Pairs with an edge in the graph that cells were drawn by.
    bounds : two arrays of shape (n, m), or None
        Between which numbers the scaled cells are known to lie.
    has_margins : bool
        Whether these are latent numbers of variance 1.
    censored : boolean array of shape (n, m), or None
        Cells that were not observed, but are known to lie within limits.
    suspects : SuspectCells, or None where wrong cells were not looked for
    rounds : int
        How many times cells were drawn and the graph fitted.
    change : float
        The relative change of the parameters in the last rounds.
    converged : bool
    frequency : array of shape (n,), or None
        How many times every row counts; None where each counts once.
    weights : array of shape (n,), or None
        Row weights by which latent numbers have mean 0 and variance 1, where there are bounds.
    """

    missing: BoolArray
    drawn: BoolArray
    copies: Array
    given: Array
    observed: Array
    order: DrawingOrder
    linked: BoolArray
    suspects: SuspectCells | None = None
    rounds: int = 0
    change: float = np.inf
    converged: bool = False
    bounds: Bounds | None = None
    frequency: Array | None = None
    weights: Array | None = None
    has_margins: bool = False
    censored: BoolArray | None = None

    @property
    def pairs_observed(self) -> Array:
        """The share of the rows in which no cell of a pair was drawn, shape (m, m)."""
        observed = (~self.drawn).astype(float)
        if self.frequency is not None:
            return np.asarray((observed.T * self.frequency) @ observed / self.frequency.sum())
        return np.asarray(observed.T @ observed / max(len(observed), 1))

    @property
    def certainty(self) -> Array:
        """By how much completed rows misjudge the standard errors that a pair is away from zero, shape (m, m).

        The true number is this factor times that of the completed rows. Where a share s of the pairs of cells is
        observed, a derivative has noise of size sqrt(s). Cells that are drawn without an edge add no noise; drawn with
        one they repeat what the observed cells show, and make it look s times as certain.
        """
        root = np.sqrt(np.maximum(self.pairs_observed, 1.0 / max(len(self.drawn), 1)))
        return np.where(self.linked, root, 1 / root)

    def describe(self, names: Sequence[str]) -> str:
        """Describe how many cells were missing or wrong, and which columns have most of the missing ones."""
        m = self.missing.shape[1]
        n = self._count(np.ones((len(self.missing), 1), dtype=bool))[0]
        parts = []
        if self.missing.any():
            counts = self._count(self.missing)
            most = ", ".join(f"{names[j]} ({counts[j]})" for j in np.argsort(-counts, kind="stable")[:3] if counts[j])
            parts.append(
                f"{counts.sum()} of {n * m} missing ({counts.sum() / (n * m):.1%}) and filled in, most in {most}"
            )
        if self.suspects is not None:
            wrong = self._count(self.suspects.likely_wrong).sum()
            parts.append(f"{wrong or 'none'} of {n * m} more likely wrong than not" + (" and redrawn" if wrong else ""))
        if self.censored is not None and (count := self._count(self.censored).sum()):
            parts.append(f"{count} of {n * m} known to lie within limits ({count / (n * m):.1%})")
        if self.bounds is not None:
            tied = self.drawn & np.isfinite(self.bounds).any(axis=0)
            tied = tied if self.censored is None else tied & ~self.censored
            if count := np.count_nonzero(tied.any(axis=0)):
                parts.append(f"tied values of {count} of {m} columns are ranges of latent numbers")
            return "; ".join(parts)
        pairs = self.pairs_observed[~np.eye(m, dtype=bool)].mean() if m > 1 else 1.0
        if pairs < 1:
            parts.append(f"two cells of a row are both known in {pairs:.0%} of the rows on average")
        return "; ".join(parts)

    def _count(self, cells: BoolArray) -> IntArray:
        """Count some cells by column, shape (m,), those of a row of frequency 2 twice."""
        return np.asarray(cells.sum(axis=0) if self.frequency is None else whole_counts(self.frequency @ cells))
