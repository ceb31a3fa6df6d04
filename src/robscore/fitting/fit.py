"""A whole fit: every stage's result in one frozen value, which everything after it reads.

prepare ──> weigh ──> average ──> solve ──> choose ──> refit
rows      weights     loss       path     position   parameters without shrinkage
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from robscore._tools.messages import About, Message, Remark, UsageError, quoted
from robscore._tools.progress import print_above
from robscore._tools.threads import threads_for
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.elements import Elements, PairwiseElements
from robscore.families.family import Parameters
from robscore.fitting.certificate import Certificate
from robscore.fitting.choose import Chosen, rounding
from robscore.fitting.dependence import nearly_dependent, remarks_on_dependence
from robscore.fitting.filling import fit_filled
from robscore.fitting.groups import choose_together_or_apart
from robscore.fitting.holes import HoledTable
from robscore.fitting.moderators import remarks_on_density
from robscore.fitting.noise import certainty_of_pairs, observed_elements
from robscore.fitting.prepare import Prepared, prepare
from robscore.fitting.refit import pilot_fit, refit_like, refitted
from robscore.fitting.settings import GraphSettings, Settings
from robscore.fitting.singular import singular_error
from robscore.fitting.weigh import Judge, Weighed, loss_of_copies, weigh
from robscore.graph import FitFacts, Graph, association
from robscore.losses.quadratic import Loss, QuadraticLoss, location_rows
from robscore.rows.row_source import Rows
from robscore.solvers.path import convergence_message, joined_interaction, joined_support
from robscore.solvers.unpenalised import SingularLossError, minimise
from robscore.solvers.unsolvable_columns import ColumnsError
from robscore.weighting.row_weights import RowWeights

_SETTLED = 1e-4  # relative change of a graph's parameters while cells are filled in by their exact moments
_PAIRS_A_ROW = 0.5  # up to so many, cells are drawn from the estimate of all pairs
_F = TypeVar("_F", bound="Fit")


@dataclass(frozen=True, eq=False)
class Fit:
    """The result of a fit, and everything behind it.

    Attributes
    ----------
    settings : Settings
        The arguments, checked.
    prepared : Prepared
        The rows that were used, scaled; which these are; and how others are prepared.
    weighed : Weighed
        How much every row counts.
    loss : the weighted loss of the scaled rows
    scaled : parameters on the scaled columns: (K, eta), or (theta,)
    given : the same on the given columns
    unshrunk : parameters on the scaled columns without shrinkage, which rows are judged by
    remarks : list of Remark
    frame : name of the data-frame library that tables are given in, or None
    """

    settings: Settings
    prepared: Prepared
    weighed: Weighed
    loss: Loss
    scaled: Parameters
    given: Parameters
    unshrunk: Parameters
    remarks: list[Remark]
    frame: str | None

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return self.prepared.preparation.names

    @property
    def n_given(self) -> int:
        """How many columns the covariates are."""
        return len(self.prepared.preparation.given)

    @property
    def used(self) -> IntArray:
        """Positions of the rows that were used."""
        return self.prepared.used

    @property
    def weights(self) -> RowWeights:
        """What the rows that were used count."""
        return self.weighed.weights

    @cached_property
    def interaction(self) -> Array:
        """K of the given columns, shape (m, m); what all rows have in common, where moderators change it."""
        return self.prepared.preparation.family.common(self.given[0])

    @cached_property
    def row_weights(self) -> Array:
        """What all rows count in Gamma-hat and g-hat, shape (n, 2); zero for those not used."""
        gamma, g = self.weights
        if gamma is g and self.prepared.complete.all():  # there may be very many rows: seen twice, held once
            return np.broadcast_to(gamma[:, None], (gamma.size, 2))
        weights = np.zeros((self.prepared.complete.size, 2))
        for column, part in enumerate(self.weights):
            weights[self.prepared.complete, column] = part
        return weights

    def elements(self, some: IntArray | None = None) -> Elements:
        """The elements of the rows that were used, all or some (ascending positions among these)."""
        return self.prepared.elements(self.settings, some)


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
    """

    rows: IntArray
    certificate: Certificate
    interaction: Array
    scaled: Array
    filled: str = ""

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


