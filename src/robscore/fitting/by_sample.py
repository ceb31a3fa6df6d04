"""A graph of very many rows: a sample chooses it, all rows estimate it.

1. One look at all rows; invalid values are refused.
2. A random sample of rows (of files, row groups at random and then rows) is fitted as any rows in memory are: scaling,
   rule for bad rows, path, choice.
3. A pass over all rows weights each row by that rule; another adds up the weighted loss on the support of the
   graph, of which K and eta are the minimum, without a penalty.
4. A fresh sample of rows gives standard errors, and a certificate for the pairs that were left out
   (:class:`Certificate`).

If the sample is all rows, step 3 gives the weights and the refit of the fit in memory.

With cells that are to be filled in (missing ones, or for the copula those known to an interval), the sample is filled
in as any rows in memory are. In step 3 the cells of all rows are drawn anew whenever they are read
(:mod:`robscore.cells.filled_streams`): by the fit of the sample, then by that of all rows, a few times over, since each
time only the missing share of an error is left. The margins of the copula are those of the sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.stats import false_discovery_control, norm

from robscore._tools.memory import chunks, rows_within
from robscore._tools.progress import announce, stage
from robscore._tools.threads import threads_for
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.cells.filled_streams import Drawing, filled_with, other_seeds, row_seeds, typical_values
from robscore.domains import Simplex
from robscore.elements import PairwiseElements
from robscore.elements.row_elements import LossWeights
from robscore.families.family import Family, Parameters
from robscore.fitting.filled_certainty import certainty_of_pairs
from robscore.fitting.fit_result import GraphFit
from robscore.fitting.known_cells import fits_in_memory
from robscore.fitting.latent_scale import of_unit_variances, unit_variances
from robscore.fitting.prepare import Data, Prepared, check_rows
from robscore.fitting.settings import GraphSettings
from robscore.fitting.solve import RIDGE, refitted
from robscore.fitting.weigh import Weighed, remarks_on_left_out
from robscore.graph import association
from robscore.losses.quadratic import QuadraticLoss, entries_of
from robscore.rows.row_source import ArrayRows, MappedRows, Rows, added, some_of
from robscore.rows.tables import default_names
from robscore.solvers.path import joined_interaction, joined_support
from robscore.solvers.unpenalised import Refit, SingularLossError, refit
from robscore.weighting.proper_parameters import proper
from robscore.weighting.reweighting import Reweighted
from robscore.weighting.row_weights import RowWeights, WeightedRows

_DRAWN_ANEW = 4  # times that missing cells of all rows are drawn by another fit
_AVERAGED = 6  # more times where cells have bounds, over which the loss is averaged: less noise of the draws
MOST_ROWS, _FEWEST_ROWS = 50_000, 5_000  # of a sample
_PIECE_BYTES = 20e6  # of elements, or of gradients, at a time
FDR = 0.1  # at which pairs that the sample left out are said to be missing


@dataclass(frozen=True, eq=False)
class Certificate:
    """What a fresh sample says.

    Attributes
    ----------
    n_rows : int
        How many rows the sample has.
    errors : array of shape (m, m)
        Standard errors of K on the scaled columns, from all rows; NaN where nothing was estimated.
    pairs : two integer arrays of shape (p,)
        The pairs i < j that were left out and may have an edge, most certain first.
    gradient, gradient_error : arrays of shape (p,)
        The mean gradient of the loss in K_ij, and its standard error.
    p_value, q_value : arrays of shape (p,)
        Of "no edge", alone and among all pairs left out (Benjamini-Hochberg).
    """

    n_rows: int
    errors: Array
    pairs: tuple[IntArray, IntArray]
    gradient: Array
    gradient_error: Array
    p_value: Array
    q_value: Array

    @property
    def n_missed(self) -> int:
        """Pairs left out that may be edges, at a false discovery rate of 10 %."""
        return int(np.count_nonzero(self.q_value <= FDR))


@dataclass(frozen=True, eq=False)
class Filled:
    """Rows whose cells are filled in as they are read; and the loss of other draws, or None where one will do."""

    prepared: Prepared
    loss: QuadraticLoss | None


@dataclass(frozen=True, eq=False)
class Sampled:
    """How a sample of rows chose a graph whose numbers come from all rows.

    Attributes
    ----------
    rows : integer array
        Positions in the data of the rows that chose the graph.
    certificate : Certificate
        What a fresh sample says of it.
    interaction, scaled : K in the units of the data, and on the scaled columns
    filled : how many cells of all rows were filled in, in words
    known : array of shape (m, m), or None
        What share of the rows pairs are worth, some of whose cells were drawn; None where none were.
    """

    rows: IntArray
    certificate: Certificate
    interaction: Array
    scaled: Array
    filled: str = ""
    known: Array | None = None

    @property
    def interaction_error(self) -> Array:
        """Standard errors of K in the units of the data, shape (m, m); NaN where nothing was estimated."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.abs(self.interaction / self.scaled) * self.certificate.errors)

    def describe(self, n_rows: int) -> str:
        """Who did what, and whether edges are missing."""
        left_out, missed = self.certificate.p_value.size, self.certificate.n_missed
        found = f"{missed} may have one" if missed else "none seems to have one"
        return (
            f"{self.rows.size} random rows chose the graph, and all {n_rows} estimated it without a penalty; of "
            f"{left_out} pairs without an edge {found}, checked on {self.certificate.n_rows} other rows"
        )


