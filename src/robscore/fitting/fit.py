"""A fit, seen whole: every stage's result in one frozen value, which everything after it reads.

prepare ──> weigh ──> average ──> solve ──> choose ──> refit
rows      weights     loss       path     position   parameters without shrinkage
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from robscore._tools.errors import UsageError
from robscore._tools.remarks import About, Remark
from robscore._tools.threads import threads_for
from robscore._tools.typing import Array, IntArray
from robscore._tools.words import Words, quoted
from robscore.elements import Elements, PairwiseElements
from robscore.families.base import Parameters
from robscore.fitting.choose import Chosen, choose, rounding
from robscore.fitting.dependence import nearly_dependent, remarks_on_dependence
from robscore.fitting.prepare import Prepared, prepare
from robscore.fitting.refit import judging_fit, refit_like
from robscore.fitting.settings import GraphSettings, Settings
from robscore.fitting.singular import singular_error
from robscore.fitting.solve import solve
from robscore.fitting.weigh import Judge, Weighed, weigh
from robscore.graph import FitFacts, Graph, association
from robscore.losses.quadratic import Loss, QuadraticLoss, location_rows
from robscore.rows.base import Rows
from robscore.solvers.columns import ColumnsError
from robscore.solvers.factor import SingularLossError
from robscore.solvers.path import convergence_message, joined_interaction
from robscore.solvers.refit import minimise
from robscore.weighting.row_weights import RowWeights


@dataclass(frozen=True, eq=False)
class Fit:
    """What a fit came to, and what it was made of.

    Attributes
    ----------
    settings : Settings
        The arguments, checked.
    prepared : Prepared
        The rows that were used, scaled; which these are; and how others are made ready.
    weighed : Weighed
        What every row counts.
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
    def row_weights(self) -> Array:
        """What all rows count in Gamma-hat and g-hat, shape (n, 2); zero for those not used."""
        weights = np.zeros((self.prepared.complete.size, 2))
        for column, part in enumerate(self.weights):
            weights[self.prepared.complete, column] = part
        return weights

    def elements(self, some: IntArray | None = None) -> Elements:
        """The elements of the rows that were used, all or some (ascending positions among these)."""
        return self.prepared.elements(self.settings, some)


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
    """

    settings: GraphSettings
    loss: QuadraticLoss
    chosen: Chosen
    rounding: float

    def interaction_at(self, position: int) -> Array:
        """K of the scaled columns at a position of the path."""
        return self.loss.completed(joined_interaction(self.chosen.path.interactions[position], self.settings.rule))

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
            converged=bool(path.converged[position]),
            kkt=float(path.kkt[position]),
        )

    @cached_property
    def graph(self) -> Graph:
        """The chosen graph."""
        K = self.given[0]
        return Graph(tuple(self.names), K, association(K)[0], self.facts, self.frame)

    def graph_at(self, position: int) -> Graph:
        """The graph at another position of the path."""
        path = self.chosen.path
        scaled = self.interaction_at(position), path.locations[position]
        K = self.prepared.preparation.unscale(scaled)[0]
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
    prepared = prepare(rows, settings, caller, **more)
    elements = _elements(prepared, settings)

    def unpenalised(loss: Loss) -> Parameters:
        return minimise(loss, fit_location=settings.fit_location)

    judge = Judge(lambda loss, *_: unpenalised(loss), lambda loss, _: unpenalised(loss))
    weighed, loss = weigh(prepared, elements, settings, judge)
    try:
        scaled = unpenalised(loss)
    except SingularLossError as error:
        raise singular_error(prepared, weighed, loss, settings, str(error)) from None
    given = in_given_units(prepared, scaled)
    return Fit(settings, prepared, weighed, loss, scaled, given, scaled, weighed.remarks, frame)


def fit_graph(rows: Rows, settings: GraphSettings, *, caller: str, frame: str | None = None, **more: Any) -> GraphFit:
    """A sparse graph: theta-hat(K, beta, lambda) of Definition 4.1 at the chosen penalty."""
    prepared = prepare(rows, settings, caller, **more)
    try:
        with threads_for(prepared.rows.n_rows, prepared.rows.n_columns):
            return _fit_prepared(prepared, settings, frame)
    except ColumnsError as error:
        raise error.named(prepared.preparation.names) from None


def _fit_prepared(prepared: Prepared, settings: GraphSettings, frame: str | None) -> GraphFit:
    elements = _elements(prepared, settings)
    assert isinstance(elements, PairwiseElements)

    def judge_first(loss: Loss, n_rows: int, columns: IntArray) -> Parameters:
        assert isinstance(loss, QuadraticLoss)
        return judging_fit(loss, n_rows, columns, settings)

    def judge_like(loss: Loss, parameters: Parameters) -> Parameters:
        assert isinstance(loss, QuadraticLoss)
        return refit_like(loss, parameters, settings)

    weighed, loss = weigh(prepared, elements, settings, Judge(judge_first, judge_like))
    assert isinstance(loss, QuadraticLoss)
    blocks = "" if weighed.weights.is_tapered else f" in {weighed.n_blocks} blocks"
    _say(settings, f"{elements.n_rows} rows{blocks}")
    if settings.reweights:
        _say(settings, f"reweighting: {weighed.reweighting}")
    chosen = choose(loss, solve(loss, settings), elements, weighed, settings)
    path, position = chosen.path, chosen.position
    _say(settings, f"alpha = {path.alphas[position]:.4g} {chosen.words}: {path.n_edges[position]} edges")
    K = joined_interaction(path.interactions[position], settings.rule)
    scaled: Parameters = loss.completed(K), path.locations[position]
    try:
        unshrunk = refit_like(loss, scaled, settings)
    except SingularLossError:
        unshrunk = scaled
    given = in_given_units(prepared, scaled)
    coupled = loss.gamma_last is not None  # parts of a whole always determine each other
    dependent = np.zeros(0, dtype=np.intp) if coupled else nearly_dependent(elements, weighed.weights)
    remarks = [
        *weighed.remarks,
        *remarks_on_dependence(dependent, prepared.preparation.names),
        *chosen.remarks,
        *_remarks_on_convergence(chosen),
        *association(given[0])[1],
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
    return [
        Remark(
            Words(f"{first} On its path, ", convergence_message(chosen.path)), ConvergenceWarning, About.NOT_CONVERGED
        )
    ]


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
            f"The fit has no finite answer in columns {listed}: they hardly vary, or are very large or small for what "
            "numbers can hold. Drop them, or measure them in other units."
        )
    raise UsageError(
        f"The fit has no finite answer: the statistics of columns {quoted(names)} are too large or too small for what "
        "numbers hold. Measure them in other units."
    )


def _say(settings: GraphSettings, line: str) -> None:
    if settings.verbose:
        print(f"RobustGraph: {line}", flush=True)
