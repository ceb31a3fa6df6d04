"""The numbers that decide which cells are wrong: each with its meaning and its evidence, and none anywhere else."""

from __future__ import annotations

from dataclasses import dataclass, fields

from robscore._tools.messages import ArgumentError

_SHARES = ("broad", "chance", "most_repaired", "level")


@dataclass(frozen=True)
class CellRule:
    """How single wrong cells are found: ``cells=CellRule(...)``; ``cells=True`` is ``CellRule()``.

    The steps are those of :doc:`/theory/wrong_cells`. The figures are areas under ROC curves and shares of
    :doc:`/results/ablate_cells`, which has every number halved and doubled.

    Attributes
    ----------
    far : float, default 2.0
        Deviations from the middle of its column beyond which a cell may be wrong to begin with. With 1 an area falls
        by .04, with 4 by .016.
    wider : float, default 3.0
        Times the spread of usual cells, of unusual ones. Without these up to 2 % of the cells of real tables are called
        wrong, and associations move most.
    smooth : float, default 0.7
        Bins, each a quarter of a deviation wide, that the histogram of wrong cells is smoothed over. With half of it
        areas fall by .005.
    broad : float, default 0.02
        Share of the density of wrong cells that is spread over all bins, so that none is impossible where none was
        seen. Without it an area falls by .005.
    evidence : float, default 40.0
        Gain in log likelihood that wrong cells must bring, and unusual ones beside them. Theory: chance gains one half
        for every free height of the histogram, which has 97 bins, smoothed. Halved and doubled it moves no area.
    chance : float, default 0.0001
        How unlikely it must be that so many cells lie so far out, or that a run of equal values is so long. Theory:
        about one table in 10,000 has such cells by chance.
    most_repaired : float, default 0.2
        Share of the cells of a row that are redrawn if they are wrong; rows with more are left to the row weights.
        Two may be in any case, where that is no more than half.
        Doubled, 2.8 % of the cells of a real table are called wrong, not .3 %.
    level : float, default 0.5
        Quantile of the distances to the boundary from which on boundary weights level off. Without it an area falls by
        .02.
    many_wrong : float, default 0.04
        Share of wrong cells from which on they are level to the end. Level whatever the share, an area falls by .006.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> X = np.random.default_rng(0).normal(size=(300, 4)) @ np.tri(4)
    >>> X[7, 2] = 10.0
    >>> fits = [rs.RobustGraph("gaussian", cells=rule).fit(X) for rule in (True, rs.CellRule(chance=1e-8))]
    >>> [int(fit.suspicious_cells()["flagged"].sum()) for fit in fits]
    [1, 0]
    """

    far: float = 2.0
    wider: float = 3.0
    smooth: float = 0.7
    broad: float = 0.02
    evidence: float = 40.0
    chance: float = 1e-4
    most_repaired: float = 0.2
    level: float = 0.5
    many_wrong: float = 0.04

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise ArgumentError(f"CellRule({field.name}=)", value, "must be a number above zero.")
            if field.name in _SHARES and value > 1:
                raise ArgumentError(f"CellRule({field.name}=)", value, "is a share; it must be at most 1.")
