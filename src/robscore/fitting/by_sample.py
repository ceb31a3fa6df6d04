"""A graph of very many rows: a sample chooses it, all rows estimate it.

1. One look at all rows; invalid values are refused.
2. A random sample of rows (of files, row groups at random and then rows) is fitted as any rows in memory are: scaling,
   rule for bad rows, path, choice.
3. A pass over all rows weights each row by that rule; another adds up the weighted loss on the support of the
   graph, of which K and eta are the minimum, without a penalty.
4. A fresh sample of rows gives standard errors, and a certificate for the pairs that were left out
   (:mod:`robscore.fitting.certificate`).

If the sample is all rows, step 3 gives the weights and the refit of the fit in memory.

With missing cells that are to be filled in, the sample is filled in as any rows in memory are. In step 3 the cells of
all rows are drawn anew whenever they are read (:mod:`robscore.cells.filled_streams`): by the fit of the sample, then by
that of all rows, a few times over, since each time only the missing share of an error is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from robscore._tools.memory import rows_within
from robscore._tools.progress import announce, stage
from robscore._tools.threads import threads_for
from robscore._tools.typing import AnyData, Array, BoolArray, IntArray
from robscore.cells.filled_streams import Drawing, FilledRows, Seeds, filled_with, row_seeds, typical_values
from robscore.domains import Simplex
from robscore.elements import PairwiseElements
from robscore.elements.row_elements import RowCounts
from robscore.families.family import Family, Parameters
from robscore.fitting.certificate import certify
from robscore.fitting.fit import GraphFit, Sampled, fit_graph, in_given_units
from robscore.fitting.holes import fits_in_memory
from robscore.fitting.prepare import Prepared, look
from robscore.fitting.refit import RIDGE, refitted
from robscore.fitting.settings import GraphSettings
from robscore.fitting.weigh import Weighed, remarks_on_left_out
from robscore.graph import association
from robscore.losses.quadratic import QuadraticLoss, entries_of
from robscore.rows.covariate_columns import Moderator
from robscore.rows.row_source import ArrayRows, Rows, some_of
from robscore.rows.tables import default_names
from robscore.solvers.path import joined_interaction, joined_support
from robscore.solvers.unpenalised import Refit, SingularLossError, refit
from robscore.weighting.proper_parameters import proper
from robscore.weighting.reweighting import Reweighted
from robscore.weighting.row_weights import RowWeights

_DRAWN_ANEW = 4  # times that missing cells of all rows are drawn by another fit
MOST_ROWS, _FEWEST_ROWS = 50_000, 5_000  # of a sample
_PIECE_BYTES = 20e6  # of elements at a time


def fit_graph_of_any(
    rows: Rows,
    settings: GraphSettings,
    *,
    caller: str,
    frame: str | None = None,
    sample_weight: AnyData | None = None,
    given: Sequence[str] = (),
    moderators: Sequence[Moderator] = (),
) -> GraphFit:
    """The graph from all rows at once or, if there are very many, from a sample of them."""
    size = sample_size(rows, settings)
    in_memory = settings.fills_in and not _fills_a_stream(rows, settings)
    whole = in_memory or not settings.blocks_unspecified or not settings.reweights
    if rows.n_rows > size and not (whole or moderators) and settings.alpha is None:
        found = _by_sample(rows, settings, size, sample_weight, {"caller": caller, "frame": frame, "given": given})
        if found is not None:
            return found
    return fit_graph(
        rows, settings, caller=caller, frame=frame, sample_weight=sample_weight, given=given, moderators=moderators
    )


def sample_size(rows: Rows, settings: GraphSettings) -> int:
    """As many rows as fit in half of the memory with everything computed from them, within limits."""
    a_row = 2 * 8.0 * (settings.family.numbers_a_row(rows.n_columns) + 2 * rows.n_columns)
    return int(np.clip(settings.memory / a_row, _FEWEST_ROWS, MOST_ROWS))


def _by_sample(
    rows: Rows, settings: GraphSettings, size: int, sample_weight: AnyData | None, facts: dict[str, Any]
) -> GraphFit | None:
    """None if the sample cannot tell bad rows, or does not determine the graph: then all rows are used."""
    with stage("looking at all rows, pass 1 of 3"):
        names = rows.names or default_names(rows.n_columns - len(facts["given"]))
        looked_at = rows.mapped(partial(_started, typical_values(rows, names))) if settings.fills_in else rows
        seen = look(looked_at, settings, facts["caller"], sample_weight, facts["given"])
    complete = seen.complete(seen.every)
    if complete.n_rows <= size:
        return None
    if settings.fills_in:  # with their holes
        complete = rows.selected(np.flatnonzero(seen.used)).counted(complete.frequency)
    rng = np.random.default_rng(settings.seed)
    sample = complete.sample(size, rng)
    with stage(f"a sample of {size} rows"):
        some = ArrayRows(complete.take(sample), rows.names, whole=False)
        often = some_of(complete.frequency, sample)
        pilot = fit_graph(some, replace(settings, random_state=settings.seed), sample_weight=often, **facts)
    if pilot.weighed.found is None or not pilot.weights.is_tapered:
        return None
    prepared = pilot.prepared.preparation.applied(complete, seen.used)
    with threads_for(prepared.rows.n_rows, prepared.rows.n_columns):
        if not settings.fills_in:
            return _of_all(pilot, prepared, sample, rng)
        there = _pairs_there(complete, len(pilot.names))
        filled = _filled(pilot, prepared, row_seeds(complete, settings.seed), sample)
        return None if filled is None else _of_all(pilot, filled, sample, rng, there)


def _fills_a_stream(rows: Rows, settings: GraphSettings) -> bool:
    """Whether missing cells are filled in as rows are read: where these are not held, but are on this machine."""
    bounded = isinstance(settings.family.domain, Simplex)
    return settings.missing == "impute" and not (settings.cells or rows.is_remote or bounded) and not (
        fits_in_memory(rows, settings)
    )  # fmt: skip


def _started(typical: Array, X: Array) -> Array:
    """Rows with a typical value in every hole; those without any value stay empty."""
    filled, empty = filled_with(typical, X), np.flatnonzero(np.isnan(X[:, : typical.size]).all(axis=1))
    filled[empty] = X[empty]
    return filled


def _pairs_there(rows: Rows, m: int) -> Array:
    """Share of the rows in which both cells of a pair are there, shape (m, m)."""
    return np.asarray(rows.total(partial(_count_pairs, m)) / rows.n_rows)


def _count_pairs(m: int, X: Array) -> Array:
    there = (~np.isnan(X[:, :m])).astype(float)
    return np.asarray(there.T @ there)


def _filled(pilot: GraphFit, holed: Prepared, seeds: Seeds, sample: IntArray) -> Prepared | None:
    """Scaled rows with their holes, filled in by a fit of them all; None where they do not determine it."""
    found, family, names = pilot.weighed.found, holed.preparation.scaled_family, pilot.names
    assert found is not None
    edges, locations = pilot.drawn_by
    members = np.zeros(holed.rows.n_rows, dtype=bool)
    members[sample] = found.members
    typical, loss = typical_values(holed.rows, names), pilot.loss
    for number in range(_DRAWN_ANEW):
        announce("drawing missing cells of all rows", number, _DRAWN_ANEW)
        parameters = proper(family, pilot.loss, refitted(loss, edges, locations, pilot.settings))
        rows = FilledRows(holed.rows, seeds, Drawing(family, parameters, typical))
        if number == _DRAWN_ANEW - 1:
            break
        weights, _ = found.rule.weigh_others(rows, family, members)
        if not np.any(weights.phi):
            return None
        loss = loss_on(edges, pilot.loss.n_locations, rows, family, weights)
    return replace(holed, rows=rows)


def _of_all(
    pilot: GraphFit, prepared: Prepared, sample: IntArray, rng: np.random.Generator, there: Array | None = None
) -> GraphFit | None:
    """All rows, on the graph of some; ``there`` are shares of the rows in which pairs are there, shape (m, m)."""
    settings, found = pilot.settings, pilot.weighed.found
    assert found is not None
    members = np.zeros(prepared.rows.n_rows, dtype=bool)
    members[sample] = found.members
    family = prepared.preparation.scaled_family
    with stage("weighing all rows, pass 2 of 3"):
        weights, reasons = found.rule.weigh_others(prepared.rows, family, members)
    if not np.any(weights.phi):
        return None
    edges, locations = joined_support(pilot.scaled[0], "symmetric"), pilot.scaled[1] != 0
    with stage("adding up their loss, pass 3 of 3"):
        loss = loss_on(edges, pilot.loss.n_locations, prepared.rows, family, weights)
    try:
        solution = refit(loss, edges, locations, symmetric=settings.rule == "symmetric", ridge=RIDGE)
    except SingularLossError:
        return None
    K = joined_interaction(solution.interaction, settings.rule)
    scaled: Parameters = loss.completed(K), solution.location
    given = in_given_units(prepared, scaled)
    own_remarks = remarks_on_left_out(weights, prepared)
    weighed = Weighed(
        weights, pilot.weighed.n_blocks, None, pilot.weighed.reweighted, own_remarks,
        Reweighted(weights, reasons, loss, found.parameters, found.rule, found.copies, members),
    )  # fmt: skip
    remarks = [
        *own_remarks,
        *(
            one
            for one in pilot.remarks
            if one not in pilot.weighed.remarks and one not in association(pilot.given[0])[1]
        ),
        *association(given[0])[1],
    ]
    with stage("a fresh sample"):
        certified = certify(
            prepared, weights, _symmetric(solution), scaled, settings.allowed_pairs(K.shape[0]), sample, rng, there
        )
    positions = sample if prepared.complete.all() else prepared.used[sample]
    return replace(
        pilot, prepared=prepared, weighed=weighed, loss=loss, scaled=scaled, given=given, unshrunk=scaled,
        remarks=remarks, sampled=Sampled(positions, certified, given[0], scaled[0], _describe(there)),
    )  # fmt: skip


def _describe(there: Array | None) -> str:
    if there is None:
        return ""
    missing, pairs = 1 - there.diagonal().mean(), there[~np.eye(len(there), dtype=bool)].mean()
    return f"{missing:.1%} missing and filled in; pairs are present in {pairs:.0%} of the rows"


def _symmetric(solution: Refit) -> Refit | None:
    """A refit whose parameters stand for pairs; of a rule that joins two of them no errors are given."""
    return solution if solution.symmetric else None


def loss_on(edges: BoolArray, n_locations: int, rows: Rows, family: Family, weights: RowWeights) -> QuadraticLoss:
    """The weighted loss of all rows on the support of a graph, shape (m, m), by one pass over them."""
    assert weights.phi is not None
    assert weights.slopes is not None
    entries = entries_of(edges, n_locations)
    often = () if weights.frequency is None else (weights.frequency,)
    work = partial(_loss_of, family, entries, weights.parameters, 1 / weights.n_rows)
    length = rows_within(_PIECE_BYTES, family.numbers_a_row(rows.n_columns))
    total = rows.total(work, weights.phi, weights.slopes, *often, length=length)
    assert isinstance(total, QuadraticLoss)
    return total


def _loss_of(
    family: Family,
    entries: list[IntArray],
    parameters: Parameters,
    share: float,
    X: Array,
    phi: Array,
    slopes: Array,
    frequency: Array | None = None,
) -> QuadraticLoss:
    """What some rows add to the loss: phi Gamma, and phi g + phi'(E) Gamma z0 (``weighting/row_weights.py``)."""
    elements = family.elements(np.asfortranarray(X))  # work goes column by column
    assert isinstance(elements, PairwiseElements)
    often = share if frequency is None else share * frequency
    return elements.restricted(RowCounts(phi * often, phi * often, slopes * often), parameters, entries)
