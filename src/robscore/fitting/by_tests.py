"""A graph that tests choose: the pairs that are found at a false discovery rate, estimated without a penalty.

1. The rows are fitted as they are for ``select="f1"``: that gives row weights, and values of cells that are filled in.
2. All pairs are tested with these row weights. No edge was selected before, so the graph of that fit does not matter.
3. The pairs that are found are the graph: K and eta are the minimum of the loss on them. On the path they are put in
   at the end, with a penalty of 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from robscore._tools.messages import Remark
from robscore._tools.typing import Array, BoolArray
from robscore.elements import PairwiseElements
from robscore.fitting.choose import Chosen, rounding
from robscore.fitting.fit_remarks import remarks_on_graph
from robscore.fitting.fit_result import GraphFit
from robscore.fitting.prepare import Data
from robscore.fitting.settings import GraphSettings
from robscore.fitting.solve import refitted, solution_at
from robscore.solvers.path import Interactions, Path


@dataclass(frozen=True, eq=False)
class FoundPairs:
    """What tests find.

    Attributes
    ----------
    edges : boolean array of shape (m, m)
    words : how they were found
    tau : as many rows as were counted as one, since they are a series; 1 where they are not
    remarks : what to warn about
    """

    edges: BoolArray
    words: str
    tau: float
    remarks: list[Remark]


FindPairs: TypeAlias = Callable[[GraphFit, float], FoundPairs]


def fit_by_tests(
    data: Data,
    settings: GraphSettings,
    fit_graph: Callable[[Data, GraphSettings], GraphFit],
    find_pairs: FindPairs,
) -> GraphFit:
    """The graph of the pairs that ``find_pairs`` finds in a fit at the false discovery rate of the settings."""
    if data.moderators:
        settings.check_moderators(data.moderators[0].name)
    pilot = fit_graph(data, replace(settings, select="f1"))
    found = find_pairs(pilot, settings.fdr)
    always = (settings.pair_weights(len(pilot.names)) == 0) & settings.allowed_pairs(len(pilot.names))
    locations = np.full(pilot.loss.location_shape, settings.fit_location)
    unshrunk = refitted(pilot.loss, found.edges | always, locations, settings)
    path, position = _with_solution(pilot.chosen.path, *unshrunk)
    chosen = Chosen(path, position, found.words, {}, {}, found.remarks, found.tau)
    prepared, weighed, loss, elements = pilot.prepared, pilot.weighed, pilot.loss, pilot.elements()
    assert isinstance(elements, PairwiseElements)
    scaled = solution_at(path, position, loss, prepared.preparation, settings)
    given = prepared.preparation.in_given_units(scaled)
    return replace(
        pilot,
        settings=settings,
        chosen=chosen,
        scaled=scaled,
        given=given,
        unshrunk=unshrunk,
        remarks=remarks_on_graph(prepared, elements, weighed, loss, chosen, scaled, given),
        rounding=rounding(loss, elements, weighed, chosen, settings),
    )


def _with_solution(path: Path, interaction: Array, location: Array) -> tuple[Path, int]:
    """The path with one more solution, which has no penalty and was found in one step; and where it is."""
    m = interaction.shape[1]
    n_edges = np.count_nonzero(np.triu(interaction, 1))
    one = replace(
        path.pick(np.array([0])),
        alphas=np.zeros(1),
        interactions=Interactions.of([interaction], m),
        locations=location[None],
        n_edges=np.array([n_edges]),
        n_iter=np.zeros(1, dtype=np.intp),
        kkt=np.zeros(1),
        converged=np.ones(1, dtype=bool),
    )
    joined, order = path.merged(one)
    return joined, int(np.argmax(order))
