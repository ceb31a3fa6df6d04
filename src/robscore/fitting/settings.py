"""All arguments of a fit, checked by type and range before any work is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from robscore._tools.memory import read_bytes
from robscore._tools.messages import ArgumentError, Message, Phrase, Setting, UsageError
from robscore._tools.numbers import check_number, check_whole
from robscore._tools.randomness import as_generator
from robscore._tools.typing import Array, BoolArray, RandomState
from robscore.cells.cell_rule import CellRule
from robscore.domains.domain_kinds import Intervals
from robscore.elements.row_elements import Storage, check_storage
from robscore.families.column_kinds import Kind
from robscore.families.copula import GaussianCopula, check_kinds
from robscore.families.family import Family, get_family
from robscore.families.given_covariates import GivenCovariates, can_be_moderated
from robscore.families.power import PowerFamily
from robscore.losses.quadratic import MANY_COLUMNS
from robscore.rows.partition import check_contamination, check_n_blocks, n_blocks_for
from robscore.selection import SELECTORS
from robscore.solvers.descent import alpha_grid
from robscore.solvers.penalised_loss import Rule, check_options
from robscore.weighting.reweighting import START_CONTAMINATION
from robscore.weighting.row_rule import RowRule

_PAIRS_A_ROW = 0.5  # up to so many, cells are drawn from the estimate of all pairs
_EDGES_A_COLUMN = 10

Missing: TypeAlias = Literal["raise", "drop", "impute"]
Check = Callable[[str, Any], None]


def _boolean(name: str, value: object) -> None:
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError(name, value, "must be True or False.")


def _share(name: str, value: object) -> None:
    check_number(name, value)
    if not 0 < float(value) < 1:  # type: ignore[arg-type]
        raise ArgumentError(name, value, "must lie between 0 and 1.")


def _one_of(*choices: object) -> Check:
    def check(name: str, value: object) -> None:
        if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
            raise ArgumentError(name, value, f"is not known; use {' or '.join(map(repr, choices))}.")

    return check


def _optional(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)


def _n_blocks(name: str, value: object) -> None:
    if isinstance(value, str) and value != "auto":
        raise ArgumentError(name, value, "is not known; use 'auto', None or a number.")
    if value != "auto":
        check_whole(name, value, at_least=1)


def _reweight(name: str, value: object) -> None:
    if not isinstance(value, bool | np.bool_ | int | RowRule):
        raise ArgumentError(name, value, "must be True, False, a RowRule, or None (the default).")


def _cells(name: str, value: object) -> None:
    if not isinstance(value, bool | np.bool_ | CellRule):
        raise ArgumentError(name, value, "must be True, False or a CellRule.")


def _select(name: str, value: object) -> None:
    if not isinstance(value, str | Sequence):
        raise TypeError(f"{name}={value!r} must be the name of a rule, or several names.")
    names = [value] if isinstance(value, str) else list(value)
    known = [*SELECTORS, "fdr"]
    if not names or not all(isinstance(one, str) and one in known for one in names):
        raise ArgumentError(name, value, f"is not known; use {', '.join(map(repr, known))}, or several.")
    if "fdr" in names and len(names) > 1:
        problem = "has rules for the penalty beside 'fdr', by which tests choose the graph; give 'fdr' alone."
        raise ArgumentError(name, value, problem)


def _random_state(name: str, value: object) -> None:
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 0:
        return
    if not isinstance(value, np.random.Generator | np.random.SeedSequence | np.random.RandomState):
        raise ArgumentError(name, value, "must be a whole number of at least 0, a NumPy generator, or None.")


def _n_jobs(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value == 0:
        raise ArgumentError(name, value, "must be a whole number other than 0, or None; -1 uses all cores.")


_CHECKS: dict[str, Check] = {
    "family": lambda _, value: (get_family(value), None)[1],
    "contamination": _optional(lambda _, value: check_contamination(value)),
    "n_blocks": _optional(_n_blocks),
    "shuffle": _boolean,
    "n_partitions": partial(check_whole, at_least=1),
    "reweight": _optional(_reweight),
    "alpha": _optional(partial(check_number, at_least=0.0)),
    "select": _select,
    "ebic_gamma": partial(check_number, at_least=0.0),
    "fdr": _share,
    "n_edges": _optional(partial(check_whole, at_least=0)),
    "alphas": lambda _, value: (alpha_grid(value, 1.0, 0.5), None)[1],
    "alpha_min_ratio": _share,
    "max_edges": _optional(partial(check_whole, at_least=0)),
    "diagonal_multiplier": partial(check_number, at_least=0.0),
    "penalize_diagonal": _boolean,
    "fit_location": _boolean,
    "scale": _one_of("median", None),
    "missing": _one_of("raise", "drop", "impute"),
    "cells": _cells,
    "max_memory": lambda name, value: (read_bytes(name, value), None)[1],
    "storage": lambda _, value: check_storage(value),
    "tol": _share,
    "max_iter": partial(check_whole, at_least=1),
    "random_state": _optional(_random_state),
    "n_jobs": _optional(_n_jobs),
    "verbose": partial(check_whole, at_least=0),
}


def with_kinds(family: Family, kinds: Mapping[str, Kind] | None) -> Family:
    """The family with the kinds of columns that the user gives beside it."""
    if kinds is None:
        return family
    check_kinds(kinds)
    if not isinstance(family, GaussianCopula):
        problem = "is for columns of any kind; other families take all of them for measurements."
        raise ArgumentError("kinds", dict(kinds), problem, Message("Pass ", Setting("family", "copula"), "."))
    if family.kinds:
        raise ArgumentError("kinds", dict(kinds), f"is given twice, also in {family!r}; give it once.")
    return GaussianCopula(kinds=kinds, rule=family.rule)


def is_known_by_entries(family: Family) -> bool:
    """Whether an entry of a family's elements needs a few cells of a row only: h_j must depend on x_j alone."""
    base = family.base if isinstance(family, GivenCovariates) else family
    return not base.has_margins and isinstance(base, PowerFamily) and isinstance(base.domain, Intervals)


