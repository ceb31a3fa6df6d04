"""Losses of rows with missing cells, entry by entry: each entry of Gamma and g by the rows in which its cells are.

No fit is judged by cells that it filled in itself: families are compared, folds are judged, and rows get their losses
by what was observed. An entry of Gamma_j needs three cells at most, x_j, x_k and x_l; one of g_j two. With w = 1 where
a cell was observed, and the share p of (weighted) rows in which all cells of an entry were,

    Gamma_j[k, l] = sum_i c_i w_ij w_ik w_il A_ij u_ik u_il / p_jkl,   g_j[k] = sum_i c_i w_ij w_ik alpha_ij u_ik / p_jk

which is unbiased where cells are missing completely at random. (Where all nodes share Gamma, as of the Gaussian, x_j is
not needed.) A row's own elements are taken relative to these means,

    Gamma-bar + w (Gamma(x) - Gamma-bar) / p

whose average is the same, and whose spread is that of the estimate: a missing entry says nothing new.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from robscore._tools.memory import chunks, rows_within
from robscore._tools.messages import Setting, UsageError, quoted
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.elements.power_elements import PowerElements
from robscore.elements.row_elements import CHUNK_BYTES
from robscore.losses.quadratic import QuadraticLoss, location_rows
from robscore.rows.row_source import Rows

if TYPE_CHECKING:
    from robscore.families.family import Family


class ObservedRows(NamedTuple):
    """The arrays of some rows, zero where they need a missing cell; and which cells were observed, 0 or 1."""

    u: Array
    A: Array
    B: Array
    C: Array
    alpha: Array
    beta: Array
    gamma: Array
    c: Array
    observed: Array


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of the rows in which the cells of every entry were observed.

    Attributes
    ----------
    gamma : array of shape (m, p, p), or (1, p, p) where nodes share it
    g : array of shape (m, p)
    centre : QuadraticLoss, or None
        The means of all entries, which a row's own are taken relative to.
    """

    gamma: Array
    g: Array
    centre: QuadraticLoss | None = None


class ObservedElements:
    """Elements of n rows with missing cells under a power family: their average, and the loss of every row.

    Parameters
    ----------
    whole : PowerElements
        Of the rows with something in every missing cell.
    observed : boolean array of shape (n, m)
        Cells that were observed.
    shares : Shares
    """

    def __init__(self, whole: PowerElements, observed: BoolArray, shares: Shares) -> None:
        self.n_rows, self.n_columns = observed.shape
        self.n_locations, self.copies, self.shares = whole.n_locations, whole.copies, shares
        self.overflow = whole.overflow
        w = np.where(self.overflow[:, None], 0.0, observed)
        u, A, B, C, alpha, beta, gamma, c = whole.rows
        own = w if self.copies == 1 else np.ones((self.n_rows, 1))
        self.rows = ObservedRows(
            w * u, own * A, own * B, own * (C + whole.constant_C), w * alpha, w * beta, w * gamma, c, w
        )

    def _take(self, index: IntArray | slice) -> ObservedRows:
        return ObservedRows(*(array[index] for array in self.rows))

    def subset(self, index: IntArray) -> Self:
        """The elements of some rows."""
        some = copy(self)
        some.rows, some.n_rows, some.overflow = self._take(index), index.size, self.overflow[index]
        return some

    def average(self, gamma_weights: Array, g_weights: Array) -> QuadraticLoss:
        """The weighted averages, entry by entry."""
        sums = PowerElements(*self.rows[:-1]).average(gamma_weights, g_weights, storage="dense")
        return QuadraticLoss(sums.blocks / self.shares.gamma, sums.g / self.shares.g)

    def row_losses(self, *parameters: Array) -> Array:
        """Each row's own loss, shape (n,), missing entries as on average; infinite for rows that overflow."""
        interaction, location = parameters
        z, losses = np.concatenate([np.asarray(interaction), location_rows(location)]).T, np.empty(self.n_rows)
        pieces = chunks(self.n_rows, rows_within(CHUNK_BYTES, self.n_columns * (self.n_columns + self.n_locations)))
        with np.errstate(over="ignore", invalid="ignore"):
            for piece in pieces:
                rows = self._take(piece)
                losses[piece] = np.einsum("njp,jp->n", 0.5 * self._times(rows, z) - self._linear(rows), z)
        losses[self.overflow | ~np.isfinite(losses)] = np.inf
        return losses

    def _times(self, rows: ObservedRows, z: Array) -> Array:
        """Gamma(x_i) z of some rows, relative to the mean, shape (rows, m, p), with z of shape (m, p)."""
        m, w, shared = self.n_columns, rows.observed, self.copies > 1
        given = np.column_stack([np.ones(len(w)), rows.c])
        found = np.empty((len(w), m, z.shape[1]))
        for j in range(m):
            node, inverse = (0 if shared else j), 1.0 / self.shares.gamma[0 if shared else j]
            A, B, C = rows.A[:, [node]], rows.B[:, [node]], rows.C[:, [node]]
            at, pulled = (given @ z[j, m:])[:, None], rows.u * z[j, :m]
            found[:, j, :m] = rows.u * (A * (pulled @ inverse[:m, :m]) - B * at * inverse[:m, m])
            found[:, j, m:] = given * (C * at * inverse[m, m] - B * (pulled @ inverse[:m, [m]]))
            if self.shares.centre is not None:
                mean = self.shares.centre.blocks[node]
                own, weighted = 1.0 if shared else w[:, [j]], inverse * mean
                pulled = w * z[j, :m]
                found[:, j, :m] -= own * w * (pulled @ weighted[:m, :m] + weighted[:m, m:] @ z[j, m:])
                found[:, j, m:] -= own * (pulled @ weighted[:m, m:] + weighted[m:, m:] @ z[j, m:])
                found[:, j] += mean @ z[j]
        return found

    def _linear(self, rows: ObservedRows) -> Array:
        """g(x_i) of some rows, relative to the mean, shape (rows, m, p)."""
        m, w = self.n_columns, rows.observed
        found = np.empty((len(w), m, m + self.n_locations))
        found[:, :, :m] = rows.alpha[:, :, None] * rows.u[:, None, :]
        found[:, np.arange(m), np.arange(m)] += rows.beta
        found[:, :, m:] = rows.gamma[:, :, None] * np.column_stack([np.ones(len(w)), rows.c])[:, None, :]
        if self.shares.centre is not None:
            needed = np.concatenate([w, np.ones((len(w), self.n_locations))], axis=1)
            found -= w[:, :, None] * needed[:, None, :] * self.shares.centre.g
        found /= self.shares.g
        return found if self.shares.centre is None else found + self.shares.centre.g