def asks_for_sample(data: Data, settings: GraphSettings) -> bool:
    """Whether there are so many rows that a sample chooses the graph, and nothing that was asked needs all of them."""
    rows = data.rows
    in_memory = data.limits is not None or (settings.fills_in and not _fills_as_read(rows, settings))
    needs_all = in_memory or not settings.blocks_unspecified or not settings.reweights
    is_large = rows.n_rows > sample_size(rows, settings)
    return is_large and not (needs_all or data.moderators) and settings.alpha is None


def sample_size(rows: Rows, settings: GraphSettings) -> int:
    """As many rows as fit in half of the memory with everything computed from them, within limits."""
    a_row = 2 * 8.0 * (settings.family.numbers_a_row(rows.n_columns) + 2 * rows.n_columns)
    return int(np.clip(settings.memory / a_row, _FEWEST_ROWS, MOST_ROWS))


def fit_by_sample(
    data: Data, settings: GraphSettings, fit_graph: Callable[[Data, GraphSettings], GraphFit]
) -> GraphFit | None:
    """The graph that a sample chooses, estimated from all rows.

    None if the sample cannot tell bad rows, or does not determine the graph: then all rows are used.
    """
    rows, size = data.rows, sample_size(data.rows, settings)
    with stage("looking at all rows, pass 1 of 3"):
        names = rows.names or default_names(rows.n_columns - len(data.given))
        imputes = settings.missing == "impute"
        started = rows.mapped(partial(_started, typical_values(rows, names))) if imputes else rows
        checked = check_rows(replace(data, rows=started), settings)
    complete = checked.complete(checked.every)
    if complete.n_rows <= size:
        return None
    if settings.fills_in:  # these rows keep their missing cells, which are drawn whenever they are read
        complete = rows.selected(np.flatnonzero(checked.used)).counted(complete.frequency)
    rng = np.random.default_rng(settings.seed)
    sample = complete.sample(size, rng)
    with stage(f"a sample of {size} rows"):
        some = ArrayRows(complete.take(sample), rows.names, whole=False)
        sampled = replace(data, rows=some, sample_weight=some_of(complete.frequency, sample))
        pilot = fit_graph(sampled, replace(settings, random_state=settings.seed))
    if pilot.weighed.found is None or not pilot.weights.is_tapered:
        return None
    with threads_for(complete.n_rows, complete.n_columns):
        if not settings.fills_in:
            return _of_all(pilot, pilot.prepared.preparation.applied(complete, checked.used), sample, rng)
        filled = _filled(pilot, complete, checked.used, sample)
        if filled is None:
            return None
        return _of_all(pilot, filled.prepared, sample, rng, _pairs_known(pilot, complete), filled.loss)


def _fills_as_read(rows: Rows, settings: GraphSettings) -> bool:
    """Whether cells are filled in as rows are read: those of the copula, others where the rows are not held."""
    if settings.cells or isinstance(settings.family.domain, Simplex):
        return False
    return settings.family.has_margins or (settings.missing == "impute" and not fits_in_memory(rows, settings))


def _started(typical: Array, X: Array) -> Array:
    """Rows with a typical value in every missing cell; those without any value stay empty."""
    filled, empty = filled_with(typical, X), np.flatnonzero(np.isnan(X[:, : typical.size]).all(axis=1))
    filled[empty] = X[empty]
    return filled


