"""Faults of measurement: rows in one place, dead sensors, wrong units, columns exchanged."""

from __future__ import annotations

from typing import Any

import numpy as np

from robscore._tools.arguments import check_number
from robscore._tools.messages import ArgumentError
from robscore._tools.randomness import as_generator
from robscore._tools.typing import Array, IntArray
from robscore.rows.input_data import read_matrix
from robscore.simulate.contaminate import Contaminated, choose_rows


def _faulty(X: Array, share: float, options: dict[str, Any]) -> tuple[Array, IntArray, np.random.Generator]:
    """A copy of the rows, those that go bad, and random numbers."""
    clean, _ = read_matrix(X, "X")
    rng = as_generator(options.pop("random_state", None))
    return clean.copy(), choose_rows(len(clean), share, random_state=rng, **options), rng


def contaminate_cluster(
    X: Array, share: float, *, distance: float, spread: float = 0.05, **options: Any
) -> Contaminated:
    """Replace rows by copies of one place: every column so many standard deviations above its mean.

    Parameters
    ----------
    X : array of shape (n, m)
    share : float in [0, 0.5)
    distance : float
        In standard deviations of each column. Where no value of X is negative, none becomes so.
    spread : float, default 0.05
        Standard deviation of the copies, in the same unit.
    options : where, n_blocks, random_state
        As in :func:`choose_rows`.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dirty, bad_rows = rs.simulate.contaminate_cluster(X, 0.1, distance=6.0, random_state=0)
    >>> bool((dirty[bad_rows] > 4).all())
    True
    """
    check_number("distance", distance)
    check_number("spread", spread, at_least=0.0)
    dirty, bad, rng = _faulty(X, share, options)
    mean, sd = dirty.mean(axis=0), dirty.std(axis=0)
    copies = mean + sd * (distance + spread * rng.standard_normal((bad.size, mean.size)))
    dirty[bad] = np.abs(copies) if (dirty >= 0).all() else copies
    return Contaminated(dirty, bad)


def contaminate_near_zero(
    X: Array, share: float, *, cells: float = 1.0, size: float = 1e-3, **options: Any
) -> Contaminated:
    """Replace cells of some rows by values near zero, as from a dead sensor.

    Parameters
    ----------
    X : array of shape (n, m)
    share : float in [0, 0.5)
    cells : float in (0, 1], default 1
        Share of the cells of each of these rows.
    size : float, default 1e-3
        Of the new values, relative to the median size of their column; times a factor uniform between 0.5 and 1.5.
    options : where, n_blocks, random_state
        As in :func:`choose_rows`.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> X, bad_rows = rs.simulate.contaminate_near_zero(np.ones((40, 4)), 0.1, cells=0.5, random_state=0)
    >>> (X[bad_rows] < 0.01).sum(axis=1).tolist()
    [2, 2, 2, 2]
    """
    check_number("size", size, at_least=0.0)
    if not 0 < cells <= 1:
        raise ArgumentError("cells", cells, "must lie above 0 and at most at 1: it is a share of the cells.")
    dirty, bad, rng = _faulty(X, share, options)
    m = dirty.shape[1]
    dead = rng.random((bad.size, m)).argsort(axis=1) < max(1, round(cells * m))
    values = size * np.median(np.abs(dirty), axis=0) * rng.uniform(0.5, 1.5, size=(bad.size, m))
    dirty[bad] = np.where(dead, values, dirty[bad])
    return Contaminated(dirty, bad)


def contaminate_units(X: Array, share: float, *, factor: float = 25.4, **options: Any) -> Contaminated:
    """Multiply one column, drawn at random, of some rows: values in other units.

    Parameters
    ----------
    X : array of shape (n, m)
    share : float in [0, 0.5)
    factor : float, default 25.4
        Inches taken for millimetres.
    options : where, n_blocks, random_state
        As in :func:`choose_rows`.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> X, bad_rows = rs.simulate.contaminate_units(np.ones((40, 4)), 0.1, random_state=0)
    >>> (X[bad_rows] == 25.4).sum(axis=1).tolist()
    [1, 1, 1, 1]
    """
    check_number("factor", factor)
    dirty, bad, rng = _faulty(X, share, options)
    dirty[bad, int(rng.integers(dirty.shape[1]))] *= factor
    return Contaminated(dirty, bad)


def contaminate_permuted(X: Array, share: float, **options: Any) -> Contaminated:
    """Exchange the columns of some rows, all in the same way: a file with its columns in another order.

    Parameters
    ----------
    X : array of shape (n, m)
    share : float in [0, 0.5)
    options : where, n_blocks, random_state
        As in :func:`choose_rows`.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> X = np.arange(80.0).reshape(20, 4)
    >>> dirty, bad_rows = rs.simulate.contaminate_permuted(X, 0.1, random_state=0)
    >>> bool((np.sort(dirty, axis=1) == X).all())
    True
    """
    dirty, bad, rng = _faulty(X, share, options)
    dirty[bad] = dirty[bad][:, rng.permutation(dirty.shape[1])]
    return Contaminated(dirty, bad)
