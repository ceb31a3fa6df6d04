"""The edges of a fit as a table, with all that is known of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from robscore.report.record import Record

_EDGE_COLUMNS = ("source", "target", "interaction", "association")
_TESTED = ("estimate", "low", "high", "p_value", "q_value")  # of the association without shrinkage


def edge_columns(made: Record) -> tuple[str, ...]:
    """What is known of every edge: tests where there are some, stability where it was requested."""
    return (*_EDGE_COLUMNS, *(_TESTED if _tests(made) else ()), *(() if _shares(made) is None else ("stability",)))


def edges(made: Record) -> Iterator[Sequence[Any]]:
    """The edges, strongest first, with what the columns say; None where an edge was not tested."""
    shares, tests = _shares(made), _tests(made)
    untested: list[float | None] = [None] * len(_TESTED)  # not among those that half of the rows chose
    for i, j, interaction, strength in made.edges:
        found = tests.get((i, j), untested) if tests else []
        yield made.names[i], made.names[j], interaction, strength, *found, *([] if shares is None else [shares[i, j]])


def _tests(made: Record) -> dict[tuple[int, int], list[float | None]]:
    """The tests of pairs; none where the rows do not allow any."""
    return {} if made.certainty is None else {(i, j): found for i, j, *found in made.certainty["pairs"]}


def _shares(made: Record) -> Mapping[tuple[int, int], float] | None:
    """The share of halves of the rows that have each edge; None without them."""
    stability = None if made.certainty is None else made.certainty["stability"]
    if stability is None:
        return None
    return defaultdict(float, {(i, j): share for i, j, share in stability["pairs"]})