def _pairs_known(pilot: GraphFit, rows: Rows) -> Array:
    """What share of the rows pairs are worth, shape (m, m): in which both cells were observed, or known so well.

    Cells with bounds are known in part. Where s is the share of what full rows say that is left, the noise of so many
    draws makes a variance 1 + (1 - s) / (s draws) times as large.
    """
    if not pilot.prepared.preparation.has_margins:
        return _pairs_observed(rows, len(pilot.names))
    share = _share_known(pilot)
    return share / (1 + (1 - share) / (share * _AVERAGED))


def _share_known(pilot: GraphFit) -> Array:
    """What share of what full rows say of a pair is left where cells have bounds, shape (m, m), in the sample."""
    found = certainty_of_pairs(pilot.prepared, pilot.loss, pilot.weighed, pilot.settings)
    assert found is not None
    return np.minimum(found, 1 / found) ** 2


def _pairs_observed(rows: Rows, m: int) -> Array:
    """Share of the rows in which both cells of a pair were observed, shape (m, m)."""
    if rows.frequency is None:
        return np.asarray(rows.total(partial(_count_pairs, m)) / rows.n_rows)
    return np.asarray(rows.total(partial(_count_pairs, m), rows.frequency) / rows.frequency.sum())


def _count_pairs(m: int, X: Array, frequency: Array | None = None) -> Array:
    observed = (~np.isnan(X[:, :m])).astype(float)
    return np.asarray((observed.T if frequency is None else observed.T * frequency) @ observed)


def _filled(pilot: GraphFit, rows: Rows, used: BoolArray, sample: IntArray) -> Filled | None:
    """Scaled rows whose cells are filled in by a fit of them all; None where they do not determine it."""
    found, preparation, names = pilot.weighed.found, pilot.prepared.preparation, pilot.names
    assert found is not None
    family, has_margins, filling = preparation.scaled_family, preparation.has_margins, pilot.prepared.filling
    assert filling is not None
    edges, locations = pilot.drawn_by
    members = np.zeros(rows.n_rows, dtype=bool)
    members[sample] = found.members
    typical, loss = typical_values(preparation.applied(rows, used).rows, names), pilot.loss
    seeds, times = row_seeds(rows, pilot.settings.seed), _DRAWN_ANEW
    if has_margins:
        edges = edges | joined_support(pilot.scaled[0], "symmetric")  # so that losses know the graph's parameters
        times = _DRAWN_ANEW + _AVERAGED if filling.drawn.any() else 1
    parameters: Parameters | None = None
    for number in range(times):
        announce("drawing cells of all rows", number, times)
        now = proper(family, pilot.loss, refitted(loss, edges, locations, pilot.settings))
        if has_margins:
            now = _at_unit_variances(pilot, now)
            now = now if parameters is None or number >= _DRAWN_ANEW else _further(pilot, parameters, now)
            seeds = other_seeds(seeds, number)  # draws of their own each time, so that their noise averages out
        parameters = now
        drawing = Drawing(family, parameters, typical, preparation.scaling)
        filled = Prepared(preparation, MappedRows(rows, drawing, seeds), used)
        if number == times - 1:
            break
        weights, _ = found.limits.weigh_others(filled.to_judge, family, members)
        if not np.any(weights.phi):
            return None
        own = loss_on(edges, pilot.loss.n_locations, filled, weights)
        count = number - _DRAWN_ANEW + 1  # of losses that are averaged so far
        loss = own if count <= 1 else loss.mixed_with(own, 1 / count)
    return Filled(filled, loss if times > _DRAWN_ANEW else None)


def _further(pilot: GraphFit, last: Parameters, now: Parameters) -> Parameters:
    """Parameters beyond those of a fit, as far as these moved: only a share s of an error shows, so 1 / s times."""
    wanted = last[0] + (now[0] - last[0]) / _share_known(pilot)
    K, _ = proper(pilot.prepared.preparation.scaled_family, pilot.loss, (wanted, now[1]))
    return _at_unit_variances(pilot, (K, K @ np.linalg.solve(now[0], now[1])))  # with means as they are now


def _at_unit_variances(pilot: GraphFit, parameters: Parameters) -> Parameters:
    """Parameters on the scale of latent numbers, which the rows of the sample know as well as all rows."""
    rows = pilot.prepared.rows.take(np.arange(pilot.prepared.rows.n_rows))
    family = pilot.prepared.preparation.scaled_family
    return of_unit_variances(family, parameters, rows, pilot.weights.gamma_weights)


