"""Third and last stage: the penalised problem along a path, and the same loss without a penalty on a support.

The path minimises  1/2 theta' Gamma theta - g' theta + alpha |K|_1  for one alpha after another (Definition 4.1).
Shrunk parameters bias whatever is judged by them, so rows are judged by a refit of the chosen graph, and cells are
drawn from one. Before there is a graph, rows are judged by a pilot fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import numpy as np

from robscore._tools.messages import Setting, UsageError, quoted
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.families.family import Parameters
from robscore.families.identifiability import check_identifiable
from robscore.fitting.prepare import Preparation, Prepared
from robscore.fitting.settings import GraphSettings, Settings
from robscore.fitting.weigh import Weighed
from robscore.losses.quadratic import Loss, QuadraticLoss, StatisticLoss
from robscore.solvers.path import Path, joined_interaction, joined_support, solve_quietly
from robscore.solvers.unpenalised import SingularLossError, dependent_columns, refit
from robscore.solvers.unsolvable_columns import ColumnsError


def solve(
    loss: QuadraticLoss,
    settings: GraphSettings,
    alphas: int | Sequence[float] | Array | None = None,
    *,
    max_edges: int | None = None,
) -> Path:
    """The path of a loss; for the penalties of the settings, as far as these allow, or for others."""
    if alphas is None:
        alphas = settings.alphas if settings.alpha is None else [settings.alpha]
        max_edges = settings.most_edges(loss.n_columns)
    return solve_quietly(loss, alphas, max_edges=max_edges, **settings.descent, **settings.problem)


# The pilot fit is a short, rough path.
RIDGE = 1e-4  # of the diagonal of the Hessian, on the scaled columns
_PILOT_ALPHAS, _LARGEST_RATIO, _PILOT_TOL, _PILOT_SWEEPS, _PILOT_RIDGE = 6, 0.5, 1e-4, 200, 0.02


def solution_at(
    path: Path, position: int, loss: QuadraticLoss, preparation: Preparation, settings: GraphSettings
) -> Parameters:
    """K and eta of the scaled columns at a position of the path, with the entries that the family leaves implicit."""
    K = loss.completed(joined_interaction(path.interactions[position], settings.rule))
    return preparation.scaled_family.with_shared(K), path.locations[position]


def refit_if_possible(loss: QuadraticLoss, parameters: Parameters, settings: GraphSettings) -> Parameters:
    """The refit on the support of these parameters; themselves where the loss does not determine one."""
    try:
        return refit_like(loss, parameters, settings)
    except SingularLossError:
        return parameters


def refit_like(loss: Loss, parameters: Parameters, settings: GraphSettings) -> Parameters:
    """The minimum of a loss over the parameters that are not zero in those given."""
    assert isinstance(loss, QuadraticLoss)
    interaction, location = parameters
    return refitted(loss, joined_support(interaction, "symmetric"), location != 0, settings)


def pilot_fit(loss: Loss, n_rows: int, columns: IntArray, settings: GraphSettings) -> Parameters:
    """K and eta to judge rows by: a lasso with a fixed share of the largest penalty, a continuous function of the data.

    No graph is chosen, for a choice jumps; a little ridge keeps columns that are nearly dependent in bounds.
    """
    assert isinstance(loss, QuadraticLoss)
    m = loss.n_columns
    weights = settings.penalty_weights
    ratio = min(_LARGEST_RATIO, np.sqrt(np.log(max(m, 3)) / n_rows * (1 + m / n_rows)))
    path = solve_quietly(
        loss,
        _PILOT_ALPHAS,
        rule="symmetric",
        alpha_min_ratio=float(ratio),
        tol=_PILOT_TOL,
        max_iter=_PILOT_SWEEPS,
        diagonal_multiplier=0.0 if loss.zero_sums else _PILOT_RIDGE,
        penalize_diagonal=False,
        fit_location=settings.fit_location,
        location_ratio=np.inf,
        penalty_weights=None if weights is None else np.asarray(weights, dtype=float)[np.ix_(columns, columns)],
        location_weights=None,
    )
    return np.asarray(path.interactions[-1]), path.locations[-1]


def refitted(loss: QuadraticLoss, edges: BoolArray, locations: BoolArray, settings: GraphSettings) -> Parameters:
    """K and eta without a penalty on a support; a little ridge keeps nearly dependent columns in bounds."""
    solution = refit(loss, edges, locations, symmetric=settings.rule == "symmetric", ridge=RIDGE)
    return loss.completed(joined_interaction(solution.interaction, settings.rule)), solution.location


@contextmanager
def naming_columns(prepared: Prepared) -> Iterator[None]:
    """Errors of solvers, which know columns by position, get the names of these, and how many of their cells are 0."""
    try:
        yield
    except ColumnsError as error:
        raise error.named(prepared.preparation.names, _share_of_zeros(prepared, error.columns)) from None


def _share_of_zeros(prepared: Prepared, columns: list[int]) -> float:
    """The share of the cells of some columns that are zero in the units of the data."""
    if prepared.preparation.has_margins:
        return 0.0
    scaling, rows = prepared.preparation.scaling, prepared.rows
    zero = np.zeros((1, rows.n_columns))
    zero = zero if scaling is None else scaling.apply(zero)
    return float(rows.total(partial(_count_zeros, zero[0, columns], columns)) / (rows.n_rows * len(columns)))


def _count_zeros(zero: Array, columns: list[int], rows: Array) -> int:
    return int(np.count_nonzero(rows[:, columns] == zero))


def singular_error(prepared: Prepared, weighed: Weighed, loss: Loss, settings: Settings, reason: str) -> UsageError:
    """The error for a loss without a unique minimum: too few rows, or what depends on what."""
    n, m = prepared.rows.n_rows, len(prepared.preparation.names)
    family = prepared.preparation.family
    counted = int(np.count_nonzero(weighed.weights.gamma_weights))
    singular = f"Gamma-hat is singular ({reason}), so the estimate without a penalty does not exist. "
    if counted < family.statistics_a_column(m, fit_location=settings.fit_location):
        expected = check_identifiable(family, n, m, weighed.n_blocks, fit_location=settings.fit_location)
        return UsageError(f"{singular}Only {counted} of {n} rows have positive weight. {expected.words}")
    if isinstance(loss, StatisticLoss):
        return UsageError(
            f"{singular}The statistics are linearly dependent on these data, or nearly so: leave one out."
        )
    names = prepared.preparation.names
    named = quoted([names[j] for j in dependent_columns(loss)]) or "a column and the location"
    return UsageError(
        f"{singular}Linearly dependent, nearly so, or far from zero for their spread: {named}. Drop one of them, keep ",
        Setting("scale", "median"),
        ", or add a penalty with RobustGraph.",
    )
