"""Estimates without a penalty as a table: with standard errors, intervals, tests of zero and q-values.

Edges, effects of covariates and differences between groups are all contrasts of the parameters of one estimate, the
one over all pairs that are allowed (:mod:`robscore.certainty.influence`). Their standard errors are roots of sums of
squared influences of rows or blocks of rows; intervals and p-values come from the t distribution with as many degrees
of freedom as there are blocks, less one; q-values follow Benjamini and Hochberg.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.sparse import csr_array
from scipy.special import stdtr, stdtrit
from scipy.stats import false_discovery_control

from robscore._tools.messages import ArgumentError
from robscore._tools.numbers import check_number, check_whole
from robscore._tools.typing import AnyData, Array, BoolArray, IntArray
from robscore.certainty.filled_influence import filled_influence
from robscore.certainty.influence import (
    Influence,
    Solved,
    count_blocks,
    find_time_blocks,
    n_parameters_of_a_column,
    roots_of,
    solve,
    squares_in_blocks,
)
from robscore.fitting.fit_result import Fit
from robscore.fitting.settings import GraphSettings
from robscore.losses.quadratic import QuadraticLoss
from robscore.rows.row_source import some_of
from robscore.rows.tables import Kind, as_table
from robscore.weighting.row_weights import WeightedRows
from robscore.weighting.time_blocks import TimeBlocks

Column: TypeAlias = tuple[Kind, Any]


def check_arguments(level: float, fdr: float, block_size: int | str) -> None:
    """Raise on invalid arguments of tables with intervals and tests."""
    if isinstance(block_size, str) and block_size != "auto":
        raise ArgumentError("block_size", block_size, "is not known; use 'auto' or a number of rows.")
    if block_size != "auto":
        check_whole("block_size", block_size, at_least=1)
    for name, value in (("level", level), ("fdr", fdr)):
        check_number(name, value)
        if not 0 < value < 1:
            raise ArgumentError(name, value, "must lie between 0 and 1.")


def allowed_pairs(fit: Fit) -> BoolArray:
    """Pairs that may have an edge, shape (m, m): all but those that the user of a graph forbids."""
    m = len(fit.names)
    return fit.settings.allowed_pairs(m) if isinstance(fit.settings, GraphSettings) else ~np.eye(m, dtype=bool)


def interaction_units(fit: Fit) -> Array:
    """What K_ij on the scaled columns is multiplied by to be in the units of the data, shape (m, m)."""
    m, preparation = len(fit.names), fit.prepared.preparation
    return preparation.unscale((np.ones((m, m)), np.zeros(preparation.location_shape)))[0]


def blocks_for(fit: Fit, allowed: BoolArray, block_size: int | Literal["auto"]) -> TimeBlocks:
    """Blocks of the size that was asked for, or that the dependence of neighbouring rows calls for."""
    return find_time_blocks(fit, allowed) if block_size == "auto" else TimeBlocks(block_size)


@dataclass(frozen=True)
class Unpenalised:
    """The estimate without a penalty over some pairs, and the rows that its standard errors come from.

    Attributes
    ----------
    solved : Solved
    weighted : WeightedRows, or Influence where missing cells were filled in
        Influences are computed from the former piece by piece; the latter has them.
    blocks : TimeBlocks
        Neighbouring rows whose influences are summed.
    n_blocks : float
        How many such blocks there are.
    effective : array of shape (p,), or None
        How many rows of latent numbers would say as much about a pair, where cells are known to an interval.
    """

    solved: Solved
    weighted: WeightedRows | Influence
    blocks: TimeBlocks
    n_blocks: float
    effective: Array | None = None

    @classmethod
    def of(
        cls, fit: Fit, allowed: BoolArray, blocks: TimeBlocks, rows: IntArray | None = None, worth: float | None = None
    ) -> Unpenalised:
        """The estimate from all rows of a fit, or some by their positions, that are ``worth`` as many full rows.

        Raises
        ------
        SingularLossError
            If the rows do not determine all of it.
        """
        rows = np.arange(fit.prepared.rows.n_rows) if rows is None else rows
        n_blocks = count_blocks(rows.size, some_of(fit.weights.frequency, rows), blocks.size)
        if fit.prepared.filling is not None:
            filled = filled_influence(fit, allowed, blocks.size)
            return cls(filled.solved, filled.influence, blocks, n_blocks, filled.effective)
        elements, weights = fit.elements(rows), fit.weights.some(rows)
        solved = solve(elements, weights, allowed, fit_location=fit.settings.fit_location)
        if blocks.size > 1:
            assert isinstance(fit.loss, QuadraticLoss)
            n_parameters = n_parameters_of_a_column(fit.loss, allowed, fit_location=fit.settings.fit_location)
            # Rows that depend on each other are worth fewer, so the estimate follows them even more closely.
            effective = (weights.n_rows if worth is None else worth) / blocks.tau
            stretch = np.sqrt(effective / max(effective - n_parameters, effective / 4))
            solved = replace(solved, stretch=float(max(stretch, solved.stretch) * blocks.factor))
        return cls(solved, WeightedRows.of(elements, weights), blocks, n_blocks)

    def standard_errors(self) -> tuple[Array, Array, Array]:
        """Standard errors of K_ij and of the associations, shape (p,) each, and of locations."""
        if isinstance(self.weighted, WeightedRows):
            return self.solved.standard_errors(self.weighted, self.blocks.size)
        pairs, associations, locations = (
            roots_of(squares, self.n_blocks) for squares in squares_in_blocks(self.weighted.kinds(), self.blocks.size)
        )
        return pairs, associations, locations

    def errors_of(self, functional: csr_array, stretch: Array | float = 1.0) -> Array:
        """Standard errors of what is linear in the free parameters, with factors of shape (d, k), as (k,).

        ``stretch`` multiplies the influence of every row.
        """
        if isinstance(self.weighted, WeightedRows):
            return self.solved.errors_of(functional, self.weighted.times(stretch), self.blocks.size)
        rows = self.weighted.on_all * (stretch[:, None] if isinstance(stretch, np.ndarray) else stretch)
        (squares,) = squares_in_blocks((np.asarray(rows @ functional),), self.blocks.size)
        return roots_of(squares, self.n_blocks)


@dataclass(frozen=True)
class Tested:
    """Contrasts with their standard errors, and the tests that each of them is zero.

    Attributes
    ----------
    estimate, error : arrays of shape (k,)
    n_blocks : float
        The blocks of rows that standard errors come from.
    level : float
        Share of the intervals that are to cover the truth.
    fdr : float
        Share of the significant contrasts that may be zero, on average.
    """

    estimate: Array
    error: Array
    n_blocks: float
    level: float
    fdr: float

    @property
    def reach(self) -> float:
        """How many standard errors an interval reaches to either side."""
        return float(stdtrit(self.n_blocks - 1, 0.5 + self.level / 2))

    @cached_property
    def p_value(self) -> Array:
        """P-values of two-sided t tests, shape (k,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(2 * stdtr(self.n_blocks - 1, -np.abs(self.estimate / self.error)))

    @cached_property
    def q_value(self) -> Array:
        """Q-values of these tests together, shape (k,)."""
        return np.asarray(false_discovery_control(self.p_value)) if self.p_value.size else self.p_value

    @property
    def significant(self) -> BoolArray:
        """Which contrasts the false discovery rate allows to call different from zero, shape (k,)."""
        return np.asarray(self.q_value <= self.fdr)

    def interval(self, name: str, unit: Array | float = 1.0) -> dict[str, Column]:
        """Columns with the estimates, their errors and their intervals, all in some unit."""
        estimate, error = self.estimate * unit, self.error * unit
        return {
            name: (float, estimate),
            f"{name}_error": (float, error),
            f"{name}_low": (float, estimate - self.reach * error),
            f"{name}_high": (float, estimate + self.reach * error),
        }

    def tests(self) -> dict[str, Column]:
        """Columns with the p-values, the q-values, and whether these are significant."""
        return {
            "p_value": (float, self.p_value),
            "q_value": (float, self.q_value),
            "significant": (bool, self.significant),
        }

    def table(self, columns: dict[str, Column], frame: str | None, ties: Array | None = None) -> AnyData:
        """Columns as a table, smallest p-value first, then by ``ties``, then as they come."""
        order = np.lexsort((np.zeros_like(self.p_value) if ties is None else ties, self.p_value))
        ordered = {
            name: (kind, [values[k] for k in order] if kind is str else values[order])
            for name, (kind, values) in columns.items()
        }
        return as_table(ordered, frame)