@dataclass(frozen=True, eq=False)
class GraphFit(Fit):
    """A penalised fit.

    Attributes
    ----------
    settings : GraphSettings
    loss : QuadraticLoss
    chosen : Chosen
        The path of solutions, the position of the chosen one, and how it was chosen.
    rounding : what single precision costs
    sampled : how a sample of rows chose the graph; None where all rows did
    """

    settings: GraphSettings
    loss: QuadraticLoss
    chosen: Chosen
    rounding: float
    sampled: Sampled | None = None

    def interaction_at(self, position: int) -> Array:
        """K of the scaled columns at a position of the path, shape (m, m); common to all rows."""
        return self.prepared.preparation.scaled_family.common(self._whole_interaction_at(position))

    def _whole_interaction_at(self, position: int) -> Array:
        K = self.loss.completed(joined_interaction(self.chosen.path.interactions[position], self.settings.rule))
        return self.prepared.preparation.scaled_family.with_shared(K)

    @property
    def drawn_by(self) -> tuple[BoolArray, BoolArray]:
        """Which interactions and locations are free where cells are drawn, shapes (m, m) and (m,) or (m, 1+q).

        A pair without an edge in the graph that missing cells are drawn by would look less linked than it is, the more
        so the fewer of its cells are there, and would stay out for that. So all pairs are free that may have an edge;
        if there are too many for the rows, those of the chosen graph and as many again, as they enter the path. Wrong
        cells are judged by the chosen graph: other pairs would adapt to them.
        """
        path, position = self.chosen.path, self.chosen.position
        allowed = self.settings.allowed_pairs(len(self.names))
        few = np.count_nonzero(allowed) / 2 <= _PAIRS_A_ROW * self.weights.n_rows
        if few and not self.settings.cells:
            return allowed, np.full(path.locations[position].shape, self.settings.fit_location)
        if not self.settings.cells:
            enough = 2 * path.n_edges[position] + len(self.names) // 2
            beyond = np.flatnonzero((path.n_edges >= enough) & (np.arange(path.alphas.size) >= position))
            position = int(beyond[0]) if beyond.size else path.alphas.size - 1
        return joined_support(np.asarray(path.interactions[position]), "symmetric"), path.locations[position] != 0

    @cached_property
    def facts(self) -> FitFacts:
        """What a reader of a summary wants to know."""
        path, position = self.chosen.path, self.chosen.position
        return FitFacts(
            n_rows=self.prepared.rows.n_rows,
            reweighting=self.weighed.reweighting,
            family=repr(self.prepared.preparation.family),
            n_blocks=self.weighed.n_blocks,
            effective_rows=self.weights.effective_rows,
            alpha=float(path.alphas[position]),
            selection=self.chosen.words,
            converged=self.converged,
            kkt=float(path.kkt[position]),
            filled=self.prepared.describe_missing or ("" if self.sampled is None else self.sampled.filled),
            sample="" if self.sampled is None else self.sampled.describe(self.prepared.rows.n_rows),
        )

    @property
    def converged(self) -> bool:
        """Whether the chosen solution is one, and the filling of cells has settled."""
        filling = self.prepared.filling
        return bool(self.chosen.path.converged[self.chosen.position]) and (filling is None or filling.converged)

    @cached_property
    def graph(self) -> Graph:
        """The chosen graph."""
        K = self.interaction
        return Graph(tuple(self.names), K, association(K)[0], self.facts, self.frame)

    def graph_at(self, position: int) -> Graph:
        """The graph at another position of the path."""
        path = self.chosen.path
        scaled = self._whole_interaction_at(position), path.locations[position]
        preparation = self.prepared.preparation
        K = preparation.family.common(preparation.unscale(scaled)[0])
        facts = replace(
            self.facts,
            alpha=float(path.alphas[position]),
            selection=f"number {position + 1} of {path.alphas.size}",
            converged=bool(path.converged[position]),
            kkt=float(path.kkt[position]),
        )
        return Graph(tuple(self.names), K, association(K)[0], facts, self.frame)


