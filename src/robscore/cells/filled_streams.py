"""Rows with missing cells that are filled in as they are read, each by random numbers of its own.

The seed of a row is made of its cells, and of how many equal rows came before. So the draws depend neither on the
pieces that rows are read in, nor on how often they are read; nothing is kept in memory but a number for every row.
Cells start from a typical value of their column, and are drawn by sweeps of slices, in which the k-th step of every row
uses its k-th random numbers. Where columns have margins, every cell has bounds, a missing one infinite ones, and those
that are not known exactly are drawn within theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robscore._tools.messages import UsageError
from robscore._tools.randomness import mixed_bits
from robscore._tools.typing import Array, BoolArray
from robscore.cells.draw_cells import Bounds
from robscore.families.copula import Margins
from robscore.families.family import Family, Parameters, Scaling
from robscore.families.samplers.slices import slice_coordinate
from robscore.rows.row_source import MappedRows, Rows

Seeds = NDArray[np.uint64]

_LOOKED_AT = 2000  # rows, for a typical value of every column: guards time
_SWEEPS = 12  # of draws, from a typical value on: guards time
_STEP = np.uint64(0x9E3779B97F4A7C15)  # the odd number by which the generator splitmix64 moves on
_MISSING = np.uint64(0x7FF8000000000000)  # the bits of one NaN, for all NaN, which have many


def typical_values(rows: Rows, names: Sequence[str]) -> Array:
    """A value of every column, shape (m,): the middle one of those observed in some of the rows."""
    X = rows.take(rows.sample(min(rows.n_rows, _LOOKED_AT), np.random.default_rng(0)))[:, : len(names)]
    found = np.empty(len(names))
    for j, column in enumerate(X.T):
        observed = np.sort(column[np.isfinite(column)])
        if not observed.size:
            raise UsageError(f"Column {names[j]!r} has hardly any values: none in {len(X)} rows. Drop it.")
        found[j] = observed[observed.size // 2]
    return found


def filled_with(typical: Array, X: Array) -> Array:
    """Rows X with a typical value, shape (m,), in every missing cell of their first m columns."""
    own = X[:, : typical.size]
    return np.concatenate([np.where(np.isnan(own), typical, own), X[:, typical.size :]], axis=1)


def row_seeds(rows: Rows, seed: int) -> Seeds:
    """A number for every row, shape (n,), made of its cells and of how many equal rows came before.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.cells.filled_streams import row_seeds
    >>> from robscore.rows.row_source import ArrayRows
    >>> X = np.array([[1.0, np.nan], [2.0, np.nan], [1.0, np.nan]])
    >>> len(set(row_seeds(ArrayRows(X), 0).tolist()))
    3
    >>> bool((row_seeds(ArrayRows(X[[1, 0, 2]]), 0) == row_seeds(ArrayRows(X), 0)[[1, 0, 2]]).all())
    True
    """
    keys: Seeds = np.asarray(rows.gather(_keys), dtype=np.uint64)
    order = np.argsort(keys, kind="stable")
    is_new = np.append(True, keys[order][1:] != keys[order][:-1])
    first = np.maximum.accumulate(np.where(is_new, np.arange(keys.size), 0))
    occurrence = np.empty(keys.size, dtype=np.uint64)
    occurrence[order] = (np.arange(keys.size) - first).astype(np.uint64)
    return mixed_bits(mixed_bits(keys + _STEP * occurrence) + _steps(seed % 2**32 + 1))


def _steps(number: int) -> np.uint64:
    """So many steps of the generator, of which 64 bits are left."""
    return np.uint64(int(_STEP) * number % 2**64)


def other_seeds(seeds: Seeds, number: int) -> Seeds:
    """Other numbers for the same rows, shape (n,)."""
    return mixed_bits(seeds + np.uint64(number))


def _keys(X: Array) -> Seeds:
    """A number for every row, which equal rows have in common."""
    keys = np.zeros(len(X), dtype=np.uint64)
    for column in (X + 0.0).T:  # zero has one sign
        bits = np.where(np.isnan(column), _MISSING, np.ascontiguousarray(column).view(np.uint64))
        keys = mixed_bits(keys + _STEP ^ bits)
    return keys


class _RowRandomness:
    """Random numbers for rows, each from its own seed: the k-th call gives the k-th number of every row."""

    def __init__(self, seeds: Seeds) -> None:
        self.seeds, self.calls = seeds, 0

    def random(self, size: int) -> Array:
        """Draw one uniform number on [0, 1) for every row."""
        assert size == self.seeds.size
        self.calls += 1
        bits = mixed_bits(self.seeds + _steps(self.calls))
        return np.asarray((bits >> np.uint64(11)) * 2.0**-53)

    def standard_exponential(self, size: int) -> Array:
        """Draw one exponential number with mean 1 for every row."""
        return -np.log1p(-self.random(size))


@dataclass(frozen=True, eq=False)
class Drawing:
    """Scales rows and fills in their cells, given a fit: those that are missing, or known to an interval.

    Attributes
    ----------
    family : of the scaled rows
    parameters : K and eta, which must have a density; of latent numbers of variance 1 where columns have margins
    typical : array of shape (m,), inside the domain
        Where cells start, scaled.
    scaling : Scaling, or None
        How rows as given are scaled; None where they are already.
    is_judged : bool
        Whether the rows are those that a fit judges, where columns have margins (:meth:`Margins.judged`).

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> from robscore.cells import Drawing, row_seeds
    >>> from robscore.families.copula import Margins
    >>> from robscore.rows import ArrayRows, MappedRows
    >>> answers = np.random.default_rng(0).integers(1, 4, (500, 2)).astype(float)
    >>> margins = Margins.of(answers)
    >>> drawing = Drawing(rs.families.Gaussian(), (np.eye(2), np.zeros(2)), np.zeros(2), margins)
    >>> rows = ArrayRows(answers)
    >>> Z = MappedRows(rows, drawing, row_seeds(rows, 0)).gather(np.asarray)
    >>> bool((margins.undo(Z) == answers).all()), Z.std(axis=0).round(1).tolist()
    (True, [1.0, 1.0])
    """

    family: Family
    parameters: Parameters
    typical: Array
    scaling: Scaling | None = None
    is_judged: bool = False

    def __call__(self, X: Array, seeds: Seeds) -> Array:
        """The rows X, as given, scaled and with draws in their cells."""
        m = self.typical.size
        scaled = X if self.scaling is None else self.scaling.apply(X)
        filled, cells = filled_with(self.typical, scaled), np.isnan(scaled[:, :m])
        bounds = self.scaling.bounds(X) if isinstance(self.scaling, Margins) else None
        if bounds is not None:
            cells = bounds[0] < bounds[1]
        filled = self._drawn(filled, cells, bounds, seeds)
        if self.is_judged and isinstance(self.scaling, Margins):
            return self.scaling.judged(X[:, :m], cells, filled)
        return filled

    def _drawn(self, filled: Array, cells: BoolArray, bounds: Bounds | None, seeds: Seeds) -> Array:
        """Scaled rows, in place, with the marked cells drawn."""
        m = cells.shape[1]
        some = np.flatnonzero(cells.any(axis=1))
        if not some.size:
            return filled
        if bounds is None:
            base, own, (K, eta) = self.family.at(filled[some], *self.parameters)
            filled[some, :m] = _drawn_by_slices(base, own.copy(), cells[some], K, eta, seeds[some])
            return filled
        for among, (K, eta) in self.family.laws(filled[some], *self.parameters):
            rows = some[among]
            own_bounds = bounds[0][rows], bounds[1][rows]
            filled[rows, :m] = _drawn_within(filled[rows, :m], cells[rows], own_bounds, K, eta, seeds[rows])
        return filled


def rows_to_judge(rows: Rows) -> Rows:
    """The same rows as a fit judges them, where they are filled in as they are read."""
    if not (isinstance(rows, MappedRows) and isinstance(rows.change, Drawing)):
        return rows
    return MappedRows(rows.rows, replace(rows.change, is_judged=True), *rows.along)


def _drawn_by_slices(family: Family, X: Array, cells: BoolArray, K: Array, eta: Array, seeds: Seeds) -> Array:
    """The rows X, shape (n, m), with the marked cells drawn, in place."""
    m = cells.shape[1]
    for step in range(_SWEEPS * m):
        j = step % m
        rows = np.flatnonzero(cells[:, j])
        if rows.size:
            rng = _RowRandomness(mixed_bits(seeds[rows] + np.uint64(step + 1)))
            at_rows = eta if eta.ndim == 1 else eta[rows]
            with np.errstate(all="ignore"):  # rows may hold numbers of any size: what overflows stays as it was
                drawn = slice_coordinate(family, K, at_rows, X[rows], j, rng)
            X[rows, j] = np.where(np.isfinite(drawn), drawn, X[rows, j])
    return X


def _drawn_within(Z: Array, cells: BoolArray, bounds: Bounds, K: Array, eta: Array, seeds: Seeds) -> Array:
    """Normal rows Z, shape (n, m), with the marked cells drawn within bounds.

    The first sweep draws them independently, so that where they start does not matter.
    """
    from robscore.cells.interval_draws import drawn_within  # numba is imported when it is first needed

    columns, rng = Z.T, _RowRandomness(seeds)
    alone, whole = (np.eye(len(K)), np.zeros(columns.shape)), (K, np.broadcast_to(eta, Z.shape).T)
    for law in [alone, *[whole] * _SWEEPS]:
        uniforms = np.stack([rng.random(len(Z)) for _ in range(len(K))])
        columns = drawn_within(columns, cells.T, (bounds[0].T, bounds[1].T), *law, uniforms[None])
    return columns.T
