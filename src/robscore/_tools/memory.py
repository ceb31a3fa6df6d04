"""Sizes of memory, how much is free, and tables cut into pieces that fit."""

from __future__ import annotations

import os
import re
from numbers import Real
from pathlib import Path

import numpy as np

from robscore._tools.messages import ArgumentError

_LINUX_MEMORY = Path("/proc/meminfo")
_UNITS = {"": 0, "B": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def read_bytes(name: str, value: object) -> float:
    """Read a memory size, in bytes or in words such as "500 MB"; raise, naming the argument, on anything else.

    Examples
    --------
    >>> from robscore._tools.memory import read_bytes
    >>> read_bytes("max_memory", "1.5 GB"), read_bytes("max_memory", "2 GiB")
    (1500000000.0, 2147483648.0)
    """
    size = float(value) if isinstance(value, Real) and not isinstance(value, bool) else np.nan
    if isinstance(value, str):
        words = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*([BKMGT]?)(i?)B?\s*", value, flags=re.IGNORECASE)
        try:
            number, unit, binary = words.groups() if words else ("", "", "")
            size = float(number) * (1024.0 if binary else 1000.0) ** _UNITS[unit.upper()]
        except ValueError:
            size = np.nan
    if not np.isfinite(size):
        raise ArgumentError(name, value, "is not a size: give a number of bytes, or words such as '500 MB' or '2 GB'.")
    if size < 1e6:
        raise ArgumentError(name, value, "is too little; at least 1 MB is needed.")
    return size


def describe(size: float) -> str:
    """Write a number of bytes in MB or GB."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def free_memory() -> float | None:
    """Return the bytes that programs may still take.

    Where only the machine's whole memory is known, that; where nothing is known, None.
    """
    try:
        lines = dict(line.split(":", 1) for line in _LINUX_MEMORY.read_text().splitlines() if ":" in line)
        return 1024.0 * int(lines["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError, IndexError):
        pass
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not on Windows
        return None


def chunks(size: int, length: int) -> list[slice]:
    """Cut range(size) into consecutive slices of at most the given length."""
    return [slice(low, min(low + length, size)) for low in range(0, size, length)]


def rows_within(n_bytes: float, numbers_a_row: float, at_least: int = 64) -> int:
    """Return how many rows of so many numbers in double precision fit in so many bytes; at least a few."""
    return max(at_least, int(n_bytes / (8 * numbers_a_row)))