def fit_parameters(rows: Rows, settings: Settings, *, caller: str, frame: str | None = None, **more: Any) -> Fit:
    """theta-hat without a penalty; ``more`` are sample weights and covariates, as :func:`prepare` takes them."""

    def once(prepared: Prepared) -> Fit:
        return _fit_without_penalty(prepared, settings, frame)

    return _fitted(rows, settings, caller, more, once, lambda loss, _: _minimum(loss, settings))


def _fitted(
    rows: Rows,
    settings: Settings,
    caller: str,
    more: dict[str, Any],
    once: Callable[[Prepared], _F],
    again: Callable[[Loss, _F], Parameters],
    settled: float = 1e-8,
) -> _F:
    """One fit; or, where cells are to be filled in, one after another."""
    if not settings.fills_in:
        return once(prepare(rows, settings, caller, **more))
    if moderators := more.get("moderators"):
        settings.check_moderators(moderators[0].name)
    table = HoledTable.of(rows, settings, n_given=len(more.get("given", ())))
    prepared = prepare(table.rows, settings, caller, **more)
    if not (table.holes.any() or settings.cells):
        return once(prepared)
    return fit_filled(prepared, table.among(prepared.complete), settings, once, again, settled)


def _minimum(loss: Loss, settings: Settings) -> Parameters:
    return minimise(loss, fit_location=settings.fit_location)


def _fit_without_penalty(prepared: Prepared, settings: Settings, frame: str | None) -> Fit:
    elements = _elements(prepared, settings)

    def unpenalised(loss: Loss) -> Parameters:
        return _minimum(loss, settings)

    judge = Judge(lambda loss, *_: unpenalised(loss), lambda loss, _: unpenalised(loss))
    weighed, loss = weigh(prepared, elements, settings, judge)
    if prepared.filling is not None:
        loss = loss_of_copies(prepared, weighed, settings)
    try:
        scaled = unpenalised(loss)
    except SingularLossError as error:
        raise singular_error(prepared, weighed, loss, settings, str(error)) from None
    given = in_given_units(prepared, scaled)
    density = remarks_on_density(prepared.preparation.scaled_family, prepared.rows, scaled)
    remarks = [*weighed.remarks, *_remarks_on_holes(prepared), *density]
    return Fit(settings, prepared, weighed, loss, scaled, given, scaled, remarks, frame)


def fit_graph(rows: Rows, settings: GraphSettings, *, caller: str, frame: str | None = None, **more: Any) -> GraphFit:
    """A sparse graph: theta-hat(K, beta, lambda) of Definition 4.1 at the chosen penalty."""

    def once(prepared: Prepared) -> GraphFit:
        filling = prepared.filling
        own = settings if filling is None or filling.is_last else settings.for_imputation_round(prepared.rows.n_columns)
        try:
            with threads_for(prepared.rows.n_rows, prepared.rows.n_columns):
                return _fit_prepared(prepared, own, frame)
        except ColumnsError as error:
            raise error.named(prepared.preparation.names) from None

    def again(loss: Loss, fit: GraphFit) -> Parameters:
        assert isinstance(loss, QuadraticLoss)
        return refitted(loss, *fit.drawn_by, settings)

    return _fitted(rows, settings, caller, more, once, again, settled=_SETTLED)


