"""How much memory is free."""

from __future__ import annotations

import os
from pathlib import Path

_ABOUT = Path("/proc/meminfo")


def free_memory() -> float | None:
    """Bytes that programs may still take; all there are where only these are known, and None where nothing is."""
    try:
        lines = dict(line.split(":", 1) for line in _ABOUT.read_text().splitlines() if ":" in line)
        return 1024.0 * int(lines["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError, IndexError):
        pass
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not on Windows
        return None
