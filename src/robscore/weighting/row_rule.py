"""The numbers that decide which rows are bad: each with its meaning and its evidence, and none anywhere else."""

from __future__ import annotations

from dataclasses import dataclass, fields

from robscore._tools.messages import ArgumentError


@dataclass(frozen=True)
class RowRule:
    """How rows are found that are another population, or out of the tail of their own: ``reweight=RowRule(...)``.

    The steps are those of :doc:`/theory/reweighting`. "Halves" are figures of public tables
    (``benchmarks real_halves``), "bad rows" those of simulated ones; ``benchmarks ablate_rows`` prints both for every
    number halved and doubled.

    Attributes
    ----------
    central : float, default 0.7
        Share of the rows that the start is measured on: as many bad rows as the rest may be met. Theory: a median
        stands half of them; the rows in the middle that are left out cost nothing, for they come back.
    shrinkage : float, default 0.1
        How far correlations of the central rows are shrunk to zero, so that few rows have an inverse.
    neighbours : int, default 5
        The neighbour whose distance says whether a row is in a cluster, so that pairs and triples of equal rows are
        none.
    nearer : float, default 2.0
        How many times nearer than usual the rows of a cluster are, at the least.
    cluster_deviations : float, default 5.0
        Deviations of the log distance by which they are nearer, at the least: one good row in three million is.
    largest_cluster : float, default 0.4
        Share of the rows beyond which a cluster is the bulk.
    bulk : (float, float), default (0.1, 0.6)
        Quantiles in which expected and good rows are made to agree: no model is exactly true, so only tails are
        compared.
    shoulder : float, default 0.7
        The quantile that says how heavy the tail of the data's own bulk is, and from which on bad rows are looked for.
        Without it a quarter of real tables are worse off (halves as they are: error 1.20 on average; with it 1.02).
    heaviest : float, default 3.0
        How many times longer than the fit's the reach to the shoulder may be: what is longer is no tail, but a third
        of the rows far out.
    doubt, certainty : float, default 3.5 and 5.0
        Standard errors from which on an excess counts in part, and in full. Theory: chance gives the first in one of
        4,000 comparisons; of 2 m columns both are raised so that it stays so for all together.
    margin : float, default 1.5
        Standard errors taken off the share, since the largest of many excesses is too large by chance.
    alone : float, default 0.003
        Good rows expected beyond the limit from which on a single row is bad: one in 300 clean tables loses one.
    overfit : float, default 2.0
        How much wider than measured the bulk may be, times columns over rows: a fit likes its own rows.
    most : float, default 0.4
        Share of the rows beyond which no family is right, and every row counts.
    width : float, default 3.0
        Rows in the taper of the surprise, in multiples of those that lose all weight.
    band : float, default 0.1
        Of a limit, to either side of it: rows within keep a part of their weight. A limit is known no better, and
        nothing jumps. Beyond a limit of the surprise, of its distance from the median.
    fits : int, default 4
        Fits at the most; the second mostly agrees with the first.
    most_rows : int, default 10000
        Rows that the rule is learnt from, a random sample: guards time.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> X = np.random.default_rng(0).normal(size=(300, 3)) @ np.tri(3)
    >>> careful = rs.RobustGraph("gaussian", reweight=rs.RowRule(doubt=5.0, certainty=8.0)).fit(X)
    >>> careful.share_dropped_
    0.0
    """

    central: float = 0.7
    shrinkage: float = 0.1
    neighbours: int = 5
    nearer: float = 2.0
    cluster_deviations: float = 5.0
    largest_cluster: float = 0.4
    bulk: tuple[float, float] = (0.1, 0.6)
    shoulder: float = 0.7
    heaviest: float = 3.0
    doubt: float = 3.5
    certainty: float = 5.0
    margin: float = 1.5
    alone: float = 0.003
    overfit: float = 2.0
    most: float = 0.4
    width: float = 3.0
    band: float = 0.1
    fits: int = 4
    most_rows: int = 10_000

    def __post_init__(self) -> None:
        object.__setattr__(self, "bulk", tuple(self.bulk))
        for field in fields(self):
            value = getattr(self, field.name)
            values = value if field.name == "bulk" else (value,)
            if not all(isinstance(one, int | float) and one >= 0 for one in values):
                raise ArgumentError(f"RowRule({field.name}=)", value, "must be a number, zero or more.")
        shares = (*self.bulk, self.shoulder)
        if not (len(self.bulk) == 2 and all(a < b for a, b in zip((0, *shares), (*shares, 1), strict=True))):
            raise ArgumentError("RowRule(bulk=, shoulder=)", shares, "must be quantiles in ascending order.")
        if not 0 < self.central < 1:
            raise ArgumentError("RowRule(central=)", self.central, "must lie between 0 and 1.")
        if self.certainty <= self.doubt:
            raise ArgumentError("RowRule(certainty=)", self.certainty, f"must be above doubt={self.doubt}.")
        if self.fits < 1 or self.neighbours < 1:
            raise ArgumentError("RowRule(fits=, neighbours=)", min(self.fits, self.neighbours), "must be at least 1.")
