"""One fit, from data to a graph: whoever wants to know what robscore does reads :func:`fit_prepared` first.

    prepare ──> weigh ───> solve ──> choose ──> refit
    rows       weights,    path     position   parameters without shrinkage
               loss

Each stage has a file (solve and refit share one) and gives a frozen value that the next one reads. What not every fit
needs is a strategy around these stages; :func:`fit_graph` chooses it, and nothing else does:

    very many rows              a sample chooses the graph, all rows estimate it        by_sample.py
    missing or wrong cells      one fit after another fills them in                     imputing.py
    groups, other moderators    one graph with what changes, or a graph for each group  by_groups.py
    select="fdr"                tests choose the graph, not a penalty                   by_tests.py
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from robscore._tools.progress import print_above
from robscore._tools.threads import threads_for
from robscore.elements import PairwiseElements
from robscore.families.family import Parameters
from robscore.fitting.by_groups import choose_together_or_apart
from robscore.fitting.by_sample import asks_for_sample, fit_by_sample
from robscore.fitting.by_tests import FindPairs, fit_by_tests
from robscore.fitting.choose import Chosen, choose, rounding
from robscore.fitting.fit_remarks import remarks_on_filling, remarks_on_graph
from robscore.fitting.fit_result import Fit, GraphFit
from robscore.fitting.imputing import choose_imputed, fit_imputed, weigh_imputed
from robscore.fitting.moderator_units import remarks_on_density
from robscore.fitting.prepare import Data, Prepared, prepare
from robscore.fitting.settings import GraphSettings, Settings
from robscore.fitting.solve import (
    naming_columns,
    pilot_fit,
    refit_if_possible,
    refit_like,
    refitted,
    singular_error,
    solution_at,
    solve,
)
from robscore.fitting.weigh import Pilot, Weigh, Weighed, weigh
from robscore.losses.quadratic import Loss, QuadraticLoss
from robscore.solvers.path import Path
from robscore.solvers.unpenalised import SingularLossError, minimise

_SETTLED = 1e-4  # relative change of a graph's parameters while cells are filled in by their exact moments

Choose: TypeAlias = Callable[[Prepared, QuadraticLoss, Path, PairwiseElements, Weighed, GraphSettings], Chosen]


def fit_graph(data: Data, settings: GraphSettings, find_pairs: FindPairs) -> GraphFit:
    """A sparse graph: theta-hat(K, beta, lambda) of Definition 4.1 at the chosen penalty.

    Where tests are to choose it, ``find_pairs`` are these tests.
    """
    fit_rows = partial(_fit_as_asked, find_pairs)
    if asks_for_sample(data, settings):
        found = fit_by_sample(data, settings, fit_rows)
        if found is not None:
            return found
    return fit_rows(data, settings)


def _fit_as_asked(find_pairs: FindPairs, data: Data, settings: GraphSettings) -> GraphFit:
    if settings.asked != ["fdr"]:
        return _fit_all_rows(data, settings)
    fit = fit_by_tests(data, settings, _fit_all_rows, find_pairs)
    _print(settings, fit.chosen.describe())
    return fit


def _fit_all_rows(data: Data, settings: GraphSettings) -> GraphFit:
    if settings.fills_in or data.limits is not None:
        choose_filled = choose_together_or_apart if data.moderators else choose_imputed
        fit = partial(fit_prepared, weigh=weigh_imputed, choose=choose_filled)
        with threads_for(data.rows.n_rows, data.rows.n_columns):  # between fits are many small products
            return fit_imputed(data, settings, fit, partial(fit, to_draw=True), _refit_to_draw, settled=_SETTLED)
    choose_penalty = choose_together_or_apart if data.moderators else choose
    return fit_prepared(prepare(data, settings), settings, choose=choose_penalty)


def fit_prepared(
    prepared: Prepared,
    settings: GraphSettings,
    *,
    weigh: Weigh = weigh,
    choose: Choose = choose,
    to_draw: bool = False,
) -> GraphFit:
    """The graph of rows that are ready; a strategy may ``weigh`` and ``choose`` in its own way.

    For a fit ``to_draw`` cells by, no graph is chosen where it would not matter.
    """
    with threads_for(prepared.rows.n_rows, prepared.rows.n_columns), naming_columns(prepared):
        elements = prepared.elements(settings)
        assert isinstance(elements, PairwiseElements)

        pilot = Pilot(partial(pilot_fit, settings=settings), partial(refit_like, settings=settings))
        weighed, loss = weigh(prepared, elements, settings, pilot)
        assert isinstance(loss, QuadraticLoss)
        _print(settings, weighed.describe(prepared.rows.n_repeated))
        if to_draw and settings.draws_from_all_pairs(loss.n_columns, weighed.weights.n_rows / loss.parts.n_groups):
            settings = settings.without_graph()

        path = solve(loss, settings)

        chosen = choose(prepared, loss, path, elements, weighed, settings)
        _print(settings, chosen.describe())

        scaled = solution_at(chosen.path, chosen.position, loss, prepared.preparation, settings)
        unshrunk = refit_if_possible(loss, scaled, settings)

        given = prepared.preparation.in_given_units(scaled)
        remarks = remarks_on_graph(prepared, elements, weighed, loss, chosen, scaled, given)
        lost = rounding(loss, elements, weighed, chosen, settings)
    return GraphFit(settings, prepared, weighed, loss, scaled, given, unshrunk, remarks, chosen, lost)


def fit_parameters(data: Data, settings: Settings) -> Fit:
    """theta-hat without a penalty: Gamma-hat^-1 g-hat (section 3.2)."""
    if settings.fills_in or data.limits is not None:
        fit = partial(_fit_prepared_parameters, weigh=weigh_imputed)
        return fit_imputed(data, settings, fit, fit, lambda loss, _: minimise(loss, fit_location=settings.fit_location))
    return _fit_prepared_parameters(prepare(data, settings), settings)


def _fit_prepared_parameters(prepared: Prepared, settings: Settings, *, weigh: Weigh = weigh) -> Fit:
    elements = prepared.elements(settings)

    def minimum(loss: Loss, *_: object) -> Parameters:
        return minimise(loss, fit_location=settings.fit_location)

    weighed, loss = weigh(prepared, elements, settings, Pilot(minimum, minimum))
    try:
        scaled = minimum(loss)
    except SingularLossError as error:
        raise singular_error(prepared, weighed, loss, settings, str(error)) from None
    given = prepared.preparation.in_given_units(scaled)
    density = remarks_on_density(prepared.preparation.scaled_family, prepared.rows, scaled)
    remarks = [*weighed.remarks, *remarks_on_filling(prepared), *density]
    return Fit(settings, prepared, weighed, loss, scaled, given, scaled, remarks)


def _refit_to_draw(loss: Loss, fit: GraphFit) -> Parameters:
    """The parameters that missing cells are drawn by."""
    assert isinstance(loss, QuadraticLoss)
    return refitted(loss, *fit.drawn_by, fit.settings)


def _print(settings: GraphSettings, lines: list[str]) -> None:
    for line in lines if settings.verbose else []:
        print_above(f"RobustGraph: {line}")
