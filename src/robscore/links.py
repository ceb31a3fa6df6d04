"""What may be said of the links of a graph: which are clear, which only possible, and which are the strongest.

One place for ``summary()``, the report, the page and the command line, so that none says more than another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

from robscore._tools.messages import About

Pair: TypeAlias = tuple[int, int]

# Cautions of these kinds leave a graph in doubt; others only qualify it.
DOUBTFUL = frozenset(
    {About.GROUP, About.LEFT_OUT, About.MISFIT, About.NOT_CONVERGED, About.FEW_ROWS, About.STRENGTH, About.DIAGONAL}
)


class PairTest(NamedTuple):
    """The association of a pair without shrinkage, and its q-value; None where a number is not finite."""

    estimate: float | None
    q_value: float | None


class LinkTests(NamedTuple):
    """Tests of pairs, given as i < j, and the false discovery rate up to which a pair is clear."""

    pairs: Mapping[Pair, PairTest]
    fdr: float


class Finding(NamedTuple):
    """What is known of the links of a fit once its pairs were tested and its cautions gathered."""

    tests: LinkTests | None
    is_doubtful: bool


@dataclass(frozen=True)
class KnownLinks:
    """The links of a graph, and what is known of them.

    Attributes
    ----------
    n_columns : int
    edges : sequence of (i, j, association), i < j, strongest first
    tests : LinkTests, or None where the links were not tested
    is_doubtful : bool
        Whether a caution leaves the graph in doubt.

    Examples
    --------
    >>> from robscore.links import KnownLinks, LinkTests, PairTest
    >>> tests = LinkTests({(0, 1): PairTest(0.5, 1e-9), (1, 2): PairTest(0.1, 0.4)}, fdr=0.1)
    >>> links = KnownLinks(3, [(0, 1, 0.4), (1, 2, 0.05)], tests)
    >>> links.headline, links.strongest(3)
    ('1 clear link, 1 possible, among 3 pairs of variables', [(0, 1, 0.4)])
    """

    n_columns: int
    edges: Sequence[tuple[int, int, float]]
    tests: LinkTests | None = None
    is_doubtful: bool = False

    @property
    def n_pairs(self) -> int:
        """How many pairs of columns there are."""
        return self.n_columns * (self.n_columns - 1) // 2

    def is_contradicted(self, i: int, j: int, strength: float) -> bool:
        """Whether the estimate of a link without shrinkage has the opposite sign."""
        found = None if self.tests is None else self.tests.pairs.get((i, j))
        return found is not None and (found.estimate or 0.0) * strength < 0

    @cached_property
    def clear_pairs(self) -> set[Pair]:
        """All pairs that are clear by their test, links or not."""
        if self.tests is None:
            return set()
        fdr = self.tests.fdr
        return {pair for pair, test in self.tests.pairs.items() if test.q_value is not None and test.q_value <= fdr}

    @cached_property
    def reversed(self) -> list[Pair]:
        """Links that are clear without shrinkage, but with the opposite sign."""
        return [
            (i, j)
            for i, j, strength in self.edges
            if (i, j) in self.clear_pairs and self.is_contradicted(i, j, strength)
        ]

    @cached_property
    def clear(self) -> set[Pair]:
        """Links that their test confirms."""
        return self.clear_pairs & {(i, j) for i, j, _ in self.edges} - set(self.reversed)

    @property
    def headline(self) -> str:
        """The finding in a few words, as certain as the tests and the cautions are."""
        count, clear = len(self.edges), len(self.clear)
        possible, among = count - clear, f"among {self.n_pairs} {'pair' if self.n_pairs == 1 else 'pairs'} of variables"
        if not count:
            none = f"No direct link was found between the {self.n_columns} variables"
            return f"{none}, which does not mean that there is none" if self.is_doubtful else none
        if self.tests is None:
            return f"{possible} possible {_links(possible)} {among}, not tested one by one"
        if not clear:
            return f"No clear link, {possible} possible, {among}"
        certain = f"{clear} clear {_links(clear)}"
        if self.is_doubtful:
            certain = f"{clear} {_links(clear)} that {'seems' if clear == 1 else 'seem'} clear"
        return f"{certain}, {possible} possible, {among}" if possible else f"{certain} {among}"

    def strongest(self, most: int) -> list[tuple[int, int, float]]:
        """The strongest links, of the clear ones if some are clear.

        None is beyond 1, which no correlation can be, or has a sign that the estimate without shrinkage contradicts.
        """
        believed = [edge for edge in self.edges if abs(edge[2]) <= 1 and not self.is_contradicted(*edge)]
        clear = [edge for edge in believed if edge[:2] in self.clear]
        return (clear or believed)[:most]


def _links(count: int) -> str:
    return "link" if count == 1 else "links"