def _of_all(
    pilot: GraphFit,
    prepared: Prepared,
    sample: IntArray,
    rng: np.random.Generator,
    observed: Array | None = None,
    others: QuadraticLoss | None = None,
) -> GraphFit | None:
    """All rows, on the graph of some; ``others`` is the loss of more draws of their cells.

    ``observed`` are shares of the rows that pairs are worth, shape (m, m).
    """
    settings, found = pilot.settings, pilot.weighed.found
    assert found is not None
    members = np.zeros(prepared.rows.n_rows, dtype=bool)
    members[sample] = found.members
    family = prepared.preparation.scaled_family
    with stage("weighing all rows, pass 2 of 3"):
        weights, reasons = found.limits.weigh_others(prepared.to_judge, family, members)
    if not np.any(weights.phi):
        return None
    edges, locations = joined_support(pilot.scaled[0], "symmetric"), pilot.scaled[1] != 0
    with stage("adding up their loss, pass 3 of 3"):
        loss = loss_on(edges, pilot.loss.n_locations, prepared, weights)
        loss = loss if others is None else loss.mixed_with(others, 1 - 1 / _AVERAGED)
    try:
        solution = refit(loss, edges, locations, symmetric=settings.rule == "symmetric", ridge=RIDGE)
    except SingularLossError:
        return None
    K = joined_interaction(solution.interaction, settings.rule)
    scaled: Parameters = loss.completed(K), solution.location
    given = prepared.preparation.in_given_units(scaled)
    own_remarks = remarks_on_left_out(weights, prepared)
    weighed = Weighed(
        weights, pilot.weighed.n_blocks, None, pilot.weighed.reweighted, own_remarks,
        Reweighted(weights, reasons, loss, found.parameters, found.limits, found.copies, members),
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
            prepared, weights, _symmetric(solution), scaled, settings.allowed_pairs(K.shape[0]), sample, rng, observed
        )
    positions = sample if prepared.complete.all() else prepared.used[sample]
    return replace(
        pilot, prepared=prepared, weighed=weighed, loss=loss, scaled=scaled, given=given, unshrunk=scaled,
        remarks=remarks,
        sampled=Sampled(positions, certified, given[0], scaled[0], _describe(pilot, observed), observed),
    )  # fmt: skip


def _describe(pilot: GraphFit, observed: Array | None) -> str:
    if observed is None:
        return ""
    if pilot.prepared.preparation.has_margins:
        return f"of the sample {pilot.prepared.describe_missing}"
    missing, pairs = 1 - observed.diagonal().mean(), observed[~np.eye(len(observed), dtype=bool)].mean()
    return (
        f"{missing:.1%} missing and filled in; two cells of a row are both known in {pairs:.0%} of the rows on average"
    )


def _symmetric(solution: Refit) -> Refit | None:
    """A refit whose parameters stand for pairs; of a rule that joins two of them no errors are given."""
    return solution if solution.symmetric else None


def loss_on(edges: BoolArray, n_locations: int, prepared: Prepared, weights: RowWeights) -> QuadraticLoss:
    """The weighted loss of all rows on the support of a graph, shape (m, m), by one pass over them."""
    rows, family = prepared.rows, prepared.preparation.scaled_family
    assert weights.phi is not None
    assert weights.slopes is not None
    entries = entries_of(edges, n_locations)
    along = () if weights.frequency is None else (weights.frequency,)
    work = partial(_loss_of, family, entries, weights.parameters, 1 / weights.n_rows)
    length = rows_within(_PIECE_BYTES, family.numbers_a_row(rows.n_columns))
    total = rows.total(work, weights.phi, weights.slopes, *along, length=length)
    assert isinstance(total, QuadraticLoss)
    return unit_variances(total) if prepared.preparation.has_margins else total


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
    counts = share if frequency is None else share * frequency
    return elements.restricted(LossWeights(phi * counts, phi * counts, slopes * counts), parameters, entries)


