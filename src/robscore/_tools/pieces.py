"""Cutting long ranges into pieces."""

from __future__ import annotations


def chunks(size: int, length: int) -> list[slice]:
    """Cut range(size) into consecutive slices of at most the given length."""
    return [slice(low, min(low + length, size)) for low in range(0, size, length)]
