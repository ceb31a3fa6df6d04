"""Tests of all pairs, as summaries, reports and the command line show them; or why there are none."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np

from robscore._tools.messages import Message
from robscore._tools.numbers import finite_or_none
from robscore.certainty.edge_intervals import edge_intervals, has_rows_for_all_pairs
from robscore.fitting.fit_result import GraphFit
from robscore.links import LinkTests, PairTest
from robscore.rows.tables import columns_of

LEVEL = 0.95  # of the intervals
# Columns for which the tests are worth their time.
_MOST_TESTED = 150  # all pairs are estimated without a penalty
_MOST_SPLIT = 60  # the graph is learnt again, from half of the rows
_MOST_IN_SUMMARY = 60  # a summary should take a second at most
Row: TypeAlias = list[Any]
_NUMBERS = "association", "association_low", "association_high", "p_value", "q_value"


@dataclass(frozen=True)
class TestedPairs:
    """Pairs and their tests.

    Attributes
    ----------
    pairs : list of (i, j, estimate without shrinkage, low, high, p, q, effective rows), i < j
        Smallest p-value first; numbers that are not finite are None, effective rows but for the copula.
    fdr : float
        The false discovery rate of the links that are called clear.
    is_split : bool
        Whether half of the rows chose the pairs that the other half tested.
    why_not : Message
        Why there are no tests; empty where there are some.
    """

    pairs: list[Row]
    fdr: float
    is_split: bool
    why_not: Message

    @classmethod
    def none(cls, fdr: float, why_not: Message) -> Self:
        """No tests, and why."""
        return cls([], fdr, is_split=False, why_not=why_not)

    def of(self, in_graph: set[tuple[int, int]]) -> list[Row]:
        """Those of a graph's links, and others that are clear."""
        return [pair for pair in self.pairs if (pair[0], pair[1]) in in_graph or self._is_clear(pair)]

    @property
    def tests(self) -> LinkTests | None:
        """The tests alone."""
        if str(self.why_not):
            return None
        return LinkTests({(pair[0], pair[1]): PairTest(pair[2], pair[6]) for pair in self.pairs}, self.fdr)

    def _is_clear(self, pair: Row) -> bool:
        return pair[6] is not None and bool(pair[6] <= self.fdr)


def is_tested_in_summary(fit: GraphFit) -> bool:
    """Whether the tests take no longer than a reader of a summary waits."""
    return len(fit.names) <= _MOST_IN_SUMMARY and fit.sampled is None


def tested_pairs(fit: GraphFit) -> TestedPairs:
    """Test all pairs of a fit; of few rows, those that half of them choose."""
    position, fdr = {name: k for k, name in enumerate(fit.names)}, fit.settings.fdr
    is_full = has_rows_for_all_pairs(fit)
    if len(position) > (_MOST_TESTED if is_full else _MOST_SPLIT):
        return TestedPairs.none(fdr, Message(f"{len(position)} columns are too many to test every pair"))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # remarks on bias are among the cautions
            table, _ = edge_intervals(
                fit,
                level=LEVEL,
                fdr=fdr,
                method="sandwich",
                estimate="auto",
                block_size="auto",
                random_state=fit.settings.seed,
                n_jobs=None,
            )
    except ValueError as error:
        return TestedPairs.none(fdr, getattr(error, "message", Message(str(error))))
    columns = columns_of(table)
    columns.setdefault("effective", np.full(len(columns["source"]), np.nan))
    pairs: list[Row] = [
        [*sorted((position[source], position[target])), *map(finite_or_none, numbers)]
        for source, target, *numbers in zip(
            columns["source"], columns["target"], *(columns[name] for name in (*_NUMBERS, "effective")), strict=True
        )
    ]
    return TestedPairs(pairs, fdr, is_split=not is_full, why_not=Message())
