"""Cutting long ranges into pieces."""

from __future__ import annotations

import numpy as np

from robscore._tools.typing import Array, IntArray

_MOST_COUNT = 0.9  # share of a piece, from which on those of weight zero are not left out: that takes copies


def chunks(size: int, length: int) -> list[slice]:
    """Cut range(size) into consecutive slices of at most the given length."""
    return [slice(low, min(low + length, size)) for low in range(0, size, length)]


def rows_within(n_bytes: float, numbers_a_row: float, at_least: int = 64) -> int:
    """How many rows of so many numbers in double precision fit in so many bytes; at least a few."""
    return max(at_least, int(n_bytes / (8 * numbers_a_row)))


def that_count(weights: Array, piece: slice) -> slice | IntArray:
    """The piece, or where many of its weights, shape (n,), are zero the positions of the others."""
    counted = np.flatnonzero(weights[piece])
    return piece.start + counted if counted.size < _MOST_COUNT * (piece.stop - piece.start) else piece