@dataclass(frozen=True)
class Settings:
    """Arguments that every fit has, as the estimators describe them; ``of`` checks them."""

    family: Family
    contamination: float | None
    n_blocks: int | Literal["auto"] | None
    shuffle: bool
    n_partitions: int
    reweight: bool | RowRule | None
    fit_location: bool
    scale: Literal["median"] | None
    missing: Missing
    cells: bool | CellRule
    max_memory: float | str
    random_state: RandomState

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Self:
        """Checked one by one, and for what contradicts each other."""
        for name, value in arguments.items():
            if name in _CHECKS and not (name == "verbose" and isinstance(value, bool)):
                _CHECKS[name](name, value)
        family = with_kinds(get_family(arguments["family"]), arguments.get("kinds"))
        made = cls(**{field.name: arguments[field.name] for field in fields(cls)} | {"family": family})
        made.check_together()
        return made

    def check_together(self) -> None:
        """Raise on arguments that contradict each other."""
        if self.contamination is not None and isinstance(self.n_blocks, int | np.integer):
            raise UsageError(
                Setting("contamination", self.contamination),
                " sets the number of blocks, and so does ",
                Setting("n_blocks", self.n_blocks),
                "; give one of them.",
            )
        if not (self.fit_location or self.family.is_pairwise):
            raise ArgumentError(
                "fit_location", value=False, problem=f": {self.family!r} has no location to leave out; leave out a "
                "statistic."
            )  # fmt: skip
        if self.family.has_margins:
            self.check_copula()
        redundant = self.family.redundancy(fit_location=self.fit_location)
        if redundant:
            raise UsageError(redundant)

    def check_copula(self) -> None:
        """Raise on arguments that the copula cannot follow."""
        if self.scale is None:
            raise ArgumentError("scale", None, "leaves columns as they are; the copula needs their margins.")
        if not self.fit_location:
            raise ArgumentError("fit_location", value=False, problem=": the copula's margins have a location each.")

    def check_covariates(self) -> None:
        """Raise where covariates contradict other arguments."""
        if not self.family.is_pairwise:
            raise UsageError(f"{self.family!r} has no location that covariates could move; use a pairwise family.")
        if not self.fit_location:
            raise ArgumentError("fit_location", value=False, problem=": covariates move the location, so fit it.")

    def check_moderators(self, name: str) -> None:
        """Raise where a moderator, by name, contradicts other arguments."""
        if not can_be_moderated(self.family):
            raise UsageError(
                f"The parts of {self.family!r} are coupled, so no moderator such as {name!r} can change its "
                "interactions; use log ratios of the columns with ",
                Setting("family", "gaussian"),
                ", or pass it as a covariate.",
            )
        if self.cells:
            what = (
                f"does not go with moderators such as {name!r}: wrong cells are not looked for where a column changes "
                "the graph."
            )
            raise ArgumentError("cells", value=True, problem=what, advice="Fit without it.")

    def check_size(self, n_rows: int, n_columns: int) -> None:
        """Raise on arguments that make no sense for so many complete rows and columns."""
        if n_rows < 2:
            raise UsageError(f"Found {n_rows} complete row(s) in X; at least 2 are needed.")
        if isinstance(self.n_blocks, int | np.integer):
            check_n_blocks(self.n_blocks, n_rows)

    @property
    def memory(self) -> float:
        """Bytes that elements of rows and sums over blocks may take."""
        return read_bytes("max_memory", self.max_memory)

    @property
    def loss_storage(self) -> Storage:
        """How averages hold Gamma."""
        return "auto"

    def for_imputation_round(self, n_columns: int) -> Self:
        """For a fit after which cells are filled in again."""
        return self

    def without_graph(self) -> Self:
        """For a fit of which only the row weights and the loss are needed."""
        return self

    @property
    def seed(self) -> int:
        """The seed of rows that are simulated to compare others with; always the same unless one is given."""
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return 0 if self.random_state is None else int(as_generator(self.random_state).integers(2**31))

    @property
    def cell_rule(self) -> CellRule:
        """The numbers by which wrong cells are found."""
        return self.cells if isinstance(self.cells, CellRule) else CellRule()

    @property
    def fills_in(self) -> bool:
        """Whether cells are drawn: missing ones, or wrong ones."""
        return self.missing == "impute" or bool(self.cells) or self.family.has_margins

    @property
    def reweights(self) -> bool:
        """Whether rows are reweighted: by default where neither blocks nor bad rows are given."""
        return self.blocks_unspecified if self.reweight is None else bool(self.reweight)

    @property
    def row_rule(self) -> RowRule:
        """The numbers by which bad rows are found."""
        return self.reweight if isinstance(self.reweight, RowRule) else RowRule()

    @property
    def blocks_unspecified(self) -> bool:
        """Whether neither the number of blocks nor the share of bad rows is given."""
        return self.n_blocks is None and self.contamination is None

    def first_n_blocks(self, n_rows: int) -> int:
        """K as given, or by the contamination; to start with where the data are to decide."""
        if self.n_blocks is None or self.n_blocks == "auto":
            return n_blocks_for(n_rows, START_CONTAMINATION if self.contamination is None else self.contamination)
        return int(self.n_blocks)


