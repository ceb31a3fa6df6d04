"""Some cells of a table drawn given the rest of their rows: in which order, from which start, by which sweeps.

Cells start from values of their column (:func:`initial_values`) and are drawn by Gibbs sweeps, each cell from its
distribution given all others. :func:`completions` is the loop of draws. Cells of normal rows, and of rows that are
normal after a change of variables, are all drawn at once (:func:`normal_given_the_rest`). For Gaussian rows no draws
are needed: a few points have the exact moments of the missing cells (:func:`normal_points`). Latent numbers within
bounds are drawn in several tables side by side (:func:`completions_within`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.random import Generator
from scipy.fft import dct
from scipy.stats import rankdata

from robscore._tools.messages import UsageError, quoted
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.domains import Domain, Simplex
from robscore.families.family import Family, Parameters
from robscore.families.given_covariates import GivenCovariates
from robscore.families.samplers.normal import NormalSampler
from robscore.families.samplers.slices import draw_coordinate

Bounds: TypeAlias = tuple[Array, Array]

_ORDERS = 256  # of the draws of a cell: so many that two cells hardly ever have the same: guards memory
_FEWEST_VALUES = 5  # observed in a column, for its other cells to be drawn; fewer are an error


@dataclass(frozen=True)
class DrawingOrder:
    """The order in which cells are drawn, one of the rows and one of the columns.

    It follows from the cells alone, so that the same random numbers meet the same cells however a table is sorted.

    Attributes
    ----------
    rows : integer array of shape (n,)
    columns : integer array of shape (m,)
    """

    rows: IntArray
    columns: IntArray

    @classmethod
    def of(cls, X: Array, given: Array | None = None) -> DrawingOrder:
        """Find the order by the observed cells of the rows X, shape (n, m), then by covariates, shape (n, q).

        Ranks within the columns do not depend on units. Columns are put in order first, by how the ranks of their cells
        go with those of the rest of their rows.
        """
        missing = np.isnan(X)
        ranks = rankdata(X, axis=0, nan_policy="omit") / np.maximum(np.count_nonzero(~missing, axis=0), 1) - 0.5
        ranks = np.where(missing, 0.0, ranks)
        centred = ranks - ranks.mean(axis=0)
        with_others = (centred * centred.sum(axis=1, keepdims=True)).mean(axis=0)
        columns = np.argsort(with_others, kind="stable")
        # Any weights will do that leave two different rows with two different sums.
        key = np.where(missing, 1.0, ranks)[:, columns] @ np.cos(np.arange(1, columns.size + 1))
        return cls(np.lexsort((*(() if given is None else given.T), key)), columns)

    def among(self, rows: IntArray) -> DrawingOrder:
        """The order of some rows, by their positions, alone."""
        place = np.full(self.rows.size, -1)
        place[rows] = np.arange(rows.size)
        own = place[self.rows]
        return DrawingOrder(own[own >= 0], self.columns)

    def rows_of(self, cells: BoolArray, j: int) -> IntArray:
        """The rows of the marked cells of column j, in order; ``cells`` has shape (n, m)."""
        return self.rows[cells[self.rows, j]]


def initial_values(X: Array, domain: Domain, names: list[str], order: DrawingOrder, seed: int) -> Array:
    """The rows X, shape (n, m), with a value of the same column in every cell that is NaN.

    The k missing cells of a column get its k quantiles at (1/2, 3/2, ...) / k, in an order drawn at random, so that
    medians, scales and domains are those of the observed cells. Missing parts of a composition share what the others
    leave of 1.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.cells.draw_cells import DrawingOrder, initial_values
    >>> from robscore.domains import Real
    >>> X = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0], [4.0, 8.0], [5.0, 9.0], [np.nan, 7.5]])
    >>> float(initial_values(X, Real(), ["a", "b"], DrawingOrder.of(X), seed=0)[5, 0])
    3.0
    """
    missing = np.isnan(X)
    _check_columns(missing, names)
    if isinstance(domain, Simplex):
        return _with_parts(X, missing)
    filled, rng = X.copy(), np.random.default_rng(seed)
    for j in order.columns:
        rows = order.rows_of(missing, j)
        if rows.size:
            levels = (rng.permutation(rows.size) + 0.5) / rows.size
            filled[rows, j] = np.quantile(X[~missing[:, j], j], levels)
    return filled


def _check_columns(missing: BoolArray, names: list[str]) -> None:
    """Raise, naming columns, where too little is observed to draw the rest from."""
    observed = np.count_nonzero(~missing, axis=0)
    few = np.flatnonzero((observed < _FEWEST_VALUES) & missing.any(axis=0))
    if few.size:
        counts = ", ".join(f"{names[j]!r} has {observed[j]}" for j in few[:5])
        raise UsageError(
            f"Columns {quoted([names[j] for j in few])} have fewer than {_FEWEST_VALUES} values, too few to fill in "
            f"the others from ({counts} of {len(missing)}). Drop these columns."
        )


def _with_parts(X: Array, missing: BoolArray) -> Array:
    """What observed parts leave of 1, shared in proportion to the medians of the missing ones; one part gets all."""
    share = np.where(missing, np.nanmedian(X, axis=0), 0.0)
    left = 1.0 - np.nansum(X, axis=1)
    without = np.flatnonzero(missing.any(axis=1) & ~(left > 0))
    if without.size:
        raise UsageError(
            f"The observed parts sum to 1 or more in {without.size} rows with missing parts (first: row "
            f"{without[0]}), which leaves nothing for the missing ones. Drop those rows."
        )
    with np.errstate(invalid="ignore"):
        return np.where(missing, left[:, None] * share / share.sum(axis=1, keepdims=True), X)


def redrawn(
    family: Family,
    X: Array,
    cells: BoolArray,
    parameters: Parameters,
    *,
    order: DrawingOrder,
    sweeps: int,
    rng: Generator,
) -> Array:
    """The rows X, shape (n, m), inside the domain, with some cells drawn anew by sweeps, or at once where rows allow.

    Parameters
    ----------
    family : Family
    X : array of shape (n, m), with covariates after the family's own columns, if there are any
    cells : boolean array of shape (n, own columns)
        The cells to draw.
    parameters : K and eta, which must have a density
    order : of the draws
    sweeps : int
    rng : Generator

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> from robscore.cells.draw_cells import DrawingOrder, redrawn
    >>> X = np.zeros((2000, 2))
    >>> cells = np.broadcast_to([False, True], X.shape)
    >>> K = np.array([[2.0, -1.0], [-1.0, 2.0]])
    >>> order, rng = DrawingOrder(np.arange(2000), np.arange(2)), np.random.default_rng(0)
    >>> drawn = redrawn(rs.families.Gaussian(), X, cells, (K, np.zeros(2)), order=order, sweeps=1, rng=rng)
    >>> bool(drawn[:, 0].any()), round(float(drawn[:, 1].var()), 1)
    (False, 0.5)
    """
    return np.asarray(completions(family, X, cells, parameters, order=order, sweeps=[sweeps], rngs=[rng])[0])


def completions(
    family: Family,
    X: Array,
    cells: BoolArray,
    parameters: Parameters,
    *,
    order: DrawingOrder,
    sweeps: Sequence[int],
    rngs: Sequence[Generator],
    bounds: Bounds | None = None,
) -> Array:
    """Tables as :func:`redrawn` gives them, each drawn from the one before; shape (len(rngs), n, m).

    Within ``bounds``, two arrays of shape (n, own columns), normal cells are drawn one after the other.
    """
    base, m = without_covariates(family), family.own_columns(X.shape[1])
    whole = np.repeat(X[None], len(rngs), axis=0)
    for rows, own_parameters in family.laws(X, *parameters):
        some = None if bounds is None else (bounds[0][rows], bounds[1][rows])
        whole[:, rows, :m] = _completed(
            base, X[rows, :m], cells[rows], own_parameters, order.among(rows), sweeps, rngs, some
        )
    return whole


def _completed(
    base: Family,
    own: Array,
    cells: BoolArray,
    parameters: Parameters,
    order: DrawingOrder,
    sweeps: Sequence[int],
    rngs: Sequence[Generator],
    bounds: Bounds | None,
) -> Array:
    """Rows without covariates that have one K, drawn anew so many times, shape (len(rngs), n, m)."""
    (K, eta), sampler = parameters, base.sampler()
    with np.errstate(all="ignore"):  # rows may hold numbers of any size: what overflows is left as it was
        normal = sampler.undone(own) if isinstance(sampler, NormalSampler) else None
        if normal is not None:
            assert isinstance(sampler, NormalSampler)
            if bounds is None:
                drawn = _normal_completions(normal, cells, K, eta + sampler.shift, order, rngs)
            else:
                least = -np.inf if sampler.change is None else 0.0
                ends = sampler.undone(np.maximum(bounds[0], least)), sampler.undone(bounds[1])
                assert ends[0] is not None
                assert ends[1] is not None
                drawn = _bounded_completions(
                    normal, cells, (ends[0], ends[1]), K, eta + sampler.shift, order, sweeps, rngs
                )
            drawn = drawn if sampler.change is None else sampler.change(drawn)
            return np.where(cells & np.isfinite(drawn), drawn, own)
        sweep = _sweep_parts if isinstance(base.domain, Simplex) else partial(_sweep, bounds=bounds)
        own, drawn = own.copy(), np.empty((len(rngs), *own.shape))
        for k, (count, rng) in enumerate(zip(sweeps, rngs, strict=True)):
            for _ in range(count):
                sweep(base, own, cells, K, eta, order, rng)
            drawn[k] = own
    return drawn


def _sweep(
    family: Family,
    X: Array,
    cells: BoolArray,
    K: Array,
    eta: Array,
    order: DrawingOrder,
    rng: Generator,
    *,
    bounds: Bounds | None,
) -> None:
    """Draw the cells once, column by column, in place."""
    for j in order.columns.tolist():
        rows = order.rows_of(cells, j)
        if rows.size:
            own = eta if eta.ndim == 1 else eta[rows]
            within = None if bounds is None else (bounds[0][rows, j], bounds[1][rows, j])
            drawn = draw_coordinate(family, K, own, X[rows], j, rng, within)
            X[rows, j] = np.where(np.isfinite(drawn), drawn, X[rows, j])


def _sweep_parts(
    family: Family, X: Array, cells: BoolArray, K: Array, eta: Array, order: DrawingOrder, rng: Generator
) -> None:
    """Draw parts of compositions once, in place: a part can only move against another missing part of its row.

    That other one, the partner, is drawn for every row; a part that is missing alone is what the others leave of 1.
    """
    m = X.shape[1]
    count = np.count_nonzero(cells, axis=1)
    several = order.rows[count[order.rows] >= 2]
    nth = np.minimum((rng.random(several.size) * count[several]).astype(np.intp), count[several] - 1)
    partner = np.argsort(~cells[several], axis=1, kind="stable")[np.arange(several.size), nth]
    for last in order.columns.tolist():
        rows = several[partner == last]
        if not rows.size:
            continue
        turned = np.append(np.delete(np.arange(m), last), last)  # the domain moves parts against the last one
        turned_K = K[np.ix_(turned, turned)]
        for place, j in enumerate(turned[:-1].tolist()):
            some = rows[cells[rows, j]]
            if some.size:
                own = (eta if eta.ndim == 1 else eta[some])[..., turned]
                values = draw_coordinate(family, turned_K, own, X[np.ix_(some, turned)], place, rng)
                X[some] = family.domain.replaced(X[np.ix_(some, turned)], place, values)[:, np.argsort(turned)]


def _normal_completions(
    Y: Array, cells: BoolArray, K: Array, eta: Array, order: DrawingOrder, rngs: Sequence[Generator]
) -> Array:
    """Normal rows Y, shape (n, m), with their cells drawn at once, independently of each other; shape (E, n, m)."""
    at_order = np.ix_(order.rows, order.columns)
    own, own_cells, own_K = Y[at_order], cells[at_order], K[np.ix_(order.columns, order.columns)]
    laws = list(normal_given_the_rest(own, own_cells, own_K, np.broadcast_to(eta, Y.shape)[at_order]))
    drawn = np.empty((len(rngs), *Y.shape))
    for k, rng in enumerate(rngs):
        noise = rng.standard_normal(Y.shape)
        for rows, columns, root, pull in laws:
            at = rows[:, None], columns
            own[at] = np.linalg.solve(root, (pull + noise[at])[:, :, None])[:, :, 0]
        drawn[k][at_order] = own
    return drawn


def _bounded_completions(
    Y: Array,
    cells: BoolArray,
    bounds: Bounds,
    K: Array,
    eta: Array,
    order: DrawingOrder,
    sweeps: Sequence[int],
    rngs: Sequence[Generator],
) -> Array:
    """Normal rows Y, shape (n, m), with their cells drawn within bounds, each table from the one before."""
    drawn = [Y]
    for count, rng in zip(sweeps, rngs, strict=True):
        drawn.append(_swept(drawn[-1][None], cells, bounds, K, eta, order, count, rng)[0])
    return np.stack(drawn[1:])


def completions_within(
    family: Family,
    tables: Array,
    cells: BoolArray,
    bounds: Bounds,
    parameters: Parameters,
    *,
    order: DrawingOrder,
    sweeps: int,
    rng: Generator,
) -> Array:
    """Tables of the same normal rows, each with its cells drawn anew within bounds by sweeps of its own.

    The E numbers that a cell is drawn by in the E tables are spread evenly over (0, 1): one in each E-th part, in an
    order that differs from cell to cell. So averages over the tables depend less on chance than those of independent
    draws do.

    Parameters
    ----------
    family : Family
    tables : array of shape (E, n, m)
        With covariates after the family's own columns, if there are any.
    cells : boolean array of shape (n, own columns)
        The cells to draw.
    bounds : two arrays of shape (n, own columns)
    parameters : K and eta, which must have a density
    order : of the draws
    sweeps : int
    rng : Generator

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> from robscore.cells.draw_cells import DrawingOrder, completions_within
    >>> order, rng = DrawingOrder(np.arange(50), np.arange(1)), np.random.default_rng(0)
    >>> cells, bounds = np.ones((50, 1), bool), (np.zeros((50, 1)), np.full((50, 1), np.inf))
    >>> family, parameters = rs.families.Gaussian(), (np.eye(1), np.zeros(1))
    >>> tables = np.ones((6, 50, 1))
    >>> found = completions_within(family, tables, cells, bounds, parameters, order=order, sweeps=1, rng=rng)
    >>> bool(found.min() > 0), round(float(found.mean()), 1)  # the mean is the root of 2 / pi
    (True, 0.8)
    """
    sampler, m = without_covariates(family).sampler(), family.own_columns(tables.shape[2])
    assert isinstance(sampler, NormalSampler)
    assert sampler.change is None
    drawn = tables.copy()
    for rows, (K, eta) in family.laws(tables[0], *parameters):
        some = bounds[0][rows], bounds[1][rows]
        drawn[:, rows, :m] = _swept(tables[:, rows, :m], cells[rows], some, K, eta, order.among(rows), sweeps, rng)
    return drawn


def _swept(
    tables: Array,
    cells: BoolArray,
    bounds: Bounds,
    K: Array,
    eta: Array,
    order: DrawingOrder,
    sweeps: int,
    rng: Generator,
) -> Array:
    """Tables of normal rows, shape (E, n, m), with their cells drawn within bounds by so many sweeps."""
    from robscore.cells.interval_draws import drawn_within  # numba is imported when it is first needed

    at_order = np.ix_(order.rows, order.columns)
    own_cells = np.ascontiguousarray(cells[at_order].T)
    lower, upper, own_eta = (
        np.ascontiguousarray(array[at_order].T) for array in (*bounds, np.broadcast_to(eta, cells.shape))
    )
    own_K, places = K[np.ix_(order.columns, order.columns)], _places(len(tables))
    within_part = rng.random((sweeps, *lower.shape))
    which = rng.integers(len(places), size=within_part.shape)
    drawn = np.empty(tables.shape)
    for k, table in enumerate(tables):
        uniforms = (places[:, k][which] + within_part) / len(tables)
        found = drawn_within(table[at_order].T, own_cells, (lower, upper), own_K, own_eta, uniforms)
        drawn[k][at_order] = found.T
    return drawn


def _places(count: int) -> Array:
    """Orders of so many numbers, shape (orders, count)."""
    return np.random.default_rng(count).permuted(np.tile(np.arange(float(count)), (_ORDERS, 1)), axis=1)


def drawn_apart(
    Y: Array, cells: BoolArray, bounds: Bounds, parameters: Parameters, order: DrawingOrder, rng: Generator
) -> Array:
    """Some cells of normal rows Y, shape (n, m), drawn within their bounds, each given the rest of Y as it is."""
    (K, eta), own = parameters, parameters[0].diagonal()
    return np.asarray(_swept(Y[None], cells, bounds, np.diag(own), Y * own + eta - Y @ K, order, 1, rng)[0])


class NormalCells(NamedTuple):
    """The law of the cells to draw in normal rows that have q of them each.

    Attributes
    ----------
    rows : integer array of shape (k,)
    columns : integer array of shape (k, q)
        The columns of these cells, ascending.
    root : array of shape (k, q, q)
        L', of the Cholesky factor L L' = K_MM.
    pull : array of shape (k, q)
        Their mean is L'^-1 pull; and L'^-1 (pull + e) are draws, where e is noise of unit variance.
    """

    rows: IntArray
    columns: IntArray
    root: Array
    pull: Array


def normal_given_the_rest(X: Array, cells: BoolArray, K: Array, eta: Array) -> Iterator[NormalCells]:
    """The law of some cells of normal rows X, shape (n, m): normal, with precision K_MM and a mean of their own.

    Rows with equally many such cells come together.

    Parameters
    ----------
    X : array of shape (n, m)
        Its values in these cells do not matter.
    cells : boolean array of shape (n, m)
    K : array of shape (m, m), positive definite
    eta : array of shape (m,), or (n, m) with one for every row

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.cells.draw_cells import normal_given_the_rest
    >>> K = np.array([[2.0, -1.0], [-1.0, 2.0]])
    >>> (law,) = normal_given_the_rest(np.array([[1.0, 0.0]]), np.array([[False, True]]), K, np.zeros(2))
    >>> (law.pull / law.root[:, 0]).round(6).tolist(), law.columns.tolist()
    ([[0.5]], [[1]])
    """
    counts = np.count_nonzero(cells, axis=1)
    pull = eta - np.where(cells, 0.0, X) @ K
    for count in np.unique(counts[counts > 0]).tolist():
        rows = np.flatnonzero(counts == count)
        columns = np.nonzero(cells[rows])[1].reshape(rows.size, count)
        lower = np.linalg.cholesky(K[columns[:, :, None], columns[:, None]])
        half = np.linalg.solve(lower, pull[rows[:, None], columns][:, :, None])[:, :, 0]
        yield NormalCells(rows, columns, np.asarray(lower.transpose(0, 2, 1)), half)


def normal_points(X: Array, cells: BoolArray, K: Array, eta: Array, most: int = 0) -> Array:
    """Completions of the rows X that have exactly the moments of some cells, shape (2 Q, n, m): no draws are needed.

    Given the others, q cells of a normal row are normal with precision K_MM. For an orthogonal Q x Q matrix with rows
    v_k, where Q >= q is the most such cells of a row, the 2 Q points  mean +- sqrt(Q) L^-T v_k  (of v_k the first q
    entries; L L' = K_MM)  have that mean and that covariance. Score-matching elements of the Gaussian family are
    quadratic, so their averages over these points are their conditional expectations.

    Parameters
    ----------
    X : array of shape (n, m)
        Its values in these cells do not matter.
    cells : boolean array of shape (n, m)
    K : array of shape (m, m), positive definite
    eta : array of shape (m,), or (n, m) with one for every row
    most : int, default 0
        Q, if it is to be larger than the most cells of a row here.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.cells.draw_cells import normal_points
    >>> K = np.array([[2.0, -1.0], [-1.0, 2.0]])
    >>> points = normal_points(np.array([[1.0, 0.0]]), np.array([[False, True]]), K, np.zeros(2))
    >>> points[:, 0, 1].mean().round(6), points[:, 0, 1].var().round(6)
    (np.float64(0.5), np.float64(0.5))
    """
    size = max(int(np.count_nonzero(cells, axis=1).max(initial=0)), most, 1)
    frame = np.sqrt(size) * dct(np.eye(size), norm="ortho")
    points = np.repeat(X[None], 2 * size, axis=0)
    for rows, columns, root, pull in normal_given_the_rest(X, cells, K, eta):
        away = np.broadcast_to(frame[:, : columns.shape[1]].T, (*columns.shape, size))
        solved = np.linalg.solve(root, np.concatenate([pull[:, :, None], away], axis=2))
        mean, away = solved[:, :, 0], solved[:, :, 1:]
        for k in range(size):
            points[k, rows[:, None], columns] = mean + away[:, :, k]
            points[size + k, rows[:, None], columns] = mean - away[:, :, k]
    return points


def without_covariates(family: Family) -> Family:
    """The family of the first columns alone."""
    return family.base if isinstance(family, GivenCovariates) else family
