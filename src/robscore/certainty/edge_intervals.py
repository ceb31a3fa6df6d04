"""Intervals and tests for the edges of a fitted graph, as one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from joblib import Parallel, delayed

from robscore._tools.messages import ArgumentError, Message, Remark, Setting, UsageError
from robscore._tools.randomness import as_generator
from robscore._tools.threads import on_one_thread, one_thread
from robscore._tools.typing import AnyData, Array, BoolArray, IntArray, RandomState
from robscore.certainty.contrasts import Column, Tested, Unpenalised, blocks_for, check_arguments, interaction_units
from robscore.certainty.influence import (
    count_blocks,
)
from robscore.elements import PairwiseElements
from robscore.fitting.fit_result import Fit, GraphFit
from robscore.fitting.solve import solve as solve_path
from robscore.graph import pair_associations
from robscore.losses.quadratic import QuadraticLoss
from robscore.rows.partition import halves
from robscore.rows.row_source import some_of
from robscore.selection.candidates import least
from robscore.selection.ebic import ebic, support
from robscore.solvers.unpenalised import SingularLossError
from robscore.weighting.time_blocks import TimeBlocks

Method: TypeAlias = Literal["sandwich", "subsampling"]
Estimate: TypeAlias = Literal["auto", "full", "split"]

_ROWS_A_PARAMETER = 3  # rows for every parameter of a column, at least, to estimate all pairs from the same rows
_N_HALVES = 100  # fits to half of the rows, for standard errors by subsampling
_FEWEST_BLOCKS = 10  # fewer say too little about how much sums over blocks vary


def edge_intervals(
    fit: GraphFit,
    *,
    level: float,
    fdr: float,
    method: Method,
    estimate: Estimate,
    block_size: int | Literal["auto"],
    random_state: RandomState,
    n_jobs: int | None,
) -> tuple[AnyData, list[Remark]]:
    """The table of :meth:`robscore.RobustGraph.edge_intervals`, and what to warn about."""
    check_arguments(level, fdr, block_size)
    _check_choices(method, estimate)
    check_one_graph(fit, "edge_intervals")
    estimate = which_rows(fit) if estimate == "auto" else estimate
    try:
        tests = PairTests.of(
            fit, method=method, estimate=estimate, block_size=block_size, random_state=random_state, n_jobs=n_jobs
        )
    except SingularLossError as error:
        remedy = "fit with a larger penalty or fewer edges" if estimate == "split" else "pass estimate='split'"
        raise UsageError(f"The rows do not determine all pairs ({error}); {remedy}, or use more rows.") from None
    return _table(fit, tests, level, fdr), remarks_on_bias(fit)


@dataclass(frozen=True)
class PairTests:
    """Estimates of pairs without shrinkage, with the standard errors that tests of "no edge" are made of.

    Attributes
    ----------
    fit : GraphFit
    found : Unpenalised
    errors : two arrays of shape (p,)
        Of K_ij on the scaled columns, and of the associations.
    n_blocks : float
        The blocks of rows that they come from.
    """

    fit: GraphFit
    found: Unpenalised
    errors: tuple[Array, Array]
    n_blocks: float

    @classmethod
    def of(
        cls,
        fit: GraphFit,
        *,
        estimate: Literal["full", "split"],
        method: Method = "sandwich",
        block_size: int | Literal["auto"] = "auto",
        random_state: RandomState = 0,
        n_jobs: int | None = None,
    ) -> PairTests:
        """Estimate all pairs from all rows, or those that one half of the rows links from the other half.

        Raises
        ------
        SingularLossError
            If the rows do not determine all of them.
        """
        n, m = fit.prepared.rows.n_rows, len(fit.names)
        allowed = fit.settings.allowed_pairs(m)
        blocks = blocks_for(fit, allowed if estimate == "full" else allowed & fit.graph.adjacency, block_size)
        if fit.prepared.filling is not None:
            _check_drawn(method, estimate)
        rng = as_generator(random_state)
        rows = np.arange(n)
        if estimate == "split":
            chooses, rows = halves(n, blocks.size, rng)
        n_blocks = count_blocks(rows.size, some_of(fit.weights.frequency, rows), blocks.size)
        _check_blocks(fit.prepared.rows.n_repeated, n_blocks, blocks.size, estimate)
        if estimate == "split":
            allowed &= _graph_of(fit, chooses, blocks.tau)
        found = Unpenalised.of(fit, allowed, blocks, rows, worth=rows.size)
        if method == "subsampling":
            errors = _errors_by_subsampling(fit, rows, allowed, blocks.size, rng, n_jobs)
        else:
            errors = found.standard_errors()[:2]
        if fit.sampled is not None and fit.sampled.known is not None and fit.prepared.preparation.has_margins:
            # Rows were filled in as they were read, and one completion of them looks more certain than they are.
            root = np.sqrt(fit.sampled.known[found.solved.pairs])
            errors = errors[0] / root, errors[1] / root
        return cls(fit, found, errors, n_blocks)

    def interactions(self, level: float, fdr: float) -> Tested:
        """K_ij on the scaled columns, tested."""
        return Tested(_estimates(self.found)[0], self.errors[0], self.n_blocks, level, fdr)

    def edges(self, level: float, fdr: float) -> Tested:
        """What "no edge" is tested by: K_ij, or associations, where latent variances are 1.

        There K_ij varies with a scale that nobody estimates, and the association does not.
        """
        if self.fit.prepared.preparation.has_margins:
            return Tested(_estimates(self.found)[1], self.errors[1], self.n_blocks, level, fdr)
        return self.interactions(level, fdr)


def _check_drawn(method: Method, estimate: Estimate) -> None:
    """Raise unless errors come from all rows at once, as they must where cells are drawn."""
    if method != "sandwich":
        raise ArgumentError("method", method, "is not for fits whose cells are drawn or filled in; use 'sandwich'.")
    if estimate != "full":
        raise UsageError(
            "Where cells are drawn or filled in, all pairs are estimated from the same rows (estimate='full'), "
            f"{_ROWS_A_PARAMETER} for every parameter of a column. Use more rows, or fewer columns."
        )


def has_rows_for_all_pairs(fit: GraphFit) -> bool:
    """Whether the rows are enough to estimate all pairs at once; else one half of them chooses which to estimate."""
    n_parameters = len(fit.names) + 1 + fit.n_given
    return bool(fit.weights.effective_rows[0] >= _ROWS_A_PARAMETER * n_parameters)


def which_rows(fit: GraphFit) -> Literal["full", "split"]:
    """Whether all rows estimate all pairs, or one half of them those that the other half links."""
    return "full" if has_rows_for_all_pairs(fit) else "split"


def check_one_graph(fit: Fit, asked: str) -> None:
    """Raise where moderators change the graph, so that it is not one."""
    if fit.prepared.preparation.moderators:
        name = fit.prepared.preparation.moderators[0].moderator.name
        raise UsageError(
            f"{asked} is of one graph, and {name!r} changes it: differences() tests what. For one group, fit "
            f"its rows alone; for all rows together, pass {name!r} as a covariate only."
        )


def _check_choices(method: str, estimate: str) -> None:
    if method not in ("sandwich", "subsampling"):
        raise ArgumentError("method", method, "is not known; use 'sandwich' or 'subsampling'.")
    if estimate not in ("auto", "full", "split"):
        raise ArgumentError("estimate", estimate, "is not known; use 'auto', 'full' or 'split'.")


def _check_blocks(n_rows: int, n_blocks: float, block_size: int, estimate: str) -> None:
    """Raise if the blocks of rows that pairs are estimated from are too few for standard errors."""
    if n_blocks >= _FEWEST_BLOCKS:
        return
    of = f"{n_rows} rows" if estimate == "full" else f"half of {n_rows} rows, the other half choosing the graph"
    needed = f"standard errors need at least {_FEWEST_BLOCKS}."
    if block_size == 1:
        raise UsageError(f"There are {n_blocks:g} rows to estimate from ({of}); {needed} Use more rows.")
    raise ArgumentError(
        "block_size", block_size, f"leaves {n_blocks:g} blocks of {of}; {needed}", "Use smaller blocks, or more rows."
    )


def remarks_on_bias(fit: GraphFit) -> list[Remark]:
    """The caution that tests leave the bias of block weights out."""
    family, n_blocks = fit.prepared.preparation.family, fit.weighed.n_blocks
    if fit.weights.is_tapered or n_blocks == 1 or family.domain.is_real_line:
        return []
    words = Message(
        f"The weights of {n_blocks} blocks bias the estimate on skewed data, which these intervals and tests leave "
        "out; fit without ",
        Setting("n_blocks"),
        " and ",
        Setting("contamination"),
        ", or with ",
        Setting("n_blocks", 1),
        ".",
    )
    return [Remark(words, UserWarning)]


def _graph_of(fit: GraphFit, rows: IntArray, tau: float) -> BoolArray:
    """The graph that some rows lead to, as many as ``tau`` of them counting as one, by eBIC."""
    elements, weights = fit.elements(rows), fit.weights.some(rows)
    loss = weights.loss(elements)
    assert isinstance(elements, PairwiseElements)
    assert isinstance(loss, QuadraticLoss)
    path = solve_path(loss, fit.settings, fit.settings.alphas)
    criterion = ebic(loss, path, n_rows=weights.effective_rows[0] / tau, elements=elements, weights=weights)
    return support(path, least(criterion, path))[0]


def _estimates(found: Unpenalised) -> tuple[Array, Array]:
    """K_ij on the scaled columns, and the associations, shape (p,) each."""
    K, (i, j) = found.solved.solution.interaction, found.solved.pairs
    return K[i, j], pair_associations(K, i, j)


def _errors_by_subsampling(
    fit: GraphFit,
    rows: IntArray,
    allowed: BoolArray,
    block_size: int,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> tuple[Array, Array]:
    """Standard errors from estimates on halves of the rows, which differ from the whole as it does from the truth."""
    parts = [rows[halves(rows.size, block_size, rng)[0]] for _ in range(_N_HALVES)]

    def estimates(half: IntArray) -> tuple[Array, Array]:
        return _estimates(Unpenalised.of(fit, allowed, TimeBlocks(), half))

    with one_thread():
        calls: Any = (delayed(on_one_thread)(estimates, half) for half in parts)
        values = list(Parallel(n_jobs=n_jobs, prefer="threads")(calls))
    frequency = np.ones(fit.prepared.rows.n_rows) if fit.weights.frequency is None else fit.weights.frequency
    share = np.mean([frequency[half].sum() for half in parts]) / frequency[rows].sum()
    factor = np.sqrt(share / (1 - share))
    interactions, associations = (np.array(part) for part in zip(*values, strict=True))
    return interactions.std(axis=0, ddof=1) * factor, associations.std(axis=0, ddof=1) * factor


def association_interval(association: Array, error: Array, reach: float) -> tuple[Array, Array]:
    """Intervals of associations r with standard errors s, all of shape (p,): within -1 and 1 where r is.

    Fisher's transformation: tanh(artanh(r) ± reach s / (1 - r^2)); where K is not positive definite, and r not within
    the limits, r ± reach s.
    """
    inside = np.abs(association) < 1
    r = np.where(inside, association, 0.0)
    middle, side = np.arctanh(r), reach * error / (1 - r**2)
    low, high = (
        np.where(inside, np.tanh(middle + sign * side), association + sign * reach * error) for sign in (-1, 1)
    )
    return np.asarray(low), np.asarray(high)


def _table(fit: GraphFit, tests: PairTests, level: float, fdr: float) -> AnyData:
    found = tests.found
    association = _estimates(found)[1]
    interactions, edges = tests.interactions(level, fdr), tests.edges(level, fdr)
    low, high = association_interval(association, tests.errors[1], edges.reach)
    i, j = found.solved.pairs
    columns: dict[str, Column] = {
        "source": (str, [fit.names[k] for k in i]),
        "target": (str, [fit.names[k] for k in j]),
        **interactions.interval("interaction", interaction_units(fit)[i, j]),
        "association": (float, association),
        "association_low": (float, low),
        "association_high": (float, high),
        **edges.tests(),
        "in_graph": (bool, fit.graph.adjacency[i, j]),
    }
    if found.effective is not None:
        columns["effective"] = (float, found.effective)
    return edges.table(columns, fit.frame, ties=-np.abs(association))