@dataclass(frozen=True, eq=False)
class ObservedEntries:
    """How rows with missing cells become elements whose entries are averaged over those that have their cells.

    Attributes
    ----------
    family : a power family, on columns that are free of each other
    typical : array of shape (m,)
        A value inside the domain for every column, to stand in missing cells, which does not matter.
    shares : Shares
    """

    family: Family
    typical: Array
    shares: Shares

    @classmethod
    def weighted(
        cls, family: Family, rows: Rows, typical: Array, names: list[str], gamma_weights: Array, g_weights: Array
    ) -> ObservedEntries:
        """By rows with NaN in missing cells, covariates last, and their weights, shape (n,) each."""
        m = typical.size
        given = np.zeros((1, rows.n_columns - m))
        kind = family.elements(np.concatenate([typical[None], given], axis=1))
        assert isinstance(kind, PowerElements)
        counts = rows.total(partial(_counted, m, given.shape[1], shared=kind.copies > 1), gamma_weights)
        _check_counts(counts, names)
        plain = cls(family, typical, Shares(counts.blocks, counts.g))
        centre = rows.total(plain._averaged, gamma_weights, g_weights)
        return cls(family, typical, Shares(counts.blocks, counts.g, centre))

    def elements(self, X: Array) -> ObservedElements:
        """Of rows X, shape (n, m), with NaN in missing cells, and covariates after their columns."""
        m = self.typical.size
        observed = ~np.isnan(X[:, :m])
        filled = np.concatenate([np.where(observed, X[:, :m], self.typical), X[:, m:]], axis=1)
        whole = self.family.elements(filled)
        assert isinstance(whole, PowerElements)
        return ObservedElements(whole, observed, self.shares)

    def _averaged(self, X: Array, gamma_weights: Array, g_weights: Array) -> QuadraticLoss:
        return self.elements(X).average(gamma_weights, g_weights)


def counts_of(observed: Array, weights: Array, n_given: int, *, shared: bool) -> QuadraticLoss:
    """Weights of the rows in which the cells of every entry were observed; ``observed`` is 0 or 1, shape (n, m)."""
    m = observed.shape[1]
    own = np.ones((len(observed), 1)) if shared else observed
    marks = PowerElements(observed, own, own, own, observed, np.zeros_like(observed), observed)
    counts = marks.average(weights, weights, storage="dense")
    entries = np.append(np.arange(m), np.full(1 + n_given, m))
    return QuadraticLoss(np.abs(counts.blocks)[:, entries[:, None], entries], counts.g[:, entries])


def _counted(m: int, n_given: int, X: Array, weights: Array, *, shared: bool) -> QuadraticLoss:
    return counts_of((~np.isnan(X[:, :m])).astype(float), weights, n_given, shared=shared)


def _check_counts(counts: QuadraticLoss, names: list[str]) -> None:
    """Raise, naming columns, where no row has all cells of an entry."""
    node, *ends = np.unravel_index(int(counts.blocks.argmin()), counts.blocks.shape)
    if counts.blocks[node, ends[0], ends[1]] > 0:
        return
    needed = {int(end) for end in ends} | (set() if counts.shared else {int(node)})
    never = quoted([names[k] for k in sorted(needed) if k < len(names)])
    raise UsageError(
        f"No row has values in {never} together, so that losses cannot be judged by observed cells; drop one of these "
        "columns, or choose the graph with ",
        Setting("select", "f1"),
        ".",
    )
