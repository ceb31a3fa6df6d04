"""Compiling with numba, with a cache on disk where one can be had."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile a function; without a cache where neither the package nor the home folder can be written to."""
    try:
        fast: F = njit(function, cache=True, nogil=True)
    except RuntimeError:
        fast = njit(function, nogil=True)
    return fast


def compiled_in_place(function: F) -> F:
    """Compile a small function into those that call it: handing over ten arrays costs more than a short loop."""
    fast: F = njit(function, nogil=True, inline="always")
    return fast
