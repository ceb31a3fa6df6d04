"""Rows with missing cells that are filled in as they are read, each by random numbers of its own.

The seed of a row is made of its cells, and of how many equal rows came before. So the draws depend neither on the
pieces that rows are read in, nor on how often they are read; nothing is kept in memory but a number for every row.
Cells start from a typical value of their column, and are drawn by sweeps of slices, in which the k-th step of every row
uses its k-th random numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robscore._tools.messages import UsageError
from robscore._tools.randomness import mixed_bits
from robscore._tools.typing import Array
from robscore.families.family import Family, Parameters
from robscore.families.samplers.slices import slice_coordinate
from robscore.rows.row_source import Rows

Seeds = NDArray[np.uint64]

_LOOKED_AT = 2000  # rows, for a typical value of every column
_SWEEPS = 12  # of draws, from a typical value on
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
    return mixed_bits(mixed_bits(keys + _STEP * occurrence) + _STEP * np.uint64(seed % 2**32 + 1))


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
        bits = mixed_bits(self.seeds + _STEP * np.uint64(self.calls))
        return np.asarray((bits >> np.uint64(11)) * 2.0**-53)

    def standard_exponential(self, size: int) -> Array:
        """Draw one exponential number with mean 1 for every row."""
        return -np.log1p(-self.random(size))


@dataclass(frozen=True, eq=False)
class Drawing:
    """Fills in missing cells, given a fit.

    Attributes
    ----------
    family : of the scaled rows
    parameters : K and eta, which must have a density
    typical : array of shape (m,), inside the domain
        Where cells start.
    """

    family: Family
    parameters: Parameters
    typical: Array

    def __call__(self, X: Array, seeds: Seeds) -> Array:
        """The rows X with draws in place of NaN."""
        m = self.typical.size
        missing = np.isnan(X[:, :m])
        filled = filled_with(self.typical, X)
        some = np.flatnonzero(missing.any(axis=1))
        if not some.size:
            return filled
        base, own, (K, eta) = self.family.at(filled[some], *self.parameters)
        own = own.copy()
        for step in range(_SWEEPS * m):
            j = step % m
            rows = np.flatnonzero(missing[some, j])
            if rows.size:
                rng = _RowRandomness(mixed_bits(seeds[some[rows]] + np.uint64(step + 1)))
                at_rows = eta if eta.ndim == 1 else eta[rows]
                with np.errstate(all="ignore"):  # rows may hold numbers of any size: what overflows stays as it was
                    drawn = slice_coordinate(base, K, at_rows, own[rows], j, rng)
                own[rows, j] = np.where(np.isfinite(drawn), drawn, own[rows, j])
        filled[some, :m] = own
        return filled
