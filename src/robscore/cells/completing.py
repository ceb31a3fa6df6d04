"""Gibbs sweeps over some cells of a table: each redrawn from its distribution given the rest of its row."""

from __future__ import annotations

import numpy as np

from robscore._tools.typing import Array, BoolArray
from robscore.cells.order import DrawingOrder
from robscore.domains import Simplex
from robscore.families.base import Family, Parameters
from robscore.families.samplers.slices import draw_coordinate


def without_covariates(family: Family, n_columns: int) -> Family:
    """The family of its own columns alone, of rows with so many columns, covariates included."""
    m = family.own_columns(n_columns)
    location = np.zeros((m, 1 + family.n_given) if family.n_given else m)
    return family.at(np.ones((1, n_columns)), np.eye(m), location)[0]


def redrawn(
    family: Family,
    X: Array,
    holes: BoolArray,
    parameters: Parameters,
    *,
    order: DrawingOrder,
    sweeps: int,
    rng: np.random.Generator,
) -> Array:
    """The rows X, shape (n, m), inside the domain, with their holes redrawn in so many sweeps.

    Parameters
    ----------
    family : Family
    X : array of shape (n, m), with covariates after the family's own columns, if there are any
    holes : boolean array of shape (n, own columns)
    parameters : K and eta, which have a density
    order : of the draws
    sweeps : int
    rng : Generator

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> from robscore.cells.completing import redrawn
    >>> from robscore.cells.order import DrawingOrder
    >>> X = np.zeros((2000, 2))
    >>> holes = np.broadcast_to([False, True], X.shape)
    >>> K = np.array([[2.0, -1.0], [-1.0, 2.0]])
    >>> order, rng = DrawingOrder(np.arange(2000), np.arange(2)), np.random.default_rng(0)
    >>> drawn = redrawn(rs.families.Gaussian(), X, holes, (K, np.zeros(2)), order=order, sweeps=1, rng=rng)
    >>> bool(drawn[:, 0].any()), round(float(drawn[:, 1].var()), 1)
    (False, 0.5)
    """
    base, own, (K, eta) = family.at(X, *parameters)
    own = own.copy()
    with np.errstate(all="ignore"):  # rows of any size may be among them
        for _ in range(sweeps):
            if isinstance(base.domain, Simplex):
                _redraw_parts(base, own, holes, K, eta, order, rng)
            else:
                _redraw(base, own, holes, K, eta, order, rng)
    return np.concatenate([own, X[:, own.shape[1] :]], axis=1)


def _redraw(
    family: Family, X: Array, holes: BoolArray, K: Array, eta: Array, order: DrawingOrder, rng: np.random.Generator
) -> None:
    """One sweep, column by column, in place."""
    for j in order.columns.tolist():
        rows = order.rows_of(holes, j)
        if rows.size:
            own = eta if eta.ndim == 1 else eta[rows]
            drawn = draw_coordinate(family, K, own, X[rows], j, rng)
            X[rows, j] = np.where(np.isfinite(drawn), drawn, X[rows, j])


def _redraw_parts(
    family: Family, X: Array, holes: BoolArray, K: Array, eta: Array, order: DrawingOrder, rng: np.random.Generator
) -> None:
    """One sweep over parts of compositions, in place: a missing part moves against another missing part of its row.

    That other one, the partner, is drawn for every row; a part that is missing alone is what the others leave of 1.
    """
    m = X.shape[1]
    count = np.count_nonzero(holes, axis=1)
    several = order.rows[count[order.rows] >= 2]
    nth = np.minimum((rng.random(several.size) * count[several]).astype(np.intp), count[several] - 1)
    partner = np.argsort(~holes[several], axis=1, kind="stable")[np.arange(several.size), nth]
    for last in order.columns.tolist():
        rows = several[partner == last]
        if not rows.size:
            continue
        turned = np.append(np.delete(np.arange(m), last), last)
        turned_K = K[np.ix_(turned, turned)]
        for place, j in enumerate(turned[:-1].tolist()):
            some = rows[holes[rows, j]]
            if some.size:
                own = (eta if eta.ndim == 1 else eta[some])[..., turned]
                values = draw_coordinate(family, turned_K, own, X[np.ix_(some, turned)], place, rng)
                X[some] = family.domain.replaced(X[np.ix_(some, turned)], place, values)[:, np.argsort(turned)]
