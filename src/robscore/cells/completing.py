"""Some cells of a table redrawn, given the rest of their rows.

By Gibbs sweeps, each cell from its distribution given all others; those of normal rows, and of rows that are normal
after a change of variables, at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robscore._tools.typing import Array, BoolArray
from robscore.cells.normal_law import given_the_rest
from robscore.cells.order import DrawingOrder
from robscore.domains import Simplex
from robscore.families.base import Family, Parameters
from robscore.families.samplers.normal import NormalSampler
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
    """The rows X, shape (n, m), inside the domain, with their holes redrawn in so many sweeps, or independently.

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
    return np.asarray(completions(family, X, holes, parameters, order=order, sweeps=[sweeps], rngs=[rng])[0])


def completions(
    family: Family,
    X: Array,
    holes: BoolArray,
    parameters: Parameters,
    *,
    order: DrawingOrder,
    sweeps: Sequence[int],
    rngs: Sequence[np.random.Generator],
) -> Array:
    """As :func:`redrawn` gives them, one after another, each from the one before; shape (len(rngs), n, m)."""
    base, own, (K, eta) = family.at(X, *parameters)
    sampler = base.sampler()
    with np.errstate(all="ignore"):  # rows of any size may be among them
        normal = sampler.undone(own) if isinstance(sampler, NormalSampler) else None
        if normal is not None:
            assert isinstance(sampler, NormalSampler)
            drawn = _normal_completions(normal, holes, K, eta + sampler.shift, order, rngs)
            drawn = drawn if sampler.change is None else sampler.change(drawn)
            drawn = np.where(holes & np.isfinite(drawn), drawn, own)
        else:
            sweep, own = _redraw_parts if isinstance(base.domain, Simplex) else _redraw, own.copy()
            drawn = np.empty((len(rngs), *own.shape))
            for k, (count, rng) in enumerate(zip(sweeps, rngs, strict=True)):
                for _ in range(count):
                    sweep(base, own, holes, K, eta, order, rng)
                drawn[k] = own
    given = X[:, own.shape[1] :]
    return np.concatenate([drawn, np.broadcast_to(given, (len(rngs), *given.shape))], axis=2)


def _normal_completions(
    Y: Array, holes: BoolArray, K: Array, eta: Array, order: DrawingOrder, rngs: Sequence[np.random.Generator]
) -> Array:
    """Normal rows Y, shape (n, m), with their holes drawn at once, independently of each other; shape (E, n, m)."""
    there = np.ix_(order.rows, order.columns)
    own, own_holes, own_K = Y[there], holes[there], K[np.ix_(order.columns, order.columns)]
    laws = list(given_the_rest(own, own_holes, own_K, np.broadcast_to(eta, Y.shape)[there]))
    drawn = np.empty((len(rngs), *Y.shape))
    for k, rng in enumerate(rngs):
        noise = rng.standard_normal(Y.shape)
        for rows, columns, root, pull in laws:
            at = rows[:, None], columns
            own[at] = np.linalg.solve(root, (pull + noise[at])[:, :, None])[:, :, 0]
        drawn[k][there] = own
    return drawn


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
