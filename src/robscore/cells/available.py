"""Rows with holes whose elements are averaged entry by entry: what a fit knows of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from robscore._tools.messages import Setting, UsageError, quoted
from robscore._tools.typing import Array, IntArray
from robscore.domains.intervals import Intervals
from robscore.elements import Elements, PowerElements
from robscore.elements.available import AvailableView, Shares, counts_of
from robscore.elements.streamed import elements_of
from robscore.families.family import Family
from robscore.families.given_covariates import GivenCovariates
from robscore.families.power import PowerFamily
from robscore.losses.quadratic import QuadraticLoss
from robscore.losses.semidefinite import indefinite
from robscore.rows.base import Rows

_LOOKED_AT = 2000  # rows, for a typical value of every column


@dataclass(frozen=True, eq=False)
class Available:
    """Scaled rows with their holes.

    Attributes
    ----------
    rows : Rows
        NaN where nothing is there; covariates after the columns.
    typical : array of shape (m,)
        A value inside the domain for every column.
    names : of the columns
    judged : bool
        Whether rows are weighed, as completed ones; else all count alike.
    shares : of the rows in which the cells of every entry are there; None before rows are weighed
    n_indefinite : how many columns' blocks of Gamma were not positive semidefinite
    """

    rows: Rows
    typical: Array
    names: Sequence[str]
    judged: bool
    shares: Shares | None = None
    n_indefinite: int = 0

    def elements(self, family: Family, memory: float, some: IntArray | None = None) -> Elements:
        """Of the rows, all or some, under a family of scaled columns."""
        assert self.shares is not None
        rows = self.rows if some is None else self.rows.selected(some)
        return elements_of(AvailableView(family, self.typical, self.shares), rows, memory)

    def weighed(self, family: Family, gamma_weights: Array, g_weights: Array, memory: float) -> Available:
        """With shares of the rows as they are weighed, arrays of shape (n,), and means of all entries by these."""
        m = self.typical.size
        given = np.zeros((1, self.rows.n_columns - m))
        kind = family.elements(np.concatenate([self.typical[None], given], axis=1))
        assert isinstance(kind, PowerElements)
        work = partial(_counted, m, given.shape[1], shared=kind.copies > 1)
        counts: QuadraticLoss = self.rows.total(work, gamma_weights)
        self._check(counts)
        found = replace(self, shares=Shares(counts.blocks, counts.g))
        centre = found.elements(family, memory).average(gamma_weights, g_weights)
        assert isinstance(centre, QuadraticLoss)
        return replace(
            found,
            shares=Shares(counts.blocks, counts.g, centre),
            n_indefinite=int(np.count_nonzero(indefinite(centre))) * (kind.copies if kind.copies > 1 else 1),
        )

    def _check(self, counts: QuadraticLoss) -> None:
        """Raise, naming columns, where no row has all cells of an entry."""
        node, *ends = np.unravel_index(int(counts.blocks.argmin()), counts.blocks.shape)
        if counts.blocks[node, ends[0], ends[1]] > 0:
            return
        needed = {int(end) for end in ends} | (set() if counts.shared else {int(node)})
        never = quoted([self.names[k] for k in sorted(needed) if k < len(self.names)])
        raise UsageError(
            f"No row has values in {never} together, so that ",
            Setting("missing", "available"),
            " has nothing to average; drop one of these columns, or use ",
            Setting("missing", "impute"),
            ".",
        )

    def describe(self) -> str:
        """How many cells are missing, and what was made of the others."""
        assert self.shares is not None
        m = len(self.names)
        counts = self.rows.total(partial(_missing, m))
        n = self.rows.n_rows
        most = ", ".join(f"{self.names[j]} ({counts[j]})" for j in np.argsort(-counts, kind="stable")[:3] if counts[j])
        pairs = self.shares.g[:, :m][~np.eye(m, dtype=bool)].mean() if m > 1 else 1.0
        return (
            f"{counts.sum()} of {n * m} missing ({counts.sum() / (n * m):.1%}), most in {most}; averages are over the "
            f"rows in which cells are there, pairs in {pairs:.0%} of the rows, about {pairs * n:.0f} full ones"
        )


def averaged_by_entries(family: Family) -> bool:
    """Whether entries of a family's elements need a few cells each: h_j must depend on x_j alone."""
    base = family.base if isinstance(family, GivenCovariates) else family
    return isinstance(base, PowerFamily) and isinstance(base.domain, Intervals)


def typical_values(rows: Rows, names: Sequence[str]) -> Array:
    """A value of every column, shape (m,), that lies in the middle of some that are there."""
    X = rows.take(rows.sample(min(rows.n_rows, _LOOKED_AT), np.random.default_rng(0)))[:, : len(names)]
    found = np.empty(len(names))
    for j, column in enumerate(X.T):
        there = np.sort(column[np.isfinite(column)])
        if not there.size:
            raise UsageError(f"Column {names[j]!r} has hardly any values: none in {len(X)} rows. Drop it.")
        found[j] = there[there.size // 2]
    return found


def filled_with(typical: Array, X: Array) -> Array:
    """Rows X with a typical value, shape (m,), in every hole of their first m columns."""
    own = X[:, : typical.size]
    return np.concatenate([np.where(np.isnan(own), typical, own), X[:, typical.size :]], axis=1)


def _counted(m: int, n_given: int, X: Array, weights: Array, *, shared: bool) -> QuadraticLoss:
    return counts_of((~np.isnan(X[:, :m])).astype(float), weights, n_given, shared=shared)


def _missing(m: int, X: Array) -> IntArray:
    return np.count_nonzero(np.isnan(X[:, :m]), axis=0)
