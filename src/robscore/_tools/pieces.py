"""Cutting long ranges into pieces."""

from __future__ import annotations


def chunks(size: int, length: int) -> list[slice]:
    """Cut range(size) into consecutive slices of at most the given length."""
    return [slice(low, min(low + length, size)) for low in range(0, size, length)]


def rows_within(n_bytes: float, numbers_a_row: float, at_least: int = 64) -> int:
    """How many rows of so many numbers in double precision fit in so many bytes; at least a few."""
    return max(at_least, int(n_bytes / (8 * numbers_a_row)))