def certify(
    prepared: Prepared,
    weights: RowWeights,
    solution: Refit | None,
    scaled: Parameters,
    allowed: BoolArray,
    sample: IntArray,
    rng: np.random.Generator,
    observed: Array | None = None,
) -> Certificate:
    """Evidence about a graph from rows other than those that chose it, as many; from all if none are left.

    With psi_i what row i adds to the gradient at the estimate, which all rows have determined:

    - the error of an edge is the root of the sum of squares of its influences -H^-1 psi_i, for as many rows as there
      are;
    - the gradient in a pair that was left out has mean zero if it has no edge; its error is the root of the sum of its
      squares, since a fresh sample is so small beside all rows that the estimate is as good as known.

    Parameters
    ----------
    prepared : all rows
    weights : what they count
    solution : the refit on the graph, where its parameters are pairs
    scaled : K and eta
    allowed : boolean array of shape (m, m)
        Pairs that may have an edge.
    sample : integer array
        The rows that chose it.
    observed : array of shape (m, m), or None
        Share of the rows in which both cells of a pair were observed, where the others were drawn: those add nothing.
    """
    less = 1.0 if observed is None else 1 / np.sqrt(np.maximum(observed, 1 / prepared.rows.n_rows))
    fresh = prepared.rows.sample(min(sample.size, prepared.rows.n_rows), rng)
    fresh = np.setdiff1d(fresh, sample) if sample.size < prepared.rows.n_rows else fresh
    own = weights.some(fresh)
    gradient, (squares, across), influences = _sums(prepared, fresh, own, solution, scaled)
    m = len(scaled[0])
    errors = np.full((m, m), np.nan)
    if solution is not None:
        smaller = np.sqrt(own.effective_rows[0] / weights.effective_rows[0])
        free = solution.rows < m
        errors[solution.rows[free], solution.nodes[free]] = (np.sqrt(influences) * smaller)[free]
        errors = np.fmax(errors, errors.T) * less
    with np.errstate(invalid="ignore"):
        error = np.sqrt(squares + squares.T + 2 * across) * less
    i, j = np.nonzero(np.triu(allowed & (scaled[0] == 0) & (error > 0), 1))
    p_value = 2 * norm.sf(np.abs(gradient[i, j]) / error[i, j])
    order = np.argsort(p_value, kind="stable")
    i, j, p_value = i[order], j[order], p_value[order]
    q_value = false_discovery_control(p_value) if p_value.size else p_value
    return Certificate(fresh.size, errors, (i, j), gradient[i, j], error[i, j], p_value, q_value)


def _sums(
    prepared: Prepared, some: IntArray, weights: RowWeights, solution: Refit | None, z: Parameters
) -> tuple[Array, Array, Array]:
    """Over some rows, a piece at a time: gradients, shape (m, m), their squares, (2, m, m), and squared influences."""
    family, X = prepared.preparation.scaled_family, prepared.rows.take(some)
    numbers = max(family.numbers_a_row(X.shape[1]), 0 if solution is None else solution.rows.size)
    total = None
    for piece in chunks(len(X), rows_within(_PIECE_BYTES, numbers)):
        frequency = None if weights.frequency is None else weights.frequency[piece]
        counts = weights.gamma_weights[piece], weights.g_weights[piece], weights.pulls[piece]
        elements = family.elements(X[piece])
        assert isinstance(elements, PairwiseElements)
        part, m = WeightedRows(elements, *counts, weights.parameters, frequency), len(z[0])
        squares = part.pair_squares(z, np.zeros((1 + elements.n_locations, m, m)))
        found = _gradient(part, z), squares, _squared_influences(solution, part)
        total = found if total is None else added(total, found)
    assert total is not None
    return total


def _gradient(weighted: WeightedRows, z: Parameters) -> Array:
    """Of the weighted loss in every K_ij, both of its entries together, shape (m, m)."""
    elements, m = weighted.elements, len(z[0])
    total = elements.gamma_times(weighted.gamma_weights, *z)
    total -= elements.mean_g(weighted.g_weights)
    if weighted.pulls.any():
        total -= elements.gamma_times(weighted.pulls, *weighted.parameters)
    return np.asarray(total[:, :m] + total[:, :m].T)


def _squared_influences(solution: Refit | None, weighted: WeightedRows) -> Array:
    """Of rows on all free parameters, added up, shape (d,)."""
    if solution is None:
        return np.zeros(0)
    z = solution.interaction, solution.location
    gradients = weighted.gradients(z, solution.rows, solution.nodes, symmetric=solution.symmetric)
    if weighted.frequency is not None:
        gradients /= np.sqrt(weighted.frequency)[:, None]
    influence = solution.factor.unwhiten(solution.factor.whiten(gradients))
    return np.einsum("ij,ij->j", influence, influence)
