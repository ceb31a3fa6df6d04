"""The law of a cell given the rest of its row under a model: its density, and where in its distribution it lies.

    log p(x_j | the others) = log p(x) - log of the integral of p over x_j,      F = integral up to x_j, over all of it

The residual of x_j is the standard normal quantile of F. Both are taken in closed form where the family has one, else
by the trapezoid rule on a grid of the column; on the orthant in log x_j, since a density may be infinite at zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.families.family import Family, Parameters

_BEYOND = (1e-4, 20.0)  # times the smallest and the largest value: where the integral ends: guards time
_FARTHEST = 37.0  # deviations: the farthest residual whose tail probability is still above zero in floats


class Conditionals(NamedTuple):
    """The laws of cells in some columns of n rows; all arrays have shape (n, k).

    Attributes
    ----------
    log_density : array
        It is normalised: the density integrates to one.
    residual : array
        The normal quantile of F, within 37 of zero; residuals are standard normal where the model is right.
    """

    log_density: Array
    residual: Array

    @property
    def share(self) -> Array:
        """F, between 0 and 1."""
        return np.asarray(ndtr(self.residual))


def has_conditionals(family: Family) -> bool:
    """Whether laws of single cells are known: for pairwise families on [0, inf) or the real line."""
    return family.is_pairwise and (family.domain.only_boundary_is_zero or family.domain.is_real_line)


def conditionals(
    family: Family, X: Array, parameters: Parameters, values: Array, columns: IntArray, usual: BoolArray, points: int
) -> Conditionals:
    """The laws of values, shape (n, k), in some columns, given the other columns of the rows X, shape (n, m).

    Parameters
    ----------
    family : Family without covariates
    X : array of shape (n, m)
    parameters : K, and eta of shape (m,) or (n, m)
    values : array of shape (n, k)
    columns : integer array of shape (k,)
    usual : boolean array of shape (n,)
        Rows whose values decide how far the grid goes.
    points : int
        How many points the grid has, where one is needed.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> from robscore.cells.conditionals import conditionals
    >>> X = np.random.default_rng(0).normal(size=(200, 1))
    >>> found = conditionals(rs.families.Gaussian(), X, (np.eye(1), np.zeros(1)), X, np.arange(1), X[:, 0] < 9, 200)
    >>> bool(np.allclose(found.log_density, -X**2 / 2 - np.log(2 * np.pi) / 2, atol=1e-6))
    True
    >>> bool(np.allclose(found.residual, X, atol=1e-2))
    True
    """
    log_density, residual = np.empty(values.shape), np.empty(values.shape)
    for k, j in enumerate(columns.tolist()):
        with np.errstate(all="ignore"):
            law = family.conditional_law(X, j, values[:, k], *parameters)
        if law is not None:
            log_density[:, k], residual[:, k] = law
            continue
        grid, strips, log_whole, log_p = _integrated(family, X, parameters, j, X[usual, j], points)
        with np.errstate(all="ignore"):
            log_density[:, k] = log_p(values[:, k]) - log_whole
        residual[:, k] = _quantile_of(values[:, k], grid, strips)
    return Conditionals(log_density, np.clip(residual, -_FARTHEST, _FARTHEST))


def conditional_quantiles(
    family: Family,
    X: Array,
    parameters: Parameters,
    j: int,
    usual: Array,
    points: int,
    levels: tuple[float, ...],
) -> Array:
    """Quantiles of column j given the other columns of the rows X, shape (n, levels); ``usual`` are values of it."""
    grid, strips, _, _ = _integrated(family, X, parameters, j, usual, points)
    return np.stack([np.interp(levels, np.append(0.0, row), grid) for row in np.cumsum(strips, axis=1)])


def _integrated(
    family: Family, X: Array, parameters: Parameters, j: int, usual: Array, points: int
) -> tuple[Array, Array, Array, Callable[[Array], Array]]:
    """A grid of column j, the shares of the area between its points, the log of the area, and log p unnormalised."""
    on_line = family.domain.is_real_line
    grid, steps = _grid(usual, points, on_line=on_line)
    with np.errstate(all="ignore"):
        log_p = family.conditional(X, j, *parameters)
        heights = np.stack([log_p(np.full(len(X), value)) for value in grid], axis=1) + steps
        top = np.nanmax(heights, axis=1, keepdims=True)
        heights = np.nan_to_num(np.exp(heights - top))
    width = np.diff(grid if on_line else np.log(grid))
    areas = (heights[:, 1:] + heights[:, :-1]) / 2 * width
    whole = areas.sum(axis=1, keepdims=True)
    return grid, areas / whole, top[:, 0] + np.log(whole[:, 0]), log_p


def _grid(column: Array, points: int, *, on_line: bool) -> tuple[Array, Array]:
    """Values from end to end, and the log of dx over the grid's own unit, which is x or log x."""
    if on_line:
        reach = float(np.ptp(column))
        values = np.linspace(column.min() - reach, column.max() + reach, points)
        return values, np.zeros(values.size)
    least = float(column[column > 0].min(initial=1.0))
    values = np.geomspace(_BEYOND[0] * least, _BEYOND[1] * float(column.max()), points)
    return values, np.log(values)


def _quantile_of(x: Array, grid: Array, strips: Array) -> Array:
    """The normal quantile of the area below x, shape (n,), found by the area above x where that is smaller.

    The smaller of both keeps its digits. ``strips`` are areas between the grid's points, shape (n, points - 1).
    """
    at = np.clip(np.searchsorted(grid, x) - 1, 0, grid.size - 2)
    rows, part = np.arange(x.size), np.clip((x - grid[at]) / (grid[at + 1] - grid[at]), 0.0, 1.0)
    own = strips[rows, at]
    below = np.cumsum(strips, axis=1)[rows, at] - (1 - part) * own
    above = np.cumsum(strips[:, ::-1], axis=1)[rows, grid.size - 2 - at] - part * own
    with np.errstate(invalid="ignore"):
        return np.where(below < above, ndtri(np.maximum(below, 0.0)), -ndtri(np.maximum(above, 0.0)))
