"""The numbers that decide which cells are wrong: each with its meaning and its evidence, and none anywhere else."""

from __future__ import annotations

from dataclasses import dataclass, fields

from robscore._tools.messages import ArgumentError

_SHARES = ("largest_share", "unusual", "broad", "chance", "stuck_chance", "most_repaired", "forget", "level")


@dataclass(frozen=True)
class CellRule:
    """How single wrong cells are found: ``cells=CellRule(...)``; ``cells=True`` is ``CellRule()``.

    The steps are those of :doc:`/theory/wrong_cells`.

    Attributes
    ----------
    far : float, default 2.0
        Deviations from the middle of its column beyond which a cell may be wrong to begin with.
    unusual : float, default 0.01
        Share of the good cells that are unusual, to begin with.
    wider : float, default 3.0
        Times the spread of usual cells, of unusual ones.
    margin : float, default 2.0
        Standard errors that are taken off the spread of a column before it counts as wider than the model's.
    fewest : float, default 10.0
        Good cells of a column that its spread is measured by, at the least.
    pooled : float, default 50.0
        Cells that the share in the whole table counts for, beside that in a column.
    largest_share : float, default 0.3
        Share of a column's cells that may be wrong, and of its good cells that may be unusual.
    smooth : float, default 0.7
        Bins, each a quarter of a deviation wide, that the histogram of wrong cells is smoothed over.
    broad : float, default 0.02
        Share of the density of wrong cells that is spread over all bins.
    evidence : float, default 40.0
        Gain in log likelihood that wrong cells must bring, and unusual ones beside them.
    rare : float, default 20.0
        Expected cells in a strip of residuals, below which their number bounds how likely cells there are wrong.
    chance : float, default 0.0001
        How unlikely it must be that a row has so many wrong cells, or a table so many cells so far out.
    farthest : int, default 20
        Cells that are counted one by one where no others are wrong.
    most_repaired : float, default 0.25
        Share of the cells of a row that may be redrawn; rows with more are left to the row weights.
    shifted : float, default 4.0
        Deviations of the mean of the other cells beyond which a row is wrong as a whole.
    forget : float, default 0.5
        Weight of the probabilities of earlier rounds beside the last.
    level : float, default 0.5
        Quantile of the distances to the boundary from which on boundary weights level off.
    many_wrong : float, default 0.04
        Share of wrong cells from which on they are level to the end.
    stuck : float, default 3.0
        The length of a run of equal values over the frequency of any other value, for a sensor to be stuck.
    stuck_chance : float, default 0.000001
        How unlikely so long a run must be.

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
    unusual: float = 0.01
    wider: float = 3.0
    margin: float = 2.0
    fewest: float = 10.0
    pooled: float = 50.0
    largest_share: float = 0.3
    smooth: float = 0.7
    broad: float = 0.02
    evidence: float = 40.0
    rare: float = 20.0
    chance: float = 1e-4
    farthest: int = 20
    most_repaired: float = 0.25
    shifted: float = 4.0
    forget: float = 0.5
    level: float = 0.5
    many_wrong: float = 0.04
    stuck: float = 3.0
    stuck_chance: float = 1e-6

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
                raise ArgumentError(f"CellRule({field.name}=)", value, "must be a number, zero or more.")
            if field.name in _SHARES and value > 1:
                raise ArgumentError(f"CellRule({field.name}=)", value, "is a share; it must be at most 1.")
