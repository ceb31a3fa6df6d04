"""Bad rows: which rows go bad, and what they are replaced by or how they are damaged by faults of measurement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from robscore._tools.messages import ArgumentError, Message, Setting
from robscore._tools.numbers import check_number
from robscore._tools.randomness import as_generator
from robscore._tools.typing import Array, IntArray, RandomState
from robscore.rows.input_data import read_matrix
from robscore.rows.partition import Partition, check_n_blocks
from robscore.simulate.models import random_model, sample

Where: TypeAlias = Literal["fixed", "tukey-huber", "one-to-a-block"]
Replacement: TypeAlias = Callable[[np.random.Generator, int, Array], Array]
Damage: TypeAlias = Callable[[np.random.Generator, Array, Array], Array]  # of bad rows, given these and all clean rows


class Contaminated(NamedTuple):
    """Data with bad rows, and which rows are bad."""

    X: Array
    bad_rows: IntArray


def choose_rows(
    n_rows: int,
    share: float,
    *,
    where: Where = "fixed",
    n_blocks: int | None = None,
    random_state: RandomState = None,
) -> IntArray:
    """Choose the positions of the rows that go bad; return them in order.

    Parameters
    ----------
    n_rows : int
    share : float in [0, 0.5)
    where : {"fixed", "tukey-huber", "one-to-a-block"}, default "fixed"
        round(share * n) rows at random; every row on its own with that probability; or round(share * n) rows that an
        adversary spreads over as many of the n_blocks blocks as possible, the worst case for a median of means.
    n_blocks : int, optional
        For "one-to-a-block": the blocks of neighbouring rows that the estimator will use.
    random_state : int, Generator or None

    Examples
    --------
    >>> import robscore as rs
    >>> rs.simulate.choose_rows(20, 0.2, where="one-to-a-block", n_blocks=4, random_state=0).tolist()
    [3, 8, 10, 17]
    """
    if not (0 <= share < 0.5 and n_rows >= 1):
        rows = Setting("n_rows", n_rows)
        raise ArgumentError("share", share, Message("must lie between 0 and 0.5, and ", rows, " be at least 1."))
    rng = as_generator(random_state)
    if where == "fixed":
        return np.sort(rng.choice(n_rows, size=round(share * n_rows), replace=False))
    if where == "tukey-huber":
        return np.flatnonzero(rng.random(n_rows) < share)
    if where != "one-to-a-block":
        raise ArgumentError("where", where, "is not known; use 'fixed', 'tukey-huber' or 'one-to-a-block'.")
    if n_blocks is None:
        raise ArgumentError("where", where, "needs n_blocks=, the blocks that the estimator will use.")
    check_n_blocks(n_blocks, n_rows)
    partition = Partition.even(n_rows, n_blocks)
    # The first of every block in random order, then the second, and so on; blocks in random order too.
    turn = np.concatenate([rng.permutation(size) for size in partition.sizes])
    block = np.repeat(rng.permutation(n_blocks), partition.sizes)
    return np.sort(partition.order[np.lexsort((block, turn))[: round(share * n_rows)]])


def contaminate(X: Array, share: float, replacement: Replacement, **options: Any) -> Contaminated:
    """Replace a share of the rows by others.

    Parameters
    ----------
    X : array of shape (n, m)
    share : float in [0, 0.5)
    replacement : callable
        ``replacement(rng, count, X)`` gives the bad rows, shape (count, m), X being the clean data.
    options : where, n_blocks, random_state
        As in :func:`choose_rows`.

    Returns
    -------
    (X, bad_rows)
        A new array, and the sorted positions of the replaced rows.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> def large(rng, count, X):
    ...     return np.full((count, 2), 99.0)
    >>> X, bad_rows = rs.simulate.contaminate(np.ones((40, 2)), 0.1, large, random_state=0)
    >>> bad_rows.size, float(X[bad_rows].min())
    (4, 99.0)
    """

    def replace(rng: np.random.Generator, rows: Array, clean: Array) -> Array:
        new = np.asarray(replacement(rng, len(rows), clean), dtype=float)
        if new.shape != rows.shape:
            raise ValueError(f"replacement must give {len(rows)} rows of {clean.shape[1]} columns; got {new.shape}.")
        return new

    return _damaged(X, share, replace, options)


def _damaged(X: Array, share: float, damage: Damage, options: dict[str, Any]) -> Contaminated:
    """Choose the bad rows of some data, and put what the damage makes of them in their place."""
    clean, _ = read_matrix(X, "X")
    rng = as_generator(options.pop("random_state", None))
    bad_rows = choose_rows(len(clean), share, random_state=rng, **options)
    dirty = clean.copy()
    dirty[bad_rows] = damage(rng, clean[bad_rows], clean)
    return Contaminated(dirty, bad_rows)


def contaminate_pareto(X: Array, share: float, *, shape: float = 1.0, **options: Any) -> Contaminated:
    """Replace rows by independent Pareto draws whose scale, the least value, is the column mean (section 5.1).

    Parameters
    ----------
    X : array of shape (n, m), with positive column means
    share : float in [0, 0.5)
    shape : float, default 1
    options : where, n_blocks, random_state
        As in :func:`choose_rows`.

    Returns
    -------
    (X, bad_rows)

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> X, bad_rows = rs.simulate.contaminate_pareto(np.ones((40, 2)), 0.05, random_state=0)
    >>> bad_rows.size, bool((X >= 1).all())
    (2, True)
    """

    def rows(rng: np.random.Generator, count: int, clean: Array) -> Array:
        scale = clean.mean(axis=0)
        if not (shape > 0 and (scale > 0).all()):
            raise ArgumentError("shape", shape, "and all column means must be positive for Pareto draws.")
        return np.asarray(scale * (1.0 + rng.pareto(shape, size=(count, scale.size))))

    return contaminate(X, share, rows, **options)


def contaminate_symmetric(X: Array, share: float, *, strength: float, **options: Any) -> Contaminated:
    """Replace rows by independent normals of mean 0 and ``strength`` times the columns' variances (appendix D.1).

    Parameters
    ----------
    X : array of shape (n, m)
    share : float in [0, 0.5)
    strength : float
        The paper's alpha, 2 or 10 there.
    options : where, n_blocks, random_state
        As in :func:`choose_rows`.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> rs.simulate.contaminate_symmetric(X, 0.05, strength=10, random_state=0).bad_rows.size
    5
    """
    check_number("strength", strength, at_least=0.0)

    def rows(rng: np.random.Generator, count: int, clean: Array) -> Array:
        return rng.standard_normal((count, clean.shape[1])) * np.sqrt(strength * clean.var(axis=0, ddof=1))

    return contaminate(X, share, rows, **options)


def contaminate_skewed(X: Array, share: float, *, strength: float, shape: float = 1.0, **options: Any) -> Contaminated:
    """Replace rows by independent Pareto draws shifted to start at 0 (appendix D.1).

    Their scale makes the 3/4 quantile ``strength`` times that of the column.

    Parameters
    ----------
    X : array of shape (n, m), with positive 3/4 quantiles
    share : float in [0, 0.5)
    strength : float
        The paper's alpha, 2 or 10 there.
    shape : float, default 1
    options : where, n_blocks, random_state
        As in :func:`choose_rows`.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> dirty, bad_rows = rs.simulate.contaminate_skewed(X, 0.05, strength=2, random_state=0)
    >>> bool((dirty[bad_rows] >= 0).all())
    True
    """
    check_number("strength", strength, at_least=0.0)

    def rows(rng: np.random.Generator, count: int, clean: Array) -> Array:
        target = strength * np.quantile(clean, 0.75, axis=0)
        if not (shape > 0 and (target > 0).all()):
            raise ArgumentError(
                "shape", shape, "and the 3/4 quantiles of all columns must be positive for Pareto draws."
            )
        scale = target / (4.0 ** (1.0 / shape) - 1.0)
        return np.asarray(scale * rng.pareto(shape, size=(count, clean.shape[1])))

    return contaminate(X, share, rows, **options)


def contaminate_wide(X: Array, share: float, *, variance: float, **options: Any) -> Contaminated:
    """Replace rows by independent normals of mean 0 and one variance for all columns.

    Parameters
    ----------
    X : array of shape (n, m)
    share : float in [0, 0.5)
    variance : float
    options : where, n_blocks, random_state
        As in :func:`choose_rows`.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.simulate.contaminate_wide(np.zeros((20, 2)), 0.1, variance=100.0, random_state=0).bad_rows.size
    2
    """
    check_number("variance", variance, at_least=0.0)
    return contaminate(
        X, share, lambda rng, count, clean: np.sqrt(variance) * rng.standard_normal((count, clean.shape[1])), **options
    )


def contaminate_other_graph(X: Array, share: float, *, n_edges: int, **options: Any) -> Contaminated:
    """Replace rows by absolute values of draws from a Gaussian model on another random graph.

    Such rows are of ordinary size; only the dependence between their columns is wrong.

    Parameters
    ----------
    X : array of shape (n, m)
    share : float in [0, 0.5)
    n_edges : int
        Edges of the other graph, drawn by :func:`random_model`.
    options : where, n_blocks, random_state
        As in :func:`choose_rows`.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> X, bad_rows = rs.simulate.contaminate_other_graph(np.ones((60, 4)), 0.1, n_edges=3, random_state=0)
    >>> bad_rows.size, bool((X >= 0).all())
    (6, True)
    """

    def rows(rng: np.random.Generator, count: int, clean: Array) -> Array:
        if count == 0:
            return np.empty((0, clean.shape[1]))
        other = random_model(clean.shape[1], n_edges, random_state=rng)
        return np.abs(sample("gaussian", other.interaction, n_rows=count, random_state=rng))

    return contaminate(X, share, rows, **options)


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

    def gather(rng: np.random.Generator, rows: Array, clean: Array) -> Array:
        copies = clean.mean(axis=0) + clean.std(axis=0) * (distance + spread * rng.standard_normal(rows.shape))
        return np.abs(copies) if (clean >= 0).all() else copies

    return _damaged(X, share, gather, options)


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

    def silence(rng: np.random.Generator, rows: Array, clean: Array) -> Array:
        dead = rng.random(rows.shape).argsort(axis=1) < max(1, round(cells * rows.shape[1]))
        return np.where(dead, size * np.median(np.abs(clean), axis=0) * rng.uniform(0.5, 1.5, size=rows.shape), rows)

    return _damaged(X, share, silence, options)


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

    def convert(rng: np.random.Generator, rows: Array, clean: Array) -> Array:
        rows[:, int(rng.integers(clean.shape[1]))] *= factor
        return rows

    return _damaged(X, share, convert, options)


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
    return _damaged(X, share, lambda rng, rows, clean: rows[:, rng.permutation(clean.shape[1])], options)
