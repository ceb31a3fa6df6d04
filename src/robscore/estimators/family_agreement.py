"""How far the graph of the copula agrees with those of families that the data cannot tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robscore._tools.messages import clipped, first_few, in_a_list
from robscore._tools.typing import BoolArray
from robscore.certainty.pairs_by_tests import pairs_by_tests
from robscore.families.family import get_family
from robscore.fitting.fit import fit_graph
from robscore.fitting.fit_result import GraphFit
from robscore.fitting.prepare import Data
from robscore.fitting.settings import GraphSettings


def describe_agreement(fit: GraphFit, data: Data, settings: GraphSettings, families: Sequence[str]) -> str:
    """Say which links of the copula's graph those of families, with as many links, share; empty without a link.

    The families are fitted to the same data in the same way.
    """
    adjacency = fit.graph.adjacency
    count = int(adjacency.sum()) // 2
    if not count:
        return ""
    as_many = replace(settings, alpha=None, select="f1", n_edges=count)
    others = {name: _adjacency(data, replace(as_many, family=get_family(name))) for name in families}
    found = {name: other for name, other in others.items() if other is not None}
    if not found:
        return ""
    shared = np.logical_and.reduce([adjacency, *found.values()])
    own = adjacency & ~np.logical_or.reduce(list(found.values()))
    words = (
        f"{int(shared.sum()) // 2} of its {count} link{'s are' if count > 1 else ' is'} in the graphs of "
        f"{in_a_list(list(found), 'and')} with as many links too"
    )
    alone = _pairs(own, fit.names)
    return f"{words}; only the copula links {first_few(alone)}" if alone else words


def _adjacency(data: Data, settings: GraphSettings) -> BoolArray | None:
    """The graph of another family; None where it cannot be fitted."""
    try:
        return fit_graph(data, settings, pairs_by_tests).graph.adjacency
    except ValueError:
        return None


def _pairs(adjacency: BoolArray, names: Sequence[str]) -> list[str]:
    i, j = np.nonzero(np.triu(adjacency, k=1))
    return [f"{clipped(names[a])} and {clipped(names[b])}" for a, b in zip(i.tolist(), j.tolist(), strict=True)]