def _fit_prepared(prepared: Prepared, settings: GraphSettings, frame: str | None) -> GraphFit:
    elements = _elements(prepared, settings)
    assert isinstance(elements, PairwiseElements)

    def judge_first(loss: Loss, n_rows: int, columns: IntArray) -> Parameters:
        assert isinstance(loss, QuadraticLoss)
        return pilot_fit(loss, n_rows, columns, settings)

    def judge_like(loss: Loss, parameters: Parameters) -> Parameters:
        assert isinstance(loss, QuadraticLoss)
        return refit_like(loss, parameters, settings)

    weighed, loss = weigh(prepared, elements, settings, Judge(judge_first, judge_like))
    if prepared.filling is not None:
        loss = loss_of_copies(prepared, weighed, settings)
    assert isinstance(loss, QuadraticLoss)
    blocks = "" if weighed.weights.is_tapered else f" in {weighed.n_blocks} blocks"
    _say(settings, f"{elements.n_rows} rows{blocks}")
    if settings.reweights:
        _say(settings, f"reweighting: {weighed.reweighting}")
    by_cells = prepared.filling is not None and "cv" in settings.asked
    observed = observed_elements(prepared, weighed.weights) if by_cells else None
    certainty = certainty_of_pairs(prepared, loss, weighed, settings) if "f1" in settings.asked else None
    chosen = choose_together_or_apart(prepared, loss, elements, weighed, settings, certainty, observed)
    path, position = chosen.path, chosen.position
    _say(settings, f"alpha = {path.alphas[position]:.4g} {chosen.words}: {path.n_edges[position]} edges")
    K = joined_interaction(path.interactions[position], settings.rule)
    K = prepared.preparation.scaled_family.with_shared(loss.completed(K))
    scaled: Parameters = K, path.locations[position]
    try:
        unshrunk = refit_like(loss, scaled, settings)
    except SingularLossError:
        unshrunk = scaled
    given = in_given_units(prepared, scaled)
    coupled = loss.gamma_last is not None  # parts of a whole always determine each other
    dependent = np.zeros(0, dtype=np.intp) if coupled else nearly_dependent(elements, weighed.weights)
    remarks = [
        *weighed.remarks,
        *remarks_on_dependence(dependent, prepared.preparation.names, int(path.n_edges[position])),
        *chosen.remarks,
        *_remarks_on_convergence(chosen),
        *_remarks_on_holes(prepared),
        *association(prepared.preparation.family.common(given[0]))[1],
        *remarks_on_density(prepared.preparation.scaled_family, prepared.rows, scaled),
    ]
    lost = rounding(loss, elements, weighed, chosen, settings)
    return GraphFit(settings, prepared, weighed, loss, scaled, given, unshrunk, remarks, frame, chosen, lost)


def _elements(prepared: Prepared, settings: Settings) -> Elements:
    elements = prepared.elements(settings)
    elements.check_statistics()
    return elements


def _remarks_on_convergence(chosen: Chosen) -> list[Remark]:
    if chosen.path.converged.all():
        return []
    converged = chosen.path.converged[chosen.position]
    first = "The chosen penalty converged." if converged else "The chosen penalty did NOT converge."
    words = Message(f"{first} On its path, ", convergence_message(chosen.path))
    return [Remark(words, ConvergenceWarning, About.NOT_CONVERGED)]


def _remarks_on_holes(prepared: Prepared) -> list[Remark]:
    filling = prepared.filling
    if filling is None or filling.converged:
        return []
    words = (
        f"Filling in cells did not settle: the parameters still moved by {filling.change:.1%} after {filling.rounds} "
        "rounds. Many cells of some columns are missing or wrong; drop these columns, or trust small differences less."
    )
    return [Remark(words, ConvergenceWarning, About.NOT_CONVERGED)]


def in_given_units(prepared: Prepared, scaled: Parameters) -> Parameters:
    """Parameters of the given columns; raise, naming columns, where these are not numbers."""
    given = prepared.preparation.unscale(scaled)
    if all(np.isfinite(part).all() for part in given):
        return given
    names = prepared.preparation.names
    if prepared.preparation.family.is_pairwise:
        wrong = ~np.isfinite(location_rows(given[1])).all(axis=0) | ~np.isfinite(given[0]).all(axis=0)
        listed = quoted([names[j] for j in np.flatnonzero(wrong)])
        raise UsageError(
            f"The fit has no finite answer in columns {listed}: they hardly vary, or are too large or too small for "
            "floating-point numbers. Drop them, or measure them in other units."
        )
    raise UsageError(
        f"The fit has no finite answer: the statistics of columns {quoted(names)} are too large or too small for "
        "floating-point numbers. Measure them in other units."
    )


def _say(settings: GraphSettings, line: str) -> None:
    if settings.verbose:
        print_above(f"RobustGraph: {line}")