@dataclass(frozen=True)
class GraphSettings(Settings):
    """Arguments of a penalised fit, as :class:`robscore.RobustGraph` describes them."""

    alpha: float | None
    select: str | Sequence[str]
    ebic_gamma: float
    fdr: float
    n_edges: int | None
    alphas: int | Sequence[float] | Array
    alpha_min_ratio: float
    max_edges: int | None
    diagonal_multiplier: float
    rule: Rule
    penalty_weights: Array | None
    location_weights: Array | None
    penalize_diagonal: bool
    location_ratio: float
    effect_ratio: float
    storage: Storage
    tol: float
    max_iter: int
    n_jobs: int | None
    verbose: int

    def check_together(self) -> None:
        """Raise on arguments that contradict each other."""
        if not self.family.is_pairwise:
            raise UsageError(
                f"{self.family!r} has no interactions between columns, so there is no graph to learn; use "
                "RobustScoreMatching, or rs.solve_path for its l1 form."
            )
        if self.family.has_margins and self.storage in ("matrix-free", "float32"):
            raise ArgumentError("storage", self.storage, "is not for the copula; use 'auto' or 'dense'.")
        if self.alpha is not None and self.n_edges is not None:
            raise UsageError(
                Setting("alpha", self.alpha), " and ", Setting("n_edges", self.n_edges),
                " contradict each other; give one.",
            )  # fmt: skip
        can_judge = is_known_by_entries(self.family) or self.family.has_margins
        if self.fills_in and "cv" in self.rules and not can_judge:
            raise UsageError(
                Setting("select", self.select), f" would judge a fit of {self.family!r} by cells that it filled in "
                "itself; use ", Setting("select", "f1"), ", or 'ebic', with ", Setting("missing", "impute"), ".",
            )  # fmt: skip
        super().check_together()

    def check_covariates(self) -> None:
        """Raise where covariates contradict other arguments."""
        super().check_covariates()
        if self.family.has_margins and "cv" in self.rules:
            raise UsageError(
                Setting("select", self.select), " does not go with covariates of the copula: rows that are held out "
                "are completed without the others, which too few of them determine the effects for; use ",
                Setting("select", "f1"), ".",
            )  # fmt: skip

    def check_moderators(self, name: str) -> None:
        """Raise where a moderator, by name, contradicts other arguments."""
        super().check_moderators(name)
        if self.asked == ["fdr"]:
            problem = Message(
                f"tests the pairs of one graph, and {name!r} changes it; use ", Setting("select", "f1"),
                Phrase(" and test what changes with differences().", "."),
            )  # fmt: skip
            raise ArgumentError("select", self.select, problem)
        if self.fills_in and "cv" in self.rules:
            problem = Message(
                f"does not go with moderators such as {name!r} where cells are filled in; use ",
                Setting("select", "f1"), ", or 'ebic'.",
            )  # fmt: skip
            raise ArgumentError("select", self.select, problem)
        for argument, value, wanted in (
            ("rule", self.rule, "symmetric"),
            ("penalize_diagonal", self.penalize_diagonal, False),
        ):
            if value != wanted:
                problem = Message(f"does not go with moderators such as {name!r}; use ", Setting(argument, wanted), ".")
                raise ArgumentError(argument, value, problem)
        if self.storage in ("matrix-free", "float32"):
            raise ArgumentError("storage", self.storage, "does not take moderators; use 'auto' or 'dense'.")

    def check_size(self, n_rows: int, n_columns: int) -> None:
        """Raise on arguments that make no sense for so many complete rows and columns."""
        super().check_size(n_rows, n_columns)
        pairs = self.pair_weights(n_columns)[np.triu_indices(n_columns, k=1)]
        if self.n_edges is None:
            return
        least, most = np.count_nonzero(pairs == 0), np.count_nonzero(np.isfinite(pairs))
        if not least <= self.n_edges <= most:
            raise UsageError(
                Setting("n_edges", self.n_edges),
                f" cannot be reached: with {n_columns} columns",
                Phrase(" and these penalty_weights", ""),
                f" it must be a whole number between {least} and {most}.",
            )

    @property
    def loss_storage(self) -> Storage:
        """How averages hold Gamma."""
        return self.storage

    @property
    def rules(self) -> list[str]:
        """Names of the rules for the penalty, of which the first one decides; "fdr" stands alone."""
        return [self.select] if isinstance(self.select, str) else list(self.select)

    @property
    def asked(self) -> list[str]:
        """The rules that are asked: none where a penalty or a number of edges is given."""
        return self.rules if self.alpha is None and self.n_edges is None else []

    @property
    def problem(self) -> dict[str, Any]:
        """Arguments that shape the penalised problem, as ``rs.solve_path`` takes them."""
        return {
            "rule": self.rule,
            "diagonal_multiplier": self.diagonal_multiplier,
            "penalize_diagonal": self.penalize_diagonal,
            "fit_location": self.fit_location,
            "location_ratio": self.location_ratio,
            "effect_ratio": self.effect_ratio,
            "penalty_weights": self.penalty_weights,
            "location_weights": self.location_weights,
        }

    @property
    def descent(self) -> dict[str, Any]:
        """Arguments of the descent along the path."""
        return {
            "alpha_min_ratio": self.alpha_min_ratio,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "n_jobs": self.n_jobs,
        }

    def most_edges(self, n_columns: int) -> int:
        """Where the path may end."""
        if self.max_edges is not None:
            return self.max_edges
        if n_columns < MANY_COLUMNS:
            return n_columns**2
        return max(_EDGES_A_COLUMN * n_columns, 0 if self.n_edges is None else self.n_edges)

    def for_imputation_round(self, n_columns: int) -> Self:
        """For a fit after which cells are filled in again.

        Other rules would fit many times, round after round; the dense end of a path takes longest, and a coarse path
        will do. Both are needed where a number of edges is given.
        """
        own = replace(self, select="f1")
        if self.n_edges is not None:
            return own
        alphas = (self.alphas + 1) // 2 if isinstance(self.alphas, int) else self.alphas
        return replace(own, alphas=alphas, max_edges=min(self.most_edges(n_columns), _EDGES_A_COLUMN * n_columns))

    def without_graph(self) -> Self:
        """For a fit of which only the row weights and the loss are needed: its path ends where it begins."""
        return replace(self, alpha=None, n_edges=0, alphas=1)

    def draws_from_all_pairs(self, n_columns: int, n_rows: float) -> bool:
        """Whether so many rows suffice to draw cells from the estimate of all pairs, whatever the graph.

        Wrong cells are judged by the chosen graph: other pairs would adapt to them.
        """
        n_pairs = np.count_nonzero(self.allowed_pairs(n_columns)) / 2
        return bool(n_pairs <= _PAIRS_A_ROW * n_rows) and not self.cells

    def pair_weights(self, n_columns: int) -> Array:
        """The weights of the penalty on K, shape (m, m); raise on options of the problem that make no sense."""
        return check_options(n_columns, **self.problem)[0]

    def allowed_pairs(self, n_columns: int) -> BoolArray:
        """Pairs whose edge is not forbidden, shape (m, m)."""
        allowed = np.isfinite(self.pair_weights(n_columns))
        np.fill_diagonal(allowed, val=False)
        return np.asarray(allowed)
